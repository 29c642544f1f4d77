/* gst-spdl: private parts of spdlfetch
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

/* gstspdlfetch.c is the element: properties, states, caps and what comes in.
 * fetchitem.c is how an item is fetched, from wherever it is. */

#define GST_TYPE_SPDL_FETCH (gst_spdl_fetch_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSpdlFetch, gst_spdl_fetch, GST, SPDL_FETCH, GstSpdlStage)

typedef struct {
  SpdlHttpSettings http;
  SpdlDiskCacheSettings cache;
  guint64 coalesce;
  gchar *parts; /* nullable */
} SpdlFetchSettings;

struct _GstSpdlFetch {
  GstSpdlStage parent;
  GstPadEventFunction stage_event;     /* the base class's */
  GstPadChainListFunction stage_chain; /* likewise, of groups */

  /* Under the object's lock. */
  GstCaps *caps; /* property; nullable */
  GstCaps *src_caps;
  SpdlFetchSettings settings; /* properties */
  GHashTable *bases;          /* of each source, what paths are relative to */

  SpdlFetchSettings used; /* as they were when the stage started */
  SpdlDiskCache *cache;   /* nullable */
  SpdlDiskTally cache_tally;
  GStrv names;    /* as it was, of parts; NULL: none */
  GMutex lock;    /* guards the making of: */
  SpdlHttp *http; /* atomic; NULL until it is needed */
  SpdlThreadPool
      *thread_pool; /* what the client's thread must not do; nullable */
};

/* The client, made by the first item that needs one. */
SpdlHttp *gst_spdl_fetch_get_http (GstSpdlFetch *self, GError **error);

/* A function of the stage. */
void gst_spdl_fetch_process_async (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task);

G_END_DECLS
