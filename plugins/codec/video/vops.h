/* gst-spdl: VOPs (frames) in packets of MPEG-4 part 2
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <libavcodec/avcodec.h>

G_BEGIN_DECLS

/* Result of decoding a packet. With packed bitstreams, a packet may contain two
 * frames, the second of which the decoder keeps; a later packet contains none
 * and outputs the kept frame. So each packet gives one frame or none. */
typedef enum {
  SPDL_VOP_UNKNOWN, /* cannot be determined */
  SPDL_VOP_NONE,    /* no frame */
  SPDL_VOP_WHOLE,   /* intra frame */
  SPDL_VOP_REFERENCE,
  SPDL_VOP_BETWEEN, /* B frame: shown before the frame that precedes it */
} SpdlVop;

#define SPDL_VOPS_MAX_KEPT 4

typedef struct {
  guint time_bits; /* number of bits of a frame's time; 0: no header yet */
  SpdlVop kept[SPDL_VOPS_MAX_KEPT];
  guint n_kept;
} SpdlVops;

/* Initializes from the codec and its headers. Returns whether it is MPEG-4
 * part 2. */
gboolean spdl_vops_begin (SpdlVops *self, const AVCodecParameters *codec);

/* Reads the next packet.
 * @header_size: (out): size of the stream header at its beginning; 0: none */
SpdlVop spdl_vops_take (
    SpdlVops *self, const guint8 *data, gsize size, gsize *header_size);

G_END_DECLS
