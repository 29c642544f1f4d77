/* gst-spdl: spdlfetch: fetching of one item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/element/fetch-private.h"

#include "gst/spdl/common/carried.h"
#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/storeuri.h"
#include "plugins/fetch/diskcache/diskcache.h"
#include "plugins/fetch/element/coalesce.h"
#include "plugins/fetch/element/itemparts.h"
#include "plugins/fetch/http/httpfuncs.h"
#include "plugins/fetch/io/disk.h"
#include "plugins/fetch/range/join.h"

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

/* Finishes @task with @content or @error (both transfer full). */
static void
finish_item (GstSpdlTask *task, GstBuffer *content, GError *error)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (gst_spdl_task_get_stage (task));

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

static void
on_fetched (gpointer user_data, GstBuffer *content, GError *error)
{
  finish_item (user_data, content, error);
}

/* Reads @uri synchronously.
 * @scheme: (nullable): NULL for a path */
static GstBuffer *
read_here (GstSpdlFetch *self, GstSpdlTask *task, const gchar *uri,
    const gchar *scheme, const SpdlRange *range, GError **error)
{
  GCancellable *cancellable = gst_spdl_task_get_cancellable (task);
  const guint64 timeout = self->used.http.task_timeout;
  const SpdlDiskLimits limits = { self->used.http.max_size,
    timeout > 0 ? g_get_monotonic_time () + (gint64) (timeout / 1000)
                : G_MAXINT64 };
  g_autofree gchar *path = NULL;

  if (scheme && g_str_equal (scheme, "arrow")) {
    g_set_error_literal (error, GST_RESOURCE_ERROR,
        GST_RESOURCE_ERROR_NOT_FOUND,
        "The value in this row of the table is null, so there is nothing to "
        "load: fill it in or remove the row");
    return NULL;
  } else if (scheme && g_ascii_strcasecmp (scheme, "file") != 0) {
    return spdl_gio_read (uri, range, &limits, cancellable, error);
  } else if (scheme || g_path_is_absolute (uri)) {
    g_autoptr (GError) reason = NULL;

    path = scheme ? g_filename_from_uri (uri, NULL, &reason) : g_strdup (uri);
    if (path)
      return spdl_disk_read (path, range, &limits, cancellable, error);
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "\"%s\" is not a URI of a local file: %s", uri, reason->message);
  } else {
    g_autofree gchar *shown = spdl_redact_text (uri);

    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "\"%s\" is neither a URI nor an absolute path", shown);
  }
  return NULL;
}

/* HTTP servers */

/* A request that may be redirected to another scheme. */
typedef struct {
  GstSpdlTask *task;
  SpdlRange range;
  gchar *uri; /* target of the redirect */
  SpdlHttpFunc func;
  gpointer user_data;
} Journey;

static void
end_journey (gpointer data)
{
  Journey *journey = data;
  g_autofree gchar *scheme = g_uri_parse_scheme (journey->uri);
  GError *error = NULL;
  GstBuffer *content =
      read_here (GST_SPDL_FETCH (gst_spdl_task_get_stage (journey->task)),
          journey->task, journey->uri, scheme, &journey->range, &error);

  journey->func (journey->user_data, content, error);
  g_free (journey->uri);
  g_free (journey);
}

/* Runs on a thread of the client, which must not block on disk I/O. */
static void
on_asked (gpointer user_data, GstBuffer *content, GError *error)
{
  Journey *journey = user_data;
  GstSpdlFetch *self = GST_SPDL_FETCH (gst_spdl_task_get_stage (journey->task));

  if (error && error->domain == SPDL_HTTP_ELSEWHERE) {
    journey->uri = g_strdup (error->message);
    g_error_free (error);
    spdl_thread_pool_push (self->thread_pool, end_journey, journey);
    return;
  }
  journey->func (journey->user_data, content, error);
  g_free (journey);
}

static void
ask_server (GstSpdlFetch *self, GstSpdlTask *task, const gchar *uri,
    const SpdlRange *range, gboolean foreign, SpdlHttpFunc func,
    gpointer user_data)
{
  GError *error = NULL;
  SpdlHttp *http = gst_spdl_fetch_get_http (self, &error);
  GCancellable *cancellable = gst_spdl_task_get_cancellable (task);

  if (self->used.http.trusted_origins) {
    Journey *journey = g_new (Journey, 1);

    *journey = (Journey){ task, *range, NULL, func, user_data };
    func = on_asked;
    user_data = journey;
  }
  if (http && self->cache)
    spdl_disk_cache_fetch (
        self->cache, http, uri, range, foreign, cancellable, func, user_data);
  else if (http)
    spdl_http_fetch (http, uri, range, foreign, cancellable, func, user_data);
  else
    func (user_data, NULL, error);
}

/* Finishes with content that the source has already read. Takes ownership of
 * @content. */
static void
pass_on (GstSpdlFetch *self, GstBuffer *content, SpdlHttpFunc func,
    gpointer user_data)
{
  GError *error = NULL;

  if (!spdl_check_max_size (
          gst_buffer_get_size (content), self->used.http.max_size, &error))
    gst_clear_buffer (&content);
  func (user_data, content, error);
}

/* Decompression */

/* State of a fetch whose content is deflated. */
typedef struct {
  GstSpdlFetch *self;
  SpdlPacking packing;
  GstBuffer *content;
  SpdlHttpFunc func;
  gpointer user_data;
} Unpacking;

static Unpacking *
unpacking_new (GstSpdlFetch *self, const SpdlPacking *packing,
    SpdlHttpFunc func, gpointer user_data)
{
  Unpacking *unpacking = g_new (Unpacking, 1);

  *unpacking = (Unpacking){ self, *packing, NULL, func, user_data };
  return unpacking;
}

static void
run_unpacking (gpointer data)
{
  g_autofree Unpacking *unpacking = data;
  GError *error = NULL;
  GstBuffer *content =
      spdl_inflate (unpacking->content, &unpacking->packing, &error);

  unpacking->func (unpacking->user_data, content, error);
}

/* May run on a thread of the client, which must not be delayed by
 * decompression. */
static void
on_packed (gpointer user_data, GstBuffer *content, GError *error)
{
  Unpacking *unpacking = user_data;

  if (content) {
    unpacking->content = content;
    spdl_thread_pool_push (
        unpacking->self->thread_pool, run_unpacking, unpacking);
    return;
  }
  unpacking->func (unpacking->user_data, NULL, error);
  g_free (unpacking);
}

/* Splits byte range and compression parameters off @uri, in place. */
static gboolean
parse_uri (GstSpdlFetch *self, gchar *uri, SpdlRange *range,
    SpdlPacking *packing, GError **error)
{
  return spdl_packing_split (uri, packing, error) &&
         spdl_range_split (uri, range, error) &&
         spdl_check_max_size (packing->size, self->used.http.max_size, error);
}

/* Starts to fetch @uri, which is modified. @func is called when the fetch is
 * done. */
static void
fetch_uri (GstSpdlTask *task, gchar *uri, gboolean foreign, SpdlHttpFunc func,
    gpointer user_data)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (gst_spdl_task_get_stage (task));
  g_autofree gchar *scheme = NULL;
  GstBuffer *content =
      gst_spdl_buffer_dup_carried (gst_spdl_task_get_item (task), uri);
  GError *error = NULL;
  SpdlPacking packing;
  SpdlRange range;

  if (content) {
    pass_on (self, content, func, user_data);
    return;
  }
  error = gst_spdl_buffer_dup_carried_error (gst_spdl_task_get_item (task));
  if (error || !parse_uri (self, uri, &range, &packing, &error)) {
    func (user_data, NULL, error);
    return;
  }
  if (!g_path_is_absolute (uri))
    scheme = g_uri_parse_scheme (uri);
  if (scheme && spdl_store_is_remote (uri)) {
    if (packing.packed) {
      user_data = unpacking_new (self, &packing, func, user_data);
      func = on_packed;
    }
    ask_server (self, task, uri, &range, foreign, func, user_data);
    return;
  }
  content = read_here (self, task, uri, scheme, &range, &error);
  if (content && packing.packed)
    content = spdl_inflate (content, &packing, &error);
  func (user_data, content, error);
}

/* Returns the base folder of relative paths for the item's source.
 * Returns: (transfer full) (nullable) */
static gchar *
dup_base (GstSpdlFetch *self, GstSpdlTask *task)
{
  const GstSpdlItemMeta *item = gst_spdl_task_get_item_meta (task);
  gchar *base = NULL;

  GST_OBJECT_LOCK (self);
  if (item)
    base = g_strdup (
        g_hash_table_lookup (self->bases, GUINT_TO_POINTER (item->source)));
  GST_OBJECT_UNLOCK (self);
  return base;
}

static void
fetch_parts (GstSpdlFetch *self, GstSpdlTask *task, const gchar *uri)
{
  static const SpdlPartsFuncs funcs = { fetch_uri, finish_item };
  g_autofree gchar *base = dup_base (self, task);
  const SpdlPartsRules rules = { base, self->used.http.trusted_origins };
  g_autoptr (GstCaps) caps = NULL;

  GST_OBJECT_LOCK (self);
  if (self->caps)
    caps = gst_caps_ref (self->caps);
  GST_OBJECT_UNLOCK (self);
  spdl_parts_begin (task, uri, self->names, &rules, caps, &funcs);
}

static void
fetch_alone (GstSpdlTask *task)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (gst_spdl_task_get_stage (task));
  g_autofree gchar *uri = spdl_coalesce_dup_uri (gst_spdl_task_get_item (task));

  if (self->names)
    fetch_parts (self, task, uri);
  else
    fetch_uri (task, uri, FALSE, on_fetched, task);
}

static void
fetch_again (gpointer task)
{
  fetch_alone (task);
}

static void
finish_part (GstSpdlTask *task, const SpdlJoinPart *part)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (gst_spdl_task_get_stage (task));
  GstBuffer *content = spdl_join_part_dup_content (part);

  if (part->packing.packed)
    on_packed (
        unpacking_new (self, &part->packing, on_fetched, task), content, NULL);
  else
    finish_item (task, content, NULL);
}

/* Handles the result of a joined request. If it failed, each item is fetched
 * separately, so that an error affects only its own item. This happens on
 * another thread, because this may be a thread of the client, and the disk
 * cache performs blocking I/O. */
static void
on_joined (gpointer user_data, GstBuffer *content, GError *error)
{
  SpdlJoin *join = user_data;
  g_autoptr (GArray) waiters = spdl_join_end (join, content);
  GstSpdlFetch *self = GST_SPDL_FETCH (gst_spdl_task_get_stage (
      g_array_index (waiters, SpdlJoinWaiter, 0).caller));

  for (guint i = 0; i < waiters->len; i++) {
    const SpdlJoinWaiter *waiter = &g_array_index (waiters, SpdlJoinWaiter, i);

    if (content)
      finish_part (waiter->caller, waiter->part);
    else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
      finish_item (waiter->caller, NULL, g_error_copy (error));
    else
      spdl_thread_pool_push (self->thread_pool, fetch_again, waiter->caller);
  }
  g_clear_error (&error);
  spdl_join_unref (join);
}

static void
fetch_joined (GstSpdlTask *task, const SpdlJoinPart *part)
{
  SpdlJoin *join = part->join;
  g_autofree gchar *uri = NULL;

  switch (spdl_join_part_begin (part, task)) {
    case SPDL_JOIN_BEGIN:
      uri = spdl_join_dup_uri (join);
      fetch_uri (task, uri, FALSE, on_joined, spdl_join_ref (join));
      break;
    case SPDL_JOIN_DONE:
      finish_part (task, part);
      break;
    case SPDL_JOIN_FAILED:
      fetch_alone (task);
      break;
    default:
      break;
  }
}

void
gst_spdl_fetch_process_async (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task)
{
  const SpdlJoinPart *part =
      spdl_join_find_part (gst_spdl_task_get_item (task));

  if (part)
    fetch_joined (task, part);
  else
    fetch_alone (task);
}
