/* gst-spdl: shared memory of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/wire/serializerbuffer.h"
#include "plugins/ipc/wire/mailbox.h"
#include "plugins/ipc/wire/wire.h"

G_BEGIN_DECLS

/* A slab is owned by the worker, which writes it, or is on a lease in this
 * process. The memories of a buffer hold references to the lease. When the last
 * one is freed, the slab is returned through the mailbox or by a message. If
 * the worker has exited or retired the slab, it is unmapped instead. Consumers
 * may therefore keep buffers for any time.
 *
 * A lease counts as lent from the time its buffer is pushed. The object is
 * reference counted, and leases hold references to it. Thread-safe. */
typedef struct _SpdlSharedBuffers SpdlSharedBuffers;
typedef struct _SpdlLease SpdlLease;

/* @wire: for returning slabs
 * @mailbox: (transfer full) (nullable): for returning a slab that the worker
 * waits for */
SpdlSharedBuffers *
spdl_shared_buffers_new (SpdlWire *wire, SpdlMailbox *mailbox);
/* Unmaps all slabs that are not on a lease. The others are unmapped when their
 * leases end. */
void spdl_shared_buffers_close (SpdlSharedBuffers *self);
void spdl_shared_buffers_unref (SpdlSharedBuffers *self);

/* These functions return FALSE or NULL with @error set if the worker sent
 * invalid data. */

/* @fd: memfd of at least @size bytes; closed by the function */
gboolean spdl_shared_buffers_add (
    SpdlSharedBuffers *self, guint32 id, guint64 size, int fd, GError **error);
gboolean spdl_shared_buffers_retire (
    SpdlSharedBuffers *self, guint32 id, GError **error);
/* Takes a lease on a slab that the worker has written. */
SpdlLease *spdl_shared_buffers_take (
    SpdlSharedBuffers *self, const SpdlPlaces *places, GError **error);

void spdl_lease_unref (SpdlLease *self);

/* Adds the memories of @self (transfer full) to @buffer, which has none. If
 * fewer than @max slabs are lent, the memories refer to the slab, else they are
 * copies.
 * @lent: (out): whether they refer to the slab
 * Returns FALSE if there is no memory for copies. */
gboolean spdl_lease_give (SpdlLease *self, GstBuffer *buffer,
    const SpdlPlaces *places, guint max, gboolean *lent);

G_END_DECLS
