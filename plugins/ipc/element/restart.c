/* gst-spdl: resume state of a restarted worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/restart.h"

#include "gst/spdl/common/marks.h"

typedef struct {
  guint32 number;
  guint64 n_items;
  guint64 epoch; /* first epoch whose end was not pushed yet */
} Source;

void
spdl_restart_init (SpdlRestart *self)
{
  spdl_progress_tracker_init (&self->tracker);
  self->tracker.max_gaps = G_MAXUINT;
  self->sources = g_array_new (FALSE, FALSE, sizeof (Source));
}

void
spdl_restart_clear (SpdlRestart *self)
{
  spdl_progress_tracker_clear (&self->tracker);
  g_array_unref (self->sources);
}

void
spdl_restart_reset (SpdlRestart *self)
{
  spdl_progress_tracker_reset (&self->tracker);
  g_array_set_size (self->sources, 0);
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
