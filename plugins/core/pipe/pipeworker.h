/* gst-spdl: chain and runner of a worker of spdlpipe
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>
#include <gio/gio.h>
#include <gst/gst.h>

G_BEGIN_DECLS

/* Chain of elements that processes one item at a time. An item is pushed as one
 * buffer, and the output is collected in the same thread. After an error the
 * chain is reset. Not thread-safe, except spdl_pipe_chain_interrupt(). */

typedef struct _SpdlPipeChain SpdlPipeChain;

typedef struct {
  GstBuffer *buffer;
  GstCaps *caps; /* nullable: unknown */
} SpdlPipeResult;

/* Creates an array of SpdlPipeResult, which it clears. */
GArray *spdl_pipe_results_new (void);

/* Creates a chain.
 *
 * @drain: whether each item is followed by an end of stream, rather than only
 *     items without output
 * @srcpad: (nullable): pad of the stage whose peer is queried for the caps of
 *     the output; NULL: any caps
 *
 * Returns NULL with @error set if the chain is invalid or does not start. */
SpdlPipeChain *spdl_pipe_chain_new (
    const gchar *description, gboolean drain, GstPad *srcpad, GError **error);
void spdl_pipe_chain_free (SpdlPipeChain *self);

/* Returns (transfer full) the sink pad of the first element. */
GstPad *spdl_pipe_chain_get_entry (SpdlPipeChain *self);

/* Sends @item (transfer full) with @caps (nullable) through the chain, and
 * appends its output to @results. Returns FALSE with @error set if it failed,
 * or was cancelled before it began. */
gboolean spdl_pipe_chain_run (SpdlPipeChain *self, GstBuffer *item,
    GstCaps *caps, GCancellable *cancellable, GArray *results, GError **error);

/* Returns TRUE if the chain could not be reset and must be replaced. */
gboolean spdl_pipe_chain_is_broken (const SpdlPipeChain *self);

/* Flushes the chain, so that blocked elements return. Callable from any
 * thread. */
void spdl_pipe_chain_interrupt (SpdlPipeChain *self);

/* Makes the chain negotiate the caps of its output again. */
void spdl_pipe_chain_reconfigure (SpdlPipeChain *self);

/* Counters of all runners of a stage, reference-counted with g_atomic_rc_box
 * because abandoned threads outlive the stage. */
typedef struct {
  gint n_lost;      /* abandoned and still running */
  guint64 cpu_time; /* of the runners' threads, in ns */
} SpdlPipeTally;

/* State of one worker: a chain, which is replaced if it hangs or cannot be
 * reset. Not thread-safe. */

typedef struct _SpdlPipeWorker SpdlPipeWorker;

/* Number of abandoned chains that still run at which the stage fails. Each
 * keeps its memory and a thread. */
#define SPDL_PIPE_MAX_LOST 16

/* State shared by the workers of a stage, from start to stop. */
typedef struct {
  GstSpdlStage *stage; /* not owned */
  gchar *chain;
  const gchar *part; /* interned: part to process; NULL: whole items */
  gboolean drain;
  guint64 task_timeout;
  SpdlPipeTally *tally;
  gint round; /* atomic: number of reconfigure events from downstream */

  /* The entry of the latest chain, which answers queries, and a chain without a
   * worker; guarded by the lock. */
  GMutex lock;
  GstPad *entry;
  SpdlPipeChain *spare;
} SpdlPipeShared;

/* Creates the shared state and the first chain. Returns NULL with @error set if
 * the chain is invalid or does not start. */
SpdlPipeShared *spdl_pipe_shared_new (GstSpdlStage *stage, const gchar *chain,
    const gchar *part, gboolean drain, guint64 task_timeout, GError **error);
void spdl_pipe_shared_free (SpdlPipeShared *self);

/* Returns (transfer full) the sink pad of the chain that answers queries.
 * Callable from any thread. */
GstPad *spdl_pipe_shared_get_entry (SpdlPipeShared *self);

SpdlPipeWorker *spdl_pipe_worker_new (SpdlPipeShared *shared, GError **error);
void spdl_pipe_worker_free (SpdlPipeWorker *self);

/* Processes the current item of @task. */
gboolean spdl_pipe_worker_process (
    SpdlPipeWorker *self, GstSpdlTask *task, GError **error);

G_END_DECLS
