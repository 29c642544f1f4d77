/* gst-spdl: epochs of a loader: skipping the rest of one, and continuing
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/loader/loader-private.h"

#include "gst/spdl/gstspdlstate.h"
#include "gst/spdl/loader/buswatch.h"

/* Takes batches until all sources have been announced, and checks whether the
 * epoch has ended anyway. Returns TRUE if so, or with @error set if the run has
 * ended. */
static gboolean
take_end (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch,
    GstSpdlSources *sources, GError **error)
{
  const guint n = gst_spdl_loader_parts_count_sources (&self->parts);
  GstSpdlBatch *batch;
  gboolean known;

  do {
    g_autoptr (GError) reason = NULL;

    gst_spdl_loader_sink_get_sources (self->parts.sink, sources);
    known = sources->n >= n;
    batch = gst_spdl_loader_pull (
        self, bus_watch, known ? 0 : GST_CLOCK_TIME_NONE, &reason);
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

/* Returns the current epoch of the stream. With mixed sources, the epoch of an
 * item may differ from it. */
static guint64
find_epoch (GstSpdlLoader *self, const GstSpdlSources *sources)
{
  guint64 epoch;

  spdl_mutex_lock (&self->lock);
  if (self->next_epoch != G_MAXUINT64)
    epoch = self->next_epoch;
  else
    epoch = sources->in_step ? sources->epoch : self->epoch;
  spdl_mutex_unlock (&self->lock);
  return epoch;
}

/* State lock held. Returns FALSE with @error set if the run was stopped
 * meanwhile or, if the application is the source, was not stopped. */
static gboolean
check_left (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, GError **error)
{
  if (self->parts.appsrc) {
    if (gst_spdl_loader_end_stopped_run (self))
      return TRUE;
    g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
        GST_SPDL_LOADER_ERROR_STARTED,
        "The application is the source, and may still push items of this "
        "epoch: first stop the loader and the thread that pushes");
    return FALSE;
  }
  if (self->running && !gst_spdl_bus_watch_is_stopped (bus_watch))
    return TRUE;
  gst_spdl_loader_set_stopped (error);
  return FALSE;
}

/* State lock held. Restarts the run at the beginning of @epoch. */
static gboolean
go_to_epoch (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, guint64 epoch,
    GError **error)
{
  g_autofree gchar *state = NULL;
  GstSpdlLoaderPlace place = { .epoch = epoch };

  if (!check_left (self, bus_watch, error))
    return FALSE;
  place.state = state =
      gst_spdl_loader_sink_dup_epoch_state (self->parts.sink, epoch);
  gst_spdl_loader_end_run (self);
  place.n_failures = gst_spdl_bus_watch_leave_epoch (bus_watch, epoch);
  return gst_spdl_loader_run_from (self, &place, NULL, error);
}

/* Carries the number of reported failures over to the next run. */
static void
keep_reported (GstSpdlLoader *self, GstSpdlBusWatch *left)
{
  g_autoptr (GstSpdlBusWatch) bus_watch =
      gst_spdl_loader_get_bus_watch (self, NULL);
  guint64 n_reported;

  if (!bus_watch || bus_watch == left)
    return;
  spdl_mutex_lock (&left->lock);
  n_reported = left->n_reported;
  spdl_mutex_unlock (&left->lock);
  spdl_mutex_lock (&bus_watch->lock);
  bus_watch->n_reported += n_reported;
  spdl_mutex_unlock (&bus_watch->lock);
}

/* State lock held. Starts a stopped loader at @state, if it is known. */
static gboolean
start_at (
    GstSpdlLoader *self, const gchar *state, guint64 n_failures, GError **error)
{
  GstSpdlLoaderPlace place = { .state = state, .n_failures = n_failures };

  if (state && gst_spdl_state_get_epoch (state, &place.epoch, NULL))
    return gst_spdl_loader_run_from (self, &place, NULL, error);
  if (!self->parts.appsrc && !self->handed_out)
    return gst_spdl_loader_run_from (self, NULL, NULL, error);
  g_set_error_literal (error, GST_SPDL_LOADER_ERROR,
      GST_SPDL_LOADER_ERROR_STOPPED,
      "The loader was stopped, and has no state from which it could continue: "
      "start it to begin again");
  return FALSE;
}

gboolean
gst_spdl_loader_continue (
    GstSpdlLoader *self, guint64 n_repeated, GError **error)
{
  g_autoptr (GstSpdlBusWatch) left = NULL;
  g_autofree gchar *state = NULL;
  gboolean ok;

  if (!gst_spdl_loader_check_process (self, error) ||
      !(left = gst_spdl_loader_get_bus_watch (self, error)))
    return FALSE;
  /* A thread of the run itself may have stopped it. */
  gst_spdl_loader_stop (self);
  state = gst_spdl_loader_read_state (self);
  /* Other failures will occur again. */
  self->n_epochs = 0;
  gst_spdl_loader_emit_notices (self, left, state);
  spdl_mutex_lock (&left->lock);
  left->n_reported -= MIN (n_repeated, left->n_reported);
  spdl_mutex_unlock (&left->lock);
  spdl_mutex_lock (&self->state_lock);
  g_atomic_int_inc (&self->n_starts);
  ok = start_at (self, state, left->n_reported, error);
  spdl_mutex_unlock (&self->state_lock);
  if (ok)
    keep_reported (self, left);
  return ok;
}

static gboolean
leave_epoch (GstSpdlLoader *self, GstSpdlBusWatch *bus_watch, GError **error)
{
  GstSpdlSources sources;
  guint64 epoch;
  GError *reason = NULL;
  gboolean ok;

  gst_spdl_loader_sink_get_sources (self->parts.sink, &sources);
  if (self->phase != GST_SPDL_LOADER_IN_EPOCH ||
      (!self->parts.appsrc && sources.n == 0 &&
          gst_spdl_loader_parts_count_sources (&self->parts) == 0))
    return TRUE;
  epoch = find_epoch (self, &sources);
  if (!self->parts.appsrc && take_end (self, bus_watch, &sources, &reason)) {
    if (reason)
      g_propagate_error (error, reason);
    return !reason;
  }
  if ((reason = gst_spdl_bus_watch_dup_error (bus_watch))) {
    g_propagate_error (error, reason);
    return FALSE;
  }
  spdl_mutex_lock (&self->state_lock);
  ok = go_to_epoch (self, bus_watch, epoch + 1, error);
  spdl_mutex_unlock (&self->state_lock);
  gst_spdl_loader_emit_notices (self, bus_watch, NULL);
  keep_reported (self, bus_watch);
  return ok;
}

/**
 * gst_spdl_loader_next_epoch:
 * @loader: a started loader
 * @error: (nullable): %GST_SPDL_LOADER_ERROR, an error that has already ended
 *     the run, or the reason why the pipeline cannot start again
 *
 * Skips the rest of the epoch: the next batch is the first one of the next
 * epoch, in its usual order. The pipeline restarts there, together with the
 * statistics of its elements, and the rest is not decoded. Nothing happens if
 * no batch of the epoch was taken, or in a pipeline whose sources do not
 * announce epochs.
 *
 * A skipped epoch is one of the `epochs` of `spdlsrc`. With `spdlmix`, each
 * source starts its next epoch, and the proportions start again.
 *
 * If the program is the source, call gst_spdl_loader_stop() first and wait for
 * the thread that pushes. Items that are pushed afterwards belong to the next
 * epoch.
 *
 * Call it from the thread that takes batches, in which #GstSpdlLoader::failed
 * and #GstSpdlLoader::warned are emitted.
 *
 * Returns: %FALSE with @error set if the epoch cannot be skipped
 *
 * Since: 0.1
 */
gboolean
gst_spdl_loader_next_epoch (GstSpdlLoader *loader, GError **error)
{
  GstSpdlBusWatch *bus_watch;
  gboolean ok;

  g_return_val_if_fail (GST_IS_SPDL_LOADER (loader), FALSE);

  if (!(bus_watch = gst_spdl_loader_begin_taking (loader, error)))
    return FALSE;
  ok = leave_epoch (loader, bus_watch, error);
  gst_spdl_loader_end_taking (loader, bus_watch);
  return ok;
}
