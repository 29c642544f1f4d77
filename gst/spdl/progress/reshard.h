/* gst-spdl: resume states of several ranks for another number of ranks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once
#include "gst/spdl/progress/state.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* The state of a source on a rank. */
typedef struct {
  guint32 source;
  SpdlState state;
  gchar *text;
} SpdlRankState;

/* Parses the states of all ranks. Returns an array of SpdlRankState, sorted by
 * source and rank, in which each source has all its ranks, or NULL.
 *
 * @states: NULL-terminated; each may hold several ranks
 * @problem: (out) (transfer full): the reason if NULL is returned, to follow a
 *     colon in a message */
GPtrArray *spdl_ranks_read (const gchar *const *states, gchar **problem);

static inline const SpdlRankState *
spdl_ranks_get (const GPtrArray *ranks, guint i)
{
  return g_ptr_array_index (ranks, i);
}

/* Returns the end of the source whose states begin at @begin. */
guint spdl_ranks_find_end (const GPtrArray *ranks, guint begin);

/* Writes what spdl_ranks_read() returned as one text, which it reads again. */
gchar *spdl_ranks_write (const GPtrArray *ranks);

/* The largest number of ranks. */
#define SPDL_RESHARD_MAX_RANKS (1 << 20)

/* Division of what a run has left among another number of ranks. In each epoch
 * that a rank has begun and not all have finished, the unfinished places are
 * joined to as few pieces (pieces.h) as possible. Then
 *
 * - long pieces, such as the places that no rank has begun, are shared: all
 *   ranks have them in their states and take runs of them in turns;
 * - short pieces, such as an item that others have overtaken, are dealt to the
 *   ranks, which send them first.
 *
 * A state therefore grows with the number of overtaken items, and with that of
 * different distances between ranks, but not with the number of changes: when
 * the ranks have sent the short pieces, nothing is left of earlier changes. */
typedef struct _SpdlReshard SpdlReshard;

/* @ranks: the states of all ranks, of which the object keeps a reference
 * @world_size: the new number of ranks
 * @problem: (out) (transfer full): the reason if NULL is returned, to follow a
 *     colon in a message */
SpdlReshard *
spdl_reshard_new (GPtrArray *ranks, guint64 world_size, gchar **problem);
void spdl_reshard_free (SpdlReshard *self);

/* Returns the state of a rank (transfer full). */
gchar *spdl_reshard_dup_state (const SpdlReshard *self, guint64 rank);

/* Returns the state for a rank of a source that starts at @states (transfer
 * full). If these are the states of all ranks of the source, the result has the
 * rank's part of it and of the sources with as many ranks; otherwise it is
 * @states. */
gchar *spdl_reshard_pick (const gchar *states, guint32 source, guint64 rank,
    guint64 world_size, gchar **problem);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlReshard, spdl_reshard_free)

SPDL_END_PRIVATE_API
G_END_DECLS
