/* gst-spdl: function table of the audio plugin, which is loaded on demand
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "plugins/codec/result/audioconfig.h"

G_BEGIN_DECLS

/* FFmpeg's libraries take longer to load than the rest of a pipeline that
 * decodes images. Therefore the audio decoder is in a separate plugin, without
 * elements, which spdldecode loads for the first file that needs it. */

#define SPDL_AUDIO_PLUGIN "spdlaudio"
/* Key of the SpdlAudioFuncs in the plugin's object data. */
#define SPDL_AUDIO_DATA "spdl-audio"

/* Not thread-safe. */
typedef struct _SpdlAudioDecoder SpdlAudioDecoder;

/* An audio file in memory. */
typedef struct {
  const gchar *name;    /* format name for messages */
  const gchar *demuxer; /* name in libavformat */
  const guint8 *data;
  gsize size;
} SpdlAudioFile;

/* Interleaved samples in native byte order. */
typedef struct {
  GstAudioFormat format; /* includes S24 */
  guint rate;
  guint n_channels;
  const GstAudioChannelPosition *positions; /* NULL: unknown */
  const guint8 *data;
  guint64 n; /* number of frames: a frame has one sample per channel */
} SpdlAudioPcm;

typedef struct {
  SpdlAudioDecoder *(*create) (void);
  void (*destroy) (SpdlAudioDecoder *self);

  /* Detects the format with libavformat's probe, and sets all of @file. Returns
   * FALSE if the format is not supported. */
  gboolean (*probe) (const guint8 *data, gsize size, SpdlAudioFile *file);

  /* Returns whether the file has a video stream. Cover art does not count. */
  gboolean (*has_video) (SpdlAudioDecoder *self, const SpdlAudioFile *file);

  /* Decodes the file according to @config.
   * @cancellable: (nullable)
   * @info: (out): describes the result
   * Returns: (transfer full) (nullable): the samples, or NULL with @error set.
   * With @keep, @error may be set although there is a result: the file is
   * corrupt, and the result is the part before the defect. */
  GstBuffer *(*decode) (SpdlAudioDecoder *self, const SpdlAudioFile *file,
      const SpdlAudioConfig *config, gboolean keep, GCancellable *cancellable,
      GstAudioInfo *info, GError **error);

  /* Same for samples that need no decoder. */
  GstBuffer *(*convert) (SpdlAudioDecoder *self, const SpdlAudioPcm *pcm,
      const SpdlAudioConfig *config, GCancellable *cancellable,
      GstAudioInfo *info, GError **error);
} SpdlAudioFuncs;

/* Returns: (nullable): the functions, or NULL with @error set if the plugin
 * cannot be loaded */
const SpdlAudioFuncs *spdl_audio_get_funcs (GError **error);

G_END_DECLS
