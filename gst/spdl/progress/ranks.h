/* gst-spdl: resume states of several ranks in one text
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/progress/state.h"

G_BEGIN_DECLS

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
SPDL_PRIVATE_API
GPtrArray *spdl_ranks_read (const gchar *const *states, gchar **problem);

static inline const SpdlRankState *
spdl_ranks_get (const GPtrArray *ranks, guint i)
{
  return g_ptr_array_index (ranks, i);
}

/* Returns the end of the source whose states begin at @begin. */
SPDL_PRIVATE_API
guint spdl_ranks_find_end (const GPtrArray *ranks, guint begin);

/* Writes what spdl_ranks_read() returned as one text, which it reads again. */
SPDL_PRIVATE_API
gchar *spdl_ranks_write (const GPtrArray *ranks);

G_END_DECLS
