/* gst-spdl: a loader's runs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/loader-private.h"

#include "gst/spdl/common/cached.h"
#include "gst/spdl/engine/cpus.h"

/* Where a run goes on that was left. */
typedef struct {
  const gchar *state; /* nullable: nothing is known of sources */
  guint64 epoch;
  guint64 n_failures; /* so far */
} Place;

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

/* State lock held.
 * @place: (nullable): where it begins, if not where the loader does */
static GstSpdlNews *
begin_run (GstSpdlLoader *self, const Place *place)
{
  GstSpdlNews *news =
      gst_spdl_news_new (self->parts.pipeline, self->parts.sink, -1);
  GstSpdlNews *old;

  spdl_mutex_lock (&self->lock);
  gst_spdl_news_set_max_failures (news, self->max_failures);
  old = self->news;
  self->news = gst_spdl_news_ref (news);
  g_free (self->begun_at);
  self->begun_at = g_strdup (place ? place->state : self->restored);
  self->epoch = place ? place->epoch : 0;
  news->n_failures = place ? place->n_failures : 0;
  self->finished = FALSE;
  self->told = FALSE;
  self->n_epochs = self->epoch;
  self->between = FALSE;
  self->handed_out = self->in_epoch = self->any_ended = FALSE;
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

static gboolean
is_stopped (GstSpdlNews *news)
{
  gboolean stopped;

  spdl_mutex_lock (&news->lock);
  stopped = news->stopped;
  spdl_mutex_unlock (&news->lock);
  return stopped;
}

gboolean
gst_spdl_loader_end_stopped_run (GstSpdlLoader *self)
{
  g_autoptr (GstSpdlNews) news = NULL;

  if (self->running && !spdl_is_loading_thread () &&
      (news = gst_spdl_loader_get_news (self, NULL)) && is_stopped (news))
    end_run (self, news);
  return !self->running;
}

/* State lock held.
 * @place: (nullable): as for begin_run() */
static gboolean
start (GstSpdlLoader *self, const Place *place, GError **error)
{
  GPtrArray *states = NULL;
  GstSpdlNews *news;
  GError *reason;
  gboolean ok;

  gst_spdl_loader_parts_tune (&self->parts);
  if (place && place->state)
    states = gst_spdl_loader_parts_exchange_states (&self->parts, place->state);
  news = begin_run (self, place);
  gst_spdl_loader_open_source (self, news, place ? place->epoch : 0);
  gst_spdl_outlet_set_open (self->parts.sink, TRUE);
  ok = gst_element_set_state (GST_ELEMENT (self->parts.pipeline),
           GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
  if (states)
    gst_spdl_loader_parts_put_back_states (&self->parts, states);
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
  g_atomic_int_inc (&loader->n_starts);
  ok = gst_spdl_loader_end_stopped_run (loader);
  if (ok)
    ok = start (loader, NULL, error);
  else
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STARTED,
        "The loader was started already: stop it first");
  spdl_mutex_unlock (&loader->state_lock);
  return ok;
}

/* State lock held. */
static void
stop (GstSpdlLoader *self)
{
  g_autoptr (GstSpdlNews) news = NULL;

  if (self->running && (news = gst_spdl_loader_get_news (self, NULL))) {
    gst_spdl_news_stop (news);
    end_run (self, news);
  }
}

typedef struct {
  GstSpdlLoader *loader; /* owned */
  gint n_starts;         /* by the time of the stop */
} Stop;

static gpointer
stop_in_thread (gpointer user_data)
{
  Stop *job = user_data;

  spdl_mutex_lock (&job->loader->state_lock);
  if (g_atomic_int_get (&job->loader->n_starts) == job->n_starts)
    stop (job->loader);
  spdl_mutex_unlock (&job->loader->state_lock);
  g_object_unref (job->loader);
  g_free (job);
  return NULL;
}

/* The pipeline waits for its threads, of which this one is one, or may be. */
static void
stop_later (GstSpdlLoader *self, gint n_starts)
{
  Stop *job = g_new (Stop, 1);

  job->loader = g_object_ref (self);
  job->n_starts = n_starts;
  g_thread_unref (g_thread_new ("spdl-stop", stop_in_thread, job));
}

/**
 * gst_spdl_loader_stop:
 * @loader: a loader
 *
 * Ends the run, at any moment, from any thread, any number of times. A call of
 * gst_spdl_loader_next() or gst_spdl_loader_push() that waits in another thread
 * returns %GST_SPDL_LOADER_ERROR_STOPPED. Batches and tensors that are referred
 * to stay.
 *
 * In a thread of a pipeline's, which calls a stage's function, it does not wait
 * until the pipeline has come to its end: that cannot be before the function
 * has returned. gst_spdl_loader_start() waits for it then.
 *
 * Since: 0.1
 */
void
gst_spdl_loader_stop (GstSpdlLoader *loader)
{
  GstSpdlNews *news;
  gint n_starts;

  g_return_if_fail (GST_IS_SPDL_LOADER (loader));

  if (!gst_spdl_loader_check_process (loader, NULL))
    return;
  n_starts = g_atomic_int_get (&loader->n_starts);
  if (!(news = gst_spdl_loader_get_news (loader, NULL)))
    return;
  /* First of all, since the state may take its time. */
  gst_spdl_news_stop (news);
  gst_spdl_news_unref (news);

  if (spdl_is_loading_thread ()) {
    stop_later (loader, n_starts);
    return;
  }
  spdl_mutex_lock (&loader->state_lock);
  stop (loader);
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

/* Epoch number @n - 1 is reached, and all before. */
static void
reach_epochs (GstSpdlLoader *self, guint64 n)
{
  self->n_epochs = MAX (self->n_epochs, n);
}

/* Takes over what @pull has. */
static GstSpdlBatch *
take_buffer (
    GstSpdlLoader *self, GstSpdlNews *news, GstSpdlPull *pull, GError **error)
{
  /* A stream that goes round in a cache has no epochs any more. */
  const gboolean cached = gst_spdl_buffer_is_cached (pull->buffer);
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
  self->in_epoch = !cached;
  spdl_mutex_unlock (&self->lock);
  reach_epochs (self, gst_spdl_batch_get_epoch (batch) + 1);
  gst_spdl_loader_emit_notices (self, news, gst_spdl_batch_get_state (batch));
  return batch;
}

/* Returns whether another epoch may follow. If not, the end of the stream does,
 * or an error, and `next` goes on to that. */
static gboolean
end_epoch (GstSpdlLoader *self, guint64 epoch)
{
  spdl_mutex_lock (&self->lock);
  self->epoch = self->next_epoch = epoch + 1;
  self->in_epoch = FALSE;
  self->any_ended = TRUE;
  spdl_mutex_unlock (&self->lock);
  self->between = !gst_spdl_loader_parts_is_last (&self->parts, epoch);
  return self->between;
}

static void
end_stream (GstSpdlLoader *self, GstSpdlNews *news, GError **error)
{
  GError *reason = gst_spdl_news_dup_error (news);

  /* Which epoch it is, nobody knows where nothing came. */
  if (self->n_epochs == 0)
    self->n_epochs = G_MAXUINT64;
  gst_spdl_loader_emit_notices (self, news, NULL);
  spdl_mutex_lock (&self->lock);
  self->finished = TRUE;
  self->in_epoch = FALSE;
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

  self->n_epochs += self->between;
  self->between = FALSE;
  while (check_running (news, &no_more, error)) {
    if (self->told) {
      end_stream (self, news, error);
      return NULL;
    }
    GstSpdlPull pull = { .wakes = self->wakes };
    const GstSpdlPullStatus status = gst_spdl_outlet_pull (
        self->parts.sink, no_more ? 0 : get_rest (timeout, begun), &pull);

    self->wakes = pull.wakes;
    if (status == GST_SPDL_PULL_EPOCH)
      reach_epochs (self, pull.epoch + 1);
    if (status != GST_SPDL_PULL_BUFFER)
      gst_spdl_loader_emit_notices (self, news, NULL);
    switch (status) {
      case GST_SPDL_PULL_BUFFER:
        return take_buffer (self, news, &pull, error);
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

/* Admits one thread at a time, until end_taking().
 *
 * Returns: (transfer full): NULL with @error set */
static GstSpdlNews *
begin_taking (GstSpdlLoader *self, GError **error)
{
  GstSpdlNews *news;

  if (!gst_spdl_loader_check_process (self, error) ||
      !(news = gst_spdl_loader_get_news (self, error)))
    return NULL;
  if (g_atomic_int_compare_and_exchange (&self->in_next, 0, 1))
    return news;
  g_set_error_literal (error, GST_SPDL_LOADER_ERROR, GST_SPDL_LOADER_ERROR_BUSY,
      "Another thread waits for this loader's next batch");
  gst_spdl_news_unref (news);
  return NULL;
}

static void
end_taking (GstSpdlLoader *self, GstSpdlNews *news)
{
  g_atomic_int_set (&self->in_next, 0);
  gst_spdl_news_unref (news);
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
  GstSpdlBatch *batch;
  GstSpdlNews *news;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), NULL);

  if (!(news = begin_taking (loader, error)))
    return NULL;
  batch = next (loader, news, timeout, error);
  end_taking (loader, news);
  return batch;
}

/* Leaving an epoch */

/* Looks at what has come: whether the epoch has ended anyway. Batches are taken
 * until all sources are known. Returns TRUE with @error set where the run has
 * ended. */
static gboolean
take_end (GstSpdlLoader *self, GstSpdlNews *news, GstSpdlSources *sources,
    GError **error)
{
  const guint n = gst_spdl_loader_parts_count_sources (&self->parts);
  GstSpdlBatch *batch;
  gboolean known;

  do {
    g_autoptr (GError) reason = NULL;

    gst_spdl_outlet_get_sources (self->parts.sink, sources);
    known = sources->n >= n;
    batch = next (self, news, known ? 0 : GST_CLOCK_TIME_NONE, &reason);
    if (!batch && !g_error_matches (reason, GST_SPDL_LOADER_ERROR,
                      GST_SPDL_LOADER_ERROR_TIMED_OUT)) {
      if (reason)
        g_propagate_error (error, g_steal_pointer (&reason));
      return TRUE;
    }
    g_clear_pointer (&batch, gst_spdl_batch_unref);
  } while (!known);
  return FALSE;
}

/* Which epoch of the stream this is: that of an item may be another one, where
 * sources are mixed. */
static guint64
find_epoch (GstSpdlLoader *self, const GstSpdlSources *sources)
{
  guint64 epoch;

  spdl_mutex_lock (&self->lock);
  epoch = self->any_ended ? self->next_epoch : self->epoch;
  if (!self->any_ended && sources->in_step)
    epoch = sources->epoch;
  spdl_mutex_unlock (&self->lock);
  return epoch;
}

/* State lock held. FALSE if the run was stopped, which may be at any moment;
 * where the program is the source, if it was not. */
static gboolean
check_left (GstSpdlLoader *self, GstSpdlNews *news, GError **error)
{
  if (self->parts.appsrc) {
    if (gst_spdl_loader_end_stopped_run (self))
      return TRUE;
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STARTED,
        "The program is the source, and may still push items of this epoch: "
        "stop the loader, and the thread that pushes, first");
    return FALSE;
  }
  if (self->running && !is_stopped (news))
    return TRUE;
  g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
      GST_SPDL_LOADER_ERROR_STOPPED, "The loader was stopped");
  return FALSE;
}

/* State lock held. */
static gboolean
go_to_epoch (
    GstSpdlLoader *self, GstSpdlNews *news, guint64 epoch, GError **error)
{
  g_autofree gchar *state = NULL;
  Place place = { .epoch = epoch };

  if (!check_left (self, news, error))
    return FALSE;
  place.state = state =
      gst_spdl_outlet_dup_epoch_state (self->parts.sink, epoch);
  stop (self);
  place.n_failures = gst_spdl_news_leave_epoch (news, epoch);
  return start (self, &place, error);
}

/* Carries the number of reported failures over to the next run. */
static void
keep_told (GstSpdlLoader *self, GstSpdlNews *left)
{
  g_autoptr (GstSpdlNews) news = gst_spdl_loader_get_news (self, NULL);
  guint64 n_told;

  if (!news || news == left)
    return;
  spdl_mutex_lock (&left->lock);
  n_told = left->n_told;
  spdl_mutex_unlock (&left->lock);
  spdl_mutex_lock (&news->lock);
  news->n_told += n_told;
  spdl_mutex_unlock (&news->lock);
}

static gboolean
leave_epoch (GstSpdlLoader *self, GstSpdlNews *news, GError **error)
{
  GstSpdlSources sources;
  guint64 epoch;
  GError *reason = NULL;
  gboolean ok;

  gst_spdl_outlet_get_sources (self->parts.sink, &sources);
  if (!self->in_epoch ||
      (!self->parts.appsrc && sources.n == 0 &&
          gst_spdl_loader_parts_count_sources (&self->parts) == 0))
    return TRUE;
  epoch = find_epoch (self, &sources);
  if (!self->parts.appsrc && take_end (self, news, &sources, &reason)) {
    if (reason)
      g_propagate_error (error, reason);
    return !reason;
  }
  if ((reason = gst_spdl_news_dup_error (news))) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  spdl_mutex_lock (&self->state_lock);
  ok = go_to_epoch (self, news, epoch + 1, error);
  spdl_mutex_unlock (&self->state_lock);
  gst_spdl_loader_emit_notices (self, news, NULL);
  keep_told (self, news);
  return ok;
}

/**
 * gst_spdl_loader_next_epoch:
 * @loader: a loader that was started
 * @error: (nullable): %GST_SPDL_LOADER_ERROR; what the pipeline cannot go on
 *     after, if that is known already; or why it cannot begin again
 *
 * Leaves the epoch that batches were taken of: the next one is the first of the
 * epoch that follows, in the order that this always has. The rest is not
 * decoded: the pipeline begins again at that epoch, and the figures of its
 * elements with it. Where no batch of the epoch was taken, nothing changes, and
 * nor does anything in a pipeline without epochs, whose sources do not announce
 * themselves.
 *
 * An epoch that was left counts among the `epochs` of `spdlsrc`. Where sources
 * are mixed, each of them begins that epoch, and so do their proportions.
 *
 * Where the program is the source, call gst_spdl_loader_stop() first, and wait
 * until the thread that pushes has come to an end. What is pushed afterwards is
 * of the next epoch.
 *
 * From the thread that takes batches. #GstSpdlLoader::failed and
 * #GstSpdlLoader::warned are emitted in it.
 *
 * Returns: %FALSE with @error set if that is not possible
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_next_epoch (GstSpdlLoader *loader, GError **error)
{
  GstSpdlNews *news;
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (!(news = begin_taking (loader, error)))
    return FALSE;
  ok = leave_epoch (loader, news, error);
  end_taking (loader, news);
  return ok;
}

/* Waiting */

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
