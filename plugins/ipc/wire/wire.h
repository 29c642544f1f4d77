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

/* A stream socket carries messages both ways, each a header of 16 bytes, in
 * the machine's own byte order, and its payload:
 *
 *     guint32 magic      "spw" and the version, a byte
 *     guint32 type       SpdlWireType
 *     guint32 size       of the payload
 *     guint32 num_fds    0 or 1: a descriptor that comes with it
 *
 * What is changed in any message gets another version. */
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
  SPDL_WIRE_START = 1, /* the first one: what to run; SpdlWorkerConfig. With it
                        * comes, or not, a mailbox for slabs */
  SPDL_WIRE_RELEASE,   /* guint32: a slab may be written again; only if the
                        * mailbox did not take it */
  SPDL_WIRE_CREDIT,    /* guint32: so many events were taken */
  SPDL_WIRE_ASK,       /* for the figures of now */
  SPDL_WIRE_BUDGET,    /* double: another `cpu-budget`; workerconfig.h */
  SPDL_WIRE_STOP,      /* stop the pipeline, report, and end */
  /* From the worker. */
  SPDL_WIRE_STARTED = 64, /* strings: the pipeline plays, with these classes */
  SPDL_WIRE_SLAB,         /* guint32, guint64: a new slab's number and size */
  SPDL_WIRE_RETIRE,       /* guint32: a slab that is used no more */
  SPDL_WIRE_BUFFER,       /* a buffer in a slab: serializerbuffer.h */
  SPDL_WIRE_CAPS,         /* a structure, for the buffers that follow */
  SPDL_WIRE_EVENT,        /* guint32, a structure: a custom event */
  SPDL_WIRE_MESSAGE,      /* for the bus: serializermessage.h */
  SPDL_WIRE_FIGURES,      /* an array of structures, the answer to ASK */
  SPDL_WIRE_EOS,          /* no further buffer or event comes */
  SPDL_WIRE_END,          /* nothing at all does */
} SpdlWireType;

/* What is sent. Counted, since buffers that a consumer keeps give their slabs
 * back long after. From any thread. */
typedef struct {
  gint n_refs;
  pid_t pid; /* whose it is: a fork's copy must not send */
  SpdlMutex lock;
  int socket; /* -1: closed */
} SpdlWire;

/* @socket: the wire's from now on */
SpdlWire *spdl_wire_new (int socket);
SpdlWire *spdl_wire_ref (SpdlWire *self);
void spdl_wire_unref (SpdlWire *self);

/* Not in a fork, which must not send. */
gboolean spdl_wire_is_own (const SpdlWire *self);

/* Sends a message, and waits for room. @fd: to go with it, or -1; stays the
 * caller's. FALSE: the other side is gone, or the wire is closed. */
gboolean spdl_wire_send (
    SpdlWire *self, SpdlWireType type, gconstpointer data, gsize size, int fd);
gboolean spdl_wire_send_u32 (SpdlWire *self, SpdlWireType type, guint32 value);

/* Nothing is sent any more, and the other side reads an end. Who waits for room
 * is woken. */
void spdl_wire_shut (SpdlWire *self);
/* When nobody reads from it any more. */
void spdl_wire_close (SpdlWire *self);

G_END_DECLS
