/* gst-spdl: chain of elements of spdlpipe
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/pipe/pipeworker.h"

#include <gst/gst.h>

#include "gst/spdl/common/harness.h"
#include "gst/spdl/loader/parse.h"

typedef struct {
  GstElement *bin; /* floating */
  GstPad *first;   /* ends of the chain; owned */
  GstPad *last;
} SpdlPipeEnds;

static GstStaticPadTemplate end_template = GST_STATIC_PAD_TEMPLATE (
    "end", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

struct _SpdlPipeChain {
  GstSpdlHarness *harness;
  GstElement *bin; /* owned by the harness */
  GstPad *entry;
  GstPad *srcpad; /* nullable */
  gboolean drain;
  gboolean broken;
  gint interrupted; /* atomic */

  GstCaps *in_caps;  /* caps of the input */
  GstCaps *fed_caps; /* caps sent to the chain */
  GstCaps *out_caps;
  GArray *results; /* of the current item; not owned */
};

/* Elements of a description */

/* Names of the elements at the ends of the parsed description, which allow the
 * chain to start and end with a caps filter. */
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
        "chain has %s (%s), whose pads appear only with data, and which may "
        "start its own threads: name the elements that it would choose",
        GST_OBJECT_NAME (element), kind_of (element));
    return FALSE;
  }
  if (GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SOURCE) ||
      GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SINK)) {
    set_error (error,
        "chain has %s (%s), a source or a sink: remove it, because spdlpipe "
        "feeds the chain and reads from it",
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

  /* No other thread adds elements. */
  while (ok && gst_iterator_next (iterator, &item) == GST_ITERATOR_OK) {
    ok = check (g_value_get_object (&item), error);
    g_value_reset (&item);
  }
  gst_iterator_free (iterator);
  return ok;
}

static gboolean
configure_element (GstElement *element, GError **error)
{
  gst_spdl_harness_configure (element, FALSE);
  return TRUE;
}

/* Removes the element @name, and returns the pad that was linked to it. */
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
parse_chain (const gchar *chain, GError **error)
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
    set_error (error, "chain \"%s\" is invalid: %s", chain,
        reason ? reason->message : "the chain has no element");
    if (bin)
      gst_object_unref (gst_object_ref_sink (bin));
    return NULL;
  }
  return bin;
}

/* Creates the elements of @chain, in the syntax of gst-launch, and finds the
 * pads at its ends. Returns FALSE with @error set if the chain is invalid, is
 * not linked from end to end, or has elements that add pads at runtime. */
static gboolean
spdl_pipe_build (const gchar *chain, SpdlPipeEnds *ends, GError **error)
{
  GstElement *bin = parse_chain (chain, error);

  if (!bin)
    return FALSE;
  ends->bin = bin;
  ends->first = replace_end (bin, FIRST, "src");
  ends->last = replace_end (bin, LAST, "sink");
  if (!check_all (bin, check_element, error)) {
    /* The error is set. */
  } else if (!ends->first || !ends->last || ends->first == ends->last) {
    set_error (error,
        "chain \"%s\" is not linked from its first to its last element", chain);
  } else {
    check_all (bin, configure_element, NULL);
    return TRUE;
  }
  gst_clear_object (&ends->first);
  gst_clear_object (&ends->last);
  gst_object_unref (gst_object_ref_sink (bin));
  return FALSE;
}

/* Fails if the element has a pad task, which is how queues and similar elements
 * run threads. */
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
        "chain has %s (%s), which runs its own thread: remove it, and use "
        "concurrency and queue-size instead",
        GST_OBJECT_NAME (element), kind_of (element));
  return !has_task;
}

/* Checks that no element in @bin runs a thread. Must be called when @bin is
 * PLAYING. */
static gboolean
spdl_pipe_check_threads (GstElement *bin, GError **error)
{
  return check_all (bin, check_thread, error);
}

static void
clear_result (gpointer data)
{
  SpdlPipeResult *result = data;

  gst_clear_buffer (&result->buffer);
  gst_clear_caps (&result->caps);
}

GArray *
spdl_pipe_results_new (void)
{
  GArray *results = g_array_new (FALSE, FALSE, sizeof (SpdlPipeResult));

  g_array_set_clear_func (results, clear_result);
  return results;
}

/* Output of the chain */

static gboolean
take_caps (gpointer user_data, GstCaps *caps)
{
  SpdlPipeChain *self = user_data;

  gst_caps_replace (&self->out_caps, caps);
  return TRUE;
}

static GstFlowReturn
take_buffer (gpointer user_data, GstBuffer *buffer)
{
  SpdlPipeChain *self = user_data;
  const SpdlPipeResult result = { buffer,
    self->out_caps ? gst_caps_ref (self->out_caps) : NULL };

  if (self->results)
    g_array_append_val (self->results, result);
  else /* a late buffer of a previous item */
    clear_result ((gpointer) &result);
  return GST_FLOW_OK;
}

/* Forwards only caps queries to downstream. Allocation queries are not
 * answered, because a chain must never wait for a downstream pool. */
static gboolean
answer_query (gpointer user_data, GstQuery *query)
{
  SpdlPipeChain *self = user_data;
  g_autoptr (GstCaps) caps = NULL;
  GstCaps *filter;

  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS || !self->srcpad)
    return FALSE;
  gst_query_parse_caps (query, &filter);
  caps = gst_pad_peer_query_caps (self->srcpad, filter);
  gst_query_set_caps_result (query, caps);
  return TRUE;
}

static const GstSpdlHarnessFuncs funcs = { &end_template, take_caps,
  take_buffer, answer_query };

/* Creation */

static gboolean
start_chain (SpdlPipeChain *self, GError **error)
{
  g_autofree gchar *message = NULL, *element = NULL;

  if (gst_spdl_harness_start (self->harness, NULL))
    return spdl_pipe_check_threads (self->bin, error);
  message = gst_spdl_harness_take_message (self->harness, &element);
  g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_STATE_CHANGE,
      "Failed to start the chain: %s%s%s", element ? element : "",
      element ? ": " : "", message ? message : "an element gave no reason");
  return FALSE;
}

SpdlPipeChain *
spdl_pipe_chain_new (
    const gchar *description, gboolean drain, GstPad *srcpad, GError **error)
{
  SpdlPipeEnds ends;
  SpdlPipeChain *self;

  if (!spdl_pipe_build (description, &ends, error))
    return NULL;
  self = g_new0 (SpdlPipeChain, 1);
  self->bin = ends.bin;
  self->entry = gst_object_ref (ends.first);
  self->srcpad = srcpad ? gst_object_ref (srcpad) : NULL;
  self->drain = drain;
  self->harness =
      gst_spdl_harness_new (ends.bin, ends.first, ends.last, &funcs, self);
  if (!self->harness)
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
        "chain \"%s\" cannot be linked at its ends", description);
  if (!self->harness || !start_chain (self, error))
    g_clear_pointer (&self, spdl_pipe_chain_free);
  return self;
}

void
spdl_pipe_chain_free (SpdlPipeChain *self)
{
  g_clear_pointer (&self->harness, gst_spdl_harness_free);
  gst_clear_object (&self->entry);
  gst_clear_object (&self->srcpad);
  gst_clear_caps (&self->in_caps);
  gst_clear_caps (&self->fed_caps);
  gst_clear_caps (&self->out_caps);
  g_free (self);
}

GstPad *
spdl_pipe_chain_get_entry (SpdlPipeChain *self)
{
  return gst_object_ref (self->entry);
}

gboolean
spdl_pipe_chain_is_broken (const SpdlPipeChain *self)
{
  return self->broken;
}

/* Processing */

/* Sets the caps of the chain's input. Image decoders take whole images only if
 * the caps contain `parsed`. */
static void
set_fed_caps (SpdlPipeChain *self, GstCaps *caps)
{
  const GstStructure *s =
      gst_caps_is_fixed (caps) ? gst_caps_get_structure (caps, 0) : NULL;
  const gboolean same =
      self->in_caps && gst_caps_is_equal (self->in_caps, caps);

  gst_caps_replace (&self->in_caps, caps);
  if (same)
    return;
  gst_caps_replace (&self->fed_caps, caps);
  if (!s || !g_str_has_prefix (gst_structure_get_name (s), "image/") ||
      gst_structure_has_field (s, "parsed"))
    return;
  self->fed_caps = gst_caps_make_writable (self->fed_caps);
  gst_caps_set_simple (self->fed_caps, "parsed", G_TYPE_BOOLEAN, TRUE, NULL);
}

static gboolean
has_corrupted (const GArray *results, guint first)
{
  for (guint i = first; i < results->len; i++)
    if (GST_BUFFER_FLAG_IS_SET (
            g_array_index (results, SpdlPipeResult, i).buffer,
            GST_BUFFER_FLAG_CORRUPTED))
      return TRUE;
  return FALSE;
}

/* Checks the result of an item, whose push returned @ret. */
static gboolean
check_flow (SpdlPipeChain *self, GstFlowReturn ret, guint first, GError **error)
{
  g_autofree gchar *element = NULL;
  g_autofree gchar *message =
      gst_spdl_harness_take_message (self->harness, &element);

  if (message) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, "%s: %s",
        element, message);
  } else if (ret == GST_FLOW_NOT_NEGOTIATED) {
    g_autofree gchar *caps =
        self->in_caps ? gst_caps_to_string (self->in_caps) : g_strdup ("none");

    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The chain does not accept the item, or downstream does not accept its "
        "output; the item's caps are %s",
        caps);
  } else if (ret < GST_FLOW_OK && ret != GST_FLOW_EOS) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "The chain failed without a message: %s", gst_flow_get_name (ret));
  } else if (has_corrupted (self->results, first)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
        "The chain reported corrupt data: a part is missing or invalid");
  } else {
    return TRUE;
  }
  return FALSE;
}

/* Resets the chain, so that no state of this item affects the next one. */
static void
clean_up (SpdlPipeChain *self, gboolean ok, gboolean ended)
{
  if (!ok)
    self->broken = !gst_spdl_harness_restart (self->harness);
  else if (ended)
    gst_spdl_harness_flush (self->harness);
  /* Discard messages that were posted during the reset. */
  if (!ok || ended)
    g_free (gst_spdl_harness_take_message (self->harness, NULL));
}

gboolean
spdl_pipe_chain_run (SpdlPipeChain *self, GstBuffer *item, GstCaps *caps,
    GCancellable *cancellable, GArray *results, GError **error)
{
  const guint first = results->len;
  gboolean ok, ended;
  GstFlowReturn ret;

  /* Check the flag first: an interrupting thread cancels before it sets the
   * flag. */
  if (g_atomic_int_compare_and_exchange (&self->interrupted, TRUE, FALSE))
    gst_spdl_harness_flush (self->harness);
  if (g_cancellable_set_error_if_cancelled (cancellable, error)) {
    gst_buffer_unref (item);
    return FALSE;
  }

  if (caps && caps != self->in_caps)
    set_fed_caps (self, caps);
  self->results = results;
  ret = gst_spdl_harness_push (self->harness, item, self->fed_caps);
  /* Without output, the chain may hold the item back, or an incomplete part of
   * it, which would corrupt the next item. */
  ended = self->drain || results->len == first;
  if (ret == GST_FLOW_OK && ended)
    gst_spdl_harness_drain (self->harness);
  ok = check_flow (self, ret, first, error);
  if (!ok)
    g_array_set_size (results, first);
  self->results = NULL;
  clean_up (self, ok, ended || ret == GST_FLOW_EOS);
  return ok;
}

void
spdl_pipe_chain_interrupt (SpdlPipeChain *self)
{
  g_atomic_int_set (&self->interrupted, TRUE);
  gst_spdl_harness_interrupt (self->harness);
}

void
spdl_pipe_chain_reconfigure (SpdlPipeChain *self)
{
  gst_spdl_harness_reconfigure (self->harness);
}
