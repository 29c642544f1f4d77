/* gst-spdl: the disk cache of what servers have
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/diskcache/diskcache.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "gst/spdl/common/redact.h"
#include "plugins/fetch/diskcache/diskbound.h"
#include "plugins/fetch/diskcache/diskfolder.h"
#include "plugins/fetch/io/errands.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

/* A file's content takes a thread some hundred microseconds on a disk of its
 * own, and milliseconds on one of the network. */
#define MAX_THREADS 8

struct _SpdlDiskCache {
  const SpdlDiskCacheSettings *settings;
  const SpdlHttpSettings *http;
  SpdlDiskTally *tally;
  SpdlDiskCacheWarnFunc warn;
  gpointer user_data;
  gchar *folder;
  gchar *headers; /* the part of a name that is the same for all */
  SpdlErrands *errands;
  gint counting;        /* atomic: the files are counted, or were */
  gint told_unkeepable; /* atomic */
  gint quit;            /* atomic */
};

/* A fetch on its way. */
typedef struct {
  SpdlDiskCache *cache;
  guint8 name[SPDL_DIGEST_SIZE];
  GstBuffer *kept;     /* what the folder has; nullable */
  SpdlValidator known; /* of that */
  SpdlValidator origin;
  GstBuffer *content; /* what came, while it is stored */
  SpdlHttpFunc func;
  gpointer user_data;
} Fetch;

/* Names */

/* Who may read it is the server's matter: the userinfo is not in it, which
 * could be guessed from its digest. */
static void
make_name (SpdlDiskCache *self, const gchar *uri, const SpdlRange *range,
    gboolean foreign, guint8 *name)
{
  g_autofree gchar *plain = spdl_redact_remove_userinfo (uri);
  g_autofree gchar *text =
      g_strdup_printf ("%s\n%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT "\n%s",
          plain, range->first, range->last, foreign ? "" : self->headers);

  spdl_digest (text, name);
}

/* The cache */

SpdlDiskCache *
spdl_disk_cache_new (const SpdlDiskCacheSettings *settings,
    const SpdlHttpSettings *http, SpdlDiskTally *tally,
    SpdlDiskCacheWarnFunc warn, gpointer user_data, GError **error)
{
  g_autofree gchar *folder = g_canonicalize_filename (settings->folder, NULL);
  SpdlDiskCache *self;

  if (g_mkdir_with_parents (folder, 0700) != 0 ||
      !g_file_test (folder, G_FILE_TEST_IS_DIR)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "cache-dir \"%s\" cannot be used: %s", settings->folder,
        g_strerror (errno));
    return NULL;
  }
  self = g_new0 (SpdlDiskCache, 1);
  self->settings = settings;
  self->http = http;
  self->tally = tally;
  self->warn = warn;
  self->user_data = user_data;
  self->folder = g_steal_pointer (&folder);
  self->headers = spdl_http_settings_list (http);
  self->errands = spdl_errands_new ("spdl-cache", MAX_THREADS);
  return self;
}

void
spdl_disk_cache_free (SpdlDiskCache *self)
{
  g_atomic_int_set (&self->quit, TRUE);
  spdl_errands_free (self->errands);
  g_free (self->headers);
  g_free (self->folder);
  g_free (self);
}

static void
count_files (gpointer data)
{
  SpdlDiskCache *self = data;

  spdl_disk_bound_count (self->folder, self->settings->max_size, &self->quit);
}

/* What cannot be kept */

static void
tell_unkeepable (SpdlDiskCache *self)
{
  if (g_atomic_int_compare_and_exchange (&self->told_unkeepable, FALSE, TRUE))
    self->warn (self->user_data,
        "A server's answer has nothing by which an item could be known to be "
        "the same later (no strong ETag, see cache-validate), does not tell "
        "its size, or forbids to keep it: it is not kept in cache-dir");
}

static void
tell_failed (SpdlDiskCache *self, int failed)
{
  g_autofree gchar *text = NULL;

  GST_INFO ("an item cannot be kept: %s", g_strerror (failed));
  if (!spdl_disk_tally_add_error (self->tally))
    return;
  text = g_strdup_printf ("An item cannot be kept in cache-dir \"%s\": %s. "
                          "It goes on without (cache-errors in stage-stats "
                          "counts such items)",
      self->folder, g_strerror (failed));
  self->warn (self->user_data, text);
}

/* Fetching */

/* Ends @fetch: with @content, or with @error (both transfer full). */
static void
finish (Fetch *fetch, GstBuffer *content, GError *error)
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

  spdl_disk_tally_add_hit (fetch->cache->tally, gst_buffer_get_size (content));
  finish (fetch, content, NULL);
}

/* Whether what is told by @validator says whether something has changed, or
 * nobody needs to be asked. */
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
store (gpointer data)
{
  Fetch *fetch = data;
  SpdlDiskCache *self = fetch->cache;
  gint64 grown;
  const int failed = spdl_disk_folder_store (
      self->folder, fetch->name, &fetch->origin, fetch->content, &grown);

  if (failed != 0)
    tell_failed (self, failed);
  else
    spdl_disk_bound_add (
        self->folder, grown, self->settings->max_size, &self->quit);
  finish (fetch, g_steal_pointer (&fetch->content), NULL);
}

static gboolean
is_small_enough (const SpdlDiskCache *self, GstBuffer *content)
{
  const guint64 size = gst_buffer_get_size (content) + SPDL_DISK_ENTRY_MAX_HEAD;

  return self->settings->max_size == 0 ||
         spdl_disk_folder_count (size) <= self->settings->max_size;
}

/* On the client's thread, which must not wait for a disk. */
static void
on_fetched (gpointer user_data, GstBuffer *content, GError *error)
{
  Fetch *fetch = user_data;
  SpdlDiskCache *self = fetch->cache;

  if (error) {
    finish (fetch, NULL, error);
    return;
  }
  if (!content) {
    finish_hit (fetch);
    return;
  }
  spdl_disk_tally_add_miss (self->tally);
  gst_clear_buffer (&fetch->kept);
  if (!fetch->origin.keepable || !is_enough (self, &fetch->origin)) {
    tell_unkeepable (self);
    finish (fetch, content, NULL);
  } else if (!is_small_enough (self, content)) {
    finish (fetch, content, NULL);
  } else {
    fetch->content = content;
    spdl_errands_push (self->errands, store, fetch);
  }
}

static void
look (Fetch *fetch, GCancellable *cancellable)
{
  SpdlDiskCache *self = fetch->cache;
  const SpdlDiskLimits limits = { self->http->max_size, G_MAXINT64 };

  fetch->kept = spdl_disk_folder_load (
      self->folder, fetch->name, &limits, cancellable, &fetch->known);
  if (fetch->kept && !is_enough (self, &fetch->known)) {
    gst_clear_buffer (&fetch->kept);
    spdl_validator_clear (&fetch->known);
  }
}

void
spdl_disk_cache_fetch (SpdlDiskCache *self, SpdlHttp *http, const gchar *uri,
    const SpdlRange *range, gboolean foreign, GCancellable *cancellable,
    SpdlHttpFunc func, gpointer user_data)
{
  Fetch *fetch = g_new0 (Fetch, 1);

  if (g_atomic_int_compare_and_exchange (&self->counting, FALSE, TRUE))
    spdl_errands_push (self->errands, count_files, self);
  fetch->cache = self;
  fetch->func = func;
  fetch->user_data = user_data;
  make_name (self, uri, range, foreign, fetch->name);
  look (fetch, cancellable);
  if (fetch->kept && self->settings->validate == SPDL_CACHE_VALIDATE_NONE)
    finish_hit (fetch);
  else
    spdl_http_fetch_changed (http, uri, range, foreign, cancellable,
        fetch->kept ? &fetch->known : NULL, &fetch->origin, on_fetched, fetch);
}

guint64
spdl_disk_cache_get_cpu_time (SpdlDiskCache *self)
{
  return spdl_errands_get_cpu_time (self->errands);
}
