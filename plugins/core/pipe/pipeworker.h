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

/* What all runners of a stage count, counted itself (g_atomic_rc_box). */
typedef struct {
  gint n_lost;      /* left behind, and have not ended */
  guint64 cpu_time; /* of threads of runners, in ns */
} SpdlPipeTally;

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
