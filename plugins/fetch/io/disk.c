/* gst-spdl: reader of files, and of other URIs by GIO
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/disk.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gst/spdl/common/redact.h"
#include "plugins/common/fail.h"
#include "plugins/fetch/io/body.h"

/* Files */

/* Maximum initial allocation, since a file system may report any size. */
#define MAX_CLAIMED (64 * 1024 * 1024)

/* Number of bytes between checks for cancellation. */
#define CHUNK (4 * 1024 * 1024)

static gboolean
set_errno (GError **error, const gchar *what, int number)
{
  return spdl_fail (error,
      number == ENOENT ? GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_READ,
      "File cannot be %s: %s", what, g_strerror (number));
}

/* Computes how many bytes of @range are in a file. */
static gboolean
get_size (const struct stat *st, const SpdlRange *range, guint64 max_size,
    guint64 *size, GError **error)
{
  if (!S_ISREG (st->st_mode))
    return spdl_fail (
        error, GST_RESOURCE_ERROR_READ, "File is not a regular file");
  if (range->first == 0 && spdl_range_is_open (range))
    *size = st->st_size;
  else if (!spdl_range_get_size (range, st->st_size, size, error))
    return FALSE;
  return max_size == 0 || *size <= max_size ||
         spdl_check_max_size (*size, max_size, error);
}

/* Reads @size bytes at @offset into @data, of which @done have been read. */
static gboolean
read_bytes (int fd, guint64 offset, guint8 *data, gsize done, gsize size,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error)
{
  while (done < size) {
    const ssize_t n =
        pread (fd, data + done, MIN (size - done, CHUNK), offset + done);

    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    if (n < 0 && errno != EINTR)
      return set_errno (error, "read", errno);
    if (n == 0)
      return spdl_fail (error, GST_RESOURCE_ERROR_READ,
          "File became shorter while it was read: only %" G_GSIZE_FORMAT
          " bytes were read",
          done);
    done += MAX (n, 0);
    if (done < size && g_get_monotonic_time () > limits->deadline)
      return spdl_fail (error, GST_RESOURCE_ERROR_READ,
          "Reading took longer than task-timeout: only %" G_GSIZE_FORMAT
          " bytes were read",
          done);
  }
  return TRUE;
}

static GstBuffer *
read_range (int fd, const struct stat *st, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error)
{
  gsize capacity, done = 0;
  guint8 *data, *grown;
  guint64 size;

  if (!get_size (st, range, limits->max_size, &size, error))
    return NULL;
  if (size == 0)
    return gst_buffer_new ();
  capacity = MIN (size, MAX_CLAIMED);
  data = g_try_malloc (capacity);
  while (data) {
    if (!read_bytes (fd, range->first, data, done, capacity, limits,
            cancellable, error)) {
      g_free (data);
      return NULL;
    }
    if (capacity == size)
      return gst_buffer_new_wrapped (data, size);
    done = capacity;
    capacity = MIN (size, 2 * (guint64) capacity);
    if (!(grown = g_try_realloc (data, capacity)))
      g_free (data);
    data = grown;
  }
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Not enough memory for the item's %" G_GUINT64_FORMAT " bytes", size);
  return NULL;
}

GstBuffer *
spdl_disk_read_open (int fd, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error)
{
  struct stat st;

  if (fstat (fd, &st) == 0)
    return read_range (fd, &st, range, limits, cancellable, error);
  set_errno (error, "read", errno);
  return NULL;
}

GstBuffer *
spdl_disk_read (const gchar *path, const SpdlRange *range, SpdlOpenFiles *files,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error)
{
  SpdlOpenFile file;
  GstBuffer *buffer;

  if (spdl_range_is_open (range))
    files = NULL;
  if (!spdl_open_files_take (files, path, &file)) {
    set_errno (error, "opened", errno);
    return NULL;
  }
  buffer = read_range (file.fd, &file.st, range, limits, cancellable, error);
  if (buffer && files)
    spdl_open_files_give (files, &file);
  else
    spdl_open_file_close (&file);
  return buffer;
}

/* Other URIs */

/* Sets @error to @reason in the domain GST_RESOURCE_ERROR. Cancellation is
 * propagated unchanged. */
static void
set_reason (GError **error, const gchar *uri, const GError *reason)
{
  g_autofree gchar *scheme = g_uri_parse_scheme (uri);
  g_autofree gchar *why = spdl_redact_text (reason->message);

  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_propagate_error (error, g_error_copy (reason));
  else if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED))
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "Scheme \"%s:\" is not supported on this machine: %s", scheme, why);
  else
    g_set_error (error, GST_RESOURCE_ERROR,
        g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND)
            ? GST_RESOURCE_ERROR_NOT_FOUND
            : GST_RESOURCE_ERROR_READ,
        "Failed to read the item: %s", why);
}

/* Reads until @body has @wanted bytes or the end is reached. */
static gboolean
read_stream (GInputStream *stream, SpdlBody *body, guint64 wanted,
    const SpdlDiskLimits *limits, const gchar *uri, GCancellable *cancellable,
    GError **error)
{
  while (body->size < wanted) {
    g_autoptr (GError) reason = NULL;
    gsize capacity;
    gssize n;
    guint8 *data = spdl_body_reserve (body, wanted == G_MAXUINT64 ? 0 : wanted,
        limits->max_size, &capacity, error);

    if (!data)
      return FALSE;
    n = g_input_stream_read (stream, data, MIN (capacity, wanted - body->size),
        cancellable, &reason);
    if (n == 0)
      break;
    if (n < 0) {
      set_reason (error, uri, reason);
      return FALSE;
    }
    spdl_body_add (body, n);
    if (!spdl_check_max_part (body->size, limits->max_size, error))
      return FALSE;
    if (g_get_monotonic_time () > limits->deadline)
      return spdl_fail (error, GST_RESOURCE_ERROR_READ,
          "Reading took longer than task-timeout: %" G_GSIZE_FORMAT
          " bytes were read",
          body->size);
  }
  return TRUE;
}

static gboolean
go_to (GInputStream *stream, guint64 offset, const gchar *uri,
    GCancellable *cancellable, GError **error)
{
  g_autoptr (GError) reason = NULL;

  if (offset == 0)
    return TRUE;
  if (G_IS_SEEKABLE (stream) && g_seekable_can_seek (G_SEEKABLE (stream))) {
    if (g_seekable_seek (
            G_SEEKABLE (stream), offset, G_SEEK_SET, cancellable, &reason))
      return TRUE;
  } else {
    guint64 left = offset;
    gssize n = 1;

    while (left > 0 && n > 0) {
      n = g_input_stream_skip (
          stream, MIN (left, G_MAXSSIZE), cancellable, &reason);
      left -= MAX (n, 0);
    }
    if (n >= 0)
      return TRUE;
  }
  set_reason (error, uri, reason);
  return FALSE;
}

GstBuffer *
spdl_gio_read (const gchar *uri, const SpdlRange *range,
    const SpdlDiskLimits *limits, GCancellable *cancellable, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_uri (uri);
  g_autoptr (GError) reason = NULL;
  g_autoptr (GFileInputStream) opened =
      g_file_read (file, cancellable, &reason);
  GInputStream *stream = (GInputStream *) opened;
  const guint64 wanted =
      spdl_range_is_open (range) ? G_MAXUINT64 : range->last - range->first + 1;
  SpdlBody body = { 0 };
  guint64 size;

  if (!stream) {
    set_reason (error, uri, reason);
    return NULL;
  }
  if (!spdl_range_is_open (range) &&
      !spdl_check_max_size (wanted, limits->max_size, error))
    return NULL;
  if (!go_to (stream, range->first, uri, cancellable, error))
    return NULL;
  if (!read_stream (stream, &body, wanted, limits, uri, cancellable, error) ||
      !spdl_range_get_size (range, range->first + body.size, &size, error)) {
    spdl_body_clear (&body);
    return NULL;
  }
  return spdl_body_steal (&body);
}
