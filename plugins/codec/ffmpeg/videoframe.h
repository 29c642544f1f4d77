/* gst-spdl: frames of libavcodec as buffers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/video/video.h>
#include <libavutil/frame.h>

G_BEGIN_DECLS

/* Wraps @frame, which must stay valid while the buffer is used, without a copy.
 * The colorimetry is the frame's, else GStreamer's default for the size.
 * @info: (out): describes the buffer
 * Returns: (transfer full) (nullable): NULL if GStreamer has no such format or
 * there is not enough memory */
GstBuffer *spdl_video_frame_wrap (const AVFrame *frame, GstVideoInfo *info);

/* Same, but takes ownership of @frame, whose first row must be first in
 * memory. */
GstBuffer *spdl_video_frame_take (AVFrame *frame, GstVideoInfo *info);

G_END_DECLS
