/* gst-spdl: ring of a stage's tasks, in order
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The ring holds what is inside a stage, from its arrival to its departure:
 * tasks, and between them what keeps its place (events). It decides the order
 * of the results and nothing else; it has no lock and no threads.
 *
 * It is one list in order of departure. Entries arrive at its tail and leave
 * at its head, the head when it is done. With the order `input` nothing moves.
 * With `completion` a task that ends moves forward, past all that are not done
 * yet, to stand behind the last entry that is; since a barrier counts as done
 * from the start, no task ever passes one. */

typedef enum {
  SPDL_ORDER_COMPLETION,
  SPDL_ORDER_INPUT,
} SpdlOrder;

typedef enum {
  SPDL_ENTRY_TASK,
  SPDL_ENTRY_MARK,    /* keeps its place in input order; overtakes otherwise */
  SPDL_ENTRY_BARRIER, /* all before it leave before it, none after it does */
} SpdlEntryKind;

typedef enum {
  SPDL_ENTRY_QUEUED,
  SPDL_ENTRY_RUNNING,
  SPDL_ENTRY_DONE,
} SpdlEntryState;

/* What a task or an event embeds as its first member. */
typedef struct _SpdlEntry SpdlEntry;
struct _SpdlEntry {
  SpdlEntry *prev;
  SpdlEntry *next;
  SpdlEntryKind kind;
  SpdlEntryState state;
  guint64 bytes;
};

typedef struct {
  SpdlOrder order;
  SpdlEntry *head;
  SpdlEntry *tail;
  SpdlEntry *next_queued; /* the oldest task that has not begun */
  guint n_queued;
  guint n_running;
  guint n_done; /* tasks, whether their turn has come or not */
} SpdlRing;

void spdl_ring_init (SpdlRing *self, SpdlOrder order);

/* Appends @entry. A task is queued; a mark or a barrier is done at once. */
void spdl_ring_put (SpdlRing *self, SpdlEntry *entry);

/* Begins the oldest queued task, or returns NULL. */
SpdlEntry *spdl_ring_begin (SpdlRing *self);

/* @task, which was running, is done. */
void spdl_ring_finish (SpdlRing *self, SpdlEntry *task);

/* Whether spdl_ring_pop() would return an entry. */
static inline gboolean
spdl_ring_ready (const SpdlRing *self)
{
  return self->head != NULL && self->head->state == SPDL_ENTRY_DONE;
}

/* Removes the entry whose turn it is to leave; NULL if it is not done. */
SpdlEntry *spdl_ring_pop (SpdlRing *self);

/* Removes the first queued task and all that stands behind it, but the tasks
 * that have begun, and returns it as a list by `next`. */
SpdlEntry *spdl_ring_drop_queued (SpdlRing *self);

G_END_DECLS
