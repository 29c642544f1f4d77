/* gst-spdl: ordered queue of a stage's tasks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/engine/ring.h"

#include <string.h>

void
spdl_ring_init (SpdlRing *self, SpdlOrder order)
{
  memset (self, 0, sizeof *self);
  self->order = order;
}

static void
unlink_entry (SpdlRing *self, SpdlEntry *entry)
{
  if (entry->prev)
    entry->prev->next = entry->next;
  else
    self->head = entry->next;
  if (entry->next)
    entry->next->prev = entry->prev;
  else
    self->tail = entry->prev;
}

/* Links @entry after @place. @place: (nullable): NULL: at the head */
static void
link_behind (SpdlRing *self, SpdlEntry *entry, SpdlEntry *place)
{
  entry->prev = place;
  entry->next = place ? place->next : self->head;
  if (entry->prev)
    entry->prev->next = entry;
  else
    self->head = entry;
  if (entry->next)
    entry->next->prev = entry;
  else
    self->tail = entry;
}

/* Moves @entry, which is done, ahead of all entries of its stretch that are
 * not. They may be hundreds, so they are not walked. */
static void
overtake_entries (SpdlRing *self, SpdlEntry *entry)
{
  SpdlEntry **last = entry->stretch == self->first_stretch
                         ? &self->last_done
                         : &entry->barrier->last_done;

  if (*last != entry->prev) {
    unlink_entry (self, entry);
    link_behind (self, entry, *last);
  }
  *last = entry;
}

/* Adds @entry to the stretch of the previous one, or begins another one. */
static void
join_stretch (SpdlRing *self, SpdlEntry *entry)
{
  if (entry->kind == SPDL_ENTRY_BARRIER) {
    self->stretch++;
    self->barrier = entry->last_done = entry;
  } else {
    entry->barrier = self->barrier;
  }
  entry->stretch = self->stretch;
}

/* Forgets @entry, which leaves at the head. */
static void
leave_stretch (SpdlRing *self, const SpdlEntry *entry)
{
  if (entry->kind == SPDL_ENTRY_BARRIER) {
    self->first_stretch = entry->stretch;
    self->last_done = entry->last_done == entry ? NULL : entry->last_done;
  } else if (self->last_done == entry) {
    self->last_done = NULL;
  }
}

void
spdl_ring_put (SpdlRing *self, SpdlEntry *entry)
{
  link_behind (self, entry, self->tail);
  join_stretch (self, entry);

  if (entry->kind == SPDL_ENTRY_TASK) {
    entry->state = SPDL_ENTRY_QUEUED;
    self->n_queued++;
    if (!self->next_queued)
      self->next_queued = entry;
    return;
  }

  entry->state = SPDL_ENTRY_DONE;
  if (entry->kind == SPDL_ENTRY_MARK && self->order == SPDL_ORDER_COMPLETION)
    overtake_entries (self, entry);
}

SpdlEntry *
spdl_ring_begin (SpdlRing *self)
{
  SpdlEntry *task = self->next_queued;

  if (!task)
    return NULL;

  self->n_queued--;
  self->n_running++;
  task->state = SPDL_ENTRY_RUNNING;
  do {
    self->next_queued = self->next_queued->next;
  } while (self->next_queued && self->next_queued->state != SPDL_ENTRY_QUEUED);
  return task;
}

void
spdl_ring_finish (SpdlRing *self, SpdlEntry *task)
{
  g_assert (task->state == SPDL_ENTRY_RUNNING);

  self->n_running--;
  self->n_done++;
  task->state = SPDL_ENTRY_DONE;
  if (self->order == SPDL_ORDER_COMPLETION)
    overtake_entries (self, task);
}

SpdlEntry *
spdl_ring_pop (SpdlRing *self)
{
  SpdlEntry *entry = self->head;

  if (!spdl_ring_ready (self))
    return NULL;
  unlink_entry (self, entry);
  leave_stretch (self, entry);
  entry->next = entry->prev = NULL;
  self->n_done -= entry->kind == SPDL_ENTRY_TASK;
  return entry;
}

SpdlEntry *
spdl_ring_drop_queued (SpdlRing *self)
{
  SpdlEntry *dropped = NULL, **end = &dropped;

  /* Later tasks have not started, so no barrier after it stays. */
  if (self->next_queued) {
    self->stretch = self->next_queued->stretch;
    self->barrier = self->next_queued->barrier;
  }
  for (SpdlEntry *entry = self->next_queued, *next; entry; entry = next) {
    next = entry->next;
    if (entry->state == SPDL_ENTRY_RUNNING)
      continue;
    unlink_entry (self, entry);
    entry->next = NULL;
    *end = entry;
    end = &entry->next;
  }
  self->next_queued = NULL;
  self->n_queued = 0;
  return dropped;
}
