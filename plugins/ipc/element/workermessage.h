/* gst-spdl: messages of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/ipc/element/sharedbuffers.h"
#include "plugins/ipc/wire/wirereader.h"

G_BEGIN_DECLS

typedef enum {
  SPDL_WORKER_MESSAGE_BUFFER, /* of the lease, or without memory */
  SPDL_WORKER_MESSAGE_CAPS,
  SPDL_WORKER_MESSAGE_EVENT,
  SPDL_WORKER_MESSAGE_ERROR, /* a message, which ends the stream */
  SPDL_WORKER_MESSAGE_EOS,
  SPDL_WORKER_MESSAGE_DEATH, /* the process ended as it should not have: a text
                              */
} SpdlWorkerMessageKind;

typedef struct {
  SpdlWorkerMessageKind kind;
  gpointer object;  /* a mini object of the kind */
  SpdlLease *lease; /* nullable */
  SpdlPlaces places;
  gchar *text;
} SpdlWorkerMessage;

SpdlWorkerMessage *
spdl_worker_message_new (SpdlWorkerMessageKind kind, gpointer object);
/* Gives a lease back that was not given on. */
void spdl_worker_message_free (SpdlWorkerMessage *self);

/* Opens one for the stream: a buffer, caps, an event, or the end.
 *
 * Returns: NULL if it is broken, with @error set */
SpdlWorkerMessage *spdl_worker_message_open (const SpdlWireMessage *message,
    SpdlSharedBuffers *shared_buffers, GError **error);

/* Adds @base to the numbers of sources. */
void spdl_worker_message_shift (SpdlWorkerMessage *self, guint32 base);

/* Whether it takes no slab, and so may come only as others were taken. */
gboolean spdl_worker_message_needs_credit (const SpdlWorkerMessage *self);

/* For all messages that are broken. */
void spdl_worker_message_set_broken (GError **error, const gchar *what);

G_END_DECLS
