/* gst-spdl: functions of the audio plugin, which is loaded on demand
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/result/audioconfig.h"

G_BEGIN_DECLS

/* FFmpeg's libraries take longer to load than the rest of a pipeline that
 * decodes images, so the audio decoder is a plugin of its own, without an
 * element. spdldecode loads it for the first file that needs it. */

#define SPDL_AUDIO_PLUGIN "spdlaudio"
/* The key under which the plugin's object holds its SpdlAudioFuncs. */
#define SPDL_AUDIO_DATA "spdl-audio"

/* One thread at a time. */
typedef struct _SpdlAudioDecoder SpdlAudioDecoder;

/* An audio file in memory. */
typedef struct {
  const gchar *name;    /* of the format, for messages */
  const gchar *demuxer; /* its name in libavformat */
  const guint8 *data;
  gsize size;
} SpdlAudioFile;

/* Interleaved samples, in the machine's byte order. */
typedef struct {
  GstAudioFormat format; /* S24 too */
  guint rate;
  guint n_channels;
  const GstAudioChannelPosition *positions; /* nullable: not known */
  const guint8 *data;
  guint64 n; /* frames: one sample of each channel */
} SpdlAudioPcm;

typedef struct {
  SpdlAudioDecoder *(*create) (void);
  void (*destroy) (SpdlAudioDecoder *self);

  /* What format the file has, by libavformat's probe, if it is one of those
   * that are decoded. Sets all of @file. Returns FALSE if it is none. */
  gboolean (*probe) (const guint8 *data, gsize size, SpdlAudioFile *file);

  /* Whether the file has a video stream (a cover is none). */
  gboolean (*has_video) (SpdlAudioDecoder *self, const SpdlAudioFile *file);

  /* Decodes what @config asks for. Returns: (transfer full) (nullable): the
   * samples, described by *@info; NULL with @error set if there are none. With
   * @keep, @error may be set beside a result: the file is broken, and the
   * result is what comes before. */
  GstBuffer *(*decode) (SpdlAudioDecoder *self, const SpdlAudioFile *file,
      const SpdlAudioConfig *config, gboolean keep, GstAudioInfo *info,
      GError **error);

  /* The same for samples that need no decoder. */
  GstBuffer *(*convert) (SpdlAudioDecoder *self, const SpdlAudioPcm *pcm,
      const SpdlAudioConfig *config, GstAudioInfo *info, GError **error);
} SpdlAudioFuncs;

/* Returns: (nullable): the functions, or NULL with @error set if the plugin
 *     cannot be loaded */
const SpdlAudioFuncs *spdl_audio_get_funcs (GError **error);

G_END_DECLS
