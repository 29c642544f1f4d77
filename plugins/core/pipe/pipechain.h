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

/* An item goes in as one buffer, and what the chain makes of it comes out in
 * the same thread. After an error the chain is mended. One thread at a time,
 * but for spdl_pipe_chain_interrupt(). */

typedef struct _SpdlPipeChain SpdlPipeChain;

typedef struct {
  GstBuffer *buffer;
  GstCaps *caps; /* nullable: nothing was said of it */
} SpdlPipeResult;

/* An array of results, which frees them. */
GArray *spdl_pipe_results_new (void);

/* @srcpad: (nullable): of the stage, whose peer is asked what may come out;
 * NULL: anything may.
 * @drain: whether the end of the stream comes behind each item, and not only
 * behind one for which nothing has come out. */
SpdlPipeChain *spdl_pipe_chain_new (
    const gchar *description, gboolean drain, GstPad *srcpad, GError **error);
void spdl_pipe_chain_free (SpdlPipeChain *self);

/* Returns: (transfer full): the pad in which the chain begins. */
GstPad *spdl_pipe_chain_get_entry (SpdlPipeChain *self);

/* Sends @item (transfer full), of @caps (nullable), through, and appends what
 * comes out to @results. FALSE with @error set if it failed, or was cancelled
 * before it began. */
gboolean spdl_pipe_chain_run (SpdlPipeChain *self, GstBuffer *item,
    GstCaps *caps, GCancellable *cancellable, GArray *results, GError **error);

/* The chain could not be mended: make another. */
gboolean spdl_pipe_chain_is_broken (const SpdlPipeChain *self);

/* Flushes the chain, so that what waits in it ends. From any thread. */
void spdl_pipe_chain_interrupt (SpdlPipeChain *self);

/* Other caps may come out than before. */
void spdl_pipe_chain_reconfigure (SpdlPipeChain *self);

G_END_DECLS
