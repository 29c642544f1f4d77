/* gst-spdl: chain of one worker of spdlpipe
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

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

/* The state of one worker: a chain, which is replaced where it cannot be
 * mended, or hangs. One thread at a time. */

typedef struct _SpdlPipeWorker SpdlPipeWorker;

/* A stage gives up where so many chains were left behind and have not ended:
 * each keeps its memory and a thread. */
#define SPDL_PIPE_MAX_LOST 16

/* What all workers of a stage share, from its start to its stop. */
typedef struct {
  GstSpdlStage *stage; /* not owned */
  gchar *chain;
  const gchar *part; /* interned: of each item; NULL: items as they come */
  gboolean drain;
  guint64 task_timeout;
  SpdlPipeTally *tally;
  gint round; /* atomic: how often downstream has asked for other caps */

  /* Of the chain made last, which answers for all; under the lock. */
  GMutex lock;
  GstPad *entry;
  SpdlPipeChain *spare; /* nobody's yet */
} SpdlPipeShared;

/* Makes the first chain; NULL with @error set if it cannot be. */
SpdlPipeShared *spdl_pipe_shared_new (GstSpdlStage *stage, const gchar *chain,
    const gchar *part, gboolean drain, guint64 task_timeout, GError **error);
void spdl_pipe_shared_free (SpdlPipeShared *self);

/* Returns: (transfer full): where the chain begins that answers for all. From
 * any thread. */
GstPad *spdl_pipe_shared_get_entry (SpdlPipeShared *self);

SpdlPipeWorker *spdl_pipe_worker_new (SpdlPipeShared *shared, GError **error);
void spdl_pipe_worker_free (SpdlPipeWorker *self);

/* The work on the current item of @task. */
gboolean spdl_pipe_worker_process (
    SpdlPipeWorker *self, GstSpdlTask *task, GError **error);

G_END_DECLS
