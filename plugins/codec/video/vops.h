/* gst-spdl: frames in packets of MPEG-4 part 2
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* What a decoder makes of a packet. Two pictures may be packed into one, of
 * which it keeps the second; then a later packet has none, and gives what was
 * kept. So each packet gives one picture, or nothing. */
typedef enum {
  SPDL_VOP_UNKNOWN, /* that cannot be told */
  SPDL_VOP_NONE,    /* nothing: the picture before stays */
  SPDL_VOP_WHOLE,   /* a picture that refers to no other */
  SPDL_VOP_REFERENCE,
  SPDL_VOP_BETWEEN, /* it is shown before the picture that precedes it */
} SpdlVop;

#define SPDL_VOPS_MAX_KEPT 4

typedef struct {
  guint time_bits; /* of a picture's time; 0: there was no header yet */
  SpdlVop kept[SPDL_VOPS_MAX_KEPT];
  guint n_kept;
} SpdlVops;

/* Whether packets of @caps are such. What goes with @caps is read. */
gboolean spdl_vops_begin (SpdlVops *self, const GstCaps *caps);

/* Reads the next packet. @header_size: (out): how many bytes at its beginning
 * say what all pictures are; 0: it has no such. */
SpdlVop spdl_vops_take (
    SpdlVops *self, const guint8 *data, gsize size, gsize *header_size);

/* Finds the size of frames in a header. FALSE: there is none, or it does not
 * say. */
gboolean spdl_vops_find_size (
    const guint8 *data, gsize size, guint *width, guint *height);

G_END_DECLS
