/* gst-spdl: function table of the HTTP plugin, which is loaded on demand
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/fetch/http/http.h"

G_BEGIN_DECLS

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
