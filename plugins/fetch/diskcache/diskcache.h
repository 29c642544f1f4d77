/* gst-spdl: disk cache of remote files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/fetch/http/http.h"

G_BEGIN_DECLS

/* A folder with items and byte ranges from servers, shared by any number of
 * processes. Entries are used only if their hash matches and, unless
 * cache-validate is none, the server confirms that they are current. Failure to
 * store an item is not an error. */

typedef struct _SpdlDiskCache SpdlDiskCache;

typedef enum {
  SPDL_CACHE_VALIDATE_ETAG,
  SPDL_CACHE_VALIDATE_DATE,
  SPDL_CACHE_VALIDATE_NONE,
} SpdlCacheValidate;

typedef struct {
  gchar *folder;    /* nullable: NULL: no cache */
  guint64 max_size; /* in bytes; 0: no limit */
  gboolean shared;  /* others may write the folder */
  SpdlCacheValidate validate;
} SpdlDiskCacheSettings;

/* Reports why items cannot be stored, once per reason. Called on any thread. */
typedef void (*SpdlDiskCacheWarnFunc) (gpointer user_data, const gchar *text);

/* Creates the cache, and its folder if necessary.
 * @settings, @http: must outlive the cache; @http has the counts
 * Returns NULL with @error set if the folder cannot be used or created. */
SpdlDiskCache *spdl_disk_cache_new (const SpdlDiskCacheSettings *settings,
    const SpdlHttpSettings *http, SpdlDiskCacheWarnFunc warn,
    gpointer user_data, GError **error);

/* All fetches must have finished. */
void spdl_disk_cache_free (SpdlDiskCache *self);

/* Fetches like spdl_http_fetch(), using the cache. Reads from disk during the
 * call, so it must not be called on a thread of the client. @func is called
 * during the call, or later on a thread of the client or another one. */
void spdl_disk_cache_fetch (
    SpdlDiskCache *self, SpdlHttp *http, const SpdlHttpFetch *args);

/* Returns the CPU time of the cache's threads, in ns. Can be called from any
 * thread. */
guint64 spdl_disk_cache_get_cpu_time (SpdlDiskCache *self);

G_END_DECLS
