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
#include "plugins/fetch/io/openfiles.h"
#include "plugins/fetch/io/threadpool.h"

G_BEGIN_DECLS

/* gstspdlfetch.c implements the element: properties, states, caps and input.
 * fetchitem.c fetches an item from any kind of source, and itemparts.c a sample
 * of several media. */

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
  SpdlOpenFiles *files;   /* NULL unless started */
  SpdlCounts counts;
  guint64 counts_before[SPDL_N_COUNTS]; /* the interval; protected by the object
                                           lock */
  GStrv names;                 /* names in `parts` at the start; NULL: none */
  GMutex lock;                 /* protects the creation of: */
  SpdlHttp *http;              /* atomic; NULL until the first use */
  SpdlThreadPool *thread_pool; /* nullable: blocking work that must not run on
                                  the client's threads */
};

/* Returns the element of a task. Its type is not checked, as this is called
 * several times per item. */
static inline GstSpdlFetch *
gst_spdl_fetch_of_task (GstSpdlTask *task)
{
  return (GstSpdlFetch *) gst_spdl_task_get_stage (task);
}

/* Returns the HTTP client, which is created on first use. */
SpdlHttp *gst_spdl_fetch_get_http (GstSpdlFetch *self, GError **error);

/* Returns the path or URI in @item. One newline at the end is removed if no
 * source has named the item, as in a file of the type text/uri-list. Returns
 * NULL with @error set if it has a NUL byte. */
gchar *gst_spdl_fetch_dup_uri (GstBuffer *item, GError **error);

/* Starts to fetch @uri, which may be modified. @func is called during the call
 * or later, on any thread.
 * @foreign: do not send credentials and extra headers
 * @deadline: of the item; monotonic time in us */
void gst_spdl_fetch_uri (GstSpdlTask *task, gchar *uri, gboolean foreign,
    gint64 deadline, SpdlHttpFunc func, gpointer user_data);

/* Finishes the task @user_data with @content or @error (both transfer full). */
void
gst_spdl_fetch_finish (gpointer user_data, GstBuffer *content, GError *error);

/* Parses a comma-separated list of names of parts.
 * Returns: (transfer full): NULL with @error set if a name is invalid */
GStrv gst_spdl_fetch_parse_parts (const gchar *text, GError **error);

/* Starts to fetch @uri and the parts in the fields of the item's `extra` that
 * the element's `names` name, which become a sample.
 *
 * Strangers may have written fields if the source says so, or if the item is
 * remote and does not come from a local list, which has a base. Such foreign
 * fields may refer to the item's own file or server, to relative paths below
 * the base, and to HTTP(S) servers without credentials. */
void gst_spdl_fetch_begin_parts (
    GstSpdlTask *task, const gchar *uri, gint64 deadline);

/* Implements GstSpdlStageClass::process_async(). */
void gst_spdl_fetch_process_async (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task);

G_END_DECLS
