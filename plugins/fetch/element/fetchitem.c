/* gst-spdl: spdlfetch: fetching of one item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/element/fetch-private.h"

#include <string.h>

#include "gst/spdl/common/carried.h"
#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/storeuri.h"
#include "plugins/fetch/element/coalesce.h"
#include "plugins/fetch/http/http.h"
#include "plugins/fetch/io/disk.h"
#include "plugins/fetch/io/range.h"

SpdlHttp *
gst_spdl_fetch_get_http (GstSpdlFetch *self, GError **error)
{
  SpdlHttp *http = g_atomic_pointer_get (&self->http);

  if (http)
    return http;
  g_mutex_lock (&self->lock);
  http = self->http;
  if (!http && (http = spdl_http_new (&self->used.http, error)))
    g_atomic_pointer_set (&self->http, http);
  g_mutex_unlock (&self->lock);
  return http;
}

gchar *
gst_spdl_fetch_dup_uri (GstBuffer *item, GError **error)
{
  const GstSpdlItemMeta *meta = gst_spdl_buffer_get_item_meta (item);
  gsize size = gst_buffer_get_size (item);
  g_autofree gchar *uri = g_malloc (size + 1);

  gst_buffer_extract (item, 0, uri, size);
  /* A key in an object store may end in a newline. */
  if ((!meta || !meta->uri) && size > 0 && uri[size - 1] == '\n') {
    size--;
    size -= size > 0 && uri[size - 1] == '\r';
  }
  uri[size] = '\0';
  if (strlen (uri) == size)
    return g_steal_pointer (&uri);
  g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
      "The path or URI has a NUL byte, which no file name can contain");
  return NULL;
}

void
gst_spdl_fetch_finish (gpointer user_data, GstBuffer *content, GError *error)
{
  GstSpdlTask *task = user_data;
  GstSpdlFetch *self = gst_spdl_fetch_of_task (task);

  if (content) {
    GstCaps *caps;

    GST_OBJECT_LOCK (self);
    caps = gst_caps_ref (self->src_caps);
    GST_OBJECT_UNLOCK (self);
    gst_spdl_task_push (task, content, caps);
    gst_caps_unref (caps);
  }
  gst_spdl_task_finish (task, error);
}

/* Local files */

/* Returns the path of a whole local file (transfer full), or NULL if @uri may
 * name something else, or is invalid. */
static gchar *
dup_whole_path (const gchar *uri)
{
  if (*uri == '/')
    return g_strdup (uri);
  return g_str_has_prefix (uri, "file:///") && !strchr (uri, '#')
             ? g_filename_from_uri (uri, NULL, NULL)
             : NULL;
}

static GstBuffer *
read_file (GstSpdlTask *task, const gchar *path, const SpdlRange *range,
    gint64 deadline, GError **error)
{
  const SpdlDiskLimits limits = {
    gst_spdl_fetch_of_task (task)->used.http.max_size, deadline
  };

  return spdl_disk_read (path, range, gst_spdl_fetch_of_task (task)->files,
      &limits, gst_spdl_task_get_cancellable (task), error);
}

/* Reads @uri, which no server has.
 * @scheme: (nullable): NULL for a path */
static GstBuffer *
read_uri (GstSpdlTask *task, const gchar *uri, const gchar *scheme,
    const SpdlRange *range, gint64 deadline, GError **error)
{
  const SpdlDiskLimits limits = {
    gst_spdl_fetch_of_task (task)->used.http.max_size, deadline
  };
  g_autoptr (GError) reason = NULL;
  g_autofree gchar *path = NULL, *shown = NULL;

  if (!scheme) {
    shown = spdl_redact_text (uri);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "\"%s\" is neither a URI nor an absolute path", shown);
    return NULL;
  }
  if (g_str_equal (scheme, "arrow")) {
    g_set_error_literal (error, GST_RESOURCE_ERROR,
        GST_RESOURCE_ERROR_NOT_FOUND,
        "The value in this row of the table is null, so there is nothing to "
        "load: fill it in or remove the row");
    return NULL;
  }
  if (g_ascii_strcasecmp (scheme, "file") != 0)
    return spdl_gio_read (
        uri, range, &limits, gst_spdl_task_get_cancellable (task), error);
  path = g_filename_from_uri (uri, NULL, &reason);
  if (path)
    return read_file (task, path, range, deadline, error);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
      "\"%s\" is not a URI of a local file: %s", uri, reason->message);
  return NULL;
}

/* Servers */

/* A request to a server. Its result may have to be read elsewhere, or inflated,
 * which must not delay the client's threads. */
typedef struct {
  GstSpdlTask *task;
  SpdlRange range;
  SpdlPacking packing;
  gint64 deadline;
  gchar *elsewhere; /* nullable: URI that no server has, after a redirect */
  GstBuffer *content;
  SpdlHttpFunc func;
  gpointer user_data;
} Request;

static void
finish_request (gpointer data)
{
  Request *self = data;
  GError *error = NULL;

  if (self->elsewhere) {
    g_autofree gchar *scheme = g_uri_parse_scheme (self->elsewhere);

    self->content = read_uri (self->task, self->elsewhere, scheme, &self->range,
        self->deadline, &error);
  }
  if (self->content && self->packing.packed)
    self->content = spdl_inflate (self->content, &self->packing, &error);
  self->func (self->user_data, self->content, error);
  g_free (self->elsewhere);
  g_free (self);
}

/* May run on a thread of the client. */
static void
on_response (gpointer user_data, GstBuffer *content, GError *error)
{
  Request *self = user_data;

  if (error && error->domain == SPDL_HTTP_ELSEWHERE) {
    self->elsewhere = g_strdup (error->message);
    g_clear_error (&error);
  }
  self->content = content;
  if (self->elsewhere || (content && self->packing.packed)) {
    spdl_thread_pool_push (
        gst_spdl_fetch_of_task (self->task)->thread_pool, finish_request, self);
    return;
  }
  self->func (self->user_data, content, error);
  g_free (self);
}

static void
ask_server (const Request *request, const gchar *uri, gboolean foreign)
{
  GstSpdlFetch *self = gst_spdl_fetch_of_task (request->task);
  const SpdlHttpFetch fetch = { .uri = uri,
    .range = request->range,
    .foreign = foreign,
    .deadline = request->deadline,
    .cancellable = gst_spdl_task_get_cancellable (request->task),
    .func = on_response,
    .user_data = g_memdup2 (request, sizeof *request) };
  GError *error = NULL;
  SpdlHttp *http = gst_spdl_fetch_get_http (self, &error);

  if (http && self->cache)
    spdl_disk_cache_fetch (self->cache, http, &fetch);
  else if (http)
    spdl_http_fetch (http, &fetch);
  else
    on_response (fetch.user_data, NULL, error);
}

/* Any URI */

void
gst_spdl_fetch_uri (GstSpdlTask *task, gchar *uri, gboolean foreign,
    gint64 deadline, SpdlHttpFunc func, gpointer user_data)
{
  static const SpdlRange whole = { 0, G_MAXUINT64 };
  const guint64 max_size = gst_spdl_fetch_of_task (task)->used.http.max_size;
  g_autofree gchar *path = dup_whole_path (uri), *scheme = NULL;
  Request request = {
    .task = task, .deadline = deadline, .func = func, .user_data = user_data
  };
  GstBuffer *content, *item;
  GError *error = NULL;

  if (path) {
    content = read_file (task, path, &whole, deadline, &error);
    func (user_data, content, error);
    return;
  }
  item = gst_spdl_task_get_item (task);
  content = gst_spdl_buffer_dup_carried (item, uri);
  if (content) {
    if (!spdl_check_max_size (gst_buffer_get_size (content), max_size, &error))
      gst_clear_buffer (&content);
  } else if (!(error = gst_spdl_buffer_dup_carried_error (item)) &&
             spdl_packing_split (uri, &request.packing, &error) &&
             spdl_range_split (uri, &request.range, &error) &&
             spdl_check_max_size (request.packing.size, max_size, &error)) {
    if (spdl_store_is_remote (uri)) {
      ask_server (&request, uri, foreign);
      return;
    }
    if (spdl_uri_has_scheme (uri))
      scheme = g_uri_parse_scheme (uri);
    content = read_uri (task, uri, scheme, &request.range, deadline, &error);
    if (content && request.packing.packed)
      content = spdl_inflate (content, &request.packing, &error);
  }
  func (user_data, content, error);
}

static void
fetch_alone (GstSpdlTask *task, gint64 deadline)
{
  GError *error = NULL;
  g_autofree gchar *uri =
      gst_spdl_fetch_dup_uri (gst_spdl_task_get_item (task), &error);

  if (!uri)
    gst_spdl_fetch_finish (task, NULL, error);
  else if (gst_spdl_fetch_of_task (task)->names)
    gst_spdl_fetch_begin_parts (task, uri, deadline);
  else
    gst_spdl_fetch_uri (
        task, uri, FALSE, deadline, gst_spdl_fetch_finish, task);
}

/* Joined requests */

static void
fetch_again (gpointer data)
{
  g_autofree SpdlJoinWaiter *waiter = data;

  fetch_alone (waiter->task, waiter->deadline);
}

/* Finishes an item whose joined range was read. */
static void
finish_part (GstSpdlTask *task)
{
  const SpdlJoinPart *part =
      spdl_join_find_part (gst_spdl_task_get_item (task));
  const Request request = { .task = task,
    .packing = part->packing,
    .func = gst_spdl_fetch_finish,
    .user_data = task };

  on_response (g_memdup2 (&request, sizeof request),
      spdl_join_part_dup_content (part), NULL);
}

/* Finishes an item whose joined request has failed, or fetches it separately,
 * so that an error affects only its own item, in what is left of its time. This
 * happens on another thread, because this may be a thread of the client, and
 * the disk cache performs blocking I/O. */
static void
finish_or_fetch_again (const SpdlJoinWaiter *waiter, const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) ||
      g_get_monotonic_time () >= waiter->deadline)
    gst_spdl_fetch_finish (waiter->task, NULL, g_error_copy (error));
  else
    spdl_thread_pool_push (gst_spdl_fetch_of_task (waiter->task)->thread_pool,
        fetch_again, g_memdup2 (waiter, sizeof *waiter));
}

/* Handles the result of a joined request. */
static void
on_joined (gpointer user_data, GstBuffer *content, GError *error)
{
  SpdlJoin *join = user_data;
  g_autoptr (GArray) waiters = spdl_join_end (join, content);

  for (guint i = 0; i < waiters->len; i++) {
    const SpdlJoinWaiter *waiter = &g_array_index (waiters, SpdlJoinWaiter, i);

    if (content)
      finish_part (waiter->task);
    else
      finish_or_fetch_again (waiter, error);
  }
  g_clear_error (&error);
  spdl_join_unref (join);
}

static void
fetch_joined (GstSpdlTask *task, const SpdlJoinPart *part, gint64 deadline)
{
  SpdlJoin *join = part->join;
  g_autofree gchar *uri = NULL;

  switch (spdl_join_part_begin (part, (SpdlJoinWaiter){ task, deadline })) {
    case SPDL_JOIN_BEGIN:
      uri = spdl_join_dup_uri (join);
      gst_spdl_fetch_uri (
          task, uri, FALSE, deadline, on_joined, spdl_join_ref (join));
      break;
    case SPDL_JOIN_DONE:
      finish_part (task);
      break;
    case SPDL_JOIN_FAILED:
      fetch_alone (task, deadline);
      break;
    default:
      break;
  }
}

void
gst_spdl_fetch_process_async (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task)
{
  const GstSpdlFetch *self = gst_spdl_fetch_of_task (task);
  const SpdlJoinPart *part =
      self->used.coalesce > 0
          ? spdl_join_find_part (gst_spdl_task_get_item (task))
          : NULL;
  const gint64 deadline = spdl_http_settings_get_deadline (&self->used.http);

  if (part)
    fetch_joined (task, part, deadline);
  else
    fetch_alone (task, deadline);
}
