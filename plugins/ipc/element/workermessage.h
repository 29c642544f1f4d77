/* gst-spdl: messages of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/process/slab.h"
#include "gst/spdl/wire/serializerbuffer.h"
#include "plugins/ipc/wire/bell.h"
#include "plugins/ipc/wire/wire.h"

G_BEGIN_DECLS

/* Memory */

/* The slabs that a worker writes. A slab is owned by the worker, or is on loan
 * to this process. The memories of a buffer hold references to the loan. When
 * the last one is freed, the slab is returned, and the bell wakes the worker if
 * it waits for that. Consumers may keep buffers for any time, and longer than
 * the worker lives.
 *
 * A loan counts as lent from the time its buffer is pushed. The object is
 * reference counted, and loans hold references to it. */
typedef struct _SpdlSharedBuffers SpdlSharedBuffers;

/* @bell: (transfer full) */
SpdlSharedBuffers *spdl_shared_buffers_new (SpdlBell *bell);
/* Unmaps all slabs that are not on loan. The others are unmapped when they are
 * returned. No other function may follow. */
void spdl_shared_buffers_close (SpdlSharedBuffers *self);

/* The following functions are called by one thread. They return FALSE or NULL
 * with @error set if the worker sent invalid data. */

/* @fd: (transfer full): memfd of at least @size bytes */
gboolean spdl_shared_buffers_add (
    SpdlSharedBuffers *self, guint32 id, guint64 size, int fd, GError **error);
/* Borrows a slab that the worker has written, in which @places are. */
SpdlLoan *spdl_shared_buffers_take (
    SpdlSharedBuffers *self, const SpdlPlaces *places, GError **error);

/* Messages */

typedef enum {
  SPDL_WORKER_MESSAGE_BUFFER, /* with the loan, or without memory */
  SPDL_WORKER_MESSAGE_CAPS,
  SPDL_WORKER_MESSAGE_EVENT,
  SPDL_WORKER_MESSAGE_ERROR, /* a GstMessage; ends the stream */
  SPDL_WORKER_MESSAGE_EOS,
  SPDL_WORKER_MESSAGE_DEATH, /* the process ended unexpectedly; with text */
} SpdlWorkerMessageKind;

typedef struct {
  SpdlWorkerMessageKind kind;
  gpointer object; /* GstMiniObject of that kind */
  SpdlLoan *loan;  /* nullable: of the slab in which `places` are */
  SpdlPlaces places;
  SpdlSharedBuffers *shared_buffers; /* of the loan */
  gchar *text;
} SpdlWorkerMessage;

SpdlWorkerMessage *
spdl_worker_message_new (SpdlWorkerMessageKind kind, gpointer object);
/* Frees the message, and returns a loan that was not passed on. */
void spdl_worker_message_free (SpdlWorkerMessage *self);

/* Parses a message for the stream: a buffer, caps, an event, or EOS.
 * Returns NULL with @error set if it is invalid. */
SpdlWorkerMessage *spdl_worker_message_open (const SpdlWireMessage *message,
    SpdlSharedBuffers *shared_buffers, GError **error);

/* Adds the memories of a message to its @buffer, which has none. If fewer than
 * @max slabs are lent, the memories refer to the slab, else they are copies.
 * Called by one thread.
 * @lent: (out): FALSE: they are copies
 * Returns FALSE if there is no memory for copies. */
gboolean spdl_worker_message_give_memory (
    SpdlWorkerMessage *self, GstBuffer *buffer, guint max, gboolean *lent);

/* Each worker numbers its sources from 0. If a pipeline has several workers or
 * other sources, these numbers would not be unique in items, events and states,
 * so a base is added to them, the number of spdlworkersrc (sourcenumber.h). The
 * base of the first worker is the number of spdlsrc elements in the pipeline,
 * usually 0; its states then equal those of a pipeline without a worker. */
void spdl_worker_message_shift (SpdlWorkerMessage *self, guint32 base);
/* The same for a message of the bus. */
void spdl_worker_message_shift_bus (GstMessage *message, guint32 base);

/* Returns whether the message uses no slab, so that the worker needs credit to
 * send it. */
gboolean spdl_worker_message_needs_credit (const SpdlWorkerMessage *self);

/* Sets the error for invalid messages. */
void spdl_worker_message_set_broken (GError **error, const gchar *what);

G_END_DECLS
