/* gst-spdl: spdlfetch, what its results are
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/element/fetch-private.h"

#include <string.h>

#define OCTET_STREAM "application/octet-stream"

/* The media types alone: of raw video the rest would be a page. */
static gchar *
list_types (GstCaps *caps)
{
  GString *types = g_string_new (NULL);

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const gchar *name =
        gst_structure_get_name (gst_caps_get_structure (caps, i));

    if (!strstr (types->str, name))
      g_string_append_printf (types, "%s%s", i > 0 ? ", " : "", name);
  }
  if (gst_caps_is_any (caps))
    g_string_append (types, "anything");
  return g_string_free (types, FALSE);
}

/* What downstream takes: bytes, or the one thing that it asks for. */
static GstCaps *
choose_caps (GstSpdlFetchElement *self, GError **error)
{
  GstPad *srcpad = gst_spdl_stage_get_src_pad (GST_SPDL_STAGE (self));
  g_autoptr (GstCaps) bytes = gst_caps_new_empty_simple (OCTET_STREAM);
  g_autoptr (GstCaps) allowed = gst_pad_peer_query_caps (srcpad, NULL);

  if (gst_caps_can_intersect (allowed, bytes))
    return g_steal_pointer (&bytes);
  allowed = gst_caps_simplify (g_steal_pointer (&allowed));
  if (gst_caps_is_fixed (allowed)) {
    if (!gst_structure_has_name (
            gst_caps_get_structure (allowed, 0), GST_SPDL_SAMPLE_CAPS))
      return g_steal_pointer (&allowed);
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND,
        "Downstream takes samples of several media: name the fields of the "
        "others in the property parts");
    return NULL;
  }

  g_autofree gchar *types = list_types (allowed);
  g_autoptr (GstCaps) decoded =
      gst_caps_from_string ("video/x-raw; audio/x-raw");

  if (!gst_caps_is_any (allowed) && gst_caps_can_intersect (allowed, decoded)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND,
        "Downstream takes decoded items (%s), and files are encoded: write "
        "\"! spdldecode !\" after spdlfetch, or set the property caps where "
        "the files hold such data",
        types);
    return NULL;
  }
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND,
      "What the items are cannot be told from what downstream takes (%s): set "
      "the property caps",
      types);
  return NULL;
}

/* Of items with parts, `caps` is what their first part is. */
static GstCaps *
make_sample_caps (GstSpdlFetchElement *self, GError **error)
{
  GstPad *srcpad = gst_spdl_stage_get_src_pad (GST_SPDL_STAGE (self));
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple (GST_SPDL_SAMPLE_CAPS);

  if (gst_pad_peer_query_accept_caps (srcpad, caps))
    return g_steal_pointer (&caps);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND,
      "parts is set, but downstream takes no samples of several media "
      "(" GST_SPDL_SAMPLE_CAPS "): spdldecode does, with part=NAME, and so do "
      "spdlpipe and spdlbatch");
  return NULL;
}

gboolean
gst_spdl_fetch_element_negotiate (
    GstSpdlStage *stage, GstCaps *caps, GError **error)
{
  GstSpdlFetchElement *self = GST_SPDL_FETCH_ELEMENT (stage);
  GstCaps *chosen = NULL;

  GST_OBJECT_LOCK (self);
  if (!self->names && self->caps)
    chosen = gst_caps_ref (self->caps);
  GST_OBJECT_UNLOCK (self);
  if (!chosen)
    chosen = self->names ? make_sample_caps (self, error)
                         : choose_caps (self, error);
  if (!chosen)
    return FALSE;
  GST_OBJECT_LOCK (self);
  gst_caps_take (&self->src_caps, chosen);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}
