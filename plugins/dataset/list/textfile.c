/* gst-spdl: text file that is read in parts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/textfile.h"

#include <gst/gst.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gst/spdl/engine/compat.h"
#include "plugins/common/fail.h"
#include "plugins/common/fingerprint.h"

#define SETTLED_SECONDS 2
#define N_SAMPLES 32
#define SAMPLE_SIZE 4096

static SpdlStamp
stamp_of (const struct stat *st)
{
  const struct timespec time = spdl_compat_get_mtime (st);

  return (SpdlStamp){ st->st_size, time.tv_sec, time.tv_nsec };
}

gboolean
spdl_stamp_is_equal (const SpdlStamp *self, const SpdlStamp *other)
{
  return self->size == other->size && self->seconds == other->seconds &&
         self->nanoseconds == other->nanoseconds;
}

gboolean
spdl_stamp_is_of (const SpdlStamp *self, const struct stat *st)
{
  const SpdlStamp now = stamp_of (st);

  return spdl_stamp_is_equal (self, &now);
}

gboolean
spdl_stamp_is_settled (const SpdlStamp *self)
{
  struct timespec now;

  clock_gettime (CLOCK_REALTIME, &now);
  return now.tv_sec - self->seconds > SETTLED_SECONDS;
}

int
spdl_file_write_all (int fd, gconstpointer data, gsize size)
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

int
spdl_file_open_stamped (const gchar *path, SpdlStamp *stamp, guint *mode)
{
  /* O_NONBLOCK: open() must not wait for the writer of a pipe. */
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int failed = 0;
  struct stat st;

  if (fd < 0)
    return -1;
  if (fstat (fd, &st) != 0)
    failed = errno;
  else if (!S_ISREG (st.st_mode))
    failed = S_ISDIR (st.st_mode) ? EISDIR : ENODEV;
  if (failed != 0) {
    close (fd);
    errno = failed;
    return -1;
  }
  *stamp = stamp_of (&st);
  if (mode)
    *mode = st.st_mode & 0777;
  return fd;
}

gboolean
spdl_text_file_open (SpdlTextFile *self, const gchar *location, GError **error)
{
  *self = (SpdlTextFile){ .fd = -1 };
  self->fd = spdl_file_open_stamped (location, &self->stamp, &self->mode);
  if (self->fd < 0)
    return spdl_fail (error, GST_RESOURCE_ERROR_OPEN_READ,
        "Failed to read the list \"%s\": %s", location, g_strerror (errno));
  self->location = g_strdup (location);
  return TRUE;
}

void
spdl_text_file_close (SpdlTextFile *self)
{
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
  g_clear_pointer (&self->location, g_free);
}

gboolean
spdl_text_file_check (const SpdlTextFile *self, GError **error)
{
  g_autofree gchar *sizes = NULL;
  struct stat st;

  if (fstat (self->fd, &st) != 0)
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "Failed to read the list \"%s\" again: %s", self->location,
        g_strerror (errno));
  if (G_LIKELY (spdl_stamp_is_of (&self->stamp, &st)))
    return TRUE;
  if ((guint64) st.st_size != self->stamp.size)
    sizes = g_strdup_printf (" (from %" G_GUINT64_FORMAT
                             " to %" G_GUINT64_FORMAT " bytes)",
        self->stamp.size, (guint64) st.st_size);
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "The list \"%s\" has changed since it was indexed%s: restart without the "
      "resume state; to replace a list, rename another file to its name",
      self->location, sizes ? sizes : "");
}

void
spdl_text_file_expect (const SpdlTextFile *self, gboolean in_order)
{
  spdl_compat_expect_order (self->fd, in_order);
}

gboolean
spdl_text_file_load (const SpdlTextFile *self, SpdlFileWindow *window,
    guint64 offset, gsize size, GError **error)
{
  int failed;

  g_return_val_if_fail (offset <= self->stamp.size, FALSE);

  failed = spdl_file_window_load (
      window, self->fd, offset, MIN (size, self->stamp.size - offset));
  if (failed == 0)
    return TRUE;
  /* A file that has become shorter has changed. */
  if (failed == ENODATA && !spdl_text_file_check (self, error))
    return FALSE;
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "Failed to read the list \"%s\": %s", self->location,
      g_strerror (failed));
}

guint64
spdl_text_file_hash_samples (const SpdlTextFile *self)
{
  const guint64 size = self->stamp.size;
  const gboolean whole = size <= N_SAMPLES * SAMPLE_SIZE;
  const guint64 step = (size - SAMPLE_SIZE) / (N_SAMPLES - 1);
  SpdlFileWindow window = { NULL };
  guint64 hash = 0;

  for (guint i = 0; i <= N_SAMPLES; i++) {
    const guint64 at = i < N_SAMPLES ? step * i : size - SAMPLE_SIZE;
    const gboolean ok = spdl_text_file_load (
        self, &window, whole ? 0 : at, whole ? size : SAMPLE_SIZE, NULL);

    hash = ok ? spdl_fingerprint_add (hash, window.data, window.size) : 0;
    if (whole)
      break;
  }
  spdl_file_window_clear (&window);
  return hash;
}

/* Windows */

/* Makes room for @size bytes, and moves the ones from @offset on to the
 * beginning. Returns FALSE if there is not enough memory. */
static gboolean
move_window (SpdlFileWindow *self, guint64 offset, gsize size)
{
  const guint64 from = offset - self->offset;
  const gsize kept = offset >= self->offset && from < self->size
                         ? MIN (self->size - from, size)
                         : 0;
  gchar *data = self->data;

  if (self->room < size) {
    data = g_try_malloc (size);
    if (!data)
      return FALSE;
  }
  if (kept > 0)
    memmove (data, self->data + from, kept);
  if (data != self->data) {
    g_free (self->data);
    self->data = data;
    self->room = size;
  }
  self->offset = offset;
  self->size = kept;
  return TRUE;
}

int
spdl_file_window_load (SpdlFileWindow *self, int fd, guint64 offset, gsize size)
{
  if (!move_window (self, offset, size))
    return ENOMEM;
  while (self->size < size) {
    const gssize n = pread (
        fd, self->data + self->size, size - self->size, offset + self->size);

    if (n == 0)
      return ENODATA;
    if (n < 0 && errno != EINTR)
      return errno;
    self->size += MAX (n, 0);
  }
  return 0;
}

void
spdl_file_window_clear (SpdlFileWindow *self)
{
  g_free (self->data);
  *self = (SpdlFileWindow){ NULL };
}
