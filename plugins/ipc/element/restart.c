/* gst-spdl: resume state of a restarted worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/restart.h"

#include "gst/spdl/common/marks.h"
#include "gst/spdl/stage/failure.h"

typedef struct {
  guint32 number;
  guint64 n_items;
  guint64 epoch; /* first epoch whose end was not pushed yet */
} Source;

/* A failed item. Each of its parts may fail. */
typedef struct {
  guint32 source;
  guint64 epoch;
  guint64 sequence;
  guint n_reported; /* number of reports that were not repeated */
  guint n_seen;     /* number of reports of the process `process` */
  guint process;
} Failure;

/* Number of failures that are kept at least. */
#define MIN_FAILURES 1000

static guint
hash_failure (gconstpointer data)
{
  const Failure *failure = data;
  const guint64 number =
      failure->sequence + failure->epoch * 0x9e3779b97f4a7c15;

  return g_int64_hash (&number) ^ failure->source;
}

static gboolean
is_same_failure (gconstpointer a, gconstpointer b)
{
  const Failure *one = a, *other = b;

  return one->source == other->source && one->epoch == other->epoch &&
         one->sequence == other->sequence;
}

void
spdl_restart_init (SpdlRestart *self)
{
  spdl_mutex_init (&self->lock);
  self->failures =
      g_hash_table_new_full (hash_failure, is_same_failure, g_free, NULL);
  self->max_failures = MIN_FAILURES;
  spdl_progress_tracker_init (&self->tracker);
  self->tracker.max_gaps = G_MAXUINT;
  self->sources = g_array_new (FALSE, FALSE, sizeof (Source));
}

void
spdl_restart_clear (SpdlRestart *self)
{
  spdl_progress_tracker_clear (&self->tracker);
  g_array_unref (self->sources);
  g_hash_table_unref (self->failures);
  spdl_mutex_clear (&self->lock);
}

void
spdl_restart_reset (SpdlRestart *self)
{
  spdl_progress_tracker_reset (&self->tracker);
  g_array_set_size (self->sources, 0);
  spdl_mutex_lock (&self->lock);
  g_hash_table_remove_all (self->failures);
  self->max_failures = MIN_FAILURES;
  spdl_mutex_unlock (&self->lock);
}

static Source *
find_source (SpdlRestart *self, guint32 number)
{
  for (guint i = 0; i < self->sources->len; i++) {
    Source *source = &g_array_index (self->sources, Source, i);

    if (source->number == number)
      return source;
  }
  return NULL;
}

/* Returns the epoch of a source in a state; 0 if the state has none. */
static guint64
get_epoch (const gchar *text, guint32 number)
{
  g_auto (SpdlState) state = { 0 };
  g_autofree gchar *problem = NULL;

  spdl_state_init (&state);
  return text && spdl_state_read (&state, text, number, &problem)
             ? state.progress.epoch
             : 0;
}

/* Failures */

/* Counts a report of the current process. Returns TRUE if it is not repeated:
 * earlier processes have reported fewer failures of the item. Lock held. */
static gboolean
count_report (SpdlRestart *self, const Failure *key)
{
  Failure *failure = g_hash_table_lookup (self->failures, key);

  if (!failure) {
    failure = g_new (Failure, 1);
    *failure = *key;
    g_hash_table_add (self->failures, failure);
  }
  if (failure->process != self->n_processes)
    failure->n_seen = 0;
  failure->process = self->n_processes;
  if (++failure->n_seen <= failure->n_reported)
    return FALSE;
  failure->n_reported++;
  return TRUE;
}

gboolean
spdl_restart_add_message (SpdlRestart *self, GstMessage *message)
{
  g_autoptr (GstSpdlFailure) failure = gst_spdl_failure_parse (message);
  Failure key = { 0 };
  gboolean is_new;

  if (!failure || failure->sequence == G_MAXUINT64)
    return TRUE;
  key.source = failure->source;
  key.epoch = failure->epoch;
  key.sequence = failure->sequence;
  spdl_mutex_lock (&self->lock);
  is_new = count_report (self, &key);
  spdl_mutex_unlock (&self->lock);
  return is_new;
}

void
spdl_restart_end_process (SpdlRestart *self)
{
  spdl_mutex_lock (&self->lock);
  self->n_processes++;
  spdl_mutex_unlock (&self->lock);
}

/* Returns TRUE if no later process repeats the item. */
static gboolean
is_done (gpointer key, gpointer value, gpointer place)
{
  const Failure *failure = key;

  return spdl_state_place_has (
      place, failure->source, failure->epoch, failure->sequence);
}

/* Removes the failures of finished items when there are many, so that their
 * number depends on what is in progress. */
static void
limit_failures (SpdlRestart *self)
{
  g_autofree gchar *text = NULL;
  SpdlStatePlace place = { NULL };

  spdl_mutex_lock (&self->lock);
  if (g_hash_table_size (self->failures) > self->max_failures &&
      (place.text = text = spdl_restart_dup_state (self))) {
    g_hash_table_foreach_remove (self->failures, is_done, &place);
    spdl_state_place_clear (&place);
    self->max_failures =
        MAX (MIN_FAILURES, 2 * g_hash_table_size (self->failures));
  }
  spdl_mutex_unlock (&self->lock);
}

gboolean
spdl_restart_add_event (SpdlRestart *self, GstEvent *event)
{
  guint64 n_items, epoch;
  const gchar *state;
  Source *source;
  guint32 number;

  if (gst_spdl_event_parse_source (event, &number, &n_items, &state)) {
    const Source new = { number, n_items, get_epoch (state, number) };

    if (find_source (self, number))
      return FALSE;
    g_array_append_val (self->sources, new);
  } else if (gst_spdl_event_parse_epoch (event, &number, &epoch, NULL) &&
             (source = find_source (self, number))) {
    if (epoch < source->epoch)
      return FALSE;
    source->epoch = epoch + 1;
  }
  spdl_progress_tracker_handle_event (&self->tracker, event);
  limit_failures (self);
  return TRUE;
}

void
spdl_restart_add_buffer (SpdlRestart *self, GstBuffer *buffer)
{
  const GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);

  if (batch)
    g_free (spdl_progress_tracker_add_batch (
        &self->tracker, batch, gst_spdl_buffer_is_cached (buffer)));
  else
    spdl_progress_tracker_add_item (&self->tracker);
  spdl_progress_tracker_pull (&self->tracker, buffer);
}

gchar *
spdl_restart_dup_state (SpdlRestart *self)
{
  return spdl_progress_tracker_dup_state (&self->tracker);
}

/* Returns whether this is the end of the epoch for all sources. If several
 * sources are mixed, only the last end counts. */
static gboolean
is_last (SpdlRestart *self, const gchar *state)
{
  for (guint i = 0; i < self->sources->len; i++) {
    const Source *source = &g_array_index (self->sources, Source, i);

    if (get_epoch (state, source->number) > source->epoch)
      return FALSE;
  }
  return TRUE;
}

GstEvent *
spdl_restart_next_epoch (SpdlRestart *self)
{
  g_autofree gchar *state = spdl_restart_dup_state (self);

  for (guint i = 0; i < self->sources->len; i++) {
    Source *source = &g_array_index (self->sources, Source, i);
    GstEvent *event;

    if (get_epoch (state, source->number) <= source->epoch)
      continue;
    event = gst_spdl_event_new_epoch (
        source->number, source->epoch++, source->n_items);
    return gst_spdl_event_set_partial_epoch (event, !is_last (self, state));
  }
  return NULL;
}
