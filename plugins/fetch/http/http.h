/* gst-spdl: HTTP client
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <glib.h>
#include <gst/gst.h>
#include <libsoup/soup.h>

#include "plugins/fetch/http/ratelimit.h"
#include "plugins/fetch/http/validator.h"
#include "plugins/fetch/io/counts.h"
#include "plugins/fetch/io/range.h"
#include "plugins/fetch/store/objectstore.h"

G_BEGIN_DECLS

/* HTTP client: threads that each have a libsoup session with persistent
 * connections. Another thread starts when all have several requests. The number
 * of concurrent fetches is not limited; the caller limits it. */

typedef struct _SpdlHttp SpdlHttp;
typedef struct _SpdlBodyStream SpdlBodyStream; /* in bodystream.h */

typedef struct {
  guint timeout;        /* seconds without data; 0: no limit */
  guint retries;        /* additional requests per fetch */
  guint64 task_timeout; /* ns per fetch with all its requests; 0: no limit */
  guint64 max_size;     /* bytes per fetch; 0: no limit */
  gdouble hedge;        /* maximum share of second requests; 0: none */
  SpdlCounts *counts;   /* nullable, outlives the client */
  gchar *user_agent;    /* nullable */
  gchar *tls_ca_file;   /* nullable: NULL: system CA store */
  GstStructure *extra_headers; /* nullable */
  gchar *trusted_origins;      /* nullable */
  /* 0: one; must be one with `hedge`, whose limits hold within a thread */
  guint max_threads;
  SpdlStoreSettings store;
} SpdlHttpSettings;

/* Returns the extra headers that may affect the response, one per line. */
gchar *spdl_http_settings_list (const SpdlHttpSettings *self);

/* Called on a thread of the client when a fetch is done.
 * @content: (transfer full) (nullable)
 * @error: (transfer full): set if @content is NULL, in the domain
 * GST_RESOURCE_ERROR or, if cancelled, G_IO_ERROR. Neither is set if the
 * resource has not changed. */
typedef void (*SpdlHttpFunc) (
    gpointer user_data, GstBuffer *content, GError *error);

/* Called on a thread of the client for each successful response of a fetch,
 * before its body. */
typedef void (*SpdlHttpHeadFunc) (gpointer user_data, SoupMessage *message);

/* Returns when a fetch must be done that begins now: a monotonic time in us, or
 * G_MAXINT64. */
static inline gint64
spdl_http_settings_get_deadline (const SpdlHttpSettings *self)
{
  return self->task_timeout > 0
             ? g_get_monotonic_time () + (gint64) (self->task_timeout / 1000)
             : G_MAXINT64;
}

/* Arguments of a fetch. */
typedef struct {
  const gchar *uri;
  SpdlRange range;
  gboolean foreign; /* do not send extra headers: another server gave @uri */
  gint64 deadline;  /* monotonic time in us; G_MAXINT64: none */
  guint64 max_size; /* bytes of a response; 0: `max_size` of the settings */
  GCancellable *cancellable; /* must be the same for all fetches of a client */
  /* Validators must stay valid until @func is called. If the server still has
   * the version that @known describes, there is no content. */
  const SpdlValidator *known; /* nullable */
  SpdlValidator *origin;      /* nullable: set to the one of a new version */
  SpdlHttpFunc func;
  gpointer user_data;
} SpdlHttpFetch;

/* @settings: must outlive the client
 *
 * Returns NULL with @error set if they are invalid. */
SpdlHttp *spdl_http_new (const SpdlHttpSettings *settings, GError **error);

/* All fetches must have finished. */
void spdl_http_free (SpdlHttp *self);

/* Fetches a range of a resource. Can be called from any thread. */
void spdl_http_fetch (SpdlHttp *self, const SpdlHttpFetch *fetch);

/* Same, without a second request.
 * @head: called before the function of @fetch, with the same data */
void spdl_http_fetch_with_head (
    SpdlHttp *self, const SpdlHttpFetch *fetch, SpdlHttpHeadFunc head);

/* Fetches @uri into @body_stream, which must stay valid until the fetch ends
 * it. An interrupted body is resumed by a byte range request or, if the server
 * does not support ranges and confirms that the resource has not changed, by
 * skipping what was already received. */
void spdl_http_fetch_stream (SpdlHttp *self, const gchar *uri,
    GCancellable *cancellable, SpdlBodyStream *body_stream);

/* Returns the CPU time of the client's threads, in ns. Can be called from any
 * thread. */
guint64 spdl_http_get_cpu_time (SpdlHttp *self);

/* The plugin with the client */

/* libsoup and its dependencies take longer to load than the rest of a pipeline
 * that reads files, and use 1.5 MB. Therefore the client is in a separate
 * plugin, without elements; spdlfetch calls it through httplazy.c. */
typedef struct {
  SpdlHttp *(*open) (const SpdlHttpSettings *settings, GError **error);
  void (*close) (SpdlHttp *http);
  void (*fetch) (SpdlHttp *http, const SpdlHttpFetch *fetch);
  guint64 (*get_cpu_time) (SpdlHttp *http);
  gchar *(*list_headers) (const SpdlHttpSettings *settings);
} SpdlHttpFuncs;

#define SPDL_HTTP_PLUGIN "spdlhttp"
/* Error domain for a permitted redirect to a URI that is not HTTP(S), for the
 * caller to read. The message is the URI. */
#define SPDL_HTTP_ELSEWHERE (g_quark_from_static_string ("spdl-http-elsewhere"))
/* Key of the SpdlHttpFuncs in the plugin's object data. */
#define SPDL_HTTP_DATA "spdl-http"

G_END_DECLS
