/* gst-spdl: sample keys and extensions of the files in a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/samplekey.h"

#include <string.h>

#include "gst/spdl/engine/compat.h"

static const struct {
  const gchar *name;
  SpdlArchiveKind kind;
} kinds[] = {
  { "cls", SPDL_ARCHIVE_LABEL },
  { "txt", SPDL_ARCHIVE_TEXT },
  { "text", SPDL_ARCHIVE_TEXT },
  { "transcript", SPDL_ARCHIVE_TEXT },
  { "json", SPDL_ARCHIVE_JSON },
  { "jsn", SPDL_ARCHIVE_JSON },
};

/* Extensions that spdldecode or GStreamer's decoders handle. */
static const gchar *const media[] = { "jpg", "jpeg", "jpe", "jfif", "png",
  "webp", "gif", "bmp", "dib", "tif", "tiff", "ppm", "pgm", "pbm", "pnm", "pam",
  "jp2", "j2k", "j2c", "jpx", "ras", "sun", "sgi", "rgb", "tga", "pcx", "avif",
  "heic", "heif", "jxl", "wav", "flac", "mp3", "ogg", "oga", "opus", "m4a",
  "aac", "aiff", "mp4", "m4v", "mkv", "webm", "avi", "mov", "mpg", "mpeg", "ts",
  "ogv", "flv", "wmv" };

/* WebDataset reserves paths whose first part has the form `__name__`. */
static gboolean
is_of_webdataset (const gchar *path)
{
  const gsize length = strcspn (path, "/");

  return length >= 4 && memcmp (path, "__", 2) == 0 &&
         memcmp (path + length - 2, "__", 2) == 0;
}

const gchar *
spdl_archive_name_split (const gchar *path, gsize *key)
{
  const gchar *slash = strrchr (path, '/');
  const gchar *name = slash ? slash + 1 : path;
  const gchar *dot = strchr (name, '.');

  if (!dot || dot == name || is_of_webdataset (path))
    return NULL;
  *key = dot - path;
  return dot + 1;
}

static gboolean
is_equal (const gchar *name, const gchar *text, gsize length)
{
  return strlen (name) == length && memcmp (name, text, length) == 0;
}

SpdlArchiveKind
spdl_archive_name_get_kind (const gchar *extension, gsize length)
{
  const gchar *dot = spdl_compat_memrchr (extension, '.', length);
  const gchar *last = dot ? dot + 1 : extension;
  const gsize rest = extension + length - last;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (is_equal (kinds[i].name, last, rest))
      return kinds[i].kind == SPDL_ARCHIVE_LABEL && dot ? SPDL_ARCHIVE_TEXT
                                                        : kinds[i].kind;
  for (guint i = 0; i < G_N_ELEMENTS (media); i++)
    if (is_equal (media[i], last, rest))
      return SPDL_ARCHIVE_MEDIA;
  return SPDL_ARCHIVE_OTHER;
}

gchar **
spdl_archive_name_split_list (const gchar *text)
{
  g_autoptr (GPtrArray) names = NULL;
  g_auto (GStrv) parts = g_strsplit (text ? text : "", ",", -1);

  names = g_ptr_array_new ();
  for (guint i = 0; parts[i]; i++) {
    const gchar *name = g_strstrip (parts[i]);

    if (*name)
      g_ptr_array_add (names, g_ascii_strdown (name + (*name == '.'), -1));
  }
  if (names->len == 0)
    return NULL;
  g_ptr_array_add (names, NULL);
  return (gchar **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}
