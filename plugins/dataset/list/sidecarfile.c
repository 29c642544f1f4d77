/* gst-spdl: files that are kept beside others, or in the user's cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/sidecarfile.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "gst-spdl"

gchar *
spdl_sidecar_file_in_cache (const gchar *name)
{
  g_autofree gchar *sum =
      g_compute_checksum_for_string (G_CHECKSUM_SHA256, name, -1);
  g_autofree gchar *file = g_strconcat (sum, SPDL_SIDECAR_SUFFIX, NULL);

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
  g_autofree gchar *aside = g_strconcat (path, ".XXXXXX", NULL);
  int fd, failed;

  make_folder (path);
  fd = g_mkstemp_full (aside, O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0)
    return errno;
  failed = func (fd, user_data);
  /* Who may read the one may read the other. */
  if (failed == 0 && fchmod (fd, (mode & 0444) | 0600) != 0)
    failed = errno;
  if (close (fd) != 0 && failed == 0)
    failed = errno;
  if (failed == 0 && rename (aside, path) != 0)
    failed = errno;
  if (failed != 0)
    unlink (aside);
  return failed;
}

int
spdl_sidecar_file_write_all (int fd, gconstpointer data, gsize size)
{
  const guint8 *at = data;

  while (size > 0) {
    const gssize n = write (fd, at, size);

    if (n < 0 && errno != EINTR)
      return errno;
    at += MAX (n, 0);
    size -= MAX (n, 0);
  }
  return 0;
}
