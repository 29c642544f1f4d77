/* gst-spdl: files in memory, opened with libavformat
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libavformat/avformat.h>

#include "plugins/codec/ffmpeg/ffmpegfuncs.h"

G_BEGIN_DECLS

/* An open file. References to other files are not followed. */
typedef struct {
  AVFormatContext *format; /* NULL: not open */
  const SpdlMediaFile *file;
  gsize at; /* read position */
} SpdlMediaInput;

/* Opens @file, whose data must stay valid until it is closed. Returns a
 * negative AVERROR code on failure. */
gint spdl_media_input_open (SpdlMediaInput *self, const SpdlMediaFile *file);
void spdl_media_input_close (SpdlMediaInput *self);

static inline gboolean
spdl_media_input_is (const SpdlMediaInput *self, const gchar *demuxer)
{
  return g_str_equal (self->file->demuxer, demuxer);
}

/* Returns a limit on the total packet size. */
gsize spdl_media_input_get_limit (const SpdlMediaInput *self);

/* Detects the format of @data with libavformat's probe, whose score must be
 * above
 * @score. Returns: (nullable): the demuxer's name, which may be a list */
const gchar *spdl_media_probe (const guint8 *data, gsize size, gint score);

/* Returns whether @name, which may be a list, begins with @demuxer. */
gboolean spdl_media_is_named (const gchar *name, const gchar *demuxer);

/* Returns whether the stream is a video. Cover art is not. */
gboolean spdl_media_is_video (const AVStream *stream);

G_END_DECLS
