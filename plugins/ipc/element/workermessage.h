/* gst-spdl: messages of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/wire/serializerbuffer.h"
#include "plugins/ipc/wire/wirereader.h"

G_BEGIN_DECLS

typedef struct _SpdlLease SpdlLease;
typedef struct _SpdlSharedBuffers SpdlSharedBuffers;

typedef enum {
  SPDL_WORKER_MESSAGE_BUFFER, /* with the lease, or without memory */
  SPDL_WORKER_MESSAGE_CAPS,
  SPDL_WORKER_MESSAGE_EVENT,
  SPDL_WORKER_MESSAGE_ERROR, /* a GstMessage; ends the stream */
  SPDL_WORKER_MESSAGE_EOS,
  SPDL_WORKER_MESSAGE_DEATH, /* the process ended unexpectedly; with text */
} SpdlWorkerMessageKind;

typedef struct {
  SpdlWorkerMessageKind kind;
  gpointer object;  /* GstMiniObject of that kind */
  SpdlLease *lease; /* nullable */
  SpdlPlaces places;
  gchar *text;
} SpdlWorkerMessage;

SpdlWorkerMessage *
spdl_worker_message_new (SpdlWorkerMessageKind kind, gpointer object);
/* Frees the message, and returns a lease that was not passed on. */
void spdl_worker_message_free (SpdlWorkerMessage *self);

/* Parses a message for the stream: a buffer, caps, an event, or EOS.
 * Returns NULL with @error set if it is invalid. */
SpdlWorkerMessage *spdl_worker_message_open (const SpdlWireMessage *message,
    SpdlSharedBuffers *shared_buffers, GError **error);

/* Adds @base to the source numbers. */
void spdl_worker_message_shift (SpdlWorkerMessage *self, guint32 base);

/* Returns whether the message uses no slab, so that the worker needs credit to
 * send it. */
gboolean spdl_worker_message_needs_credit (const SpdlWorkerMessage *self);

/* Sets the error for invalid messages. */
void spdl_worker_message_set_broken (GError **error, const gchar *what);

G_END_DECLS
