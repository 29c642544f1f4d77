/* gst-spdl: HTTP client
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <glib.h>
#include <gst/gst.h>
#include <libsoup/soup.h>

#include "plugins/fetch/http/validator.h"
#include "plugins/fetch/range/range.h"
#include "plugins/fetch/store/objectstore.h"

G_BEGIN_DECLS

/* A ring of bytes between the client's thread, which writes, and one that
 * reads. Who reads waits; who writes never does: where there is no room it is
 * told so, and woken when there is some again. */

typedef struct _SpdlBodyStream SpdlBodyStream;

typedef void (*SpdlBodyStreamWakeFunc) (gpointer user_data);

SpdlBodyStream *spdl_body_stream_new (gsize capacity);

/* Once it has ended, or nothing was begun that writes. */
void spdl_body_stream_free (SpdlBodyStream *self);

/* Who writes */

/* *@capacity bytes in a row; NULL: there are none. */
guint8 *spdl_body_stream_reserve (SpdlBodyStream *self, gsize *capacity);

/* @n bytes were written there. */
void spdl_body_stream_add (SpdlBodyStream *self, gsize n);

/* @error: (transfer full) (nullable): why no more will come */
void spdl_body_stream_end (SpdlBodyStream *self, GError *error);

gboolean spdl_body_stream_is_closed (SpdlBodyStream *self);

/* Who reads */

/* Waits for bytes, which are valid until the next call. *@size is 0 at the end.
 * Returns FALSE with @error set where that came too early. */
gboolean spdl_body_stream_read (
    SpdlBodyStream *self, const guint8 **data, gsize *size, GError **error);

/* Nothing more is wanted. Waits until nothing more comes. */
void spdl_body_stream_close (SpdlBodyStream *self);

/* A client is one thread with a libsoup session, whose connections are kept
 * alive. Any number of fetches go on there at the same time; who asks for them
 * sees to how many. */

typedef struct _SpdlHttp SpdlHttp;

typedef struct {
  guint timeout;               /* s in which no byte came; 0: none */
  guint retries;               /* requests beyond the first, for one fetch */
  guint64 task_timeout;        /* ns for a whole fetch; 0: none */
  guint64 max_size;            /* of one fetch, in bytes; 0: none */
  gchar *user_agent;           /* nullable */
  gchar *tls_ca_file;          /* nullable: the system's authorities */
  GstStructure *extra_headers; /* nullable */
  gchar *trusted_origins;      /* nullable */
  SpdlStoreSettings store;
} SpdlHttpSettings;

/* Adds the extra headers: a field of the structure each, of which a list or an
 * array gives several. */
void spdl_http_settings_put (
    const SpdlHttpSettings *self, SoupMessageHeaders *headers);

/* The extra headers that may make an answer another one, a line each. */
gchar *spdl_http_settings_list (const SpdlHttpSettings *self);

/* Is told of the end of a fetch, on the client's thread.
 * @content: (transfer full) (nullable)
 * @error: (transfer full): set where @content is NULL, in the domain of
 *     GST_RESOURCE_ERROR or, when cancelled, of G_IO_ERROR. Neither is set
 *     where the resource is what is known already */
typedef void (*SpdlHttpFunc) (
    gpointer user_data, GstBuffer *content, GError *error);

/* Is told of each good answer that a fetch gets, before its body, on the
 * client's thread. */
typedef void (*SpdlHttpHeadFunc) (gpointer user_data, SoupMessage *message);

/* Returns NULL with @error set if the settings cannot be met. */
SpdlHttp *spdl_http_new (const SpdlHttpSettings *settings, GError **error);

/* All fetches must have ended. */
void spdl_http_free (SpdlHttp *self);

/* Fetches @range of what @uri names. From any thread.
 * @foreign: whether the request gets no extra headers, because another server
 *     named @uri
 * @cancellable: the same one for all fetches of a client */
void spdl_http_fetch (SpdlHttp *self, const gchar *uri, const SpdlRange *range,
    gboolean foreign, GCancellable *cancellable, SpdlHttpFunc func,
    gpointer user_data);

/* The same, with the extra headers.
 * @head: (nullable): called before @func, with the same data */
void spdl_http_fetch_with_head (SpdlHttp *self, const gchar *uri,
    const SpdlRange *range, GCancellable *cancellable, SpdlHttpHeadFunc head,
    SpdlHttpFunc func, gpointer user_data);
/* The same, where a version is at hand that @known (nullable) tells of: if the
 * server has that one still, no content comes. What the server says of what
 * came is in @origin (nullable) before @func is called. Both must live until
 * then. */
void spdl_http_fetch_changed (SpdlHttp *self, const gchar *uri,
    const SpdlRange *range, gboolean foreign, GCancellable *cancellable,
    const SpdlValidator *known, SpdlValidator *origin, SpdlHttpFunc func,
    gpointer user_data);

/* Fetches what @uri names as it is read from @body_stream, which it ends; that
 * must live until then. A body that breaks off is gone on with where it did: by
 * a byte range or, where the server knows none and says that it has the same
 * still, by reading over what came before. */
void spdl_http_fetch_flow (SpdlHttp *self, const gchar *uri,
    GCancellable *cancellable, SpdlBodyStream *body_stream);

/* The CPU time of the client's thread, in ns. From any thread. */
guint64 spdl_http_get_cpu_time (SpdlHttp *self);

G_END_DECLS
