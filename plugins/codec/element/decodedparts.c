/* gst-spdl: parts of the samples that are decoded
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/element/decodedparts.h"

#include <gst/spdl/spdl.h>

static gboolean
is_sample (GstCaps *caps)
{
  return caps && gst_structure_has_name (
                     gst_caps_get_structure (caps, 0), GST_SPDL_SAMPLE_CAPS);
}

gboolean
spdl_part_check_caps (const gchar *part, gboolean has_views, GstCaps *caps,
    GstPad *srcpad, GError **error)
{
  g_autoptr (GstCaps) sample = NULL;
  g_autofree gchar *text = NULL;

  if (!part && is_sample (caps)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Items are samples of several media: set part to the name of the part "
        "to "
        "decode");
    return FALSE;
  }
  if (!part && !has_views)
    return TRUE;
  if (part && !is_sample (caps)) {
    text = caps ? gst_caps_to_string (caps) : g_strdup ("without caps");
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "part=%s is set, but the items are not samples of several media (%s): "
        "name "
        "the fields of the other parts in the property parts of spdlfetch, or "
        "leave part unset",
        part, text);
    return FALSE;
  }
  sample = gst_caps_new_empty_simple (GST_SPDL_SAMPLE_CAPS);
  if (gst_pad_peer_query_accept_caps (srcpad, sample))
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Downstream does not accept samples of several media "
      "(" GST_SPDL_SAMPLE_CAPS "), which %s%s produces: link spdlbatch",
      part ? "part=" : "views", part ? part : "");
  return FALSE;
}

static void
set_missing (GstBuffer *sample, const gchar *name, GError **error)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (sample);
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; parts && i < parts->num_parts; i++)
    g_string_append_printf (
        names, "%s%s", i > 0 ? ", " : "", parts->parts[i].name);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Item has no part \"%s\", only %s", name,
      names->len > 0 ? names->str : "none");
}

GstBuffer *
spdl_part_take (
    GstBuffer *sample, const gchar *name, GstCaps **caps, GError **error)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (sample);
  GstBuffer *part = parts ? gst_spdl_buffer_dup_part (sample, name) : NULL;

  if (part)
    *caps = gst_spdl_parts_meta_find_part (parts, name)->caps;
  else
    set_missing (sample, name, error);
  return part;
}

/* A pool's buffer, mapped until its memory is freed. */
typedef struct {
  GstBuffer *buffer;
  GstMapInfo map;
} Frame;

static void
frame_free (gpointer data)
{
  Frame *frame = data;

  gst_buffer_unmap (frame->buffer, &frame->map);
  gst_buffer_unref (frame->buffer);
  g_free (frame);
}

/* Wraps the memory of a pooled buffer in a new buffer: a pool does not reuse a
 * buffer whose memory is shared with another buffer. Takes ownership of
 * @buffer.
 * Returns: (transfer full) (nullable) */
static GstBuffer *
wrap_array (GstBuffer *buffer)
{
  Frame *frame;

  if (!buffer->pool)
    return buffer;
  frame = g_new (Frame, 1);
  frame->buffer = buffer;
  if (gst_buffer_map (buffer, &frame->map, GST_MAP_READWRITE))
    return gst_buffer_new_wrapped_full (0, frame->map.data, frame->map.size, 0,
        frame->map.size, frame, frame_free);
  gst_buffer_unref (buffer);
  g_free (frame);
  return NULL;
}

GstBuffer *
spdl_part_put (GstBuffer *sample, const gchar *name, GstBuffer *result,
    GstCaps *caps, GError **error)
{
  g_autoptr (GstBuffer) own = wrap_array (result);
  GstBuffer *put =
      own ? gst_spdl_buffer_replace_part (sample, name, own, caps) : NULL;

  if (put)
    return put;
  /* @error may hold the defect of a part that on-corrupt=keep accepts. */
  g_clear_error (error);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE,
      "Not enough memory for part \"%s\"", name);
  return NULL;
}

void
spdl_part_drop_views (SpdlView *views, guint n)
{
  for (guint i = 0; i < n; i++)
    gst_clear_buffer (&views[i].buffer);
}

/* Appends a view, whose buffer is taken, to @sample (transfer full). */
static GstBuffer *
append_view (
    GstBuffer *sample, SpdlView *view, const gchar *name, GError **error)
{
  g_autoptr (GstBuffer) own = wrap_array (g_steal_pointer (&view->buffer));

  if (own && gst_spdl_buffer_append_part (sample, name, own, view->caps))
    return sample;
  g_clear_error (error);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Failed to add the part \"%s\" to the item: it has one of that name, "
      "more than %u parts with those of views, or there is not enough memory",
      name, GST_SPDL_MAX_PARTS);
  gst_buffer_unref (sample);
  return NULL;
}

GstBuffer *
spdl_part_put_views (
    GstBuffer *sample, SpdlView *views, guint n, GError **error)
{
  GstBuffer *result =
      sample ? spdl_part_put (sample, GST_SPDL_MAIN_PART,
                   g_steal_pointer (&views->buffer), views->caps, error)
             : gst_buffer_new ();

  for (guint i = sample ? 1 : 0; result && i < n; i++)
    result = append_view (result, &views[i], spdl_view_get_name (i), error);
  spdl_part_drop_views (views, n);
  return result;
}
