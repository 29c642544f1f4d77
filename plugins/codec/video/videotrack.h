/* gst-spdl: the video stream of a file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/ffmpeg/mediafile.h"
#include "plugins/codec/video/packets.h"

G_BEGIN_DECLS

/* Detects the format like SpdlVideoFuncs. */
gboolean spdl_video_track_probe (SpdlMediaFile *file);

/* Reads the packets of the first video stream in @file with libavformat, until
 * @packets has enough.
 * @cancellable: (nullable)
 * Returns FALSE with @error set if there is no video or the file is corrupt.
 * @packets may contain packets even then. */
gboolean spdl_video_track_read (SpdlPackets *packets, const SpdlMediaFile *file,
    const SpdlVideoLimits *limits, guint64 max_pixels,
    GCancellable *cancellable, GError **error);

G_END_DECLS
