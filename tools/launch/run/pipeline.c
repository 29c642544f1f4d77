/* gst-spdl-launch: creation of the pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/pipeline.h"

#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/showntext.h"
#include "tools/launch/run/parts.h"

#include <gio/gio.h>

#include "gst/spdl/loader/parse.h"

gchar *
pipeline_describe (gchar **description)
{
  g_autofree gchar *text = g_strjoinv (" ", description);
  g_autofree gchar *safe = spdl_redact_text (text);

  return g_utf8_make_valid (safe, -1);
}

static void
close_end (GstBin *bin)
{
  GstPad *open = gst_bin_find_unlinked_pad (bin, GST_PAD_SRC);
  GstElement *sink = open ? gst_element_factory_make ("spdlsink", NULL) : NULL;

  if (sink) {
    GstPad *pad = gst_element_get_static_pad (sink, "sink");

    gst_bin_add (bin, sink);
    gst_pad_link (open, pad);
    gst_object_unref (pad);
  }
  gst_clear_object (&open);
}

GstElement *
pipeline_new (gchar **description, GError **error)
{
  GstElement *pipeline = gst_spdl_parse_launchv (description, error);

  if (!pipeline) {
    spdl_show_error (*error);
    g_prefix_error (error, "Failed to create the pipeline: ");
    return NULL;
  }
  if (!GST_IS_PIPELINE (pipeline)) {
    GstElement *outer = gst_pipeline_new (NULL);

    gst_bin_add (GST_BIN (outer), pipeline);
    pipeline = outer;
  }
  gst_object_ref_sink (pipeline);
  close_end (GST_BIN (pipeline));
  return pipeline;
}

/* Counts the elements that a factory has made.
 * @last: (out) (transfer full) (nullable): the last one */
static guint
count_made_by (GPtrArray *parts, const gchar *factory_name, GstElement **last)
{
  guint n = 0;

  *last = NULL;
  for (guint i = 0; i < parts->len; i++) {
    const Part *part = g_ptr_array_index (parts, i);
    GstElementFactory *factory = gst_element_get_factory (part->element);

    if (!factory || !g_str_equal (GST_OBJECT_NAME (factory), factory_name))
      continue;
    n++;
    gst_object_replace ((GstObject **) last, GST_OBJECT (part->element));
  }
  return n;
}

static void
insert_before (GstElement *sink, GstElement *element)
{
  GstPad *pad = gst_element_get_static_pad (sink, "sink");
  GstPad *before = gst_pad_get_peer (pad);
  GstPad *in = gst_element_get_static_pad (element, "sink");

  gst_bin_add (GST_BIN (GST_OBJECT_PARENT (sink)), element);
  if (before) {
    gst_pad_unlink (before, pad);
    gst_pad_link (before, in);
  }
  gst_element_link (element, sink);
  gst_clear_object (&before);
  gst_object_unref (in);
  gst_object_unref (pad);
}

gboolean
pipeline_insert_cache (GstElement *pipeline, guint n_batches, GError **error)
{
  g_autoptr (GPtrArray) parts = parts_new (pipeline);
  g_autoptr (GstElement) sink = NULL, other = NULL;
  GstElement *cache;

  if (!pipeline_find_sink (parts, &sink, error))
    return FALSE;
  if (!sink || count_made_by (parts, "spdlcache", &other) > 0) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        sink ? "the pipeline already has an spdlcache, which --headspace adds "
               "itself: remove it"
             : "--headspace needs a pipeline that ends in an spdlsink, from "
               "which batches are pulled");
    return FALSE;
  }
  cache = gst_element_factory_make ("spdlcache", NULL);
  g_object_set (
      cache, "num-caches", n_batches, "return-caches-after", n_batches, NULL);
  insert_before (sink, cache);
  return TRUE;
}

gboolean
pipeline_find_sink (GPtrArray *parts, GstElement **sink, GError **error)
{
  const guint n = count_made_by (parts, "spdlsink", sink);

  if (n < 2)
    return TRUE;
  gst_clear_object (sink);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
      "the pipeline has %u spdlsinks, but batches are pulled from one: replace "
      "the others by fakesink",
      n);
  return FALSE;
}

void
pipeline_set_not_started (GError **error)
{
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED,
      "an element does not start, and posts no error: run again with "
      "GST_DEBUG=3");
}

GstElement *
pipeline_make_loader_sink (GError **error)
{
  GstElement *sink = gst_element_factory_make ("spdlsink", NULL);

  if (!sink) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
        "GStreamer finds no element spdlsink: is gst-spdl installed "
        "completely?");
    return NULL;
  }
  gst_object_ref_sink (sink);
  g_object_set (sink, "async", FALSE, NULL);
  gst_element_set_state (sink, GST_STATE_PLAYING);
  return sink;
}

void
pipeline_end_loader_sink (GstElement *sink)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");

  gst_pad_send_event (pad, gst_event_new_stream_start ("end"));
  gst_pad_send_event (pad, gst_event_new_eos ());
}
