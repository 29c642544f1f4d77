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
#include "plugins/fetch/element/join.h"

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
read_here (GstSpdlTask *task, const gchar *uri, const gchar *scheme,
    const SpdlRange *range, gint64 deadline, GError **error)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (gst_spdl_task_get_stage (task));
  GCancellable *cancellable = gst_spdl_task_get_cancellable (task);
  const SpdlDiskLimits limits = { self->used.http.max_size, deadline };
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
  gint64 deadline;
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
  GstBuffer *content = read_here (journey->task, journey->uri, scheme,
      &journey->range, journey->deadline, &error);

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
ask_server (GstSpdlFetch *self, GstSpdlTask *task, SpdlHttpFetch *fetch)
{
  GError *error = NULL;
  SpdlHttp *http = gst_spdl_fetch_get_http (self, &error);

  fetch->cancellable = gst_spdl_task_get_cancellable (task);
  if (self->used.http.trusted_origins) {
    Journey *journey = g_new (Journey, 1);

    *journey = (Journey){ task, fetch->range, fetch->deadline, NULL,
      fetch->func, fetch->user_data };
    fetch->func = on_asked;
    fetch->user_data = journey;
  }
  if (http && self->cache)
    spdl_disk_cache_fetch (self->cache, http, fetch);
  else if (http)
    spdl_http_fetch (http, fetch);
  else
    fetch->func (fetch->user_data, NULL, error);
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
fetch_uri (GstSpdlTask *task, gchar *uri, gboolean foreign, gint64 deadline,
    SpdlHttpFunc func, gpointer user_data)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (gst_spdl_task_get_stage (task));
  SpdlHttpFetch fetch = { .uri = uri,
    .foreign = foreign,
    .deadline = deadline,
    .func = func,
    .user_data = user_data };
  g_autofree gchar *scheme = NULL;
  GstBuffer *content =
      gst_spdl_buffer_dup_carried (gst_spdl_task_get_item (task), uri);
  GError *error = NULL;
  SpdlPacking packing;

  if (content) {
    pass_on (self, content, func, user_data);
    return;
  }
  error = gst_spdl_buffer_dup_carried_error (gst_spdl_task_get_item (task));
  if (error || !parse_uri (self, uri, &fetch.range, &packing, &error)) {
    func (user_data, NULL, error);
    return;
  }
  if (spdl_uri_has_scheme (uri))
    scheme = g_uri_parse_scheme (uri);
  if (scheme && spdl_store_is_remote (uri)) {
    if (packing.packed) {
      fetch.user_data = unpacking_new (self, &packing, func, user_data);
      fetch.func = on_packed;
    }
    ask_server (self, task, &fetch);
    return;
  }
  content = read_here (task, uri, scheme, &fetch.range, deadline, &error);
  if (content && packing.packed)
    content = spdl_inflate (content, &packing, &error);
  func (user_data, content, error);
}

/* Copies what the item's source has announced. Free `base` with g_free(). */
static SpdlFetchSource
copy_source (GstSpdlFetch *self, GstSpdlTask *task)
{
  const GstSpdlItemMeta *item = gst_spdl_task_get_item_meta (task);
  const SpdlFetchSource *found;
  SpdlFetchSource source = { NULL, FALSE };

  GST_OBJECT_LOCK (self);
  found = item ? g_hash_table_lookup (
                     self->sources, GUINT_TO_POINTER (item->source))
               : NULL;
  if (found)
    source = (SpdlFetchSource){ g_strdup (found->base), found->foreign };
  GST_OBJECT_UNLOCK (self);
  return source;
}

static void
fetch_parts (
    GstSpdlFetch *self, GstSpdlTask *task, const gchar *uri, gint64 deadline)
{
  static const SpdlPartsFuncs funcs = { fetch_uri, finish_item };
  const SpdlFetchSource source = copy_source (self, task);
  g_autofree gchar *base = source.base;
  const SpdlPartsRules rules = { deadline, base,
    self->used.http.trusted_origins, source.foreign };
  g_autoptr (GstCaps) caps = NULL;

  GST_OBJECT_LOCK (self);
  if (self->caps)
    caps = gst_caps_ref (self->caps);
  GST_OBJECT_UNLOCK (self);
  spdl_parts_begin (task, uri, self->names, &rules, caps, &funcs);
}

static void
fetch_alone (GstSpdlTask *task, gint64 deadline)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (gst_spdl_task_get_stage (task));
  GError *error = NULL;
  g_autofree gchar *uri =
      spdl_coalesce_dup_uri (gst_spdl_task_get_item (task), &error);

  if (!uri)
    finish_item (task, NULL, error);
  else if (self->names)
    fetch_parts (self, task, uri, deadline);
  else
    fetch_uri (task, uri, FALSE, deadline, on_fetched, task);
}

/* Joined requests */

/* An item that waits for a joined request. */
typedef struct {
  GstSpdlTask *task;
  gint64 deadline;
} Waiting;

static Waiting *
waiting_new (GstSpdlTask *task, gint64 deadline)
{
  Waiting *waiting = g_new (Waiting, 1);

  *waiting = (Waiting){ task, deadline };
  return waiting;
}

static void
fetch_again (gpointer data)
{
  g_autofree Waiting *waiting = data;

  fetch_alone (waiting->task, waiting->deadline);
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

/* Finishes an item whose joined request has failed, or fetches it separately,
 * so that an error affects only its own item, in what is left of its time. This
 * happens on another thread, because this may be a thread of the client, and
 * the disk cache performs blocking I/O. */
static void
finish_or_fetch_again (
    GstSpdlFetch *self, Waiting *waiting, const GError *error)
{
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) &&
      g_get_monotonic_time () < waiting->deadline) {
    spdl_thread_pool_push (self->thread_pool, fetch_again, waiting);
    return;
  }
  finish_item (waiting->task, NULL, g_error_copy (error));
  g_free (waiting);
}

/* Handles the result of a joined request. */
static void
on_joined (gpointer user_data, GstBuffer *content, GError *error)
{
  SpdlJoin *join = user_data;
  g_autoptr (GArray) waiters = spdl_join_end (join, content);
  const Waiting *first = g_array_index (waiters, SpdlJoinWaiter, 0).caller;
  GstSpdlFetch *self = GST_SPDL_FETCH (gst_spdl_task_get_stage (first->task));

  for (guint i = 0; i < waiters->len; i++) {
    const SpdlJoinWaiter *waiter = &g_array_index (waiters, SpdlJoinWaiter, i);
    Waiting *waiting = waiter->caller;

    if (content) {
      finish_part (waiting->task, waiter->part);
      g_free (waiting);
    } else {
      finish_or_fetch_again (self, waiting, error);
    }
  }
  g_clear_error (&error);
  spdl_join_unref (join);
}

static void
fetch_joined (GstSpdlTask *task, const SpdlJoinPart *part, gint64 deadline)
{
  SpdlJoin *join = part->join;
  Waiting *waiting = waiting_new (task, deadline);
  g_autofree gchar *uri = NULL;

  switch (spdl_join_part_begin (part, waiting)) {
    case SPDL_JOIN_BEGIN:
      uri = spdl_join_dup_uri (join);
      fetch_uri (task, uri, FALSE, deadline, on_joined, spdl_join_ref (join));
      break;
    case SPDL_JOIN_DONE:
      finish_part (task, part);
      g_free (waiting);
      break;
    case SPDL_JOIN_FAILED:
      fetch_alone (task, deadline);
      g_free (waiting);
      break;
    default:
      break;
  }
}

void
gst_spdl_fetch_process_async (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (stage);
  const SpdlJoinPart *part =
      spdl_join_find_part (gst_spdl_task_get_item (task));
  const gint64 deadline = spdl_http_settings_get_deadline (&self->used.http);

  if (part)
    fetch_joined (task, part, deadline);
  else
    fetch_alone (task, deadline);
}
