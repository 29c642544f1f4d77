/* gst-spdl: fields that spdlmix adds to the events of its sources
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/epochs.h"

#define PARTIAL "partial"
#define DROPPED_UPSTREAM "dropped-upstream"

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
