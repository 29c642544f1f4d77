/* gst-spdl: files that stay open between reads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/openfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "gst/spdl/engine/compat.h"

struct _SpdlOpenFiles {
  GMutex lock;
  guint n;
  SpdlOpenFile files[SPDL_OPEN_FILES_MAX]; /* the last one was given last */
};

SpdlOpenFiles *
spdl_open_files_new (void)
{
  SpdlOpenFiles *self = g_new0 (SpdlOpenFiles, 1);

  g_mutex_init (&self->lock);
  return self;
}

void
spdl_open_file_close (SpdlOpenFile *self)
{
  close (self->fd);
  g_free (self->path);
}

void
spdl_open_files_free (SpdlOpenFiles *self)
{
  for (guint i = 0; i < self->n; i++)
    spdl_open_file_close (&self->files[i]);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static SpdlOpenFile
remove_file (SpdlOpenFiles *self, guint i)
{
  const SpdlOpenFile file = self->files[i];

  self->n--;
  memmove (&self->files[i], &self->files[i + 1],
      (self->n - i) * sizeof self->files[i]);
  return file;
}

static gboolean
find_file (SpdlOpenFiles *self, const gchar *path, SpdlOpenFile *file)
{
  gboolean found = FALSE;

  g_mutex_lock (&self->lock);
  for (guint i = self->n; i > 0 && !found; i--) {
    found = g_str_equal (self->files[i - 1].path, path);
    if (found)
      *file = remove_file (self, i - 1);
  }
  g_mutex_unlock (&self->lock);
  return found;
}

/* An open file keeps its inode, so that no other file has its number. */
static gboolean
is_same (const struct stat *a, const struct stat *b)
{
  const struct timespec at = spdl_compat_get_mtime (a);
  const struct timespec bt = spdl_compat_get_mtime (b);

  return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
         a->st_size == b->st_size && at.tv_sec == bt.tv_sec &&
         at.tv_nsec == bt.tv_nsec && a->st_mode == b->st_mode &&
         a->st_uid == b->st_uid && a->st_gid == b->st_gid &&
         a->st_ctime == b->st_ctime;
}

gboolean
spdl_open_files_take (
    SpdlOpenFiles *self, const gchar *path, SpdlOpenFile *file)
{
  struct stat now;
  int problem;

  if (self && find_file (self, path, file)) {
    if (stat (path, &now) == 0 && is_same (&now, &file->st))
      return TRUE;
    spdl_open_file_close (file);
  }
  /* Without O_NONBLOCK, opening a pipe would block until it has a writer. */
  file->fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file->fd < 0)
    return FALSE;
  file->path = g_strdup (path);
  if (fstat (file->fd, &file->st) == 0)
    return TRUE;
  problem = errno;
  spdl_open_file_close (file);
  errno = problem;
  return FALSE;
}

void
spdl_open_files_give (SpdlOpenFiles *self, const SpdlOpenFile *file)
{
  SpdlOpenFile oldest = { .fd = -1 };

  g_mutex_lock (&self->lock);
  if (self->n == SPDL_OPEN_FILES_MAX)
    oldest = remove_file (self, 0);
  self->files[self->n++] = *file;
  g_mutex_unlock (&self->lock);
  if (oldest.fd >= 0)
    spdl_open_file_close (&oldest);
}
