/* gst-spdl: element spdlfetch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlfetch
 * @title: spdlfetch
 * @short_description: reads files, URLs, objects in stores, and byte ranges
 *
 * Reads the content of the URI in each buffer, `concurrency` items at a time,
 * also within groups. It accepts `file://` URIs, absolute paths, `http://`,
 * `https://`, object stores, and other URIs that GIO supports on the machine. A
 * URI may name a byte range, `file:///shard.tar#bytes=1536-90111`, with the
 * first and last byte as in HTTP. A buffer without a scheme is a path, byte for
 * byte, except for a newline at the end if no source has named the item. An
 * item that cannot be read completely fails and is reported by name.
 *
 * ## HTTP requests
 * Requests are asynchronous and hold no threads; connections are kept alive.
 * Certificates are verified. A request that fails temporarily (a broken or
 * stalled connection, status 408, 429 or 5xx) is repeated up to `retries`
 * times. The delay starts at a quarter to half a second, doubles with each
 * attempt, and is at least the server's Retry-After. An interrupted body is
 * resumed if the server supports that.
 *
 * Up to 20 redirects are followed. `extra-headers` and the credentials of a URI
 * (`http://user:password@host`) are sent only to the same scheme, host and
 * port, and to servers in `trusted-origins`. A redirect to a file or to another
 * scheme than `http` and `https` is refused, unless `trusted-origins` names
 * that scheme: `trusted-origins="https://cdn.example.com,file:"`, or the folder
 * of the file: `file:/data`. Messages and logs show `***` in place of the
 * credentials and signatures of a URI.
 *
 * With `hedge=0.02`, a request whose response has not begun after the time in
 * which 99 % of the recent ones have is sent a second time. The response that
 * begins first counts, and the other request is cancelled. At most 2 % more
 * requests are sent, and none for a minute after a server has answered with the
 * status 429 or 503. The fields `hedged-requests` and `hedges-won` of
 * `stage-stats` count them.
 *
 * ## Object stores
 * `s3://bucket/key`, `gs://bucket/key` and
 * `hf://datasets/owner/name@revision/path` are read through the same HTTP
 * client. A key is written without escapes. Credentials, endpoint and region
 * are those that the AWS, Google Cloud and Hugging Face tools find; the `s3-`
 * properties override them. Each attempt is signed when it is sent, and
 * credentials are renewed before they expire. `anonymous` reads public buckets.
 *
 * ## Limits
 * An item of more than `max-size` bytes fails: before memory is allocated if
 * the size is known, and otherwise when the limit is exceeded. The default is a
 * quarter of the memory that the process may use, which is that of the machine
 * or of the tightest limit of its cgroups.
 *
 * `timeout` limits the time without a byte, and `task-timeout` the total time
 * for an item with all its attempts. A read from a local disk is not
 * interrupted.
 *
 * ## Joined requests
 * With `coalesce`, items of a group that are byte ranges of the same file, at
 * most that number of bytes apart, are read by one request; the results share
 * its memory. Each item counts toward `concurrency`. If a joined request fails,
 * its items are read one by one. A joined request never exceeds `max-size`.
 * Items with `parts` are read one by one.
 *
 * ## Disk cache
 * With `cache-dir`, items and ranges from servers are stored in that folder and
 * shared with other processes. Above `cache-size` bytes, the least recently
 * used ones are removed. The element validates an item with the server by its
 * ETag; for a current item, the server sends no body. `cache-validate=none`
 * skips the request for data that never changes. A folder that other users can
 * write is an error, unless `cache-shared` is set. An item that cannot be
 * stored is not an error. The fields `cache-hits`, `cache-misses`,
 * `cache-bytes` and `cache-errors` of `stage-stats` show the state of the
 * cache.
 *
 * ## Output
 * The caps are `application/octet-stream`, or those that downstream requires;
 * `caps` overrides them.
 *
 * `parts` lists fields of the item's `extra` that hold paths or URIs, such as
 * columns of a `.csv` list. The element reads these too and sends a sample of
 * several media, see #GstSpdlPartsMeta. Values from shards and tables may name
 * only their own file or server, and other servers, which get no credentials.
 * Local files, buckets and other schemes need `trusted-origins`.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     ! spdlfetch concurrency=4 ! fakesink
 * ]|
 *
 * Samples of a shard, 16 neighbours per request:
 * |[
 * gst-launch-1.0 spdlsrc location=train-0000.tar ! spdlaggregate size=16
 *     ! spdlfetch concurrency=16 coalesce=65536 ! fakesink
 * ]|
 *
 * Images and masks from a list that starts with `uri,mask`:
 * |[
 * gst-launch-1.0 spdlsrc location=pairs.csv ! spdlfetch parts=mask
 *     ! spdldecode part=data width=224 height=224
 *     ! spdldecode part=mask width=224 height=224 format=GRAY8
 *     interpolation=nearest ! spdlbatch batch-size=8 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <string.h>

#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/engine/cgroup.h"
#include "gst/spdl/stage/failure.h"
#include "plugins/fetch/diskcache/diskcache.h"
#include "plugins/fetch/element/coalesce.h"
#include "plugins/fetch/element/fetch-private.h"
#include "plugins/fetch/fetch.h"
#include "plugins/fetch/http/origin.h"

GST_DEBUG_CATEGORY (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("text/uri-list"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* Number of threads for blocking work of the client's threads. */
#define MAX_THREADS 8
/* Maximum number of threads that send requests and receive responses. */
#define MAX_HTTP_THREADS 4

#define DEFAULT_CACHE_SIZE ((guint64) 1 << 36) /* 64 GiB */

SPDL_DEFINE_ENUM_TYPE (GstSpdlFetchCacheValidate, cache_validate,
    { SPDL_CACHE_VALIDATE_ETAG, "Validate with the server by ETag", "etag" },
    { SPDL_CACHE_VALIDATE_DATE,
        "Validate with the server by ETag or, without one, by Last-Modified",
        "date" },
    { SPDL_CACHE_VALIDATE_NONE, "No validation: assume that entries stay valid",
        "none" })

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_UINT (SpdlFetchSettings, http.timeout, READY, "timeout",
      "Timeout",
      "Seconds without data after which a request fails (0 = no limit)", 0,
      3600, 30),
  SPDL_PROPERTY_UINT64 (SpdlFetchSettings, http.task_timeout, READY,
      "task-timeout", "Task timeout",
      "Timeout in nanoseconds for an item, including all retries (0 = no "
      "limit)",
      0, G_MAXINT64, 0),
  SPDL_PROPERTY_UINT (SpdlFetchSettings, http.retries, READY, "retries",
      "Retries", "Number of times to retry a request after a temporary failure",
      0, 1000, 3),
  SPDL_PROPERTY_DOUBLE (SpdlFetchSettings, http.hedge, READY, "hedge", "Hedge",
      "Maximum share of additional requests, for items whose response begins "
      "later than nearly all others (0 = none; 0.02 = 2 %)",
      0, 0.5, 0),
  SPDL_PROPERTY_UINT64 (SpdlFetchSettings, http.max_size, READY, "max-size",
      "Maximum size",
      "Maximum bytes of an item; a larger one fails, if possible before it is "
      "read (0 = a quarter of the memory that the process may use, -1 = no "
      "limit)",
      0, G_MAXUINT64, 0),
  SPDL_PROPERTY_STRING (SpdlFetchSettings, http.user_agent, READY, "user-agent",
      "User agent", "User-Agent header of requests",
      "gst-spdl/" PACKAGE_VERSION),
  SPDL_PROPERTY_STRUCTURE (SpdlFetchSettings, http.extra_headers, READY,
      "extra-headers", "Extra headers",
      "HTTP headers of each request: a field per header (an array or a list "
      "repeats the header)"),
  SPDL_PROPERTY_STRING (SpdlFetchSettings, http.tls_ca_file, READY,
      "tls-ca-file", "TLS CA file",
      "PEM file of the certificate authorities to trust (unset = the system's)",
      NULL),
  SPDL_PROPERTY_STRING (SpdlFetchSettings, http.trusted_origins, READY,
      "trusted-origins", "Trusted origins",
      "Servers that get extra-headers and credentials when another server "
      "redirects to them, and schemes and folders that servers, shards and "
      "tables may refer to (\"https://cdn.example.com,file:/data\")",
      NULL),
  SPDL_PROPERTY_STRING (SpdlFetchSettings, parts, READY, "parts", "Parts",
      "Fields of an item's extra, such as columns of a list, that hold the "
      "URIs of the sample's other media, which are fetched as well "
      "(\"mask,depth\")",
      NULL),
  SPDL_PROPERTY_UINT64 (SpdlFetchSettings, coalesce, READY, "coalesce",
      "Coalesce",
      "In a group, read byte ranges of one file together if at most this many "
      "bytes lie between them (0 = separately)",
      0, G_MAXINT64, 0),
  SPDL_PROPERTY_STRING (SpdlFetchSettings, cache.folder, READY, "cache-dir",
      "Cache folder",
      "Folder in which to cache items and byte ranges from servers and "
      "object stores; "
      "processes may share it (unset = no cache)",
      NULL),
  SPDL_PROPERTY_UINT64 (SpdlFetchSettings, cache.max_size, READY, "cache-size",
      "Cache size",
      "Maximum bytes in cache-dir; the least recently used files are removed "
      "(0 = no limit)",
      0, G_MAXINT64, DEFAULT_CACHE_SIZE),
  SPDL_PROPERTY_BOOLEAN (SpdlFetchSettings, cache.shared, READY, "cache-shared",
      "Cache shared",
      "Use cache-dir even if other users, who must all be trusted, can write "
      "to it",
      FALSE),
  SPDL_PROPERTY_ENUM (SpdlFetchSettings, cache.validate, READY,
      "cache-validate", "Cache validation",
      "How to check that an entry of cache-dir is current",
      cache_validate_get_type, SPDL_CACHE_VALIDATE_ETAG),
  SPDL_STORE_PROPERTIES (SpdlFetchSettings, http.store), SPDL_PROPERTY_END
};

enum {
  PROP_0,
  PROP_CAPS,
  PROP_SETTINGS, /* the first property of the table */
};

G_DEFINE_FINAL_TYPE (GstSpdlFetch, gst_spdl_fetch, GST_TYPE_SPDL_STAGE)
GST_ELEMENT_REGISTER_DEFINE (
    spdlfetch, "spdlfetch", GST_RANK_NONE, GST_TYPE_SPDL_FETCH)

/* Caps negotiation */

#define OCTET_STREAM "application/octet-stream"

/* Lists only media types: complete caps of raw video would be too long. */
static gchar *
list_types (GstCaps *caps)
{
  GString *types = g_string_new (NULL);

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const gchar *name =
        gst_structure_get_name (gst_caps_get_structure (caps, i));

    if (!strstr (types->str, name))
      g_string_append_printf (types, "%s%s", i > 0 ? ", " : "", name);
  }
  if (gst_caps_is_any (caps))
    g_string_append (types, "anything");
  return g_string_free (types, FALSE);
}

/* Returns caps that downstream accepts: bytes, or its only fixed caps. */
static GstCaps *
choose_caps (GstSpdlFetch *self, GError **error)
{
  GstPad *srcpad = gst_spdl_stage_get_src_pad (GST_SPDL_STAGE (self));
  g_autoptr (GstCaps) bytes = gst_caps_new_empty_simple (OCTET_STREAM);
  g_autoptr (GstCaps) allowed = gst_pad_peer_query_caps (srcpad, NULL);

  if (gst_caps_can_intersect (allowed, bytes))
    return g_steal_pointer (&bytes);
  allowed = gst_caps_simplify (g_steal_pointer (&allowed));
  if (gst_caps_is_fixed (allowed)) {
    if (!gst_structure_has_name (
            gst_caps_get_structure (allowed, 0), GST_SPDL_SAMPLE_CAPS))
      return g_steal_pointer (&allowed);
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND,
        "Downstream needs samples of several media: name the fields of the "
        "other "
        "parts in the property parts");
    return NULL;
  }

  g_autofree gchar *types = list_types (allowed);
  g_autoptr (GstCaps) decoded =
      gst_caps_from_string ("video/x-raw; audio/x-raw");

  if (!gst_caps_is_any (allowed) && gst_caps_can_intersect (allowed, decoded)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND,
        "Downstream needs decoded items (%s), but files are encoded: write \"! "
        "spdldecode !\" after spdlfetch, or set the property caps if the files "
        "hold such data",
        types);
    return NULL;
  }
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND,
      "The type of the items cannot be determined from what downstream accepts "
      "(%s): set the property caps",
      types);
  return NULL;
}

/* Returns the caps of samples. With `parts`, the property `caps` describes the
 * first part. */
static GstCaps *
make_sample_caps (GstSpdlFetch *self, GError **error)
{
  GstPad *srcpad = gst_spdl_stage_get_src_pad (GST_SPDL_STAGE (self));
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple (GST_SPDL_SAMPLE_CAPS);

  if (gst_pad_peer_query_accept_caps (srcpad, caps))
    return g_steal_pointer (&caps);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND,
      "parts is set, but downstream does not accept samples of several media "
      "(" GST_SPDL_SAMPLE_CAPS
      "): link spdldecode or spdlpipe with part=NAME, a function, or "
      "spdlbatch");
  return NULL;
}

static gboolean
gst_spdl_fetch_negotiate (GstSpdlStage *stage, GstCaps *caps, GError **error)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (stage);
  GstCaps *chosen = NULL;

  GST_OBJECT_LOCK (self);
  if (!self->names && self->caps)
    chosen = gst_caps_ref (self->caps);
  GST_OBJECT_UNLOCK (self);
  if (!chosen)
    chosen = self->names ? make_sample_caps (self, error)
                         : choose_caps (self, error);
  if (!chosen)
    return FALSE;
  GST_OBJECT_LOCK (self);
  gst_caps_take (&self->src_caps, chosen);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
on_cache_warning (gpointer user_data, const gchar *text)
{
  gst_spdl_post_warning (
      user_data, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE, text);
}

static gboolean
uses_cache (GstSpdlFetch *self)
{
  return self->used.cache.folder && *self->used.cache.folder;
}

/* Opens the disk cache if cache-dir is set. Returns FALSE with @error set on
 * failure. */
static gboolean
open_cache (GstSpdlFetch *self, GError **error)
{
  g_clear_pointer (&self->cache, spdl_disk_cache_free);
  if (uses_cache (self))
    self->cache = spdl_disk_cache_new (
        &self->used.cache, &self->used.http, on_cache_warning, self, error);
  return !uses_cache (self) || self->cache;
}

/* Statistics may be read at the same time. */
static void
clear_counts (GstSpdlFetch *self)
{
  for (guint i = 0; i < SPDL_N_COUNTS; i++)
    __atomic_store_n (&self->counts.numbers[i], 0, __ATOMIC_RELAXED);
  __atomic_store_n (&self->counts.rate_limit, NULL, __ATOMIC_RELAXED);
  GST_OBJECT_LOCK (self);
  memset (self->counts_before, 0, sizeof self->counts_before);
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_spdl_fetch_start (GstSpdlStage *stage, GError **error)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (stage);
  g_autofree gchar *pool = NULL;

  /* A previous start that failed may have left one. */
  g_clear_pointer (&self->http, spdl_http_free);
  GST_OBJECT_LOCK (self);
  gst_spdl_property_table_clear (properties, &self->used);
  self->used = self->settings;
  gst_spdl_property_table_own (properties, &self->used);
  g_hash_table_remove_all (self->sources);
  self->used.http.counts = &self->counts;
  /* The rules of second requests hold within a thread. */
  self->used.http.max_threads =
      self->used.http.hedge > 0
          ? 1
          : MIN (MAX_HTTP_THREADS, gst_spdl_get_num_cores ());
  GST_OBJECT_UNLOCK (self);
  clear_counts (self);
  if (self->used.http.max_size == 0)
    self->used.http.max_size = spdl_memory_get_share ();
  g_clear_pointer (&self->names, g_strfreev);
  if (!self->thread_pool)
    self->thread_pool = spdl_thread_pool_new ("spdl-fetch", MAX_THREADS);
  if (!self->files)
    self->files = spdl_open_files_new ();
  if (!spdl_origin_check_trusted (self->used.http.trusted_origins, TRUE, error))
    return FALSE;
  if (self->used.parts &&
      !(self->names = gst_spdl_fetch_parse_parts (self->used.parts, error)))
    return FALSE;
  g_object_get (stage, "thread-pool", &pool, NULL);
  if (!pool) /* an invalid CA file or cache folder is an error at start */
    return open_cache (self, error) &&
           (!self->used.http.tls_ca_file ||
               gst_spdl_fetch_get_http (self, error));
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "thread-pool cannot be set on spdlfetch, which waits for disks and "
      "servers instead of computing: leave it unset");
  return FALSE;
}

static void
gst_spdl_fetch_stop (GstSpdlStage *stage)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (stage);

  /* Fetches are finished; the threads may still be returning from them. */
  g_clear_pointer (&self->thread_pool, spdl_thread_pool_free);
  g_clear_pointer (&self->http, spdl_http_free);
  g_clear_pointer (&self->cache, spdl_disk_cache_free);
  g_clear_pointer (&self->files, spdl_open_files_free);
}

static guint64
gst_spdl_fetch_get_cpu_time (GstSpdlStage *stage)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (stage);
  SpdlHttp *http = g_atomic_pointer_get (&self->http);
  const guint64 http_time = http ? spdl_http_get_cpu_time (http) : 0;

  __atomic_store_n (
      &self->counts.numbers[SPDL_COUNT_HTTP_TIME], http_time, __ATOMIC_RELAXED);
  return http_time +
         (self->thread_pool ? spdl_thread_pool_get_cpu_time (self->thread_pool)
                            : 0) +
         (self->cache ? spdl_disk_cache_get_cpu_time (self->cache) : 0);
}

/* Reports the CPU time that was read for that of the stage, because the client
 * may be gone. */
static void
gst_spdl_fetch_add_stats (
    GstSpdlStage *stage, gboolean interval, GstStructure *stats)
{
  static const gchar *const names[] = { "cache-hits", "cache-misses",
    "cache-bytes", "cache-errors", "http-cpu-time", "rate-limited",
    "rate-limit-time", "hedged-requests", "hedges-won" };
  GstSpdlFetch *self = GST_SPDL_FETCH (stage);
  const gchar *limit =
      __atomic_load_n (&self->counts.rate_limit, __ATOMIC_RELAXED);
  guint64 now[SPDL_N_COUNTS], before[SPDL_N_COUNTS] = { 0 }, n_threads;
  gboolean has_cache, has_hedges;

  G_STATIC_ASSERT (G_N_ELEMENTS (names) == SPDL_N_COUNTS);
  for (guint i = 0; i < SPDL_N_COUNTS; i++)
    now[i] = __atomic_load_n (&self->counts.numbers[i], __ATOMIC_RELAXED);
  GST_OBJECT_LOCK (self);
  has_cache = uses_cache (self);
  has_hedges = self->used.http.hedge > 0;
  n_threads = self->used.http.max_threads;
  if (interval) {
    memcpy (before, self->counts_before, sizeof before);
    memcpy (self->counts_before, now, sizeof now);
  }
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; i < SPDL_N_COUNTS; i++)
    if (i <= SPDL_COUNT_CACHE_ERRORS ? has_cache
        : i == SPDL_COUNT_HTTP_TIME  ? now[i] > 0
        : i <= SPDL_COUNT_RATE_TIME  ? now[SPDL_COUNT_RATE_LIMITED] > 0
                                     : has_hedges)
      gst_structure_set (
          stats, names[i], G_TYPE_UINT64, now[i] - before[i], NULL);
  if (now[SPDL_COUNT_HTTP_TIME] > 0)
    gst_structure_set (stats, "http-threads", G_TYPE_UINT64, n_threads, NULL);
  if (limit)
    gst_structure_set (stats, "rate-limit", G_TYPE_STRING, limit, NULL);
}

/* Coalesces the ranges of a group before the stage splits it into items. */
static GstFlowReturn
gst_spdl_fetch_chain_group (
    GstPad *pad, GstObject *parent, GstBufferList *group)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (parent);

  if (self->used.coalesce > 0 && !self->names)
    group = spdl_coalesce_group (
        group, self->used.coalesce, self->used.http.max_size);
  return self->stage_chain (pad, parent, group);
}

static void
free_source (gpointer data)
{
  SpdlFetchSource *source = data;

  g_free (source->base);
  g_free (source);
}

/* Keeps what a source announces about the fields of its items. It replaces what
 * an earlier source announced, since a shard must not get the base folder of a
 * list, which would make its fields trusted. */
static void
keep_source (GstSpdlFetch *self, guint32 number, GstEvent *event)
{
  const gchar *uri = gst_spdl_event_get_base (event);
  SpdlFetchSource *source = g_new0 (SpdlFetchSource, 1);

  source->base = uri ? g_filename_from_uri (uri, NULL, NULL) : NULL;
  gst_structure_get_boolean (
      gst_event_get_structure (event), "foreign", &source->foreign);
  GST_OBJECT_LOCK (self);
  g_hash_table_insert (self->sources, GUINT_TO_POINTER (number), source);
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_spdl_fetch_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (parent);
  guint32 source;

  if (gst_spdl_event_parse_source (event, &source, NULL, NULL))
    keep_source (self, source, event);
  return self->stage_event (pad, parent, event);
}

static void
gst_spdl_fetch_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (object);

  if (id == PROP_CAPS) {
    GST_OBJECT_LOCK (self);
    gst_caps_replace (&self->caps, (GstCaps *) gst_value_get_caps (value));
    GST_OBJECT_UNLOCK (self);
    gst_pad_mark_reconfigure (
        gst_spdl_stage_get_src_pad (GST_SPDL_STAGE (self)));
    return;
  }
  gst_spdl_property_table_set (
      properties, &self->settings, id - PROP_SETTINGS, value, object, pspec);
}

static void
gst_spdl_fetch_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (object);

  if (id == PROP_CAPS) {
    GST_OBJECT_LOCK (self);
    gst_value_set_caps (value, self->caps);
    GST_OBJECT_UNLOCK (self);
    return;
  }
  gst_spdl_property_table_get (
      properties, &self->settings, id - PROP_SETTINGS, value, object, pspec);
}

static void
gst_spdl_fetch_finalize (GObject *object)
{
  GstSpdlFetch *self = GST_SPDL_FETCH (object);

  g_clear_pointer (&self->thread_pool, spdl_thread_pool_free);
  g_clear_pointer (&self->http, spdl_http_free);
  g_clear_pointer (&self->cache, spdl_disk_cache_free);
  g_clear_pointer (&self->files, spdl_open_files_free);
  gst_clear_caps (&self->caps);
  gst_clear_caps (&self->src_caps);
  gst_spdl_property_table_clear (properties, &self->settings);
  gst_spdl_property_table_clear (properties, &self->used);
  g_strfreev (self->names);
  g_hash_table_unref (self->sources);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (gst_spdl_fetch_parent_class)->finalize (object);
}

static void
gst_spdl_fetch_class_init (GstSpdlFetchClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlStageClass *stage_class = GST_SPDL_STAGE_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spdl_fetch_debug, "spdlfetch", 0, "Fetching");
  object_class->set_property = gst_spdl_fetch_set_property;
  object_class->get_property = gst_spdl_fetch_get_property;
  object_class->finalize = gst_spdl_fetch_finalize;
  g_object_class_install_property (object_class, PROP_CAPS,
      g_param_spec_boxed ("caps", "Caps",
          "Caps of the items (unset = bytes, or what downstream requests)",
          GST_TYPE_CAPS,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_PLAYING));
  gst_spdl_property_table_install (properties, object_class, PROP_SETTINGS);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item fetcher",
      "Filter/Network", "Reads files and URLs in parallel",
      "the gst-spdl developers");
  stage_class->start = gst_spdl_fetch_start;
  stage_class->negotiate = gst_spdl_fetch_negotiate;
  stage_class->stop = gst_spdl_fetch_stop;
  stage_class->process_async = gst_spdl_fetch_process_async;
  stage_class->get_cpu_time = gst_spdl_fetch_get_cpu_time;
  stage_class->add_stats = gst_spdl_fetch_add_stats;
}

static void
gst_spdl_fetch_init (GstSpdlFetch *self)
{
  GstPad *sinkpad = gst_spdl_stage_get_sink_pad (GST_SPDL_STAGE (self));

  gst_spdl_property_table_init (properties, &self->settings);
  self->sources = g_hash_table_new_full (NULL, NULL, NULL, free_source);
  g_mutex_init (&self->lock);
  self->stage_event = GST_PAD_EVENTFUNC (sinkpad);
  gst_pad_set_event_function (sinkpad, gst_spdl_fetch_sink_event);
  self->stage_chain = GST_PAD_CHAINLISTFUNC (sinkpad);
  gst_pad_set_chain_list_function (sinkpad, gst_spdl_fetch_chain_group);
}
