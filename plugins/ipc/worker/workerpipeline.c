/* gst-spdl: the pipeline of a worker
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/worker/workerpipeline.h"

#include <gst/spdl/spdl.h>

#include "gst/spdl/common/redact.h"
#include "gst/spdl/loader/parse.h"
#include "gst/spdl/loader/workerloader.h"

/* Caps at the end are a filter only between two elements. */
static GstElement *
parse_text (const gchar *description, GError **error)
{
  GstElement *element = gst_spdl_parse_launch (description, error);
  g_autofree gchar *more = NULL;

  if (element)
    return element;
  more = g_strconcat (description, " ! identity silent=true", NULL);
  element = gst_spdl_parse_launch (more, NULL);
  if (element)
    g_clear_error (error);
  return element;
}

static GstPipeline *
parse (const gchar *description, GError **error)
{
  GstElement *element = parse_text (description, error);
  GstElement *pipeline;

  if (!element && error)
    spdl_redact_error (*error);
  if (!element || GST_IS_PIPELINE (element))
    return element ? gst_object_ref_sink (GST_PIPELINE (element)) : NULL;
  pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  gst_bin_add (GST_BIN (pipeline), element);
  return GST_PIPELINE (pipeline);
}

static void
set_flaw (GError **error, const gchar *text)
{
  g_set_error_literal (
      error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, text);
}

/* An open sink pad waits for data that nobody has here; of two source pads
 * nobody could say which is the end. */
static gboolean
add_sink (GstPipeline *pipeline, GstElement *sink, GError **error)
{
  GstBin *bin = GST_BIN (pipeline);
  g_autoptr (GstPad) open = gst_bin_find_unlinked_pad (bin, GST_PAD_SINK);
  g_autoptr (GstPad) src = gst_bin_find_unlinked_pad (bin, GST_PAD_SRC);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  g_autoptr (GstPad) other = NULL;

  gst_bin_add (bin, sink);
  if (open)
    set_flaw (error, "The worker's pipeline begins with an open pad: begin it "
                     "with a source");
  else if (!src)
    set_flaw (error, "The worker's pipeline has no open source pad: leave out "
                     "the sink at its end");
  else if (gst_pad_link (src, pad) != GST_PAD_LINK_OK)
    set_flaw (error, "Nothing can be linked to the worker's pipeline");
  else if ((other = gst_bin_find_unlinked_pad (bin, GST_PAD_SRC)))
    set_flaw (error, "The worker's pipeline has more than one open source pad");
  else
    return TRUE;
  return FALSE;
}

static gboolean
set_sources (GstPipeline *pipeline, const SpdlOrder *order, GError **error)
{
  GstIterator *sources = gst_bin_iterate_all_by_element_factory_name (
      GST_BIN (pipeline), "spdlsrc");
  GValue item = G_VALUE_INIT;
  guint n = 0;

  while (gst_iterator_next (sources, &item) == GST_ITERATOR_OK) {
    GObject *source = g_value_get_object (&item);

    if (order->resume_state)
      g_object_set (source, "resume-state", order->resume_state, NULL);
    if (order->epochs != 0)
      g_object_set (source, "epochs", order->epochs, NULL);
    g_value_reset (&item);
    n++;
  }
  g_value_unset (&item);
  gst_iterator_free (sources);
  if (n > 0 || !order->resume_state)
    return TRUE;
  set_flaw (error, "The worker's pipeline has no spdlsrc, which alone can "
                   "begin at a state");
  return FALSE;
}

GstPipeline *
worker_pipeline_new (const SpdlOrder *order, WorkerSink *sink, GError **error)
{
  GstPipeline *pipeline = parse (order->description, error);

  if (!pipeline)
    return NULL;
  if (!add_sink (pipeline, GST_ELEMENT (sink), error) ||
      !set_sources (pipeline, order, error)) {
    gst_object_unref (pipeline);
    return NULL;
  }
  if (order->classes)
    gst_spdl_worker_set_classes (
        pipeline, (const gchar *const *) order->classes);
  gst_spdl_worker_tune (pipeline);
  return pipeline;
}

void
worker_pipeline_put_figures (GstPipeline *pipeline, GByteArray *bytes)
{
  GList *figures = gst_spdl_worker_dup_stats (pipeline);

  spdl_put_u32 (bytes, g_list_length (figures));
  for (GList *l = figures; l; l = l->next)
    spdl_put_structure (bytes, l->data);
  g_list_free_full (figures, (GDestroyNotify) gst_structure_free);
}
