/* gst-spdl: calls of a stage's work function, and their failures
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/logline.h"
#include "gst/spdl/stage/stage-private.h"

#include "gst/spdl/gstspdlbatchmeta.h"

GST_DEBUG_CATEGORY_EXTERN (gst_spdl_stage_debug);
#define GST_CAT_DEFAULT gst_spdl_stage_debug

/* max-failure-rate is checked when at least this number of items of the epoch
 * were processed. */
#define RATE_PROBATION 100

/**
 * gst_spdl_stage_set_takes_groups:
 * @stage: a stage whose class has @process_group
 * @takes: %TRUE to process whole groups
 *
 * Sets whether the stage processes whole groups. Call it before the start or in
 * #GstSpdlStageClass.start().
 *
 * Since: 0.1
 */
void
gst_spdl_stage_set_takes_groups (GstSpdlStage *stage, gboolean takes)
{
  g_return_if_fail (GST_IS_SPDL_STAGE (stage));
  g_return_if_fail (
      !takes || GST_SPDL_STAGE_GET_CLASS (stage)->process_group != NULL);

  gst_spdl_stage_get_private (stage)->takes_groups = takes;
}

gboolean
gst_spdl_stage_is_async (GstSpdlStage *stage)
{
  return gst_spdl_stage_get_private (stage)->begin ||
         GST_SPDL_STAGE_GET_CLASS (stage)->process_async;
}

/* Fails the stage. @uri: (nullable): URI of the item that caused @error */
static void
fail_stage (GstSpdlStage *self, GError *error, const gchar *uri)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  spdl_mutex_lock (&priv->lock);
  if (!priv->fatal) {
    priv->fatal = g_steal_pointer (&error);
    priv->fatal_uri = g_strdup (uri);
  }
  spdl_mutex_unlock (&priv->lock);
  g_clear_error (&error);
  spdl_executor_close (&priv->executor);
}

/**
 * gst_spdl_stage_fail:
 * @stage: a stage
 * @error: (transfer full): reason of the failure
 *
 * Ends the stream with an error. The stage starts no further item, pushes the
 * results of running and finished tasks, posts @error and sends the end of the
 * stream. Only the first error counts. May be called from any thread.
 *
 * Since: 0.1
 */
void
gst_spdl_stage_fail (GstSpdlStage *stage, GError *error)
{
  g_return_if_fail (GST_IS_SPDL_STAGE (stage) && error != NULL);

  fail_stage (stage, error, NULL);
}

/* Fails the stage because of the item @uri (nullable) of @epoch.
 * @error: (transfer full) */
static void
give_up (GstSpdlStage *self, guint64 epoch, const gchar *uri, GError *error)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  spdl_mutex_lock (&priv->lock);
  if (!priv->fatal)
    priv->fatal_epoch = MIN (priv->fatal_epoch, epoch);
  spdl_mutex_unlock (&priv->lock);
  fail_stage (self, error, uri);
}

/* Checks the failure rate of the epoch so far. Fails the stage and returns TRUE
 * if it is too high. */
static gboolean
check_failure_rate (GstSpdlStage *self)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  const GstSpdlLosses *losses = &priv->losses;
  g_autofree gchar *last = NULL;
  gdouble max_rate;

  if (losses->num_items < RATE_PROBATION)
    return FALSE;
  GST_OBJECT_LOCK (self);
  max_rate = priv->max_failure_rate;
  GST_OBJECT_UNLOCK (self);
  if (max_rate >= 1.0 || losses->num_failures <= max_rate * losses->num_items)
    return FALSE;
  last = gst_spdl_failure_describe (losses->last);
  give_up (self, losses->last->epoch, losses->last->uri,
      g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
          "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
          " items failed in epoch %" G_GUINT64_FORMAT
          ", more than max-failure-rate=%g allows; the last was %s",
          losses->num_failures, losses->num_items, losses->last->epoch,
          max_rate, last));
  return TRUE;
}

void
gst_spdl_stage_count_failures (
    GstSpdlStage *self, const GstSpdlTask *task, guint n)
{
  GstSpdlLosses *losses = &gst_spdl_stage_get_private (self)->losses;
  const guint n_failed = task->failures ? task->failures->len : 0;
  gboolean over = FALSE;

  /* They are in the order of their items. */
  for (guint i = 0, next = 0; i < n; i++) {
    losses->num_items++;
    if (next < n_failed) {
      GstSpdlFailure **failure =
          (GstSpdlFailure **) &g_ptr_array_index (task->failures, next);

      if ((*failure)->place == i) {
        gst_spdl_losses_add (
            losses, GST_ELEMENT (self), g_steal_pointer (failure));
        next++;
      }
    }
    if (!over && losses->num_failures > 0)
      over = check_failure_rate (self);
  }
}

static void
add_dropped (GstSpdlTask *task, GstSpdlDropReason reason)
{
  const GstSpdlItemMeta *item = gst_spdl_task_get_item_meta (task);
  GstBuffer *bearer = gst_spdl_task_get_bearer (task);

  if (item)
    gst_spdl_dropped_items_add (&task->dropped_items, item, reason);
  else if (bearer)
    gst_spdl_dropped_items_add_buffer (&task->dropped_items, bearer, reason);
}

/* Makes the record of the failed item, and posts it; for a batch, one for each
 * of its items. */
static GstSpdlFailure *
report_failure (GstSpdlStage *self, GstSpdlTask *task, const GError *error,
    guint64 num_failures)
{
  GstElement *element = GST_ELEMENT (self);
  const GstSpdlItemMeta *item = gst_spdl_task_get_item_meta (task);
  GstBuffer *bearer = gst_spdl_task_get_bearer (task);
  const GstSpdlBatchMeta *batch =
      item || !bearer ? NULL : gst_spdl_buffer_get_batch_meta (bearer);
  GstSpdlFailure *failure =
      gst_spdl_failure_new (element, item, error, num_failures);

  if (!batch)
    gst_spdl_failure_post (failure, element);
  for (guint i = 0; batch && i < batch->num_items; i++) {
    g_autoptr (GstSpdlFailure) one =
        gst_spdl_failure_new (element, &batch->items[i], error, num_failures);

    gst_spdl_failure_post (one, element);
    failure->epoch = MIN (failure->epoch, one->epoch);
  }
  return failure;
}

/* Drops the current item of @task, because it failed. Fails the stage if there
 * are more failures than max-failures allows. */
static void
fail_item (GstSpdlStage *self, GstSpdlTask *task, const GError *error)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  GstSpdlFailure *failure;
  gint max_failures;
  guint64 num;

  /* During a flush, it has not failed, but will not come either. */
  if (g_cancellable_is_cancelled (task->cancellable))
    return;
  task->task.n_failed++;
  add_dropped (task, GST_SPDL_DROP_REASON_FAILED);
  GST_OBJECT_LOCK (self);
  max_failures = priv->max_failures;
  GST_OBJECT_UNLOCK (self);
  spdl_mutex_lock (&priv->lock);
  num = ++priv->num_failures;
  spdl_mutex_unlock (&priv->lock);
  failure = report_failure (self, task, error, num);
  SPDL_INFO_OBJECT (self, "failed: %s: %s",
      failure->uri ? failure->uri : "item", error->message);
  if (max_failures >= 0 && num > (guint64) max_failures) {
    g_autofree gchar *last = gst_spdl_failure_describe (failure);

    give_up (self, failure->epoch, failure->uri,
        g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
            "%" G_GUINT64_FORMAT
            " items failed, more than max-failures allows; the last was %s",
            num, last));
  }
  gst_spdl_failure_add_to (failure, task->current, &task->failures);
}

/* Ends the current item, whose results start at @first. @error: (transfer full)
 * (nullable): reason of its failure */
static void
end_item (GstSpdlStage *self, GstSpdlTask *task, guint first, GError *error)
{
  if (error) {
    gst_spdl_task_drop_results (task, first);
    fail_item (self, task, error);
    g_error_free (error);
  } else if (task->results->len > first) {
    gst_spdl_task_adopt_results (task, first);
  } else {
    task->task.n_filtered++;
    add_dropped (task, GST_SPDL_DROP_REASON_FILTERED);
  }
}

static void
process_item (GstSpdlStage *self, gpointer worker, GstSpdlTask *task, guint i)
{
  const guint first = task->results->len;
  GError *error = NULL;

  gst_spdl_task_begin_item (task, i);
  if (!GST_SPDL_STAGE_GET_CLASS (self)->process (self, worker, task, &error) &&
      !error)
    error = g_error_new_literal (
        GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, "No reason given");
  end_item (self, task, first, error);
}

/* Fails all items of a group, because the call for the group failed. */
static void
fail_group (GstSpdlStage *self, GstSpdlTask *task, GError *error)
{
  gst_spdl_task_drop_results (task, 0);
  for (guint i = 0; i < task->items->len; i++) {
    gst_spdl_task_begin_item (task, i);
    fail_item (self, task, error);
  }
  g_error_free (error);
}

static void
process_group (GstSpdlStage *self, gpointer worker, GstSpdlTask *task)
{
  GError *error = NULL;

  gst_spdl_task_begin_item (task, 0);
  if (GST_SPDL_STAGE_GET_CLASS (self)->process_group (
          self, worker, task, &error))
    task->task.n_filtered += gst_spdl_task_adopt_group (task);
  else
    fail_group (self, task,
        error ? error
              : g_error_new_literal (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                    "No reason given"));
}

static void
end_task (GstSpdlTask *task)
{
  for (guint i = 0; i < task->results->len; i++)
    task->task.bytes_out += gst_buffer_get_size (
        g_array_index (task->results, GstSpdlResult, i).buffer);
  gst_spdl_task_release_items (task);
}

/**
 * gst_spdl_task_finish:
 * @task: (transfer full): a task that was given to
 *     #GstSpdlStageClass.process_async()
 * @error: (transfer full) (nullable): reason of the failure; %NULL for success
 *
 * Ends @task, once, from any thread. @task must not be used afterwards.
 *
 * Since: 0.1
 */
void
gst_spdl_task_finish (GstSpdlTask *task, GError *error)
{
  GstSpdlStage *self = task->stage;

  end_item (self, task, 0, error);
  end_task (task);
  spdl_executor_finish (
      &gst_spdl_stage_get_private (self)->executor, &task->task);
}

static gboolean
ensure_worker (GstSpdlStage *self, gpointer *slot)
{
  GstSpdlStageClass *klass = GST_SPDL_STAGE_GET_CLASS (self);
  GError *error = NULL;

  if (*slot || !klass->open_worker)
    return TRUE;
  *slot = klass->open_worker (self, &error);
  if (*slot)
    return TRUE;
  gst_spdl_stage_fail (self, error);
  return FALSE;
}

/* Returns the sequence number of the first item. */
static guint64
get_number (const GstSpdlTask *task)
{
  const GstSpdlItemMeta *item =
      gst_spdl_buffer_get_item_meta (g_ptr_array_index (task->items, 0));

  return item ? item->sequence : G_MAXUINT64;
}

static gboolean
run_task (gpointer user_data, SpdlTask *base, gpointer *slot)
{
  GstSpdlStage *self = user_data;
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  GstSpdlStageClass *klass = GST_SPDL_STAGE_GET_CLASS (self);
  GstSpdlTask *task = (GstSpdlTask *) base;
  const guint n = task->items->len;

  if (n == 0 || g_atomic_int_get (&priv->refusing) ||
      g_cancellable_is_cancelled (task->cancellable) ||
      !ensure_worker (self, slot))
    return TRUE;
  if (G_UNLIKELY (priv->executor.meter.track))
    base->number = get_number (task);
  if (gst_spdl_stage_is_async (self)) {
    gst_spdl_task_begin_item (task, 0);
    if (priv->begin)
      priv->begin (task, priv->begin_data);
    else
      klass->process_async (self, *slot, task);
    return FALSE;
  }
  if (task->is_group && priv->takes_groups)
    process_group (self, *slot, task);
  else
    for (guint i = 0; i < n && !g_cancellable_is_cancelled (task->cancellable);
         i++)
      process_item (self, *slot, task, i);
  end_task (task);
  return TRUE;
}

static void
close_slot (gpointer user_data, gpointer worker)
{
  GST_SPDL_STAGE_GET_CLASS (user_data)->close_worker (user_data, worker);
}

/* Keeps sticky events of the stream that a flush would discard before they were
 * sent. */
static void
keep_sticky (GstSpdlStagePrivate *priv, GstEvent *event)
{
  const GstEventType type = GST_EVENT_TYPE (event);

  if (GST_EVENT_IS_STICKY (event) && type != GST_EVENT_SEGMENT &&
      type != GST_EVENT_EOS && gst_pad_is_active (priv->srcpad))
    gst_pad_store_sticky_event (priv->srcpad, event);
}

static void
discard_entry (gpointer user_data, SpdlEntry *entry)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (user_data);
  GstSpdlTask *task = (GstSpdlTask *) entry;

  if (task->event)
    keep_sticky (priv, task->event);
  gst_spdl_task_store_put (&priv->entries, task);
}

static guint64
cpu_time_elsewhere (gpointer user_data)
{
  GstSpdlStageClass *klass = GST_SPDL_STAGE_GET_CLASS (user_data);
  const GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (user_data);

  return __atomic_load_n (&priv->process_cpu_time, __ATOMIC_RELAXED) +
         (klass->get_cpu_time ? klass->get_cpu_time (user_data) : 0);
}

const SpdlExecutorFuncs gst_spdl_stage_executor_funcs = { run_task, close_slot,
  discard_entry, cpu_time_elsewhere };
