/* gst-spdl: messages of FFmpeg's libraries
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <libavcodec/avcodec.h>

G_BEGIN_DECLS

/* Lets the libraries log to GStreamer's category spdldecode. Other users of the
 * libraries, as gst-libav, also set the function of the process, so it is
 * called for each file. Removes this thread's error. */
void spdl_ffmpeg_log_begin (void);

/* Returns the first error that was logged in this thread since, or "". */
const gchar *spdl_ffmpeg_log_get (void);

/* Sets the function that is called for each error of a codec, in any thread. */
void spdl_ffmpeg_log_watch (void (*on_error) (const AVCodecContext *codec));

G_END_DECLS
