/* gst-spdl: the elements of a chain, made from its description
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/pipe/pipebuild.h"

#include "gst/spdl/common/harness.h"
#include "gst/spdl/loader/parse.h"

/* Stand at the ends while the chain is parsed, so that it may begin and end
 * with a filter of caps. */
#define FIRST "spdl-first"
#define LAST "spdl-last"

static void
set_error (GError **error, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static void
set_error (GError **error, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (
      error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text);
}

static gboolean
has_late_pads (GstElement *element)
{
  const GList *templates =
      gst_element_class_get_pad_template_list (GST_ELEMENT_GET_CLASS (element));

  for (; templates; templates = templates->next) {
    GstPadTemplate *template = templates->data;

    if (GST_PAD_TEMPLATE_DIRECTION (template) == GST_PAD_SRC &&
        GST_PAD_TEMPLATE_PRESENCE (template) == GST_PAD_SOMETIMES)
      return TRUE;
  }
  return FALSE;
}

static const gchar *
kind_of (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);

  return factory ? GST_OBJECT_NAME (factory) : G_OBJECT_TYPE_NAME (element);
}

static gboolean
check_element (GstElement *element, GError **error)
{
  if (has_late_pads (element)) {
    set_error (error,
        "chain has %s (%s), whose pads come only with data, and which may work "
        "in threads of its own: name the elements that it would choose",
        GST_OBJECT_NAME (element), kind_of (element));
    return FALSE;
  }
  if (GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SOURCE) ||
      GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SINK)) {
    set_error (error,
        "chain has %s (%s), a source or a sink: a chain takes what spdlpipe is "
        "given, and spdlpipe passes on what comes out of it",
        GST_OBJECT_NAME (element), kind_of (element));
    return FALSE;
  }
  return TRUE;
}

typedef gboolean (*CheckFunc) (GstElement *element, GError **error);

static gboolean
check_all (GstElement *bin, CheckFunc check, GError **error)
{
  GstIterator *iterator = gst_bin_iterate_recurse (GST_BIN (bin));
  g_auto (GValue) item = G_VALUE_INIT;
  gboolean ok = TRUE;

  /* Nobody adds elements meanwhile. */
  while (ok && gst_iterator_next (iterator, &item) == GST_ITERATOR_OK) {
    ok = check (g_value_get_object (&item), error);
    g_value_reset (&item);
  }
  gst_iterator_free (iterator);
  return ok;
}

static gboolean
configure (GstElement *element, GError **error)
{
  gst_spdl_harness_configure (element, FALSE);
  return TRUE;
}

/* Takes the element @name away, and returns the pad that was linked to it. */
static GstPad *
replace_end (GstElement *bin, const gchar *name, const gchar *pad_name)
{
  g_autoptr (GstElement) end = gst_bin_get_by_name (GST_BIN (bin), name);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (end, pad_name);
  GstPad *peer = gst_pad_get_peer (pad);

  if (peer && GST_PAD_IS_SRC (peer))
    gst_pad_unlink (peer, pad);
  else if (peer)
    gst_pad_unlink (pad, peer);
  gst_bin_remove (GST_BIN (bin), end);
  return peer;
}

static GstElement *
parse (const gchar *chain, GError **error)
{
  g_autofree gchar *whole = g_strdup_printf (
      "identity name=" FIRST " ! %s ! identity name=" LAST, chain);
  g_autoptr (GError) reason = NULL;
  GstElement *bin = NULL;

  if (gst_spdl_parse_check (whole, &reason) &&
      !(bin = gst_parse_bin_from_description_full (
            whole, FALSE, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &reason)) &&
      reason)
    gst_spdl_parse_explain (whole, reason);
  if (!bin || reason) {
    set_error (error, "chain \"%s\" is wrong: %s", chain,
        reason ? reason->message : "it has no element");
    if (bin)
      gst_object_unref (gst_object_ref_sink (bin));
    return NULL;
  }
  return bin;
}

gboolean
spdl_pipe_build (const gchar *chain, SpdlPipeEnds *ends, GError **error)
{
  GstElement *bin = parse (chain, error);

  if (!bin)
    return FALSE;
  ends->bin = bin;
  ends->first = replace_end (bin, FIRST, "src");
  ends->last = replace_end (bin, LAST, "sink");
  if (!check_all (bin, check_element, error)) {
    /* It is said. */
  } else if (!ends->first || !ends->last || ends->first == ends->last) {
    set_error (
        error, "chain \"%s\" is not linked from one end to the other", chain);
  } else {
    check_all (bin, configure, NULL);
    return TRUE;
  }
  gst_clear_object (&ends->first);
  gst_clear_object (&ends->last);
  gst_object_unref (gst_object_ref_sink (bin));
  return FALSE;
}

/* Threads of queues and the like are their pads' tasks. */
static gboolean
check_thread (GstElement *element, GError **error)
{
  gboolean has_task = FALSE;

  GST_OBJECT_LOCK (element);
  for (GList *l = element->pads; l && !has_task; l = l->next)
    has_task = GST_PAD_TASK (l->data) != NULL;
  GST_OBJECT_UNLOCK (element);
  if (has_task)
    set_error (error,
        "chain has %s (%s), which works in a thread of its own: leave it out, "
        "concurrency and queue-size do what it would",
        GST_OBJECT_NAME (element), kind_of (element));
  return !has_task;
}

gboolean
spdl_pipe_check_threads (GstElement *bin, GError **error)
{
  return check_all (bin, check_thread, error);
}
