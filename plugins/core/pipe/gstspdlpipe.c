/* gst-spdl: element spdlpipe
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlpipe
 * @title: spdlpipe
 * @short_description: runs elements or a function on each item
 *
 * Runs either a chain of GStreamer elements (`chain`) or the handler of the
 * signal #GstSpdlPipe::process on each item, in parallel.
 *
 * ## Chains
 * `concurrency` copies of the chain are kept open. Each item passes through one
 * of them as one buffer. The output of the chain replaces the item. Several
 * output buffers become parts of the item, and no output means that the item is
 * filtered. An error in the chain, or an output buffer that is flagged as
 * corrupted, fails the item; the chain is then reset or replaced.
 *
 * A chain is written as for gst-launch-1.0 and may start and end with caps. It
 * runs in the thread that enters it. Elements with threads (`queue`, `queue2`,
 * `multiqueue`), elements that add pads at runtime (`decodebin`, demuxers),
 * sources and sinks are refused with an error that names them. Properties that
 * let a decoder ignore errors or use threads (`max-errors`, `max-threads`,
 * `use-threads`) are set as needed, unless the chain sets them.
 *
 * Items arrive in a TIME segment, and encoded images with `parsed=true`. If an
 * item produces no output, it is followed by an end of stream, so that an
 * element releases what it holds back. Set `drain` for an element that outputs
 * a part at once and holds back the rest: each item is then followed by an end
 * of stream.
 *
 * ## Timeouts
 * With `task-timeout`, each chain runs in a separate thread. An item that takes
 * longer fails, and its chain is flushed. A chain that does not return within
 * half a second is abandoned with its thread, with a warning, and another chain
 * takes its place. The stage fails with an error when 16 abandoned chains are
 * still running. They do not keep the stage from stopping. Without
 * `task-timeout`, a chain that hangs is flushed when the stage flushes or
 * stops, and the stage waits for it.
 *
 * ## Samples of several media
 * `part` names the part of a sample that passes through the chain. The chain
 * must produce one buffer for it.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=photos pattern="*.jpg"
 *     ! spdlfetch concurrency=4 ! spdlpipe concurrency=2 chain="avdec_mjpeg
 *     ! videoconvertscale ! video/x-raw,format=RGB,width=224,height=224"
 *     ! spdlbatch batch-size=32 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include <gst/spdl/spdl.h>

#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/process/processwatch.h"
#include "gst/spdl/stage/capsgate.h"
#include "gst/spdl/stage/stage-private.h"
#include "plugins/core/core.h"
#include "plugins/core/pipe/pipeworker.h"

GST_DEBUG_CATEGORY (spdl_pipe_debug);
#define GST_CAT_DEFAULT spdl_pipe_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define GST_TYPE_SPDL_PIPE (gst_spdl_pipe_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlPipe, gst_spdl_pipe, GST, SPDL_PIPE, GstSpdlStage)

struct _GstSpdlPipe {
  GstSpdlStage parent;

  /* Functions of the base class. */
  GstPadQueryFunction stage_query;
  GstPadEventFunction stage_event;

  /* Properties, guarded by the object lock. */
  gchar *chain;
  const gchar *part; /* interned */
  gboolean drain;
  guint64 task_timeout;
  guint64 worker_timeout;

  /* Set from start to stop; NULL: the signal does the work. Written with the
   * object lock held, under which queries and events read it. */
  SpdlPipeShared *shared;
};

enum {
  SIGNAL_PROCESS,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (GstSpdlPipe, gst_spdl_pipe, GST_TYPE_SPDL_STAGE)
GST_ELEMENT_REGISTER_DEFINE (
    spdlpipe, "spdlpipe", GST_RANK_NONE, GST_TYPE_SPDL_PIPE)

/* Application function */

/* Returns the initial value of the signal's result. It is unchanged if the
 * handler returned nothing, as PyGObject does after an exception. */
static GstSample *
get_no_answer (void)
{
  static GstSample *sample = NULL;

  if (g_once_init_enter (&sample)) {
    GstSample *made = gst_sample_new (NULL, NULL, NULL, NULL);

    GST_MINI_OBJECT_FLAG_SET (made, GST_MINI_OBJECT_FLAG_MAY_BE_LEAKED);
    g_once_init_leave (&sample, made);
  }
  return sample;
}

/* Returns (transfer full) (nullable) the result of the handler. */
static GstSample *
emit_map (GstSpdlStage *stage, guint signal_id, GstSample *sample)
{
  GValue arguments[2] = { G_VALUE_INIT, G_VALUE_INIT };
  GValue result = G_VALUE_INIT;

  g_value_init (&arguments[0], G_OBJECT_TYPE (stage));
  g_value_set_object (&arguments[0], stage);
  g_value_init (&arguments[1], GST_TYPE_SAMPLE);
  g_value_set_static_boxed (&arguments[1], sample);
  g_value_init (&result, GST_TYPE_SAMPLE);
  g_value_set_boxed (&result, get_no_answer ());
  g_signal_emitv (arguments, signal_id, 0, &result);
  g_value_unset (&arguments[1]);
  g_value_unset (&arguments[0]);
  /* The caller gets the reference of the value. */
  return g_value_get_boxed (&result);
}

/* Returns TRUE if @result (nullable) does not denote a failure. */
static gboolean
check_sample (GstSample *result, GError **error)
{
  const gchar *failure;

  if (!result)
    return TRUE;
  if (result == get_no_answer ())
    failure = "The function raised an exception, or returned no GstSample";
  else
    failure = gst_spdl_sample_get_failure (result);
  if (failure)
    g_set_error_literal (
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, failure);
  return failure == NULL;
}

static GPtrArray *
get_buffers (GstSample *sample)
{
  GPtrArray *buffers =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  GstBufferList *list = gst_sample_get_buffer_list (sample);
  GstBuffer *buffer = gst_sample_get_buffer (sample);

  for (guint i = 0; list && i < gst_buffer_list_length (list); i++)
    g_ptr_array_add (buffers, gst_buffer_ref (gst_buffer_list_get (list, i)));
  if (!list && buffer)
    g_ptr_array_add (buffers, gst_buffer_ref (buffer));
  return buffers;
}

static void
push_all (GstSpdlTask *task, GPtrArray *buffers, GstCaps *caps)
{
  for (guint i = 0; i < buffers->len; i++)
    gst_spdl_task_push (
        task, gst_buffer_ref (g_ptr_array_index (buffers, i)), caps);
}

/* Calls the handler of the signal @signal_id with the item of @task, and pushes
 * its result. An item may be a whole batch. */
static gboolean
spdl_pipe_function_process (
    GstSpdlStage *stage, guint signal_id, GstSpdlTask *task, GError **error)
{
  GstBuffer *item = gst_spdl_task_take_item (task);
  GstSample *sample =
      gst_sample_new (item, gst_spdl_task_get_caps (task), NULL, NULL);
  GstSample *result;
  gboolean ok;

  gst_buffer_unref (item);
  result = emit_map (stage, signal_id, sample);
  ok = check_sample (result, error);
  if (ok && result) {
    g_autoptr (GPtrArray) buffers = get_buffers (result);

    push_all (task, buffers, gst_sample_get_caps (result));
  }
  if (result)
    gst_sample_unref (result);
  gst_sample_unref (sample);
  return ok;
}

/* Results of a group */

static gboolean
is_known (GstBuffer *buffer)
{
  return gst_spdl_buffer_get_item_meta (buffer) ||
         gst_spdl_buffer_get_batch_meta (buffer);
}

static void
set_item (GstBuffer **result, GstBuffer *item)
{
  *result = gst_buffer_make_writable (*result);
  spdl_buffer_copy_items (*result, item);
}

/* Marks a single result as the batch of all items of the group. */
static void
set_batch (GstBuffer **result, GstBufferList *group)
{
  const guint n = gst_buffer_list_length (group);
  GstSpdlBatchMeta *batch;
  guint n_items, all = 0;

  for (guint i = 0; i < n; i++) {
    spdl_buffer_get_items (gst_buffer_list_get (group, i), &n_items);
    all += n_items;
  }
  *result = gst_buffer_make_writable (*result);
  batch = gst_spdl_buffer_add_batch_meta (*result, all);
  for (guint i = 0; i < n; i++) {
    const GstSpdlItemMeta *items =
        spdl_buffer_get_items (gst_buffer_list_get (group, i), &n_items);

    for (guint k = 0; k < n_items; k++)
      gst_spdl_batch_meta_append (batch, &items[k]);
  }
}

/* Assigns items to the results of a group that have no meta.
 *
 * @in_list: the function returned a buffer list; FALSE: a single buffer, which
 *     is a batch even if the group has one item */
static gboolean
name_results (
    GPtrArray *results, gboolean in_list, GstBufferList *group, GError **error)
{
  const guint n = gst_buffer_list_length (group);
  guint n_known = 0;

  for (guint i = 0; i < results->len; i++)
    n_known += is_known (g_ptr_array_index (results, i));
  if (n_known == results->len)
    return TRUE;
  if (in_list && n_known == 0 && results->len == n) {
    for (guint i = 0; i < n; i++)
      set_item ((GstBuffer **) &g_ptr_array_index (results, i),
          gst_buffer_list_get (group, i));
    return TRUE;
  }
  if (results->len == 1) {
    set_batch ((GstBuffer **) &g_ptr_array_index (results, 0), group);
    return TRUE;
  }
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
      "The function returned %u buffers for a group of %u, %u of them without "
      "item meta: keep the meta, return one buffer, or return one buffer "
      "without meta for each item",
      results->len, n, results->len - n_known);
  return FALSE;
}

static gboolean
spdl_pipe_function_process_group (
    GstSpdlStage *stage, guint signal_id, GstSpdlTask *task, GError **error)
{
  g_autoptr (GstBufferList) group = gst_spdl_task_dup_group (task);
  g_autoptr (GPtrArray) buffers = NULL;
  GstSample *sample =
      gst_sample_new (NULL, gst_spdl_task_get_caps (task), NULL, NULL);
  GstSample *result;
  gboolean ok;

  gst_sample_set_buffer_list (sample, group);
  result = emit_map (stage, signal_id, sample);
  ok = check_sample (result, error);
  if (ok && result) {
    buffers = get_buffers (result);
    ok = name_results (
        buffers, gst_sample_get_buffer_list (result) != NULL, group, error);
  }
  if (ok && result)
    push_all (task, buffers, gst_sample_get_caps (result));
  if (result)
    gst_sample_unref (result);
  gst_sample_unref (sample);
  return ok;
}

/* Caps */

/* Removes all fields from image caps, because images arrive whole and
 * set_fed_caps() completes the caps for the chain. */
static GstCaps *
loosen_caps (GstCaps *caps)
{
  GstCaps *loose = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GstStructure *s = gst_caps_get_structure (caps, i);
    const gchar *name = gst_structure_get_name (s);

    loose = gst_caps_merge_structure_full (loose,
        g_str_has_prefix (name, "image/") ? gst_structure_new_empty (name)
                                          : gst_structure_copy (s),
        gst_caps_features_copy (gst_caps_get_features (caps, i)));
  }
  return loose;
}

/* Returns (transfer full) (nullable) the caps that the chain accepts, or those
 * of samples with the part that it accepts. */
static GstCaps *
get_chain_caps (GstSpdlPipe *self)
{
  g_autoptr (GstPad) entry = NULL;
  g_autoptr (GstCaps) caps = NULL;
  gboolean takes_part = FALSE;

  GST_OBJECT_LOCK (self);
  if (self->shared) {
    takes_part = self->shared->part != NULL;
    entry = spdl_pipe_shared_get_entry (self->shared);
  }
  GST_OBJECT_UNLOCK (self);
  if (takes_part)
    return gst_caps_new_empty_simple (GST_SPDL_SAMPLE_CAPS);
  caps = entry ? gst_pad_query_caps (entry, NULL) : NULL;
  if (!caps || gst_caps_is_any (caps))
    return NULL;
  return loosen_caps (caps);
}

static gboolean
answer_caps (GstSpdlPipe *self, GstQuery *query)
{
  g_autoptr (GstCaps) caps = get_chain_caps (self);
  g_autoptr (GstCaps) shared = NULL;
  GstCaps *filter;

  if (!caps)
    return FALSE;
  gst_query_parse_caps (query, &filter);
  shared =
      filter ? gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST)
             : gst_caps_ref (caps);
  gst_query_set_caps_result (query, shared);
  return TRUE;
}

static gboolean
gst_spdl_pipe_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstSpdlPipe *self = GST_SPDL_PIPE (parent);

  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS && answer_caps (self, query))
    return TRUE;
  return self->stage_query (pad, parent, query);
}

/* After a reconfigure event, the chains must query the downstream caps
 * again. */
static gboolean
gst_spdl_pipe_src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstSpdlPipe *self = GST_SPDL_PIPE (parent);

  if (GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE) {
    GST_OBJECT_LOCK (self);
    if (self->shared)
      g_atomic_int_inc (&self->shared->round);
    GST_OBJECT_UNLOCK (self);
  }
  return self->stage_event (pad, parent, event);
}

static gboolean
gst_spdl_pipe_negotiate (GstSpdlStage *stage, GstCaps *caps, GError **error)
{
  GstSpdlPipe *self = GST_SPDL_PIPE (stage);
  g_autoptr (GstCaps) takes = NULL;
  g_autofree gchar *comes = NULL, *taken = NULL;

  if (!self->shared)
    return TRUE;
  takes = caps ? get_chain_caps (self) : NULL;
  if (!takes || gst_caps_can_intersect (caps, takes))
    return TRUE;
  comes = gst_caps_to_string (caps);
  taken = gst_caps_to_string (takes);
  if (self->shared->part) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "part=%s is set, but the items are %s instead of samples of several "
        "media: "
        "unset part, or fetch the parts with the property parts of spdlfetch",
        self->shared->part, comes);
    return FALSE;
  }
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "chain \"%s\" does not accept %s, only %s", self->shared->chain, comes,
      taken);
  return FALSE;
}

/* Start and stop */

static gboolean
has_handler (GstSpdlPipe *self)
{
  return g_signal_has_handler_pending (
             self, signals[SIGNAL_PROCESS], 0, FALSE) ||
         gst_spdl_stage_is_async (GST_SPDL_STAGE (self));
}

static gboolean
check_work (GstSpdlPipe *self, const gchar *chain, GError **error)
{
  const gboolean has_function = has_handler (self);

  if (has_function && !chain && self->part) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "part=%s is set, but applies only to chains: a function receives all "
        "parts of a sample, so unset part",
        self->part);
    return FALSE;
  }
  if ((chain != NULL) != has_function)
    return TRUE;
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      has_function ? "chain is set, and a function is connected to the signal "
                     "process: use two spdlpipe, one for each"
                   : "Neither chain nor a function is set: set chain, or "
                     "connect a function to the signal process");
  return FALSE;
}

/* Replaces the shared state. The previous one is freed without the object lock,
 * after queries can no longer reach it. */
static void
set_shared (GstSpdlPipe *self, SpdlPipeShared *shared)
{
  SpdlPipeShared *old;

  GST_OBJECT_LOCK (self);
  old = self->shared;
  self->shared = shared;
  GST_OBJECT_UNLOCK (self);
  if (old)
    spdl_pipe_shared_free (old);
}

static gboolean
gst_spdl_pipe_start (GstSpdlStage *stage, GError **error)
{
  GstSpdlPipe *self = GST_SPDL_PIPE (stage);
  g_autofree gchar *chain = NULL;
  SpdlPipeShared *shared;
  const gchar *part;
  guint64 task_timeout;
  gboolean drain;

  GST_OBJECT_LOCK (self);
  chain = g_strdup (self->chain);
  part = self->part;
  drain = self->drain;
  task_timeout = self->task_timeout;
  GST_OBJECT_UNLOCK (self);
  if (!check_work (self, chain, error))
    return FALSE;
  gst_spdl_stage_set_takes_groups (stage, chain == NULL);
  if (!chain)
    return TRUE;
  shared =
      spdl_pipe_shared_new (stage, chain, part, drain, task_timeout, error);
  if (!shared)
    return FALSE;
  set_shared (self, shared);
  return TRUE;
}

static void
gst_spdl_pipe_stop (GstSpdlStage *stage)
{
  set_shared (GST_SPDL_PIPE (stage), NULL);
}

/* Work */

static gpointer
gst_spdl_pipe_open_worker (GstSpdlStage *stage, GError **error)
{
  SpdlPipeShared *shared = GST_SPDL_PIPE (stage)->shared;

  /* A function needs no worker state, but a worker must not be NULL. */
  return shared ? (gpointer) spdl_pipe_worker_new (shared, error) : stage;
}

static void
gst_spdl_pipe_close_worker (GstSpdlStage *stage, gpointer worker)
{
  if (worker != stage)
    spdl_pipe_worker_free (worker);
}

static gboolean
gst_spdl_pipe_process (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task, GError **error)
{
  if (worker == stage)
    return spdl_pipe_function_process (
        stage, signals[SIGNAL_PROCESS], task, error);
  return spdl_pipe_worker_process (worker, task, error);
}

static gboolean
gst_spdl_pipe_process_group (
    GstSpdlStage *stage, gpointer worker, GstSpdlTask *task, GError **error)
{
  return spdl_pipe_function_process_group (
      stage, signals[SIGNAL_PROCESS], task, error);
}

/* Called with the pool's lock held between start and stop, when `shared` does
 * not change. */
static guint64
gst_spdl_pipe_get_cpu_time (GstSpdlStage *stage)
{
  SpdlPipeShared *shared = GST_SPDL_PIPE (stage)->shared;

  return shared ? __atomic_load_n (&shared->tally->cpu_time, __ATOMIC_RELAXED)
                : 0;
}

/* Class */

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_STRING (GstSpdlPipe, chain, READY, "chain", "Chain",
      "Elements that process each item, in gst-launch syntax (unset = the "
      "signal process)",
      NULL),
  SPDL_PROPERTY_BOOLEAN (GstSpdlPipe, drain, READY, "drain", "Drain",
      "Send EOS through the chain after each item, so that elements that queue "
      "data output all of it (false = only after an item without output)",
      FALSE),
  SPDL_PROPERTY_UINT64 (GstSpdlPipe, task_timeout, READY, "task-timeout",
      "Task timeout",
      "Timeout in nanoseconds for the chain, or a worker process or coroutine "
      "of a Python function, to process an item, which then fails (0 = no "
      "limit)",
      0, G_MAXUINT64, 0),
  SPDL_PROPERTY_UINT64 (GstSpdlPipe, worker_timeout, READY, "worker-timeout",
      "Worker timeout",
      "Time in nanoseconds after which a worker process of a Python function "
      "that is stopped or hangs in the kernel is killed (0 = no limit)",
      0, G_MAXUINT64, SPDL_PROCESS_WATCH_TIMEOUT),
  SPDL_PROPERTY_INTERNED (GstSpdlPipe, part, READY, "part", "Part",
      "Part of samples of several media that the chain processes; other parts "
      "pass "
      "unchanged (unset = whole items)"),
  SPDL_PROPERTY_END
};

static void
gst_spdl_pipe_finalize (GObject *object)
{
  GstSpdlPipe *self = GST_SPDL_PIPE (object);

  gst_spdl_property_table_clear (properties, self);
  G_OBJECT_CLASS (gst_spdl_pipe_parent_class)->finalize (object);
}

static void
install_signals (GType type)
{
  /**
   * GstSpdlPipe::process:
   * @element: the spdlpipe
   * @sample: an item with its caps, or a group as a sample with a buffer list.
   *     The #GstSpdlItemMeta is on the buffer
   *
   * Processes an item, a group or a batch. The signal is emitted in the threads
   * of the stage, at most `concurrency` times in parallel. A result without
   * caps gets the caps of the item, and a result without item meta gets the
   * meta of the item. A sample with a buffer list contains several results.
   *
   * For a group, each result carries the meta of its item. If none does, a
   * buffer list of the same length as the group is assigned to the items in
   * order, and a single buffer becomes a batch of all items, even if the group
   * has only one. Items without a result are filtered. A failure fails all
   * items of the group.
   *
   * Returns: (transfer full) (nullable): the result; %NULL to filter the item;
   * the value of gst_spdl_sample_new_failed() to fail it. A Python function
   * fails an item by raising an exception
   *
   * Since: 0.1
   */
  signals[SIGNAL_PROCESS] =
      g_signal_new ("process", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
          GST_TYPE_SAMPLE, 1, GST_TYPE_SAMPLE | G_SIGNAL_TYPE_STATIC_SCOPE);
}

static void
gst_spdl_pipe_class_init (GstSpdlPipeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlStageClass *stage_class = GST_SPDL_STAGE_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (spdl_pipe_debug, "spdlpipe", 0, "Chains");
  object_class->finalize = gst_spdl_pipe_finalize;
  gst_spdl_property_table_implement (properties, object_class, 0);
  install_signals (G_TYPE_FROM_CLASS (klass));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Item pipe", "Filter",
      "Processes items in parallel with a chain of elements or a function of "
      "the application",
      "the gst-spdl developers");
  stage_class->start = gst_spdl_pipe_start;
  stage_class->stop = gst_spdl_pipe_stop;
  stage_class->negotiate = gst_spdl_pipe_negotiate;
  stage_class->open_worker = gst_spdl_pipe_open_worker;
  stage_class->close_worker = gst_spdl_pipe_close_worker;
  stage_class->process = gst_spdl_pipe_process;
  stage_class->process_group = gst_spdl_pipe_process_group;
  stage_class->get_cpu_time = gst_spdl_pipe_get_cpu_time;
}

static void
gst_spdl_pipe_init (GstSpdlPipe *self)
{
  GstPad *sinkpad = gst_spdl_stage_get_sink_pad (GST_SPDL_STAGE (self));
  GstPad *srcpad = gst_spdl_stage_get_src_pad (GST_SPDL_STAGE (self));

  gst_spdl_property_table_init (properties, self);
  self->stage_query = GST_PAD_QUERYFUNC (sinkpad);
  gst_pad_set_query_function (sinkpad, gst_spdl_pipe_query);
  GST_PAD_SET_ACCEPT_INTERSECT (sinkpad);
  /* negotiate() refuses with a better message than GStreamer. */
  gst_spdl_pad_take_all_caps_events (sinkpad);
  self->stage_event = GST_PAD_EVENTFUNC (srcpad);
  gst_pad_set_event_function (srcpad, gst_spdl_pipe_src_event);
}
