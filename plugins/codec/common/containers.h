/* gst-spdl: streams and ends of Matroska, MP4 and Ogg files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Matroska */

/* Returns whether the file has the length that its header declares, if it
 * declares any. */
gboolean spdl_matroska_is_whole (const guint8 *data, gsize size);

/* MP4 and QuickTime */

/* The contents of a box, which are boxes themselves in some types. */
typedef struct {
  const guint8 *data;
  gsize size;
} SpdlMp4Box;

/* Takes the next box off @in. A box that is cut off ends with @in.
 *
 * @type: (out): its four letters
 *
 * Returns FALSE if there is none. */
gboolean spdl_mp4_box_next (SpdlMp4Box *in, SpdlMp4Box *box, gchar type[4]);

/* Finds the first box of a type, such as "moov". Returns FALSE if there is
 * none; @box, which may be @in, is then unchanged. */
gboolean
spdl_mp4_box_find (const SpdlMp4Box *in, const gchar *type, SpdlMp4Box *box);

/* Returns whether a file declares one of the brands, such as "avif".
 * @wanted: ends with NULL */
gboolean
spdl_mp4_has_brand (const guint8 *data, gsize size, const gchar *const *wanted);

/* Returns whether the last box of a file is not cut off. */
gboolean spdl_mp4_is_whole (const guint8 *data, gsize size);

/* Ogg */

/* Returns whether one of the streams that begin a file is a video. */
gboolean spdl_ogg_has_video (const guint8 *data, gsize size);

/* Returns whether the last page is complete and has the end-of-stream flag. */
gboolean spdl_ogg_is_whole (const guint8 *data, gsize size);

G_END_DECLS
