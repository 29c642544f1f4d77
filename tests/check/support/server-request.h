/* gst-spdl: request to the hostile HTTP server
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tests/check/support/server.h"

G_BEGIN_DECLS

/* A request and its connection. */
typedef struct {
  Server *server;
  const gchar *root; /* nullable: folder with files */
  GSocketConnection *connection;
  GIOStream *stream;
  GDataInputStream *in;
  GOutputStream *out;

  gchar *header;
  gchar *path;
  gchar *fault;
  guint64 count; /* number of requests to fail */
  guint64 size;
  gchar *rest; /* rest of the path, before a `?` */
  guint nth;   /* number of this request for its path, from 1 */
  gboolean faulty;
  gboolean keep; /* keep the connection alive */
} Request;

/* Sends the response, valid or not, and sets `keep`. */
void server_answer (Request *r);

/* Sends the response if the path is a versioned resource. */
gboolean server_answer_versioned (Request *r);

/* Sends the response if it is one without end, or with chunks that are broken
 * or rich. */
gboolean server_answer_hostile (Request *r);

/* Returns FALSE if the connection is closed. */
gboolean server_send (Request *r, gconstpointer data, gsize size);

/* Blocks until the server stops. */
void server_stall (Server *server);

G_END_DECLS
