/* gst-spdl: message reader of the socket
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/ipc/wire/wire.h"

G_BEGIN_DECLS

#define SPDL_WIRE_READER_MAX_FDS 16

/* Buffer of received data. Does not trust the data: memory is allocated as
 * bytes arrive, not for the size in a header. */
typedef struct {
  guint8 *data;
  gsize begin; /* of the unread data */
  gsize end;
  gsize capacity;
  int fds[SPDL_WIRE_READER_MAX_FDS];
  guint n_fds;
  gboolean lost_fds; /* more descriptors arrived than fit in `fds` */
} SpdlWireReader;

typedef struct {
  SpdlWireType type;
  const guint8 *data; /* valid until more data is read */
  gsize size;
  int fd; /* owned by the caller; -1: none */
} SpdlWireMessage;

typedef enum {
  SPDL_WIRE_NONE, /* no complete message yet */
  SPDL_WIRE_ONE,
  SPDL_WIRE_BROKEN, /* invalid data, with an error */
} SpdlWireStatus;

void spdl_wire_reader_clear (SpdlWireReader *self);

/* Reads available data, or waits for some. Returns the number of bytes, 0 at
 * the end, or -1 with errno set. */
gssize spdl_wire_reader_fill (SpdlWireReader *self, int socket);
/* Appends bytes from another source. */
void
spdl_wire_reader_feed (SpdlWireReader *self, gconstpointer data, gsize size);

/* @to_worker: direction; messages of the other direction are invalid */
SpdlWireStatus spdl_wire_reader_next (SpdlWireReader *self, gboolean to_worker,
    SpdlWireMessage *message, GError **error);

G_END_DECLS
