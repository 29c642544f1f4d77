/* gst-spdl: index file next to a list or in the user's cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/sidecar.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gst/spdl/common/logline.h"

#define GST_CAT_DEFAULT get_category ()

/* Files next to others, or in the user's cache */

#define FOLDER "gst-spdl"

gchar *
spdl_sidecar_file_beside (const gchar *path, const gchar *suffix)
{
  g_autofree gchar *folder = g_path_get_dirname (path);
  g_autofree gchar *name = g_path_get_basename (path);
  g_autofree gchar *hidden = g_strconcat (".", name, suffix, NULL);

  return g_build_filename (folder, hidden, NULL);
}

gchar *
spdl_sidecar_file_in_cache (const gchar *name, const gchar *suffix)
{
  g_autofree gchar *sum =
      g_compute_checksum_for_string (G_CHECKSUM_SHA256, name, -1);
  g_autofree gchar *file = g_strconcat (sum, suffix, NULL);

  return g_build_filename (g_get_user_cache_dir (), FOLDER, file, NULL);
}

static void
make_folder (const gchar *path)
{
  g_autofree gchar *cache =
      g_build_filename (g_get_user_cache_dir (), FOLDER, NULL);
  g_autofree gchar *folder = g_path_get_dirname (path);

  if (g_str_equal (cache, folder))
    g_mkdir_with_parents (folder, 0700);
}

int
spdl_sidecar_file_store (const gchar *path, guint mode,
    SpdlSidecarFileFunc func, gconstpointer user_data)
{
  g_autofree gchar *temporary_path = g_strconcat (path, ".XXXXXX", NULL);
  int fd, failed;

  make_folder (path);
  fd = g_mkstemp_full (temporary_path, O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0)
    return errno;
  failed = func (fd, user_data);
  /* The index has the read permissions of the list. */
  if (failed == 0 && fchmod (fd, (mode & 0444) | 0600) != 0)
    failed = errno;
  if (close (fd) != 0 && failed == 0)
    failed = errno;
  if (failed == 0 && rename (temporary_path, path) != 0)
    failed = errno;
  if (failed != 0)
    unlink (temporary_path);
  return failed;
}

static GstDebugCategory *
get_category (void)
{
  static gsize category = 0;

  if (g_once_init_enter (&category)) {
    GstDebugCategory *made = NULL;

    GST_DEBUG_CATEGORY_INIT (made, "spdlindex", 0, "Indexes of lists");
    g_once_init_leave (&category, (gsize) made);
  }
  return (GstDebugCategory *) category;
}

/* They get the path of the list without symbolic links. */
static gchar *(*const places[]) (const gchar *list, const gchar *suffix) = {
  spdl_sidecar_file_beside, spdl_sidecar_file_in_cache
};

static gchar *
find_list (const SpdlTextFile *file)
{
  char *path = realpath (file->location, NULL);
  gchar *list = g_strdup (path);

  free (path);
  return list;
}

static SpdlIndexKey
make_key (const SpdlTextFile *file, gboolean labels, guint64 classes,
    guint64 format, guint64 hash)
{
  return (SpdlIndexKey){ file->stamp,
    spdl_text_file_hash_samples (file) ^ format, labels, classes, hash };
}

/* Reads a whole file. It may become shorter meanwhile. Returns 0 or an
 * errno. */
static int
read_file (const gchar *path, guint8 **data, gsize *size)
{
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat st;
  gssize n = 1;
  int failed = 0;

  *data = NULL;
  *size = 0;
  if (fd < 0)
    return errno;
  if (fstat (fd, &st) != 0)
    failed = errno;
  else if (!S_ISREG (st.st_mode))
    failed = EISDIR;
  else if ((gsize) st.st_size > SPDL_INDEX_FILE_MAX)
    failed = EFBIG;
  else if (!(*data = g_try_malloc (st.st_size + 1)))
    failed = ENOMEM;
  while (failed == 0 && n > 0 && *size < (gsize) st.st_size) {
    n = read (fd, *data + *size, st.st_size - *size);
    if (n < 0)
      failed = errno;
    else
      *size += n;
  }
  close (fd);
  if (failed != 0)
    g_clear_pointer (data, g_free);
  return failed;
}

static SpdlIndex *
load_index (const gchar *path, SpdlIndexKey *key, const gchar *location)
{
  SpdlIndex *index = NULL;
  const gchar *problem = NULL;
  guint8 *data;
  gsize size;
  const int failed = read_file (path, &data, &size);

  if (failed == ENOENT || failed == ENOTDIR || failed == ENAMETOOLONG)
    return NULL;
  if (failed != 0)
    problem = g_strerror (failed);
  else
    index = spdl_index_file_read (data, size, key, &problem);
  if (problem)
    SPDL_INFO ("the index \"%s\" of the list \"%s\" is ignored: %s", path,
        location, problem);
  else
    SPDL_INFO ("the list \"%s\" has the index \"%s\"", location, path);
  return index;
}

SpdlIndex *
spdl_sidecar_load (const SpdlTextFile *file, gboolean labels, guint64 classes,
    guint64 format, guint64 *hash)
{
  g_autofree gchar *list = find_list (file);
  SpdlIndexKey key = make_key (file, labels, classes, format, 0);
  SpdlIndex *index = NULL;

  for (guint i = 0; list && i < G_N_ELEMENTS (places) && !index; i++) {
    g_autofree gchar *path = places[i](list, SPDL_SIDECAR_SUFFIX);

    index = load_index (path, &key, file->location);
  }
  *hash = key.hash;
  return index;
}

typedef struct {
  const SpdlIndex *index;
  const SpdlIndexKey *key;
} Writing;

static int
write_index (int fd, gconstpointer user_data)
{
  const Writing *writing = user_data;

  return spdl_index_file_write (fd, writing->index, writing->key);
}

gboolean
spdl_sidecar_store (const SpdlTextFile *file, const SpdlIndex *index,
    gboolean labels, guint64 classes, guint64 format, guint64 hash)
{
  g_autofree gchar *list = find_list (file);
  const SpdlIndexKey key = make_key (file, labels, classes, format, hash);
  const Writing writing = { index, &key };

  for (guint i = 0; list && i < G_N_ELEMENTS (places); i++) {
    g_autofree gchar *path = places[i](list, SPDL_SIDECAR_SUFFIX);
    const int failed =
        spdl_sidecar_file_store (path, file->mode, write_index, &writing);

    if (failed == 0) {
      SPDL_INFO ("the index of the list \"%s\" was written to \"%s\"",
          file->location, path);
      return TRUE;
    }
    SPDL_INFO ("failed to write the index of the list \"%s\" to \"%s\": %s",
        file->location, path, g_strerror (failed));
  }
  return FALSE;
}
