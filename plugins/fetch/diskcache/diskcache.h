/* gst-spdl: disk cache of files from servers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/sync.h"
#include "plugins/fetch/http/http.h"

G_BEGIN_DECLS

/* Outlives the cache, so that figures can be read after the end. */

typedef struct {
  guint64 hits;
  guint64 misses;
  guint64 bytes;  /* of the hits */
  guint64 errors; /* what could not be kept */
} SpdlDiskCounts;

typedef struct {
  SpdlMutex lock; /* guards: */
  gboolean active;
  SpdlDiskCounts total;
  SpdlDiskCounts at_interval; /* the total when the interval began */
} SpdlDiskTally;

void spdl_disk_tally_init (SpdlDiskTally *self);
void spdl_disk_tally_clear (SpdlDiskTally *self);

/* Begins anew. Where there is no cache, there are no figures. */
void spdl_disk_tally_begin (SpdlDiskTally *self, gboolean active);

/* Sets the fields of `stage-stats`; ends the interval if @interval. */
void spdl_disk_tally_tell (
    SpdlDiskTally *self, gboolean interval, GstStructure *stats);

/* A folder of whole items and ranges that came from servers, which any number
 * of processes share. What is there is never believed without its hash and,
 * unless the application says that nothing changes, without the server's word
 * that it is still the same. What cannot be kept is no error. */

typedef struct _SpdlDiskCache SpdlDiskCache;

typedef enum {
  SPDL_CACHE_VALIDATE_ETAG,
  SPDL_CACHE_VALIDATE_DATE,
  SPDL_CACHE_VALIDATE_NONE,
} SpdlCacheValidate;

typedef struct {
  gchar *folder;    /* nullable: no cache */
  guint64 max_size; /* in bytes; 0: none */
  SpdlCacheValidate validate;
} SpdlDiskCacheSettings;

/* Is told, once each, what keeps items from being kept. From any thread. */
typedef void (*SpdlDiskCacheWarnFunc) (gpointer user_data, const gchar *text);

/* Makes the folder if need be.
 *
 * @settings, @http: must live as long as the cache
 * @tally: is begun, and must live as long
 *
 * Returns NULL with @error set if there is none and none can be made. */
SpdlDiskCache *spdl_disk_cache_new (const SpdlDiskCacheSettings *settings,
    const SpdlHttpSettings *http, SpdlDiskTally *tally,
    SpdlDiskCacheWarnFunc warn, gpointer user_data, GError **error);

/* All fetches must have ended. */
void spdl_disk_cache_free (SpdlDiskCache *self);

/* Like spdl_http_fetch(), with what is in the folder. Reads from the disk in
 * this call, so not on the client's thread. @func is called in this call, or
 * later on the client's thread or another. */
void spdl_disk_cache_fetch (SpdlDiskCache *self, SpdlHttp *http,
    const gchar *uri, const SpdlRange *range, gboolean foreign,
    GCancellable *cancellable, SpdlHttpFunc func, gpointer user_data);

/* The CPU time of the cache's threads, in ns. From any thread. */
guint64 spdl_disk_cache_get_cpu_time (SpdlDiskCache *self);

G_END_DECLS
