/* gst-spdl: what a video track of MP4 says of its presentation
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* qtdemux ends a track without an edit list at its duration, although more
 * frames may follow, and reports "rotate-180" for each matrix that is not an
 * exact quarter turn. */
typedef struct {
  guint orientation; /* EXIF orientation of the nearest quarter turn */
  gsize duration_at; /* offset of the low 32 bits of the duration, if there is
                        no edit list; else 0 */
} SpdlMp4Track;

/* Reads the first video track of an MP4 or QuickTime file. Returns FALSE if
 * there is none. */
gboolean
spdl_mp4_track_find (SpdlMp4Track *self, const guint8 *data, gsize size);

G_END_DECLS
