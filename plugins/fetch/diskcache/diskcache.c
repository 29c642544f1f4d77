/* gst-spdl: disk cache of remote files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/diskcache/diskcache.h"

#include "gst/spdl/common/logline.h"
#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/storeuri.h"
#include "plugins/fetch/diskcache/diskbound.h"
#include "plugins/fetch/io/threadpool.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

/* Reading or writing a file blocks a thread for some hundred microseconds on a
 * local disk, and for milliseconds on a network file system. */
#define MAX_THREADS 8

struct _SpdlDiskCache {
  const SpdlDiskCacheSettings *settings;
  const SpdlHttpSettings *http;
  SpdlDiskCacheWarnFunc warn;
  gpointer user_data;
  SpdlDiskFolder folder;
  SpdlDiskBound bound;
  gchar *headers; /* request headers, which are part of the key */
  SpdlThreadPool *thread_pool;
  gint counting;             /* atomic: counting has started or is done */
  gint warned_not_cacheable; /* atomic */
};

/* A fetch in progress. */
typedef struct {
  SpdlDiskCache *cache;
  guint8 name[SPDL_DIGEST_SIZE];
  GstBuffer *kept;     /* nullable: cached content */
  SpdlValidator known; /* validator of `kept` */
  SpdlValidator origin;
  GstBuffer *content; /* received content, while it is being stored */
  SpdlHttpFunc func;
  gpointer user_data;
} Fetch;

/* Keys */

/* Computes the key. It excludes the userinfo, which could be guessed from the
 * digest; the server checks access rights. */
static void
make_name (SpdlDiskCache *self, const SpdlHttpFetch *args, guint8 *name)
{
  const SpdlRange *range = &args->range;
  g_autofree gchar *plain = spdl_redact_remove_userinfo (args->uri);
  g_autofree gchar *store =
      spdl_store_is_uri (args->uri)
          ? spdl_store_settings_dup_store (&self->http->store, args->uri)
          : NULL;
  g_autofree gchar *text =
      g_strdup_printf ("%s\n%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT "\n%s%s",
          plain, range->first, range->last, args->foreign ? "" : self->headers,
          store ? store : "");

  spdl_digest (text, name);
}

/* Cache */

SpdlDiskCache *
spdl_disk_cache_new (const SpdlDiskCacheSettings *settings,
    const SpdlHttpSettings *http, SpdlDiskCacheWarnFunc warn,
    gpointer user_data, GError **error)
{
  SpdlDiskFolder folder;
  SpdlDiskCache *self;

  if (!spdl_disk_folder_open (
          &folder, settings->folder, settings->shared, error))
    return NULL;
  self = g_new0 (SpdlDiskCache, 1);
  self->settings = settings;
  self->http = http;
  self->warn = warn;
  self->user_data = user_data;
  self->folder = folder;
  self->bound = (SpdlDiskBound){ &self->folder, settings->max_size, FALSE };
  self->headers = spdl_http_settings_list (http);
  self->thread_pool = spdl_thread_pool_new ("spdl-cache", MAX_THREADS);
  return self;
}

void
spdl_disk_cache_free (SpdlDiskCache *self)
{
  g_atomic_int_set (&self->bound.quit, TRUE);
  spdl_thread_pool_free (self->thread_pool);
  spdl_disk_bound_end (&self->bound);
  g_free (self->headers);
  spdl_disk_folder_close (&self->folder);
  g_free (self);
}

static void
count_files (gpointer data)
{
  spdl_disk_bound_count (data);
}

/* Warnings */

static void
warn_not_cacheable (SpdlDiskCache *self)
{
  if (g_atomic_int_compare_and_exchange (
          &self->warned_not_cacheable, FALSE, TRUE))
    self->warn (self->user_data,
        "A response cannot be stored in cache-dir, because it has no validator "
        "(a strong ETag; see cache-validate), does not declare its size, or "
        "forbids caching");
}

static void
report_store_failure (SpdlDiskCache *self, int failed)
{
  g_autofree gchar *text = NULL;

  SPDL_INFO ("an item cannot be stored: %s", g_strerror (failed));
  if (spdl_counts_add (self->http->counts, SPDL_COUNT_CACHE_ERRORS, 1) > 1)
    return;
  text = g_strdup_printf (
      "An item cannot be stored in cache-dir \"%s\": %s. Fetching continues "
      "without the cache (cache-errors in stage-stats counts such items)",
      self->folder.path, g_strerror (failed));
  self->warn (self->user_data, text);
}

/* Fetching */

/* Finishes @fetch with @content or @error (both transfer full). */
static void
finish_fetch (Fetch *fetch, GstBuffer *content, GError *error)
{
  SpdlHttpFunc func = fetch->func;
  gpointer user_data = fetch->user_data;

  gst_clear_buffer (&fetch->kept);
  spdl_validator_clear (&fetch->known);
  spdl_validator_clear (&fetch->origin);
  g_free (fetch);
  func (user_data, content, error);
}

static void
finish_hit (Fetch *fetch)
{
  GstBuffer *content = g_steal_pointer (&fetch->kept);
  SpdlCounts *counts = fetch->cache->http->counts;

  spdl_counts_add (counts, SPDL_COUNT_CACHE_HITS, 1);
  spdl_counts_add (
      counts, SPDL_COUNT_CACHE_BYTES, gst_buffer_get_size (content));
  finish_fetch (fetch, content, NULL);
}

/* Returns whether @validator suffices to detect changes as `cache-validate`
 * requires. */
static gboolean
is_enough (const SpdlDiskCache *self, const SpdlValidator *validator)
{
  switch (self->settings->validate) {
    case SPDL_CACHE_VALIDATE_NONE:
      return TRUE;
    case SPDL_CACHE_VALIDATE_DATE:
      return validator->kind != SPDL_VALIDATOR_NONE;
    default:
      return validator->kind == SPDL_VALIDATOR_TAG;
  }
}

static void
store_entry (gpointer data)
{
  Fetch *fetch = data;
  SpdlDiskCache *self = fetch->cache;
  gint64 grown;
  const int failed = spdl_disk_folder_store (
      &self->folder, fetch->name, &fetch->origin, fetch->content, &grown);

  if (failed != 0)
    report_store_failure (self, failed);
  else
    spdl_disk_bound_add (&self->bound, grown);
  finish_fetch (fetch, g_steal_pointer (&fetch->content), NULL);
}

static gboolean
is_small_enough (const SpdlDiskCache *self, GstBuffer *content)
{
  const guint64 size = gst_buffer_get_size (content) + SPDL_DISK_ENTRY_MAX_HEAD;

  return self->settings->max_size == 0 ||
         spdl_disk_folder_count (size) <= self->settings->max_size;
}

/* Runs on a thread of the client, which must not block on disk I/O. */
static void
on_fetched (gpointer user_data, GstBuffer *content, GError *error)
{
  Fetch *fetch = user_data;
  SpdlDiskCache *self = fetch->cache;

  if (error) {
    finish_fetch (fetch, NULL, error);
    return;
  }
  if (!content) {
    finish_hit (fetch);
    return;
  }
  spdl_counts_add (self->http->counts, SPDL_COUNT_CACHE_MISSES, 1);
  gst_clear_buffer (&fetch->kept);
  if (!fetch->origin.keepable || !is_enough (self, &fetch->origin)) {
    warn_not_cacheable (self);
    finish_fetch (fetch, content, NULL);
  } else if (!is_small_enough (self, content)) {
    finish_fetch (fetch, content, NULL);
  } else {
    fetch->content = content;
    spdl_thread_pool_push (self->thread_pool, store_entry, fetch);
  }
}

static void
look_up (Fetch *fetch, GCancellable *cancellable)
{
  SpdlDiskCache *self = fetch->cache;
  const SpdlDiskLimits limits = { self->http->max_size, G_MAXINT64 };

  fetch->kept = spdl_disk_folder_load (
      &self->folder, fetch->name, &limits, cancellable, &fetch->known);
  if (fetch->kept && !is_enough (self, &fetch->known)) {
    gst_clear_buffer (&fetch->kept);
    spdl_validator_clear (&fetch->known);
  }
}

void
spdl_disk_cache_fetch (
    SpdlDiskCache *self, SpdlHttp *http, const SpdlHttpFetch *args)
{
  Fetch *fetch = g_new0 (Fetch, 1);
  SpdlHttpFetch changed = *args;

  if (g_atomic_int_compare_and_exchange (&self->counting, FALSE, TRUE))
    spdl_thread_pool_push (self->thread_pool, count_files, &self->bound);
  fetch->cache = self;
  fetch->func = args->func;
  fetch->user_data = args->user_data;
  make_name (self, args, fetch->name);
  look_up (fetch, args->cancellable);
  if (fetch->kept && self->settings->validate == SPDL_CACHE_VALIDATE_NONE) {
    finish_hit (fetch);
    return;
  }
  changed.known = fetch->kept ? &fetch->known : NULL;
  changed.origin = &fetch->origin;
  changed.func = on_fetched;
  changed.user_data = fetch;
  spdl_http_fetch (http, &changed);
}

guint64
spdl_disk_cache_get_cpu_time (SpdlDiskCache *self)
{
  return spdl_thread_pool_get_cpu_time (self->thread_pool);
}
