/* gst-spdl: the packets of Vorbis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_VORBIS_H__
#define __SPDL_VORBIS_H__

#include <glib.h>

G_BEGIN_DECLS

/* How long the packets of a stream are, by its headers. */
typedef struct {
  guint rate;
  guint n_channels;
  guint sizes[2]; /* of blocks */
  guint n_modes;
  guint8 is_long[64]; /* of each mode */
  guint n_mode_bits;
  guint previous; /* size of the block before; 0: there is none */
} SpdlVorbis;

/* @id, @setup: the first and the third header. FALSE if they are broken. */
gboolean spdl_vorbis_init (SpdlVorbis *self, const guint8 *id, gsize id_size,
    const guint8 *setup, gsize setup_size);

/* Samples that come out with this packet, the next one of the stream. */
guint spdl_vorbis_count (SpdlVorbis *self, const guint8 *packet, gsize size);

G_END_DECLS

#endif /* __SPDL_VORBIS_H__ */
