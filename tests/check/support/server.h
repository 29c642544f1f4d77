/* gst-spdl: a hostile HTTP server for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A server on a port of 127.0.0.1, with a thread for each connection. What it
 * does to a client is in the path:
 *
 *     /FAULT/COUNT/SIZE[/anything]
 *
 * which misbehaves for the first COUNT requests of that very path, and then
 * sends SIZE bytes, those of server_make_body(). Good answers understand
 * Range and If-Range. The faults:
 *
 *     bytes        none
 *     gate         waits until the gate opens, see server_set_gate()
 *     reset        resets the connection instead of an answer
 *     break        resets it in the middle of the body
 *     short        ends the body in the middle, as if it were whole
 *     changed      breaks off, and has another body (and ETag) each time
 *     norange      breaks off, and knows no ranges
 *     huge         announces a terabyte and closes after SIZE bytes
 *     long         sends more than it announced, on a connection kept alive
 *     chunks       sends chunks, and breaks them off
 *     stall-head   never answers
 *     stall-body   never goes on in the middle of the body
 *     drip         sends a byte every 50 ms
 *     garbage      sends what is no HTTP
 *     endless      sends headers without end
 *     silent       closes after each answer without saying so
 *     close        says that it closes after each answer
 *     otherrange   answers with another range than was asked for
 *     encoded      says that the body is compressed
 *     loop         redirects to itself
 *     moved        redirects to /bytes
 *     to           redirects to what server_set_place() says of the rest of the
 *                  path
 *     auth         answers 401 to who sends no Authorization
 *     STATUS       a number: answers with that status
 *     STATUS+N     and with `Retry-After: N`
 *     file         sends a file from server_set_root(), whose name is the rest
 *                  of the path; or resets the connection in the middle of it
 *     shortfile    ends it in the middle
 *     shard        sends a file likewise, of which it knows ranges and whether
 *                  it is still the same; or answers 503 to ranges of more than
 *                  SIZE bytes
 *     tape         sends a file likewise, of which it knows no ranges, but
 *                  whether it is still the same; or resets the connection
 *                  behind SIZE bytes
 *     othertape    and it is another one each time
 *     tapejam      sends no more behind SIZE bytes
 *
 * What a cache meets has a version, server_set_version(), as its ETag:
 *
 *     kept         breaks off; good answers understand If-None-Match, too
 *     mixed        breaks off, and sends the rest of the next version
 *     dated        has a date instead
 *     weak         has a weak ETag
 *     bare         has neither
 *     forbidden    is not to be stored
 *     nolength     does not tell its size
 *     liar         always answers 304 where it may
 *     stubborn     never does
 *     hop          redirects to /pinned/VERSION
 *     pinned       is of the version COUNT, with always the same ETag */

typedef struct _Server Server;

typedef struct {
  guint requests;
  guint connections;
  guint in_flight;
  guint max_in_flight;
  guint64 bytes;        /* of shards */
  guint unchanged;      /* answers 304 */
  guint64 sent;         /* bytes of what has a version */
  gboolean gate_missed; /* too few came while the gate waited */
} ServerCounts;

Server *server_new (gboolean tls);
/* Ends what stalls, closes all connections and waits for their threads. */
void server_free (Server *server);

/* What URIs begin with: "http://127.0.0.1:PORT". */
const gchar *server_get_base (Server *server);
guint16 server_get_port (Server *server);

/* Each answer waits so long. */
void server_set_latency (Server *server, guint ms);
void server_set_root (Server *server, const gchar *folder);

/* Where /to/COUNT/SIZE/@name redirects to. */
void server_set_place (Server *server, const gchar *name, const gchar *place);
gchar *server_dup_place (Server *server, const gchar *name);

/* An answer below /gate leaves only while @n requests are in flight, or when
 * @total have come. */
void server_set_gate (Server *server, guint n, guint total);

/* @n bytes of a shard were sent. */
void server_count_bytes (Server *server, guint64 n);
void server_set_version (Server *server, guint version);
guint server_get_version (Server *server);
/* An answer was sent, of @n bytes, or 304. */
void server_count_answer (Server *server, guint64 n, gboolean unchanged);

void server_get_counts (Server *server, ServerCounts *counts);
/* How often that path was asked for. */
guint server_count_path (Server *server, const gchar *path);
/* Whether any request had @text in its header. */
gboolean server_has_seen (Server *server, const gchar *text);
/* The last request's header, as it came; nullable. */
gchar *server_dup_request (Server *server, const gchar *path);

/* @size bytes that depend on their place and @version. */
void server_make_body (guint8 *data, guint64 offset, gsize size, guint version);

/* The certificate, in PEM: of no authority, for 127.0.0.1. */
const gchar *server_get_certificate (void);

G_END_DECLS
