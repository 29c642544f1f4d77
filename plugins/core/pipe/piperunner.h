/* gst-spdl: a chain, and the thread in which it may hang
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/core/pipe/pipechain.h"

G_BEGIN_DECLS

/* A runner sends items through its chain: in the calling thread, or, where that
 * must not wait for ever, in a thread of its own, which can be left behind with
 * the chain in it. */

typedef struct _SpdlPipeRunner SpdlPipeRunner;

/* What all runners of a stage count, counted itself (g_atomic_rc_box). */
typedef struct {
  gint n_lost;      /* left behind, and have not ended */
  guint64 cpu_time; /* of threads of runners, in ns */
} SpdlPipeTally;

typedef enum {
  SPDL_PIPE_RUN_OK,
  SPDL_PIPE_RUN_FAILED,
  SPDL_PIPE_RUN_LOST, /* it does not end: to be freed, and not used again */
} SpdlPipeRunStatus;

/* @chain: (transfer full); @tally: a reference of it is kept.
 * @threaded: whether it has a thread of its own. */
SpdlPipeRunner *spdl_pipe_runner_new (
    SpdlPipeChain *chain, SpdlPipeTally *tally, gboolean threaded);

/* Ends its thread, unless it was left behind: then thread and chain end
 * themselves, when they can. */
void spdl_pipe_runner_free (SpdlPipeRunner *self);

/* As spdl_pipe_chain_run(). @timeout: in ns, 0: none; only with a thread. */
SpdlPipeRunStatus spdl_pipe_runner_run (SpdlPipeRunner *self, GstBuffer *item,
    GstCaps *caps, guint64 timeout, GCancellable *cancellable, GArray *results,
    GError **error);

/* After @cancellable was cancelled, from any thread: ends a run. */
void spdl_pipe_runner_interrupt (SpdlPipeRunner *self);

/* The chain, where no item is in it. */
SpdlPipeChain *spdl_pipe_runner_get_chain (SpdlPipeRunner *self);

G_END_DECLS
