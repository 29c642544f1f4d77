/* gst-spdl: messages between the pipeline and its worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include <sys/types.h>

#include "gst/spdl/engine/sync.h"

G_BEGIN_DECLS

/* Messages are packets (packet.h) in both directions. A message is a header in
 * native byte order, followed by the payload, which is in an attached file if
 * it is large.
 *
 * Increment the version with every change to the messages. */
#define SPDL_WIRE_VERSION 6
#define SPDL_WIRE_MAGIC (0x00777073u | (guint32) SPDL_WIRE_VERSION << 24)
#define SPDL_WIRE_MAX_SIZE (1u << 28)
/* Payload of a packet. The kernel limits packets to about 200 KiB. */
#define SPDL_WIRE_MAX_INLINE (1u << 16)

typedef struct {
  guint32 magic;    /* "spw" and the version, a byte */
  guint32 type;     /* SpdlWireType */
  guint32 size;     /* of the payload */
  guint32 attached; /* SpdlWireAttached */
} SpdlWireHeader;

typedef enum {
  SPDL_WIRE_ATTACHED_NONE,
  SPDL_WIRE_ATTACHED_FD,      /* a descriptor */
  SPDL_WIRE_ATTACHED_PAYLOAD, /* a file with the payload */
} SpdlWireAttached;

typedef enum {
  /* To the worker. */
  SPDL_WIRE_BELL = 1, /* first message, with the bell that returned slabs
                         ring */
  SPDL_WIRE_START,    /* second message: SpdlWorkerConfig */
  SPDL_WIRE_CREDIT,   /* guint32: number of events that were taken */
  SPDL_WIRE_ASK,      /* request for statistics */
  SPDL_WIRE_BUDGET,   /* double: new `cpu-budget`, see workerconfig.h */
  SPDL_WIRE_STOP,     /* stop the pipeline, send statistics, and exit */
  /* From the worker. */
  SPDL_WIRE_STARTED =
      64,         /* strings: the pipeline plays; class names of its sources */
  SPDL_WIRE_SLAB, /* guint32, guint64: id and size of a new slab (slab.h) */
  SPDL_WIRE_BUFFER,  /* a buffer in a slab, see serializerbuffer.h */
  SPDL_WIRE_CAPS,    /* a structure: caps of the following buffers */
  SPDL_WIRE_EVENT,   /* guint32, a structure: a custom event */
  SPDL_WIRE_MESSAGE, /* a bus message, see serializermessage.h */
  SPDL_WIRE_FIGURES, /* an array of structures: the response to ASK */
  SPDL_WIRE_EOS,     /* no more buffers or events */
  SPDL_WIRE_END,     /* no more messages */
} SpdlWireType;

/* Sending */

/* Sending side of the socket. Thread-safe. */
typedef struct {
  pid_t pid; /* owner: a forked child must not send */
  SpdlMutex lock;
  /* Protected by the lock: */
  int socket;
  int problem; /* see spdl_wire_get_problem() */
} SpdlWire;

/* @socket: (transfer full) */
SpdlWire *spdl_wire_new (int socket);
/* Call it when no thread uses the socket any more. */
void spdl_wire_free (SpdlWire *self);

/* Sends a message; blocks until there is space in the socket.
 * @fd: (transfer none): descriptor to attach to a small message, or -1
 * Returns FALSE if the peer has exited, or if sending failed, which shuts the
 * socket down. */
gboolean spdl_wire_send (
    SpdlWire *self, SpdlWireType type, gconstpointer data, gsize size, int fd);
/* Sends a message unless the peer has not read others, or another thread waits
 * to send. Returns FALSE if it must be sent again. Never waits. */
gboolean spdl_wire_try_send (
    SpdlWire *self, SpdlWireType type, gconstpointer data, gsize size);

/* Returns the error number of the first failure to send, or 0. An exit of the
 * peer does not count as a failure. */
int spdl_wire_get_problem (SpdlWire *self);

/* Shuts the socket down: further sends fail, blocked ones return, and the peer
 * reads an end of file. */
void spdl_wire_shut (SpdlWire *self);

/* Receiving */

typedef struct {
  guint8 packet[sizeof (SpdlWireHeader) + SPDL_WIRE_MAX_INLINE];
  guint8 *large; /* nullable: payload that came in a file */
} SpdlWireReader;

typedef struct {
  SpdlWireType type;
  const guint8 *data; /* valid until the next message is read */
  gsize size;
  int fd; /* owned by the caller; -1: none */
} SpdlWireMessage;

typedef enum {
  SPDL_WIRE_NONE, /* no message yet */
  SPDL_WIRE_ONE,
  SPDL_WIRE_CLOSED, /* no message will follow */
  SPDL_WIRE_BROKEN, /* invalid data, with an error */
} SpdlWireStatus;

void spdl_wire_reader_clear (SpdlWireReader *self);

/* Receives a message.
 *
 * @flags: MSG_DONTWAIT, or 0 to wait for a message
 * @to_worker: direction; messages of the other direction are invalid */
SpdlWireStatus spdl_wire_reader_receive (SpdlWireReader *self, int socket,
    int flags, gboolean to_worker, SpdlWireMessage *message, GError **error);
/* Parses a message of which @size bytes are in `packet`.
 *
 * @fd: (transfer full): attached descriptor, or -1 */
SpdlWireStatus spdl_wire_reader_parse (SpdlWireReader *self, gsize size, int fd,
    gboolean to_worker, SpdlWireMessage *message, GError **error);

G_END_DECLS
