/* gst-spdl: a request to the hostile HTTP server
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tests/check/support/server.h"

G_BEGIN_DECLS

/* A request and the connection that it came on. */
typedef struct {
  Server *server;
  const gchar *root; /* of files; nullable */
  GSocketConnection *connection;
  GIOStream *stream;
  GDataInputStream *in;
  GOutputStream *out;

  gchar *header;
  gchar *path;
  gchar *fault;
  guint64 count; /* how many requests are to fail */
  guint64 size;
  gchar *rest; /* of the path, before a `?` */
  guint nth;   /* request of this path, from 1 */
  gboolean faulty;
  gboolean keep; /* the connection */
} Request;

/* Answers it, well or badly, and says whether the connection is kept. */
void server_answer (Request *r);

/* Answers it if it is of what has a version. */
gboolean server_answer_versioned (Request *r);

/* FALSE: the connection is gone. */
gboolean server_send (Request *r, gconstpointer data, gsize size);

/* Waits until the server stops. */
void server_stall (Server *server);

G_END_DECLS
