/* gst-spdl: marks on buffers and events between elements
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/marks.h"
#include "gst/spdl/common/metatype.h"

/* Buffers */

static SPDL_DEFINE_META_API (GstSpdlCachedMeta, cached_meta, NULL)

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

static SPDL_DEFINE_META_INFO (GstSpdlCachedMeta, cached_meta, sizeof (GstMeta),
    cached_meta_init, NULL, cached_meta_transform)

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

/* Events */

#define PARTIAL "partial"
#define DROPPED_UPSTREAM "dropped-upstream"
#define PARTS "parts"

static gboolean
has_flag (GstEvent *event, const gchar *name)
{
  const GstStructure *s = gst_event_get_structure (event);
  gboolean set = FALSE;

  return s && gst_structure_get_boolean (s, name, &set) && set;
}

static GstEvent *
set_flag (GstEvent *event, const gchar *name, gboolean set)
{
  if (has_flag (event, name) == set)
    return event;
  event = gst_event_make_writable (event);
  if (set)
    gst_structure_set (
        gst_event_writable_structure (event), name, G_TYPE_BOOLEAN, TRUE, NULL);
  else
    gst_structure_remove_field (gst_event_writable_structure (event), name);
  return event;
}

GstEvent *
gst_spdl_event_set_partial_epoch (GstEvent *event, gboolean partial)
{
  return set_flag (event, PARTIAL, partial);
}

GstEvent *
gst_spdl_event_set_dropped_upstream (GstEvent *event)
{
  return set_flag (event, DROPPED_UPSTREAM, TRUE);
}

gboolean
gst_spdl_event_is_partial_epoch (GstEvent *event)
{
  return has_flag (event, PARTIAL);
}

gboolean
gst_spdl_event_is_dropped_upstream (GstEvent *event)
{
  return has_flag (event, DROPPED_UPSTREAM);
}

void
gst_spdl_event_set_dropped_parts (GstEvent *event, guint parts)
{
  if (parts > 1)
    gst_structure_set (
        gst_event_writable_structure (event), PARTS, G_TYPE_UINT, parts, NULL);
}

guint
gst_spdl_event_get_dropped_parts (GstEvent *event)
{
  guint parts;

  return gst_structure_get_uint (
             gst_event_get_structure (event), PARTS, &parts) &&
                 parts > 1
             ? parts
             : 1;
}
