/* gst-spdl: a hostile HTTP server for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A server on a port of 127.0.0.1, with a thread per connection. The path
 * selects its behavior:
 *
 *     /FAULT/COUNT/SIZE[/anything]
 *
 * The first COUNT requests of a path get the fault. Later ones get SIZE bytes
 * of server_make_body(). Regular responses support Range and If-Range. The
 * faults:
 *
 *     bytes        none
 *     gate         waits until the gate opens, see server_set_gate()
 *     reset        resets the connection instead of responding
 *     break        resets it in the middle of the body
 *     short        ends the body in the middle, as if it were complete
 *     changed      breaks off, with another body (and ETag) each time
 *     norange      breaks off, and does not support ranges
 *     huge         declares a terabyte and closes after SIZE bytes
 *     long         sends more than declared, on a persistent connection
 *     chunks       sends chunks, and breaks off
 *     stall-head   never responds
 *     stall-body   stalls in the middle of the body
 *     drip         sends a byte every 50 ms
 *     garbage      sends data that is not HTTP
 *     silent       closes after each response without announcing it
 *     close        announces that it closes after each response
 *     otherrange   sends another range than requested
 *     encoded      declares that the body is compressed
 *     loop         redirects to itself
 *     moved        redirects to /bytes
 *     to           redirects to the place that server_set_place() sets for the
 *                  rest of the path
 *     auth         responds 401 to requests without Authorization
 *     STATUS       a number: responds with that status
 *     STATUS+N     and with `Retry-After: N`
 *     file         sends the file in server_set_root() named by the rest of the
 *                  path, or resets the connection in the middle of it
 *     shortfile    ends it in the middle
 *     shard        sends a file, with support for ranges and conditions, or
 *                  responds 503 to ranges of more than SIZE bytes
 *     tape         sends a file, with support for conditions but not for
 *                  ranges, or resets the connection after SIZE bytes
 *     othertape    and it is another version each time
 *     tapejam      stalls after SIZE bytes
 *
 * Responses without end are in server-hostile.c (endless-headers and others),
 * as are:
 *
 *     tail         sends half of the body in a chunk, and ends as the rest of
 *                  the path says, without a correct end
 *     rich-chunks  sends chunks with all that is allowed around them
 *     endless-redirects
 *                  redirects to another path each time
 *     record       begins a record of TLS and stalls
 *
 * Faults for the cache. Resources have a version, server_set_version(), as
 * their ETag:
 *
 *     kept         breaks off; responses support If-None-Match as well
 *     mixed        breaks off, and sends the rest of the next version
 *     mixed-date   and has a date instead of an ETag
 *     mixed-weak   and has a weak ETag
 *     mixed-bare   and has neither
 *     mixed-lost   and has no ETag after the first response
 *     replica      breaks off, with the same ETag and another date each time
 *     dated        has a date instead of an ETag
 *     weak         has a weak ETag
 *     bare         has neither
 *     forbidden    forbids caching
 *     nolength     does not declare its size
 *     liar         always responds 304 if allowed
 *     stubborn     never responds 304
 *     hop          redirects to /pinned/VERSION
 *     pinned       has the version COUNT, and always the same ETag */

typedef struct _Server Server;

typedef struct {
  guint requests;
  guint connections;
  guint in_flight;
  guint max_in_flight;
  guint64 bytes;        /* of shards */
  guint unchanged;      /* 304 responses */
  guint64 sent;         /* bytes of versioned resources */
  gboolean gate_missed; /* set if too few requests came in time */
} ServerCounts;

Server *server_new (gboolean tls);
/* Stops stalled responses, closes all connections and joins their threads. */
void server_free (Server *server);

/* Returns the beginning of the URIs: "http://127.0.0.1:PORT". */
const gchar *server_get_base (Server *server);
guint16 server_get_port (Server *server);

/* Delays each response. */
void server_set_latency (Server *server, guint ms);
void server_set_root (Server *server, const gchar *folder);

/* Sets the target of the redirect /to/COUNT/SIZE/@name. */
void server_set_place (Server *server, const gchar *name, const gchar *place);
gchar *server_dup_place (Server *server, const gchar *name);

/* Holds responses of /gate back until @n requests are in flight, or @total have
 * arrived. */
void server_set_gate (Server *server, guint n, guint total);

/* Counts @n sent bytes of a shard. */
void server_count_bytes (Server *server, guint64 n);
void server_set_version (Server *server, guint version);
guint server_get_version (Server *server);
/* Counts a response with @n bytes, or a 304 response. */
void server_count_answer (Server *server, guint64 n, gboolean unchanged);

void server_get_counts (Server *server, ServerCounts *counts);
/* Returns the number of requests for the path. */
guint server_count_path (Server *server, const gchar *path);
/* Returns whether the header of any request contained @text. */
gboolean server_has_seen (Server *server, const gchar *text);
/* Returns: (nullable): the header of the last request for the path */
gchar *server_dup_request (Server *server, const gchar *path);

/* Writes @size bytes that depend on offset and @version. */
void server_make_body (guint8 *data, guint64 offset, gsize size, guint version);

/* Returns the self-signed certificate for 127.0.0.1, as PEM. */
const gchar *server_get_certificate (void);

G_END_DECLS
