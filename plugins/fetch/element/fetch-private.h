/* gst-spdl: private declarations of spdlfetch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "plugins/fetch/diskcache/diskcache.h"
#include "plugins/fetch/http/http.h"
#include "plugins/fetch/io/threadpool.h"

G_BEGIN_DECLS

/* gstspdlfetch.c implements the element: properties, states, caps and input.
 * fetchitem.c fetches an item from any kind of source. */

#define GST_TYPE_SPDL_FETCH (gst_spdl_fetch_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlFetch, gst_spdl_fetch, GST, SPDL_FETCH, GstSpdlStage)

typedef struct {
  SpdlHttpSettings http;
  SpdlDiskCacheSettings cache;
  guint64 coalesce;
  gchar *parts; /* nullable */
} SpdlFetchSettings;

/* Announcement of a source about the fields of its items. */
typedef struct {
  gchar *base;      /* nullable: base folder of relative paths */
  gboolean foreign; /* strangers may have written them */
} SpdlFetchSource;

struct _GstSpdlFetch {
  GstSpdlStage parent;
  GstPadEventFunction stage_event; /* event function of the base class */
  GstPadChainListFunction
      stage_chain; /* chain list function of the base class */

  /* Protected by the object lock. */
  GstCaps *caps; /* property; nullable */
  GstCaps *src_caps;
  SpdlFetchSettings settings; /* properties */
  GHashTable *sources;        /* SpdlFetchSource, by number */

  SpdlFetchSettings used; /* copy of `settings` from the start of the stage */
  SpdlDiskCache *cache;   /* nullable */
  SpdlDiskTally cache_tally;
  SpdlHedgeCounts hedges;
  SpdlHedgeCounts
      hedges_before; /* the interval; protected by the object lock */
  SpdlRateCounts rates;
  SpdlRateCounts rates_before; /* the interval; protected by the object lock */
  guint64 http_time;        /* atomic: CPU time of the client's threads, ns */
  guint64 http_time_before; /* the interval; protected by the object lock */
  GStrv names;              /* names in `parts` at the start; NULL: none */
  GMutex lock;              /* protects the creation of: */
  SpdlHttp *http;           /* atomic; NULL until the first use */
  SpdlThreadPool *thread_pool; /* nullable: blocking work that must not run on
                                  the client's threads */
};

/* Returns the HTTP client, which is created on first use. */
SpdlHttp *gst_spdl_fetch_get_http (GstSpdlFetch *self, GError **error);

/* Implements GstSpdlStageClass::process_async(). */
void gst_spdl_fetch_process_async (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task);

G_END_DECLS
