/* gst-spdl: a chain's work on one part of a sample
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/pipe/pipepart.h"

#define BYTES "application/octet-stream"

/* Stills and the like are one kind whatever their other fields may be. */
static gboolean
is_one_kind (GstCaps *caps)
{
  return !gst_caps_is_any (caps) && gst_caps_get_size (caps) == 1;
}

static GstCaps *
guess_caps (GstPad *entry)
{
  g_autoptr (GstCaps) taken = gst_pad_query_caps (entry, NULL);
  g_autoptr (GstCaps) bytes = gst_caps_new_empty_simple (BYTES);

  if (!is_one_kind (taken) || gst_caps_can_intersect (taken, bytes))
    return g_steal_pointer (&bytes);
  if (gst_caps_is_fixed (taken))
    return g_steal_pointer (&taken);
  return gst_caps_new_empty_simple (
      gst_structure_get_name (gst_caps_get_structure (taken, 0)));
}

GstBuffer *
spdl_pipe_part_take (GstBuffer *sample, const gchar *name, GstPad *entry,
    GstCaps **caps, GError **error)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (sample);
  GstBuffer *part = parts ? gst_spdl_buffer_dup_part (sample, name) : NULL;
  const GstSpdlPart *own;

  if (!part) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "It has no part \"%s\"", name);
    return NULL;
  }
  own = gst_spdl_parts_meta_find_part (parts, name);
  *caps = own->caps ? gst_caps_ref (own->caps) : guess_caps (entry);
  /* Which item it is; and not of which parts. */
  gst_buffer_copy_into (part, sample, GST_BUFFER_COPY_METADATA, 0, -1);
  return part;
}

GstBuffer *
spdl_pipe_part_put (GstBuffer *sample, const gchar *name, GstBuffer *result,
    GstCaps *caps, GError **error)
{
  GstBuffer *put = gst_spdl_buffer_replace_part (sample, name, result, caps);

  if (!put)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE,
        "What the chain made of its part \"%s\" cannot be copied", name);
  return put;
}
