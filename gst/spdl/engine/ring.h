/* gst-spdl: ordered queue of a stage's tasks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Entries inside a stage, from arrival to departure: tasks, and events that
 * keep their position between them. The ring determines the order of the
 * results and nothing else; it has no lock and no threads.
 *
 * It is a list in the order of departure. Entries are added at the tail and
 * leave at the head once the head is done. With the order `input`, entries do
 * not move. With `completion`, a finished task moves ahead of all unfinished
 * entries, after the last finished one. A barrier counts as done from the
 * start, so no task overtakes it. */

typedef enum {
  SPDL_ORDER_COMPLETION,
  SPDL_ORDER_INPUT,
} SpdlOrder;

typedef enum {
  SPDL_ENTRY_TASK,
  SPDL_ENTRY_MARK, /* keeps its place in input order; moves ahead otherwise */
  SPDL_ENTRY_BARRIER, /* everything before it leaves before it, and nothing
                         after it */
} SpdlEntryKind;

typedef enum {
  SPDL_ENTRY_QUEUED,
  SPDL_ENTRY_RUNNING,
  SPDL_ENTRY_DONE,
} SpdlEntryState;

/* First member of a task or an event. */
typedef struct _SpdlEntry SpdlEntry;
struct _SpdlEntry {
  SpdlEntry *prev;
  SpdlEntry *next;
  SpdlEntryKind kind;
  SpdlEntryState state;
  guint64 bytes;
  /* Used with the order `completion`. A stretch begins with a barrier, except
   * the first one. */
  guint64 stretch;
  union {
    SpdlEntry *barrier;   /* of the stretch, if it has not left */
    SpdlEntry *last_done; /* of a barrier: last finished entry of its stretch */
  };
};

typedef struct {
  SpdlOrder order;
  SpdlEntry *head;
  SpdlEntry *tail;
  SpdlEntry *next_queued; /* the oldest task that has not started */
  /* Used with the order `completion`. */
  guint64 stretch;       /* of new entries: number of barriers so far */
  guint64 first_stretch; /* of the head */
  SpdlEntry *barrier;    /* of new entries, if it has not left */
  SpdlEntry *last_done;  /* in the first stretch; NULL: none */
  guint n_queued;
  guint n_running;
  guint n_done; /* finished tasks, including those that must wait for their turn
                 */
} SpdlRing;

void spdl_ring_init (SpdlRing *self, SpdlOrder order);

/* Appends @entry. A task is queued; a mark or a barrier is done at once. */
void spdl_ring_put (SpdlRing *self, SpdlEntry *entry);

/* Starts the oldest queued task; NULL if there is none. */
SpdlEntry *spdl_ring_begin (SpdlRing *self);

/* Marks a running task as done. */
void spdl_ring_finish (SpdlRing *self, SpdlEntry *task);

/* Returns TRUE if spdl_ring_pop() would return an entry. */
static inline gboolean
spdl_ring_ready (const SpdlRing *self)
{
  return self->head != NULL && self->head->state == SPDL_ENTRY_DONE;
}

/* Removes the head; NULL if it is not done. */
SpdlEntry *spdl_ring_pop (SpdlRing *self);

/* Removes the first queued task and all entries after it, except tasks that
 * have started. Returns them as a list by `next`. */
SpdlEntry *spdl_ring_drop_queued (SpdlRing *self);

G_END_DECLS
