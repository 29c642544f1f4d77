/* gst-spdl: mark of buffers that a cache replays
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/cached.h"

static GType
cached_meta_api_get_type (void)
{
  static gsize type = 0;
  static const gchar *tags[] = { NULL };

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, gst_meta_api_type_register ("GstSpdlCachedMetaAPI", tags));
  return type;
}

static gboolean
cached_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  return TRUE;
}

static gboolean
cached_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer,
    GQuark type, gpointer data)
{
  gst_spdl_buffer_mark_cached (dest);
  return TRUE;
}

static const GstMetaInfo *
cached_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter ((GstMetaInfo **) &info)) {
    const GstMetaInfo *made =
        gst_meta_register (cached_meta_api_get_type (), "GstSpdlCachedMeta",
            sizeof (GstMeta), cached_meta_init, NULL, cached_meta_transform);
    g_once_init_leave ((GstMetaInfo **) &info, (GstMetaInfo *) made);
  }
  return info;
}

void
gst_spdl_buffer_mark_cached (GstBuffer *buffer)
{
  if (!gst_spdl_buffer_is_cached (buffer))
    gst_buffer_add_meta (buffer, cached_meta_get_info (), NULL);
}

gboolean
gst_spdl_buffer_is_cached (GstBuffer *buffer)
{
  return gst_buffer_get_meta (buffer, cached_meta_api_get_type ()) != NULL;
}
