/* gst-spdl: loading of the HTTP plugin on first use
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/common/pluginfuncs.h"
#include "plugins/fetch/http/http.h"

static const SpdlHttpFuncs *
get_funcs (GError **error)
{
  static const SpdlHttpFuncs *known;
  const SpdlHttpFuncs *funcs = g_atomic_pointer_get (&known);

  if (funcs)
    return funcs;
  funcs = spdl_plugin_load_funcs (
      SPDL_HTTP_PLUGIN, SPDL_HTTP_DATA, "asks servers", error);
  g_atomic_pointer_set (&known, funcs);
  return funcs;
}

SpdlHttp *
spdl_http_new (const SpdlHttpSettings *settings, GError **error)
{
  const SpdlHttpFuncs *funcs = get_funcs (error);

  return funcs ? funcs->open (settings, error) : NULL;
}

/* The plugin is loaded if there is a client. */

void
spdl_http_free (SpdlHttp *self)
{
  get_funcs (NULL)->close (self);
}

void
spdl_http_fetch (SpdlHttp *self, const SpdlHttpFetch *fetch)
{
  get_funcs (NULL)->fetch (self, fetch);
}

guint64
spdl_http_get_cpu_time (SpdlHttp *self)
{
  return get_funcs (NULL)->get_cpu_time (self);
}

gchar *
spdl_http_settings_list (const SpdlHttpSettings *settings)
{
  const SpdlHttpFuncs *funcs =
      settings->extra_headers ? get_funcs (NULL) : NULL;

  return funcs ? funcs->list_headers (settings) : g_strdup ("");
}
