/* gst-spdl: bytes of a file, or of a range of it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdldisk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Between two looks at whether the stage flushes. */
#define CHUNK (4 * 1024 * 1024)

static gboolean
set_errno (GError **error, const gchar *what, int number)
{
  g_set_error (error, GST_RESOURCE_ERROR,
      number == ENOENT ? GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_READ,
      "It cannot be %s: %s", what, g_strerror (number));
  return FALSE;
}

/* How many bytes of @range the open file has. */
static gboolean
get_size (int fd, const SpdlRange *range, guint64 max_size, guint64 *size,
    GError **error)
{
  struct stat st;

  if (fstat (fd, &st) != 0)
    return set_errno (error, "read", errno);
  if (!S_ISREG (st.st_mode)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "It is no regular file");
    return FALSE;
  }
  return spdl_range_get_size (range, st.st_size, size, error) &&
         spdl_check_max_size (*size, max_size, error);
}

static gboolean
read_all (int fd, guint8 *data, gsize size, guint64 offset, gint64 deadline,
    GCancellable *cancellable, GError **error)
{
  for (gsize done = 0; done < size;) {
    const ssize_t n =
        pread (fd, data + done, MIN (size - done, CHUNK), offset + done);

    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    if (n < 0 && errno != EINTR)
      return set_errno (error, "read", errno);
    if (n == 0) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
          "It became shorter while it was read: %" G_GSIZE_FORMAT
          " of %" G_GSIZE_FORMAT " bytes came",
          done, size);
      return FALSE;
    }
    if (n > 0)
      done += n;
    if (done < size && g_get_monotonic_time () > deadline) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
          "It took longer than task-timeout: %" G_GSIZE_FORMAT
          " of %" G_GSIZE_FORMAT " bytes came",
          done, size);
      return FALSE;
    }
  }
  return TRUE;
}

GstBuffer *
spdl_disk_read_open (int fd, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error)
{
  GstBuffer *buffer;
  GstMapInfo map;
  guint64 size;
  gboolean ok;

  if (!get_size (fd, range, limits->max_size, &size, error))
    return NULL;
  if (size == 0)
    return gst_buffer_new ();
  buffer = gst_buffer_new_allocate (NULL, size, NULL);
  if (!buffer || !gst_buffer_map (buffer, &map, GST_MAP_WRITE)) {
    gst_clear_buffer (&buffer);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "There is no memory for its %" G_GUINT64_FORMAT " bytes", size);
    return NULL;
  }
  ok = read_all (
      fd, map.data, size, range->first, limits->deadline, cancellable, error);
  gst_buffer_unmap (buffer, &map);
  if (!ok)
    gst_clear_buffer (&buffer);
  return buffer;
}

GstBuffer *
spdl_disk_read (const gchar *path, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error)
{
  /* Without O_NONBLOCK, opening a pipe would wait for its other end. */
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  GstBuffer *buffer;

  if (fd < 0) {
    set_errno (error, "opened", errno);
    return NULL;
  }
  buffer = spdl_disk_read_open (fd, range, limits, cancellable, error);
  close (fd);
  return buffer;
}
