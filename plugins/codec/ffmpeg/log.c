/* gst-spdl: messages of FFmpeg's libraries
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/ffmpeg/log.h"

#include <gst/gst.h>
#include <stdio.h>

#include "gst/spdl/common/logline.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_decode_debug);
#define GST_CAT_DEFAULT spdl_decode_debug

static __thread gchar first_error[200];
static void (*watcher) (const AVCodecContext *codec);

/* Removes a multi-byte character that g_strlcpy() cut in the middle. */
static void
cut_at_character (gchar *text)
{
  const gchar *end;

  g_utf8_validate (text, -1, &end);
  text[end - text] = '\0';
}

static void log_message (void *object, int level, const char *format,
    va_list arguments) G_GNUC_PRINTF (3, 0);

static void
log_message (void *object, int level, const char *format, va_list arguments)
{
  void (*watch) (const AVCodecContext *codec);
  gchar text[sizeof first_error];

  if (level > AV_LOG_VERBOSE)
    return;
  vsnprintf (text, sizeof text, format, arguments);
  g_strchomp (text);
  SPDL_LOG ("%s", text);
  if (level > AV_LOG_ERROR)
    return;
  watch = __atomic_load_n (&watcher, __ATOMIC_RELAXED);
  if (watch && object && *(const AVClass **) object == avcodec_get_class ())
    watch (object);
  if (first_error[0] == '\0') {
    /* The message may quote bytes of the file. */
    g_autofree gchar *valid = g_utf8_make_valid (text, -1);

    g_strlcpy (first_error, valid, sizeof first_error);
    cut_at_character (first_error);
  }
}

void
spdl_ffmpeg_log_begin (void)
{
  av_log_set_callback (log_message);
  first_error[0] = '\0';
}

const gchar *
spdl_ffmpeg_log_get (void)
{
  return first_error;
}

void
spdl_ffmpeg_log_watch (void (*on_error) (const AVCodecContext *codec))
{
  __atomic_store_n (&watcher, on_error, __ATOMIC_RELAXED);
}
