/* gst-spdl: functions of the shards plugin
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/shards/archivewalk.h"

#ifdef HAVE_SOUP
#include "plugins/shards/shardremote.h"
#else
#include <gst/gst.h>

static gpointer
spdl_remote_client_new (const SpdlRemoteSettings *settings, GError **error)
{
  g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "Shards on servers cannot be read, because gst-spdl was built without "
      "libsoup");
  return NULL;
}

#define spdl_remote_client_free NULL
#define spdl_remote_open NULL
#define spdl_remote_stream NULL
#define spdl_remote_list NULL
#define spdl_remote_cancel NULL
#endif

const SpdlIndexerFuncs spdl_shards_funcs = { spdl_remote_client_new,
  spdl_remote_client_free, spdl_remote_open, spdl_remote_stream,
  spdl_remote_cancel, spdl_remote_list, spdl_archive_walk };
