/* gst-spdl: HTTP service with configurable responses, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A service on a port of 127.0.0.1, with a thread for each connection. Requests
 * are named by their method and path: "GET /latest/api/token". Requests without
 * a response set get status 404. */

typedef struct _Service Service;

/* Values of a status that stand for faults. */
#define SERVICE_STALL 0 /* never responds */
#define SERVICE_RESET 1 /* closes the connection */

Service *service_new (void);
/* Ends stalled responses and waits for all threads. */
void service_free (Service *self);

/* "http://127.0.0.1:PORT" */
const gchar *service_get_base (Service *self);

/* @header: (nullable): a header line of the response */
void service_set (Service *self, const gchar *request, guint status,
    const gchar *header, const gchar *body);

/* Makes the next @n requests with that name get @status. */
void service_fail (Service *self, const gchar *request, guint n, guint status);

/* Returns the number of requests with that name. */
guint service_count (Service *self, const gchar *request);

/* Returns header and body of the last request with that name; nullable. */
gchar *service_dup_request (Service *self, const gchar *request);

G_END_DECLS
