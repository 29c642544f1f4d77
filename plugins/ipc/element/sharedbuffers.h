/* gst-spdl: shared memory of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/ipc/wire/mailbox.h"
#include "plugins/ipc/wire/serializerbuffer.h"
#include "plugins/ipc/wire/wire.h"

G_BEGIN_DECLS

/* A slab is the worker's, who writes it, or here: on a lease, which is counted
 * by the memories that lie in it. With the last of them it goes back by the
 * mailbox, or a message; or, if the worker is gone or has no more use for it,
 * is unmapped. So a consumer may keep its buffers for as long as it likes.
 *
 * A lease is lent from when it goes on into the pipeline. The object is
 * counted; leases keep it. From any thread. */
typedef struct _SpdlSharedBuffers SpdlSharedBuffers;
typedef struct _SpdlLease SpdlLease;

/* @wire: by which slabs are given back
 * @mailbox: (transfer full) (nullable): where the worker may wait for them */
SpdlSharedBuffers *
spdl_shared_buffers_new (SpdlWire *wire, SpdlMailbox *mailbox);
/* All slabs that are not on a lease are unmapped now, and the others with their
 * leases. */
void spdl_shared_buffers_close (SpdlSharedBuffers *self);
void spdl_shared_buffers_unref (SpdlSharedBuffers *self);

/* These are FALSE, or NULL, with @error set where the worker says what cannot
 * be. */

/* @fd: of a memfd of at least @size bytes; closed */
gboolean spdl_shared_buffers_add (
    SpdlSharedBuffers *self, guint32 id, guint64 size, int fd, GError **error);
gboolean spdl_shared_buffers_retire (
    SpdlSharedBuffers *self, guint32 id, GError **error);
/* The worker has written a slab. */
SpdlLease *spdl_shared_buffers_take (
    SpdlSharedBuffers *self, const SpdlPlaces *places, GError **error);

void spdl_lease_unref (SpdlLease *self);

/* Adds the memories to @buffer, which has none: those of the slab if there are
 * fewer than @max slabs lent, or copies. Takes @self.
 * @lent: (out): whether they are the slab's
 * Returns FALSE if there is no memory for copies. */
gboolean spdl_lease_give (SpdlLease *self, GstBuffer *buffer,
    const SpdlPlaces *places, guint max, gboolean *lent);

G_END_DECLS
