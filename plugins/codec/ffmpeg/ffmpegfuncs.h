/* gst-spdl: function table of the FFmpeg plugin, which is loaded on demand
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

#include "plugins/codec/resize/picture.h"
#include "plugins/codec/result/audioconfig.h"

G_BEGIN_DECLS

/* FFmpeg's libraries take longer to load than the rest of a pipeline that
 * decodes images. Therefore what uses them is in a separate
 * plugin, without elements, which spdldecode loads for the first file that
 * needs it. */

#define SPDL_FFMPEG_PLUGIN "spdlffmpeg"
/* Key of the SpdlFfmpegFuncs in the plugin's object data. */
#define SPDL_FFMPEG_DATA "spdl-ffmpeg"

/* A media file in memory. */
typedef struct {
  const gchar *name;    /* format name for messages */
  const gchar *demuxer; /* name in libavformat */
  const guint8 *data;
  gsize size;
} SpdlMediaFile;

/* Not thread-safe. */
typedef struct _SpdlAudioDecoder SpdlAudioDecoder;

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
  gboolean (*probe) (const guint8 *data, gsize size, SpdlMediaFile *file);

  /* Returns whether the file has a video stream. Cover art does not count. */
  gboolean (*has_video) (SpdlAudioDecoder *self, const SpdlMediaFile *file);

  /* Decodes the file according to @config, whose offset it draws with @key if
   * it is random.
   * @cancellable: (nullable)
   * @info: (out): describes the result
   * Returns: (transfer full) (nullable): the samples, or NULL with @error set.
   * With @keep, @error may be set although there is a result: the file is
   * corrupt, and the result is the part before the defect. */
  GstBuffer *(*decode) (SpdlAudioDecoder *self, const SpdlMediaFile *file,
      SpdlAudioConfig *config, const guint64 key[3], gboolean keep,
      GCancellable *cancellable, GstAudioInfo *info, GError **error);

  /* Same for samples that need no decoder. */
  GstBuffer *(*convert) (SpdlAudioDecoder *self, const SpdlAudioPcm *pcm,
      const SpdlAudioConfig *config, GCancellable *cancellable,
      GstAudioInfo *info, GError **error);
} SpdlAudioFuncs;

/* Not thread-safe. */
typedef struct _SpdlVideoReader SpdlVideoReader;

/* How much of a video is needed. */
typedef struct {
  guint n_frames;    /* from the first one on; 0: all */
  GstClockTime time; /* up to the frame at this time; NONE: all */
} SpdlVideoLimits;

/* The frames of a video, in presentation order. With limits, those that are
 * needed and perhaps a few more. */
typedef struct {
  GArray *times;     /* of GstClockTime */
  GstClockTime end;  /* end time of the last frame; NONE: unknown */
  guint orientation; /* EXIF orientation */
} SpdlVideoTable;

typedef struct {
  guint64 max_pixels;
  gboolean keep; /* continue after frames that cannot be decoded */
  GCancellable *cancellable;
  /* Called for each selected frame; @frame is valid during the call. */
  void (*frame) (gpointer user_data, guint rank, const SpdlFrame *frame);
  gpointer user_data;
} SpdlVideoPlay;

typedef struct {
  SpdlVideoReader *(*create) (void);
  void (*destroy) (SpdlVideoReader *self);

  /* Detects the format with libavformat's probe, and sets the demuxer of @file.
   * Returns FALSE if the format is not supported. */
  gboolean (*probe) (SpdlMediaFile *file);

  /* Reads the packets of the first video stream in @file, until there are
   * enough.
   * @table: (out) (transfer none): valid until the next call
   * @cancellable: (nullable)
   * Returns FALSE with @error set if there is no video or the file is corrupt;
   * @table has the frames before the defect even then. */
  gboolean (*read) (SpdlVideoReader *self, const SpdlMediaFile *file,
      const SpdlVideoLimits *limits, guint64 max_pixels,
      GCancellable *cancellable, const SpdlVideoTable **table, GError **error);

  /* Decodes the @n frames @ranks of the table, in ascending order. Returns
   * FALSE with @error set if one is missing, or with `keep`, if all are. */
  gboolean (*play) (SpdlVideoReader *self, const SpdlVideoPlay *play,
      const guint *ranks, guint n, GError **error);

  /* Drops the packets. */
  void (*close) (SpdlVideoReader *self);
} SpdlVideoFuncs;

typedef struct {
  const SpdlAudioFuncs *audio;
  const SpdlVideoFuncs *video;

  /* Decodes a still image with the decoder @codec_name.
   * @info: (out): describes the frame
   * Returns: (transfer full): the frame, or NULL with @error set */
  GstBuffer *(*decode_still) (const gchar *codec_name, const guint8 *data,
      gsize size, GstVideoInfo *info, GError **error);
} SpdlFfmpegFuncs;

/* The functions, in the plugin. */
extern const SpdlAudioFuncs spdl_audio_decoder_funcs;
extern const SpdlVideoFuncs spdl_video_reader_funcs;
GstBuffer *spdl_ffmpeg_still_decode (const gchar *codec_name,
    const guint8 *data, gsize size, GstVideoInfo *info, GError **error);

/* Returns: (nullable): the functions, or NULL with @error set if the plugin
 * cannot be loaded */
const SpdlFfmpegFuncs *spdl_ffmpeg_get_funcs (GError **error);

G_END_DECLS
