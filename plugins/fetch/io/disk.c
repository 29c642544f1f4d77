/* gst-spdl: file and byte range reader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugins/fetch/io/body.h"

/* Maximum initial allocation, since a file system may report any size. */
#define MAX_CLAIMED (64 * 1024 * 1024)

/* Number of bytes between checks for cancellation. */
#define CHUNK (4 * 1024 * 1024)

static gboolean
set_errno (GError **error, const gchar *what, int number)
{
  g_set_error (error, GST_RESOURCE_ERROR,
      number == ENOENT ? GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_READ,
      "File cannot be %s: %s", what, g_strerror (number));
  return FALSE;
}

/* Computes how many bytes of @range are in the open file. */
static gboolean
get_size (int fd, const SpdlRange *range, guint64 max_size, guint64 *size,
    GError **error)
{
  struct stat st;

  if (fstat (fd, &st) != 0)
    return set_errno (error, "read", errno);
  if (!S_ISREG (st.st_mode)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "File is not a regular file");
    return FALSE;
  }
  return spdl_range_get_size (range, st.st_size, size, error) &&
         spdl_check_max_size (*size, max_size, error);
}

/* Appends @size bytes to @body, which must have room for them. */
static gboolean
read_some (int fd, SpdlBody *body, gsize size, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error)
{
  const gsize end = body->size + size;

  while (body->size < end) {
    const ssize_t n = pread (fd, body->data + body->size,
        MIN (end - body->size, CHUNK), range->first + body->size);

    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    if (n < 0 && errno != EINTR)
      return set_errno (error, "read", errno);
    if (n == 0) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
          "File became shorter while it was read: only %" G_GSIZE_FORMAT
          " bytes were read",
          body->size);
      return FALSE;
    }
    if (n > 0)
      spdl_body_add (body, n);
    if (body->size < end && g_get_monotonic_time () > limits->deadline) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
          "Reading took longer than task-timeout: only %" G_GSIZE_FORMAT
          " bytes were read",
          body->size);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
read_all (int fd, SpdlBody *body, guint64 size, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error)
{
  body->capacity = MIN (size, MAX_CLAIMED);
  if (!(body->data = g_try_malloc (body->capacity))) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory for the item's %" G_GUINT64_FORMAT " bytes", size);
    return FALSE;
  }
  while (body->size < size) {
    gsize free;

    if (!spdl_body_reserve (body, size, &free, error) ||
        !read_some (fd, body, MIN (free, size - body->size), range, limits,
            cancellable, error))
      return FALSE;
  }
  return TRUE;
}

GstBuffer *
spdl_disk_read_open (int fd, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error)
{
  SpdlBody body = { NULL };
  guint64 size;

  if (!get_size (fd, range, limits->max_size, &size, error))
    return NULL;
  if (size > 0 &&
      !read_all (fd, &body, size, range, limits, cancellable, error)) {
    spdl_body_clear (&body);
    return NULL;
  }
  return spdl_body_steal (&body);
}

GstBuffer *
spdl_disk_read (const gchar *path, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error)
{
  /* Without O_NONBLOCK, opening a pipe would block until it has a writer. */
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
