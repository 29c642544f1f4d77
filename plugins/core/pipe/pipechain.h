/* gst-spdl: chain of elements of spdlpipe
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

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

G_END_DECLS
