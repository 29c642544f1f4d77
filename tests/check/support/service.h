/* gst-spdl: an HTTP service for tests, whose answers are set
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A service on a port of 127.0.0.1, with a thread for each connection. Requests
 * are named by their method and path: "GET /latest/api/token". Those without an
 * answer get status 404. */

typedef struct _Service Service;

/* In place of a status. */
#define SERVICE_STALL 0 /* never answers */
#define SERVICE_RESET 1 /* closes the connection */

Service *service_new (void);
/* Ends what stalls, and waits for all threads. */
void service_free (Service *self);

/* "http://127.0.0.1:PORT" */
const gchar *service_get_base (Service *self);

/* @header: (nullable): a line to send with the answer */
void service_set (Service *self, const gchar *request, guint status,
    const gchar *header, const gchar *body);

/* The next @n such requests get @status instead. */
void service_fail (Service *self, const gchar *request, guint n, guint status);

/* How often that was asked. */
guint service_count (Service *self, const gchar *request);

/* Header and body of the last such request; nullable. */
gchar *service_dup_request (Service *self, const gchar *request);

G_END_DECLS
