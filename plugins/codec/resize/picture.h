/* gst-spdl: conversion of a raw frame to rows
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/video/video.h>

#include "plugins/codec/resize/rows.h"

G_BEGIN_DECLS

/* Reads frames of any raw format. Packed 8-bit formats are read directly; all
 * others go through a GstVideoConverter, which is reused while format and size
 * stay the same. Transparent pixels are blended over the background. Not
 * thread-safe. */

typedef struct _SpdlPicture SpdlPicture;

/* Decoded frame. All fields are borrowed. */
typedef struct {
  GstBuffer *buffer;
  const GstVideoInfo *info;
  guint n_rows;      /* decoded rows; those below are background */
  gboolean is_video; /* use the colorimetry in `info` */
  gboolean opaque;   /* ignore alpha */
} SpdlFrame;

SpdlPicture *spdl_picture_new (void);
void spdl_picture_free (SpdlPicture *self);

/* Writes @frame to @rows; missing rows become background. Rows that are not
 * colors get the palette indices or the samples of a frame that has such ones,
 * as spdl_picture_describe() tells. Returns FALSE with
 * @error set if the frame cannot be read. */
gboolean spdl_picture_write (SpdlPicture *self, const SpdlFrame *frame,
    const SpdlRows *rows, GError **error);

/* Returns the bits per sample and the channels; palette indices are one
 * channel. */
void spdl_picture_describe (const GstVideoInfo *info, guint *depth,
    guint *channels, gboolean *has_palette);

G_END_DECLS
