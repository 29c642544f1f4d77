/* gst-spdl: reads messages from the socket
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/ipc/wire/wire.h"

G_BEGIN_DECLS

#define SPDL_WIRE_READER_MAX_FDS 16

/* What came and was not taken yet. Trusts nothing that is in it: memory is
 * taken as bytes come, not as a header announces them. */
typedef struct {
  guint8 *data;
  gsize begin; /* of what was not taken */
  gsize end;
  gsize capacity;
  int fds[SPDL_WIRE_READER_MAX_FDS];
  guint n_fds;
  gboolean lost_fds; /* more came than there was room for */
} SpdlWireReader;

typedef struct {
  SpdlWireType type;
  const guint8 *data; /* until more is read */
  gsize size;
  int fd; /* the caller's, or -1 */
} SpdlWireMessage;

typedef enum {
  SPDL_WIRE_NONE, /* not all of one is there yet */
  SPDL_WIRE_ONE,
  SPDL_WIRE_BROKEN, /* with an error */
} SpdlWireStatus;

void spdl_wire_reader_clear (SpdlWireReader *self);

/* Reads what is there, or waits. Returns how many bytes came: 0 at the end, and
 * -1 on an error, with errno. */
gssize spdl_wire_reader_fill (SpdlWireReader *self, int socket);
/* Adds bytes that came in another way. */
void
spdl_wire_reader_feed (SpdlWireReader *self, gconstpointer data, gsize size);

/* @to_worker: which way the messages go; those of the other are broken */
SpdlWireStatus spdl_wire_reader_next (SpdlWireReader *self, gboolean to_worker,
    SpdlWireMessage *message, GError **error);

G_END_DECLS
