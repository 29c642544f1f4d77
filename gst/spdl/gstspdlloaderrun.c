/* gst-spdl: a loader's runs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gstspdlloader-private.h"

GstSpdlNews *
gst_spdl_loader_get_news (GstSpdlLoader *self, GError **error)
{
  GstSpdlNews *news;

  spdl_mutex_lock (&self->lock);
  news = self->news ? gst_spdl_news_ref (self->news) : NULL;
  spdl_mutex_unlock (&self->lock);
  if (!news)
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_NOT_STARTED, "The loader was not started");
  return news;
}

/* State lock held. */
static GstSpdlNews *
begin_run (GstSpdlLoader *self)
{
  GstSpdlNews *news =
      gst_spdl_news_new (self->parts.pipeline, self->parts.sink, -1);
  GstSpdlNews *old;

  spdl_mutex_lock (&self->lock);
  gst_spdl_news_set_max_failures (news, self->max_failures);
  old = self->news;
  self->news = gst_spdl_news_ref (news);
  self->epoch = 0;
  self->finished = FALSE;
  self->told = FALSE;
  self->handed_out = FALSE;
  spdl_mutex_unlock (&self->lock);
  if (old)
    gst_spdl_news_unref (old);
  if (self->cpu_budget > 0) {
    news->governor = gst_spdl_governor_new (
        GST_BIN (self->parts.pipeline), self->cpu_budget);
    gst_spdl_governor_start (news->governor);
  }
  return news;
}

/* A process of its own keeps within it by itself. */
static void
set_budget_of_workers (GstSpdlLoader *self, gdouble budget)
{
  for (guint i = 0; i < self->parts.sources->len; i++) {
    GObject *source = g_ptr_array_index (self->parts.sources, i);

    if (g_object_class_find_property (
            G_OBJECT_GET_CLASS (source), "cpu-budget"))
      g_object_set (source, "cpu-budget", budget, NULL);
  }
}

void
gst_spdl_loader_set_cpu_budget (GstSpdlLoader *self, gdouble budget)
{
  GstSpdlNews *news;

  spdl_mutex_lock (&self->state_lock);
  self->cpu_budget = budget;
  set_budget_of_workers (self, budget);
  if (self->running && (news = gst_spdl_loader_get_news (self, NULL))) {
    if (news->governor)
      gst_spdl_governor_set_budget (news->governor, budget);
    gst_spdl_news_unref (news);
  }
  spdl_mutex_unlock (&self->state_lock);
}

/* State lock held. */
static void
end_run (GstSpdlLoader *self, GstSpdlNews *news)
{
  gst_element_set_state (GST_ELEMENT (self->parts.pipeline), GST_STATE_NULL);
  gst_spdl_outlet_set_open (self->parts.sink, FALSE);
  gst_spdl_loader_close_source (self);
  gst_spdl_news_detach (news);
  self->running = FALSE;
}

/* State lock held. */
static gboolean
start (GstSpdlLoader *self, GError **error)
{
  GstSpdlNews *news;
  GError *reason;
  gboolean ok;

  if (self->running) {
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STARTED,
        "The loader was started already: stop it first");
    return FALSE;
  }
  gst_spdl_loader_parts_tune (&self->parts);
  news = begin_run (self);
  gst_spdl_loader_open_source (self, news);
  gst_spdl_outlet_set_open (self->parts.sink, TRUE);
  ok = gst_element_set_state (GST_ELEMENT (self->parts.pipeline),
           GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
  self->running = ok;
  if (!ok) {
    reason = gst_spdl_news_dup_error (news);
    gst_spdl_news_stop (news);
    end_run (self, news);
    if (!reason)
      reason = g_error_new_literal (GST_SPDL_LOADER_ERROR,
          GST_SPDL_LOADER_ERROR_FAILED, "The pipeline cannot be started");
    g_propagate_error (error, reason);
  }
  gst_spdl_news_unref (news);
  return ok;
}

/**
 * gst_spdl_loader_start:
 * @loader: a loader
 * @error: (nullable): what an element says that cannot start, or
 *     %GST_SPDL_LOADER_ERROR
 *
 * Runs the pipeline: from the beginning, or from the state that was restored.
 * After gst_spdl_loader_stop() again.
 *
 * Stages whose `concurrency` was not set get one: as many tasks at a time as
 * there are cores, and 16 where tasks wait and do not compute (`spdlfetch`).
 *
 * Returns: %FALSE with @error set if it cannot run
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_start (GstSpdlLoader *loader, GError **error)
{
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (!gst_spdl_loader_check_process (loader, error))
    return FALSE;
  spdl_mutex_lock (&loader->state_lock);
  ok = start (loader, error);
  spdl_mutex_unlock (&loader->state_lock);
  return ok;
}

/**
 * gst_spdl_loader_stop:
 * @loader: a loader
 *
 * Ends the run, at any moment, from any thread but the pipeline's own, any
 * number of times. A call of gst_spdl_loader_next() or gst_spdl_loader_push()
 * that waits in another thread returns %GST_SPDL_LOADER_ERROR_STOPPED. Batches
 * and tensors that are referred to stay.
 *
 * Since: 0.1
 */
void
gst_spdl_loader_stop (GstSpdlLoader *loader)
{
  GstSpdlNews *news;

  g_return_if_fail (GST_IS_SPDL_LOADER (loader));

  if (!gst_spdl_loader_check_process (loader, NULL))
    return;
  if (!(news = gst_spdl_loader_get_news (loader, NULL)))
    return;
  /* First of all, since the state may take its time. */
  gst_spdl_news_stop (news);
  gst_spdl_news_unref (news);

  spdl_mutex_lock (&loader->state_lock);
  if (loader->running && (news = gst_spdl_loader_get_news (loader, NULL))) {
    gst_spdl_news_stop (news);
    end_run (loader, news);
    gst_spdl_news_unref (news);
  }
  spdl_mutex_unlock (&loader->state_lock);
}

/* Taking batches */

static gboolean
check_running (GstSpdlNews *news, gboolean *no_more, GError **error)
{
  gboolean stopped;

  spdl_mutex_lock (&news->lock);
  stopped = news->stopped;
  *no_more = news->no_more;
  spdl_mutex_unlock (&news->lock);
  if (stopped)
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STOPPED, "The loader was stopped");
  return !stopped;
}

/* Takes over what @pull has. */
static GstSpdlBatch *
take_buffer (GstSpdlLoader *self, GstSpdlPull *pull, GError **error)
{
  GstSpdlBatch *batch = NULL;

  if (gst_spdl_layout_set_caps (&self->layout, pull->caps, error))
    batch = gst_spdl_layout_view (
        &self->layout, pull->buffer, pull->exclusive, error);
  gst_clear_buffer (&pull->buffer);
  gst_clear_caps (&pull->caps);
  if (!batch)
    return NULL;
  spdl_mutex_lock (&self->lock);
  self->epoch = gst_spdl_batch_get_epoch (batch);
  self->handed_out = TRUE;
  spdl_mutex_unlock (&self->lock);
  return batch;
}

/* Returns whether another epoch may follow. If not, the end of the stream does,
 * or an error, and `next` goes on to that. */
static gboolean
end_epoch (GstSpdlLoader *self, guint64 epoch)
{
  spdl_mutex_lock (&self->lock);
  self->epoch = epoch + 1;
  spdl_mutex_unlock (&self->lock);
  return !gst_spdl_loader_parts_is_last (&self->parts, epoch);
}

static void
end_stream (GstSpdlLoader *self, GstSpdlNews *news, GError **error)
{
  GError *reason = gst_spdl_news_dup_error (news);

  spdl_mutex_lock (&self->lock);
  self->finished = TRUE;
  spdl_mutex_unlock (&self->lock);
  if (reason)
    g_propagate_error (error, reason);
}

static GstClockTime
get_rest (GstClockTime timeout, GstClockTime begun)
{
  GstClockTime waited;

  if (timeout == GST_CLOCK_TIME_NONE || timeout == 0)
    return timeout;
  waited = gst_util_get_timestamp () - begun;
  return timeout > waited ? timeout - waited : 0;
}

static GstSpdlBatch *
next (GstSpdlLoader *self, GstSpdlNews *news, GstClockTime timeout,
    GError **error)
{
  const GstClockTime begun = gst_util_get_timestamp ();
  gboolean no_more;

  while (check_running (news, &no_more, error)) {
    if (self->told) {
      end_stream (self, news, error);
      return NULL;
    }
    GstSpdlPull pull = { .wakes = self->wakes };
    const GstSpdlPullStatus status = gst_spdl_outlet_pull (
        self->parts.sink, no_more ? 0 : get_rest (timeout, begun), &pull);

    self->wakes = pull.wakes;
    gst_spdl_loader_emit_notices (self, news);
    switch (status) {
      case GST_SPDL_PULL_BUFFER:
        return take_buffer (self, &pull, error);
      case GST_SPDL_PULL_EPOCH:
        /* Not as if it had ended well; what is done of the next one does not
         * count any more. */
        self->told = gst_spdl_news_failed_in (news, pull.epoch);
        if (self->told)
          break;
        if (end_epoch (self, pull.epoch))
          return NULL;
        break;
      case GST_SPDL_PULL_EOS:
        end_stream (self, news, error);
        return NULL;
      case GST_SPDL_PULL_TIMEOUT:
        if (no_more) {
          end_stream (self, news, error);
          return NULL;
        }
        g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
            GST_SPDL_LOADER_ERROR_TIMED_OUT, "No batch came in time");
        return NULL;
      case GST_SPDL_PULL_WOKEN:
        break;
    }
  }
  return NULL;
}

/**
 * gst_spdl_loader_next:
 * @loader: a loader
 * @timeout: how long to wait, in ns; %GST_CLOCK_TIME_NONE: as long as it takes
 * @error: (nullable): what the pipeline cannot go on after, or
 *     %GST_SPDL_LOADER_ERROR
 *
 * Takes the next batch. Errors come after all batches that preceded them, and
 * from then on each time. After %GST_SPDL_LOADER_ERROR_TIMED_OUT nothing is
 * lost.
 *
 * %NULL without an error ends an epoch; the next call goes on into the next
 * one. At the end of the stream, and then gst_spdl_loader_is_finished(), it
 * comes each time.
 *
 * From one thread at a time. #GstSpdlLoader::failed and #GstSpdlLoader::warned
 * are emitted in it.
 *
 * Returns: (transfer full) (nullable): the batch; %NULL at the end of an epoch
 *     or of the stream, or with @error set
 *
 * Since: 0.1
 */
GstSpdlBatch *
gst_spdl_loader_next (
    GstSpdlLoader *loader, GstClockTime timeout, GError **error)
{
  GstSpdlBatch *batch = NULL;
  GstSpdlNews *news;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);

  if (!gst_spdl_loader_check_process (loader, error) ||
      !(news = gst_spdl_loader_get_news (loader, error)))
    return NULL;
  if (g_atomic_int_compare_and_exchange (&loader->in_next, 0, 1)) {
    batch = next (loader, news, timeout, error);
    g_atomic_int_set (&loader->in_next, 0);
  } else {
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_BUSY,
        "Another thread waits for this loader's next batch");
  }
  gst_spdl_news_unref (news);
  return batch;
}

static gboolean
wait_for_next (GstSpdlLoader *self, GstSpdlNews *news, GstClockTime timeout)
{
  gboolean no_more;

  return !check_running (news, &no_more, NULL) || no_more || self->told ||
         gst_spdl_outlet_wait (self->parts.sink, timeout, self->wakes);
}

/**
 * gst_spdl_loader_wait:
 * @loader: a loader
 * @timeout: how long to wait, in ns; 0: not at all
 *
 * Waits until gst_spdl_loader_next() has something to tell: a batch, the end of
 * an epoch, an error. For those who must look after something else now and
 * then. What was waited here counts in the sink's `ave-get-time`.
 *
 * From the thread that takes batches.
 *
 * Returns: %FALSE if there is nothing yet
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_wait (GstSpdlLoader *loader, GstClockTime timeout)
{
  gboolean any = TRUE;
  GstSpdlNews *news;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (!gst_spdl_loader_check_process (loader, NULL) ||
      !(news = gst_spdl_loader_get_news (loader, NULL)))
    return TRUE;
  if (g_atomic_int_compare_and_exchange (&loader->in_next, 0, 1)) {
    any = wait_for_next (loader, news, timeout);
    g_atomic_int_set (&loader->in_next, 0);
  }
  gst_spdl_news_unref (news);
  return any;
}
