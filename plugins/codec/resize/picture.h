/* gst-spdl: converts a raw frame to rows
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/video/video.h>

#include "plugins/codec/resize/rows.h"

G_BEGIN_DECLS

/* Reads frames of any raw format. Those of 8 bits a sample in one plane are
 * read as they are; all others go through a GstVideoConverter, which is kept
 * while format and size stay the same. What is transparent is blended over the
 * background. One thread at a time. */

typedef struct _SpdlPicture SpdlPicture;

/* What a decoder gave. Nothing of it is owned. */
typedef struct {
  GstBuffer *buffer;
  const GstVideoInfo *info;
  guint n_rows;      /* that are there; those below are background */
  gboolean is_video; /* whose colours are as its info says */
  gboolean opaque;   /* whatever its alpha says */
} SpdlFrame;

SpdlPicture *spdl_picture_new (void);
void spdl_picture_free (SpdlPicture *self);

/* Writes @frame to @rows; what it has not is background. FALSE with @error set
 * if it cannot be read. */
gboolean spdl_picture_write (SpdlPicture *self, const SpdlFrame *frame,
    const SpdlRows *rows, GError **error);

G_END_DECLS
