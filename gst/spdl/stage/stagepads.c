/* gst-spdl: data flow of a stage
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/stage-private.h"

#include "gst/spdl/common/bufferitems.h"
#include "gst/spdl/common/marks.h"
#include "gst/spdl/common/sourcenumber.h"
#include "gst/spdl/gstspdlbatchmeta.h"
#include "gst/spdl/stage/taskthread.h"
#include "gst/spdl/gstspdlevents.h"

GST_DEBUG_CATEGORY_EXTERN (gst_spdl_stage_debug);
#define GST_CAT_DEFAULT gst_spdl_stage_debug

static GstSpdlTask *
new_entry (GstSpdlStage *self)
{
  return gst_spdl_task_store_take (&gst_spdl_stage_get_private (self)->entries);
}

/* Numbers of items without meta */

static gboolean
is_numbered (GstBuffer *buffer)
{
  return gst_spdl_buffer_get_item_meta (buffer) ||
         gst_spdl_buffer_get_batch_meta (buffer);
}

/* Makes sure that @buffer (transfer full) is an item or a batch. If the first
 * buffer of the stream is neither, the stage numbers all buffers. Otherwise a
 * buffer without an item is an error, because its position could only be
 * guessed: the stage fails and the function returns NULL. */
static GstBuffer *
number_item (GstSpdlStage *self, GstBuffer *buffer)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  const gboolean numbered = is_numbered (buffer);

  if (!priv->saw_buffer) {
    priv->saw_buffer = TRUE;
    priv->numbers_items = !numbered;
    if (!numbered)
      priv->source = spdl_source_number_get_other (GST_ELEMENT (self));
  }
  if (numbered)
    return buffer;
  if (!priv->numbers_items) {
    gst_buffer_unref (buffer);
    gst_spdl_stage_fail (
        self, g_error_new_literal (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                  "A buffer has no item meta, although items are numbered "
                  "upstream: an element between the stages removes the meta, "
                  "or splits an item into several buffers"));
    return NULL;
  }
  return spdl_buffer_number_item (buffer, priv->source, priv->next_number++,
      spdl_meter_now (&priv->executor.meter));
}

static GstBufferList *
number_group (GstSpdlStage *self, GstBufferList *list)
{
  const guint n = gst_buffer_list_length (list);
  guint i = 0;

  while (i < n && is_numbered (gst_buffer_list_get (list, i)))
    i++;
  if (i == n) {
    if (n > 0)
      gst_spdl_stage_get_private (self)->saw_buffer = TRUE;
    return list;
  }

  GstBufferList *copy = gst_buffer_list_new_sized (n);
  for (i = 0; i < n; i++) {
    GstBuffer *buffer =
        number_item (self, gst_buffer_ref (gst_buffer_list_get (list, i)));

    if (!buffer) {
      gst_clear_buffer_list (&copy);
      break;
    }
    gst_buffer_list_add (copy, buffer);
  }
  gst_buffer_list_unref (list);
  return copy;
}

/* Input */

static GstFlowReturn
get_srcresult (GstSpdlStagePrivate *priv)
{
  GstFlowReturn ret;

  spdl_mutex_lock (&priv->lock);
  ret = priv->srcresult;
  spdl_mutex_unlock (&priv->lock);
  return ret;
}

static void
set_srcresult (GstSpdlStagePrivate *priv, GstFlowReturn ret)
{
  spdl_mutex_lock (&priv->lock);
  priv->srcresult = ret;
  spdl_mutex_unlock (&priv->lock);
}

/* Queues @task, which is freed on failure. */
static GstFlowReturn
put_entry (GstSpdlStage *self, GstSpdlTask *task, SpdlEntryKind kind)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  task->task.entry.kind = kind;
  switch (spdl_executor_put (&priv->executor, &task->task.entry)) {
    case SPDL_EXECUTOR_OK:
      return GST_FLOW_OK;
    case SPDL_EXECUTOR_CLOSED:
      gst_spdl_task_store_put (&priv->entries, task);
      return GST_FLOW_EOS;
    case SPDL_EXECUTOR_FLUSHING:
    default: {
      const GstFlowReturn ret = get_srcresult (priv);

      gst_spdl_task_store_put (&priv->entries, task);
      return ret == GST_FLOW_OK ? GST_FLOW_FLUSHING : ret;
    }
  }
}

/* Calls the subclass's negotiate() with new input caps, or because downstream
 * requested others. */
static gboolean
negotiate_caps (GstSpdlStage *self)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  GstSpdlStageClass *klass = GST_SPDL_STAGE_GET_CLASS (self);
  GError *error = NULL;

  gst_pad_check_reconfigure (priv->srcpad);
  if (!klass->negotiate || klass->negotiate (self, priv->sink_caps, &error)) {
    priv->negotiated = TRUE;
    return TRUE;
  }
  gst_pad_mark_reconfigure (priv->srcpad);
  gst_spdl_stage_fail (self, error);
  return FALSE;
}

/* Sets the caps and the stage that the work function may read from @task. */
static void
prepare_task (GstSpdlStage *self, GstSpdlTask *task)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  task->stage = self;
  task->task.n_items = task->items->len;
  task->cancellable = priv->cancellable;
  task->caps = priv->sink_caps ? gst_caps_ref (priv->sink_caps) : NULL;
}

static GstFlowReturn
put_task (GstSpdlStage *self, GstSpdlTask *task)
{
  prepare_task (self, task);
  return put_entry (self, task, SPDL_ENTRY_TASK);
}

/* Makes each item of @list (transfer full) a part of @task. */
static void
divide_group (GstSpdlStage *self, GstSpdlTask *task, GstBufferList *list)
{
  const guint n = gst_buffer_list_length (list);

  task->is_group = TRUE;
  for (guint i = 0; i < n; i++) {
    GstSpdlTask *part = new_entry (self);

    gst_spdl_task_set_item (
        part, gst_buffer_ref (gst_buffer_list_get (list, i)));
    prepare_task (self, part);
    gst_spdl_task_add_part (task, part);
  }
  gst_buffer_list_unref (list);
}

/* Returns TRUE if a buffer may be queued: downstream accepts data, and the caps
 * are negotiated. */
static gboolean
is_ready (GstSpdlStage *self)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  if (g_atomic_int_get (&priv->refusing))
    return FALSE;
  if (G_LIKELY (priv->negotiated && !GST_PAD_NEEDS_RECONFIGURE (priv->srcpad)))
    return TRUE;
  return negotiate_caps (self);
}

static GstFlowReturn
stage_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstSpdlStage *self = GST_SPDL_STAGE (parent);
  GstSpdlTask *task;

  if (!is_ready (self)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_EOS;
  }
  if (!(buffer = number_item (self, buffer)))
    return GST_FLOW_EOS;
  task = new_entry (self);
  gst_spdl_task_set_item (task, buffer);
  return put_task (self, task);
}

static GstFlowReturn
stage_chain_list (GstPad *pad, GstObject *parent, GstBufferList *list)
{
  GstSpdlStage *self = GST_SPDL_STAGE (parent);
  GstSpdlTask *task;

  if (!is_ready (self)) {
    gst_buffer_list_unref (list);
    return GST_FLOW_EOS;
  }
  if (!(list = number_group (self, list)))
    return GST_FLOW_EOS;
  task = new_entry (self);
  if (gst_spdl_stage_is_async (self))
    divide_group (self, task, list);
  else
    gst_spdl_task_set_group (task, list);
  return put_task (self, task);
}

static gboolean start_pushing (GstSpdlStage *self);

static void
flush_start (GstSpdlStagePrivate *priv)
{
  set_srcresult (priv, GST_FLOW_FLUSHING);
  g_cancellable_cancel (priv->cancellable);
  spdl_executor_flush_start (&priv->executor);
}

static void
flush_stop (GstSpdlStage *self)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  spdl_executor_flush_stop (&priv->executor);
  gst_spdl_stage_reset_flow (self);
  if (!gst_pad_is_active (priv->srcpad))
    return;
  gst_spdl_reporter_start (&priv->reporter);
  start_pushing (self);
}

/* Handles new caps. A failure is not returned upstream, because upstream would
 * post another error; it gets GST_FLOW_EOS with the next buffer. */
static gboolean
handle_caps (GstSpdlStage *self, GstEvent *event)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  gst_caps_replace (&priv->sink_caps, caps);
  gst_event_unref (event);
  negotiate_caps (self);
  return TRUE;
}

/* Queues a serialized event, which keeps its position. An event about dropped
 * items is not a barrier, because nothing has to wait for it. */
static gboolean
queue_event (GstSpdlStage *self, GstEvent *event)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  const GstEventType type = GST_EVENT_TYPE (event);
  const gboolean sticky = GST_EVENT_IS_STICKY (event);
  const gboolean is_dropped =
      gst_spdl_event_parse_items_dropped (event, NULL, NULL, NULL, NULL, NULL);
  GstSpdlTask *entry = new_entry (self);
  GstFlowReturn ret;

  entry->event = event;
  if (type == GST_EVENT_STREAM_START)
    g_atomic_int_set (&priv->refusing, FALSE);
  if (type == GST_EVENT_EOS) {
    spdl_mutex_lock (&priv->lock);
    priv->got_eos = TRUE;
    spdl_mutex_unlock (&priv->lock);
  }
  ret = put_entry (
      self, entry, is_dropped ? SPDL_ENTRY_MARK : SPDL_ENTRY_BARRIER);
  /* Post an error like `queue` does, since upstream does not get the result. */
  if (type == GST_EVENT_EOS &&
      (ret == GST_FLOW_NOT_LINKED || ret < GST_FLOW_EOS))
    GST_ELEMENT_FLOW_ERROR (self, ret);
  /* Do not fail for a sticky event, because that would turn the next push into
   * an error; the next buffer returns the reason. */
  return ret == GST_FLOW_OK || sticky;
}

static gboolean
stage_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstSpdlStage *self = GST_SPDL_STAGE (parent);
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  gboolean ret;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      ret = gst_pad_push_event (priv->srcpad, event);
      flush_start (priv);
      gst_pad_pause_task (priv->srcpad);
      return ret;
    case GST_EVENT_FLUSH_STOP:
      ret = gst_pad_push_event (priv->srcpad, event);
      flush_stop (self);
      return ret;
    case GST_EVENT_CAPS:
      return handle_caps (self, event);
    default:
      if (GST_EVENT_IS_SERIALIZED (event))
        return queue_event (self, event);
      return gst_pad_push_event (priv->srcpad, event);
  }
}

static gboolean
stage_sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstSpdlStageClass *klass = GST_SPDL_STAGE_GET_CLASS (parent);

  if (!GST_QUERY_IS_SERIALIZED (query))
    return gst_pad_query_default (pad, parent, query);
  /* Answer without forwarding, which would have to wait for all queued
   * entries. */
  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION &&
      klass->propose_allocation)
    return klass->propose_allocation (GST_SPDL_STAGE (parent), query);
  return FALSE;
}

static gboolean
stage_sink_activate_mode (
    GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  GstSpdlStage *self = GST_SPDL_STAGE (parent);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  /* Prepare everything before either pad is activated. */
  if (!active)
    flush_start (gst_spdl_stage_get_private (self));
  return TRUE;
}

/* Output */

static GstCaps *
caps_of (const GstSpdlTask *task, const GstSpdlResult *result)
{
  return result->caps ? result->caps : task->caps;
}

/* Pushes the results from @i on that have the same caps as a group, and sets @i
 * to the first one after it. */
static GstFlowReturn
push_group (GstSpdlStagePrivate *priv, GstSpdlTask *task, guint *i)
{
  const guint n = task->results->len;
  GstSpdlResult *results = (GstSpdlResult *) task->results->data;
  GstCaps *caps = caps_of (task, &results[*i]);
  GstBufferList *list = gst_buffer_list_new_sized (n - *i);

  do {
    gst_buffer_list_add (list, g_steal_pointer (&results[*i].buffer));
    (*i)++;
  } while (*i < n && caps_of (task, &results[*i]) == caps);
  gst_spdl_caps_gate_open (&priv->gate, caps);
  return gst_pad_push_list (priv->srcpad, list);
}

/* Ends the stream with an error that names both caps if the next element
 * refuses those of the results; returns @ret otherwise. */
static GstFlowReturn
explain_refusal (GstSpdlStage *self, GstFlowReturn ret)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  GError *error = gst_spdl_caps_gate_explain (&priv->gate);

  if (!error)
    return ret;
  spdl_mutex_lock (&priv->lock);
  priv->fatal_epoch = 0;
  spdl_mutex_unlock (&priv->lock);
  gst_spdl_stage_fail (self, error);
  return GST_FLOW_EOS;
}

/* Counts processed items. Costs nothing if no item of the epoch failed. */
static inline void
count_items (GstSpdlStage *self, GstSpdlStagePrivate *priv, GstSpdlTask *task)
{
  const guint n = task->parts->len > 0 ? task->parts->len : task->items->len;

  if (G_UNLIKELY (task->failures || priv->losses.num_failures > 0))
    gst_spdl_stage_count_failures (self, task, n);
  else
    priv->losses.num_items += n;
}

static GstFlowReturn
push_results (GstSpdlStage *self, GstSpdlStagePrivate *priv, GstSpdlTask *task)
{
  GstFlowReturn ret = GST_FLOW_OK;
  guint n;

  if (g_atomic_int_get (&priv->refusing))
    return GST_FLOW_OK;
  gst_spdl_task_gather_parts (task);
  count_items (self, priv, task);
  n = task->results->len;
  for (guint i = 0; i < n && ret == GST_FLOW_OK;) {
    GstSpdlResult *result = &g_array_index (task->results, GstSpdlResult, i);

    if (task->is_group) {
      ret = push_group (priv, task, &i);
    } else {
      gst_spdl_caps_gate_open (&priv->gate, caps_of (task, result));
      ret = gst_pad_push (priv->srcpad, g_steal_pointer (&result->buffer));
      i++;
    }
  }
  if (!gst_spdl_dropped_items_is_empty (&task->dropped_items)) {
    task->dropped_items.last = priv->losses.last;
    gst_spdl_dropped_items_push (&task->dropped_items, priv->srcpad);
  }
  if (G_UNLIKELY (ret == GST_FLOW_NOT_NEGOTIATED))
    ret = explain_refusal (self, ret);
  if (ret != GST_FLOW_EOS)
    return ret;
  /* Downstream accepts no more data. Upstream learns this with its next buffer,
   * but its EOS must still be forwarded, or the pipeline would not end. */
  g_atomic_int_set (&priv->refusing, TRUE);
  return GST_FLOW_OK;
}

/* Posts the final statistics and, if the stage failed, the error, then pushes
 * the end of the stream. In the other order, the application could take the end
 * of a failed stream for success.
 * Returns TRUE if the stage failed. */
static gboolean
push_eos (GstSpdlStage *self, GstEvent *eos)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  g_autofree gchar *uri = NULL;
  GError *fatal;

  gst_spdl_losses_end_stream (&priv->losses, GST_ELEMENT (self));
  gst_spdl_reporter_finish (&priv->reporter);
  spdl_mutex_lock (&priv->lock);
  fatal = priv->fatal ? g_error_copy (priv->fatal) : NULL;
  uri = g_strdup (priv->fatal_uri);
  spdl_mutex_unlock (&priv->lock);
  if (fatal) {
    gst_spdl_post_error_of_item (GST_ELEMENT (self), fatal, uri);
    g_error_free (fatal);
  }
  gst_spdl_caps_gate_push_event (&priv->gate, eos ? eos : gst_event_new_eos ());
  return fatal != NULL;
}

/* Returns TRUE if @event ends an epoch with too many failures. The stream then
 * ends with the error, and finished results of later epochs are dropped. */
static gboolean
is_end_of_failed_epoch (GstSpdlStagePrivate *priv, GstEvent *event)
{
  guint64 epoch;
  gboolean failed;

  if (!gst_spdl_event_parse_epoch (event, NULL, &epoch, NULL))
    return FALSE;
  spdl_mutex_lock (&priv->lock);
  failed = epoch >= priv->fatal_epoch;
  spdl_mutex_unlock (&priv->lock);
  return failed;
}

static GstFlowReturn
push_event (GstSpdlStage *self, GstEvent *event)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  guint64 epoch;

  if (is_end_of_failed_epoch (priv, event)) {
    gst_event_unref (event);
    push_eos (self, NULL);
    return GST_FLOW_EOS;
  }
  if (gst_spdl_event_parse_epoch (event, NULL, &epoch, NULL) &&
      !gst_spdl_event_is_partial_epoch (event))
    gst_spdl_losses_end_epoch (&priv->losses, GST_ELEMENT (self), epoch);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    return push_eos (self, event) ? GST_FLOW_EOS : GST_FLOW_OK;
  gst_spdl_caps_gate_push_event (&priv->gate, event);
  return GST_FLOW_OK;
}

/* Stops the source pad's task after downstream returned @ret. */
static void
stop_pushing (GstSpdlStage *self, GstFlowReturn ret)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  gboolean tell = FALSE;

  GST_DEBUG_OBJECT (self, "pausing: %s", gst_flow_get_name (ret));
  spdl_mutex_lock (&priv->lock);
  if (priv->srcresult == GST_FLOW_OK) {
    priv->srcresult = ret;
    tell = priv->got_eos;
  }
  spdl_mutex_unlock (&priv->lock);

  spdl_executor_flush_start (&priv->executor);
  gst_pad_pause_task (priv->srcpad);
  if (tell && (ret == GST_FLOW_NOT_LINKED || ret < GST_FLOW_EOS)) {
    GST_ELEMENT_FLOW_ERROR (self, ret);
    gst_pad_push_event (priv->srcpad, gst_event_new_eos ());
  }
}

/* Pushes one entry, as one iteration of the source pad's task. */
static void
push_next (gpointer user_data)
{
  GstSpdlStage *self = user_data;
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  GstSpdlTask *passed = g_steal_pointer (&priv->passed);
  GstFlowReturn ret = GST_FLOW_OK;
  SpdlExecutorStatus status;
  GstSpdlTask *task = (GstSpdlTask *) spdl_executor_take (
      &priv->executor, passed ? &passed->task.entry : NULL, &status);

  if (passed)
    gst_spdl_task_store_put (&priv->entries, passed);
  if (!task) {
    if (status == SPDL_EXECUTOR_CLOSED) {
      push_eos (self, NULL);
      ret = GST_FLOW_EOS;
    } else {
      ret = GST_FLOW_FLUSHING;
    }
  } else if (task->event) {
    ret = push_event (self, g_steal_pointer (&task->event));
  } else {
    ret = push_results (self, priv, task);
  }
  priv->passed = task;
  if (ret != GST_FLOW_OK)
    stop_pushing (self, ret);
}

static gboolean
start_pushing (GstSpdlStage *self)
{
  GstPad *pad = gst_spdl_stage_get_private (self)->srcpad;

  return gst_pad_start_task (pad, push_next, self, NULL) &&
         !spdl_task_thread_is_missing (pad);
}

static gboolean
stage_src_activate_mode (
    GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  GstSpdlStage *self = GST_SPDL_STAGE (parent);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  if (active && start_pushing (self))
    return TRUE;
  flush_start (gst_spdl_stage_get_private (self));
  return gst_pad_stop_task (pad) && !active;
}

void
gst_spdl_stage_reset_flow (GstSpdlStage *self)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  if (priv->passed)
    gst_spdl_task_store_put (&priv->entries, g_steal_pointer (&priv->passed));
  gst_spdl_caps_gate_flush (&priv->gate);
  gst_spdl_losses_reset (&priv->losses);
  g_cancellable_reset (priv->cancellable);
  spdl_mutex_lock (&priv->lock);
  g_atomic_int_set (&priv->refusing, FALSE);
  priv->srcresult = GST_FLOW_OK;
  priv->got_eos = FALSE;
  g_clear_error (&priv->fatal);
  g_clear_pointer (&priv->fatal_uri, g_free);
  priv->fatal_epoch = G_MAXUINT64;
  spdl_mutex_unlock (&priv->lock);
}

void
gst_spdl_stage_init_pads (GstSpdlStage *self, GstElementClass *klass)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  priv->sinkpad = gst_pad_new_from_template (
      gst_element_class_get_pad_template (klass, "sink"), "sink");
  gst_pad_set_chain_function (priv->sinkpad, stage_chain);
  gst_pad_set_chain_list_function (priv->sinkpad, stage_chain_list);
  gst_pad_set_event_function (priv->sinkpad, stage_sink_event);
  gst_pad_set_query_function (priv->sinkpad, stage_sink_query);
  gst_pad_set_activatemode_function (priv->sinkpad, stage_sink_activate_mode);
  gst_element_add_pad (GST_ELEMENT (self), priv->sinkpad);

  priv->srcpad = gst_pad_new_from_template (
      gst_element_class_get_pad_template (klass, "src"), "src");
  gst_pad_set_activatemode_function (priv->srcpad, stage_src_activate_mode);
  gst_pad_use_fixed_caps (priv->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), priv->srcpad);
  gst_spdl_caps_gate_init (&priv->gate, priv->srcpad);
}
