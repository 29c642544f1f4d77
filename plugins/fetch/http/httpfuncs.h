/* gst-spdl: functions of the HTTP plugin, which is loaded on demand
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/fetch/http/http.h"

G_BEGIN_DECLS

/* libsoup and what it needs take longer to load than all the rest of a pipeline
 * that reads files, and 1.5 MB. So the client lies in a plugin of its own,
 * which has no element: spdlfetch has httplazy.c in its place. */
typedef struct {
  SpdlHttp *(*open) (const SpdlHttpSettings *settings, GError **error);
  void (*close) (SpdlHttp *http);
  void (*fetch) (SpdlHttp *http, const gchar *uri, const SpdlRange *range,
      gboolean foreign, GCancellable *cancellable, SpdlHttpFunc func,
      gpointer user_data);
  void (*fetch_changed) (SpdlHttp *http, const gchar *uri,
      const SpdlRange *range, gboolean foreign, GCancellable *cancellable,
      const SpdlValidator *known, SpdlValidator *origin, SpdlHttpFunc func,
      gpointer user_data);
  guint64 (*get_cpu_time) (SpdlHttp *http);
  gchar *(*list_headers) (const SpdlHttpSettings *settings);
} SpdlHttpFuncs;

#define SPDL_HTTP_PLUGIN "spdlhttp"
/* The domain of an error whose message is a URI, not of HTTP(S), to which a
 * server redirects and may: for the caller to read. */
#define SPDL_HTTP_ELSEWHERE (g_quark_from_static_string ("spdl-http-elsewhere"))
/* The data of the plugin's object under which they are. */
#define SPDL_HTTP_DATA "spdl-http"

G_END_DECLS
