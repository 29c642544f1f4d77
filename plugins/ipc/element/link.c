/* gst-spdl: a running worker process, and what comes from it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/link-private.h"

/* How long the process has to stop its pipeline when it is asked to. */
#define STOP_TIME (5 * GST_SECOND)
/* How long figures are waited for. */
#define ASK_TIME (200 * GST_MSECOND)

static void
free_structure (gpointer s)
{
  gst_structure_free (s);
}

GPtrArray *
spdl_link_new_figures (void)
{
  return g_ptr_array_new_with_free_func (free_structure);
}

SpdlLink *
spdl_link_new (GstElement *element, GStrv environment, const SpdlOrder *order,
    guint32 base)
{
  SpdlLink *self = g_new0 (SpdlLink, 1);

  self->element = element;
  self->base = base;
  self->environment = environment;
  self->order = g_byte_array_new ();
  spdl_put_order (self->order, order);
  self->cpu_budget = order->cpu_budget;
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->cond);
  g_queue_init (&self->letters);
  self->thread = g_thread_new ("spdl-worker", spdl_link_run, self);
  return self;
}

static void
drop_letters (SpdlLink *self)
{
  GQueue letters;

  spdl_mutex_lock (&self->lock);
  letters = self->letters;
  g_queue_init (&self->letters);
  spdl_mutex_unlock (&self->lock);
  g_queue_clear_full (&letters, (GDestroyNotify) spdl_letter_free);
}

/* Until it has ended by itself, or has had its time. */
static void
stop (SpdlLink *self)
{
  const GstClockTime end = gst_util_get_timestamp () + STOP_TIME;
  GstClockTime now;
  SpdlWire *wire;

  spdl_mutex_lock (&self->lock);
  self->stopping = TRUE;
  while (!self->wire && !self->over)
    spdl_cond_wait_for (&self->cond, &self->lock, GST_MSECOND);
  wire = self->wire;
  spdl_mutex_unlock (&self->lock);
  if (!wire)
    return;
  spdl_wire_send (wire, SPDL_WIRE_STOP, NULL, 0, -1);
  spdl_mutex_lock (&self->lock);
  while (!self->over && (now = gst_util_get_timestamp ()) < end)
    spdl_cond_wait_for (&self->cond, &self->lock, end - now);
  spdl_mutex_unlock (&self->lock);
  spdl_wire_shut (wire);
}

void
spdl_link_stop (SpdlLink *self)
{
  if (!self->thread)
    return;
  stop (self);
  g_thread_join (g_steal_pointer (&self->thread));
}

void
spdl_link_free (SpdlLink *self)
{
  spdl_link_stop (self);
  drop_letters (self);
  if (self->wire) {
    spdl_shelf_close (self->shelf);
    spdl_shelf_unref (self->shelf);
    spdl_wire_close (self->wire);
    spdl_wire_unref (self->wire);
  }
  spdl_wire_reader_clear (&self->reader);
  g_clear_pointer (&self->figures, g_ptr_array_unref);
  g_strfreev (self->classes);
  g_byte_array_unref (self->order);
  g_strfreev (self->environment);
  spdl_cond_clear (&self->cond);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}

/* Why it has ended before it played. */
static SpdlLinkStatus
take_failure (SpdlLink *self, GstMessage **failure, gchar **why)
{
  SpdlLinkStatus status = SPDL_LINK_PLAYS;
  SpdlLetter *letter;

  do {
    spdl_mutex_lock (&self->lock);
    letter = g_queue_pop_head (&self->letters);
    spdl_mutex_unlock (&self->lock);
    if (letter && letter->kind == SPDL_LETTER_ERROR) {
      *failure = g_steal_pointer (&letter->object);
      status = SPDL_LINK_FAILED;
    } else if (!letter || letter->kind == SPDL_LETTER_DEATH) {
      *why = letter ? g_steal_pointer (&letter->text)
                    : g_strdup ("The worker process ended");
      status = SPDL_LINK_DIED;
    }
    g_clear_pointer (&letter, spdl_letter_free);
  } while (status == SPDL_LINK_PLAYS);
  return status;
}

SpdlLinkStatus
spdl_link_wait (SpdlLink *self, GstMessage **failure, gchar **why)
{
  gboolean plays, over;

  spdl_mutex_lock (&self->lock);
  while (!self->plays && !self->over && !self->interrupted)
    spdl_cond_wait (&self->cond, &self->lock);
  plays = self->plays;
  over = self->over;
  spdl_mutex_unlock (&self->lock);
  if (plays)
    return SPDL_LINK_PLAYS;
  return over ? take_failure (self, failure, why) : SPDL_LINK_INTERRUPTED;
}

GStrv
spdl_link_dup_classes (SpdlLink *self)
{
  GStrv classes;

  spdl_mutex_lock (&self->lock);
  classes = g_strdupv (self->classes);
  spdl_mutex_unlock (&self->lock);
  return classes;
}

/* Lock held. Returns how many events the worker may send in their place. */
static guint
count_event (SpdlLink *self)
{
  const guint n = ++self->n_events;

  if (n < SPDL_ORDER_MAX_EVENTS / 2)
    return 0;
  self->n_events = 0;
  return n;
}

SpdlLetter *
spdl_link_take (SpdlLink *self)
{
  SpdlLetter *letter = NULL;
  guint credit = 0;

  spdl_mutex_lock (&self->lock);
  while (!self->interrupted && g_queue_is_empty (&self->letters))
    spdl_cond_wait (&self->cond, &self->lock);
  if (!self->interrupted)
    letter = g_queue_pop_head (&self->letters);
  if (letter && spdl_letter_needs_credit (letter))
    credit = count_event (self);
  spdl_mutex_unlock (&self->lock);
  if (credit > 0)
    spdl_wire_send_u32 (self->wire, SPDL_WIRE_CREDIT, credit);
  return letter;
}

void
spdl_link_interrupt (SpdlLink *self, gboolean interrupted)
{
  spdl_mutex_lock (&self->lock);
  self->interrupted = interrupted;
  spdl_cond_broadcast (&self->cond);
  spdl_mutex_unlock (&self->lock);
}

void
spdl_link_set_cpu_budget (SpdlLink *self, gdouble budget)
{
  SpdlWire *wire = NULL;

  spdl_mutex_lock (&self->lock);
  if (self->ordered && budget != self->cpu_budget)
    wire = spdl_wire_ref (self->wire);
  self->cpu_budget = budget;
  spdl_mutex_unlock (&self->lock);
  if (!wire)
    return;
  spdl_link_send_cpu_budget (wire, budget);
  spdl_wire_unref (wire);
}

guint
spdl_link_get_pid (SpdlLink *self)
{
  guint pid;

  spdl_mutex_lock (&self->lock);
  pid = self->pid;
  spdl_mutex_unlock (&self->lock);
  return pid;
}

/* Lock held. */
static void
ask (SpdlLink *self)
{
  const GstClockTime end = gst_util_get_timestamp () + ASK_TIME;
  const guint n = self->n_answers;
  SpdlWire *wire = spdl_wire_ref (self->wire);
  GstClockTime now;

  spdl_mutex_unlock (&self->lock);
  spdl_wire_send (wire, SPDL_WIRE_ASK, NULL, 0, -1);
  spdl_wire_unref (wire);
  spdl_mutex_lock (&self->lock);
  while (!self->over && self->n_answers == n &&
         (now = gst_util_get_timestamp ()) < end)
    spdl_cond_wait_for (&self->cond, &self->lock, end - now);
}

GPtrArray *
spdl_link_dup_figures (SpdlLink *self)
{
  GPtrArray *copy = spdl_link_new_figures ();

  spdl_mutex_lock (&self->lock);
  if (self->plays && !self->over && !self->stopping)
    ask (self);
  for (guint i = 0; self->figures && i < self->figures->len; i++)
    g_ptr_array_add (
        copy, gst_structure_copy (g_ptr_array_index (self->figures, i)));
  spdl_mutex_unlock (&self->lock);
  return copy;
}
