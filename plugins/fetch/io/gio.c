/* gst-spdl: GIO reader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/gio.h"

#include "gst/spdl/common/redact.h"
#include "plugins/fetch/io/body.h"

/* Sets @error to @reason in the domain GST_RESOURCE_ERROR. Cancellation is
 * propagated unchanged. */
static void
set_error (GError **error, const gchar *uri, const GError *reason)
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
read_all (GInputStream *stream, SpdlBody *body, guint64 wanted,
    const SpdlDiskLimits *limits, const gchar *uri, GCancellable *cancellable,
    GError **error)
{
  while (body->size < wanted) {
    g_autoptr (GError) reason = NULL;
    gsize capacity;
    gssize n;
    guint8 *data = spdl_body_reserve (
        body, wanted == G_MAXUINT64 ? 0 : wanted, &capacity, error);

    if (!data)
      return FALSE;
    n = g_input_stream_read (stream, data, MIN (capacity, wanted - body->size),
        cancellable, &reason);
    if (n == 0)
      break;
    if (n < 0) {
      set_error (error, uri, reason);
      return FALSE;
    }
    spdl_body_add (body, n);
    if (!spdl_check_max_part (body->size, limits->max_size, error))
      return FALSE;
    if (g_get_monotonic_time () > limits->deadline) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
          "Reading took longer than task-timeout: %" G_GSIZE_FORMAT
          " bytes were read",
          body->size);
      return FALSE;
    }
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
  set_error (error, uri, reason);
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
    set_error (error, uri, reason);
    return NULL;
  }
  if (!spdl_range_is_open (range) &&
      !spdl_check_max_size (wanted, limits->max_size, error))
    return NULL;
  if (!go_to (stream, range->first, uri, cancellable, error))
    return NULL;
  if (!read_all (stream, &body, wanted, limits, uri, cancellable, error) ||
      !spdl_range_get_size (range, range->first + body.size, &size, error)) {
    spdl_body_clear (&body);
    return NULL;
  }
  return spdl_body_steal (&body);
}
