/* gst-spdl: socket between the pipeline and its worker process
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

/* Messages are sent in both directions over a stream socket. A message is a
 * header of 16 bytes in native byte order, followed by the payload:
 *
 *     guint32 magic      "spw" and the version, a byte
 *     guint32 type       SpdlWireType
 *     guint32 size       of the payload
 *     guint32 num_fds    0 or 1: a file descriptor is attached
 *
 * Increment the version with every change to the messages. */
#define SPDL_WIRE_VERSION 4
#define SPDL_WIRE_MAGIC (0x00777073u | (guint32) SPDL_WIRE_VERSION << 24)
#define SPDL_WIRE_MAX_SIZE (1u << 28)

typedef struct {
  guint32 magic;
  guint32 type;
  guint32 size;
  guint32 num_fds;
} SpdlWireHeader;

typedef enum {
  /* To the worker. */
  SPDL_WIRE_START = 1, /* first message: SpdlWorkerConfig; optionally with a
                          mailbox for slabs */
  SPDL_WIRE_RELEASE,   /* guint32: a slab may be reused; sent if the mailbox did
                          not take it */
  SPDL_WIRE_CREDIT,    /* guint32: number of events that were taken */
  SPDL_WIRE_ASK,       /* request for statistics */
  SPDL_WIRE_BUDGET,    /* double: new `cpu-budget`, see workerconfig.h */
  SPDL_WIRE_STOP,      /* stop the pipeline, send statistics, and exit */
  /* From the worker. */
  SPDL_WIRE_STARTED =
      64,         /* strings: the pipeline plays; class names of its sources */
  SPDL_WIRE_SLAB, /* guint32, guint64: id and size of a new slab */
  SPDL_WIRE_RETIRE,  /* guint32: a slab that is no longer used */
  SPDL_WIRE_BUFFER,  /* a buffer in a slab, see serializerbuffer.h */
  SPDL_WIRE_CAPS,    /* a structure: caps of the following buffers */
  SPDL_WIRE_EVENT,   /* guint32, a structure: a custom event */
  SPDL_WIRE_MESSAGE, /* a bus message, see serializermessage.h */
  SPDL_WIRE_FIGURES, /* an array of structures: the response to ASK */
  SPDL_WIRE_EOS,     /* no more buffers or events */
  SPDL_WIRE_END,     /* no more messages */
} SpdlWireType;

/* Sending side of the socket. Reference counted, because buffers that a
 * consumer keeps return their slabs later. Thread-safe. */
typedef struct {
  gint n_refs;
  pid_t pid; /* owner: a forked child must not send */
  SpdlMutex lock;
  /* Protected by the lock: */
  int socket;                                 /* -1: closed */
  int problem;                                /* see spdl_wire_get_problem() */
  gboolean (*may_go_on) (gpointer user_data); /* see send_patiently() */
  gpointer user_data;
} SpdlWire;

/* @socket: (transfer full) */
SpdlWire *spdl_wire_new (int socket);
SpdlWire *spdl_wire_ref (SpdlWire *self);
void spdl_wire_unref (SpdlWire *self);

/* Returns FALSE in a forked child, which must not send. */
gboolean spdl_wire_is_own (const SpdlWire *self);

/* Sends a message; blocks until there is space in the socket.
 * @fd: (transfer none): descriptor to attach, or -1
 * Returns FALSE if the peer has exited or the wire is closed, or if sending
 * failed, which shuts the socket down. */
gboolean spdl_wire_send (
    SpdlWire *self, SpdlWireType type, gconstpointer data, gsize size, int fd);
/* Sends a message like spdl_wire_send(). When the socket has been full for
 * @interval ms, calls @may_go_on, which returns FALSE to give up. No other
 * thread may use the wire. */
gboolean spdl_wire_send_patiently (SpdlWire *self, SpdlWireType type,
    gconstpointer data, gsize size, int fd, gint interval,
    gboolean (*may_go_on) (gpointer user_data), gpointer user_data);
/* Sends a message unless the peer has not read others, or another thread waits
 * to send. Returns FALSE if it must be sent again. Never waits. */
gboolean spdl_wire_try_send (
    SpdlWire *self, SpdlWireType type, gconstpointer data, gsize size);
gboolean spdl_wire_send_u32 (SpdlWire *self, SpdlWireType type, guint32 value);

/* Returns the error number of the first failure to send, or 0. An exit of the
 * peer does not count as a failure. */
int spdl_wire_get_problem (SpdlWire *self);

/* Shuts the socket down: further sends fail, blocked ones return, and the peer
 * reads an end of file. */
void spdl_wire_shut (SpdlWire *self);
/* Closes the socket. Call it when no thread reads from it any more. */
void spdl_wire_close (SpdlWire *self);

G_END_DECLS
