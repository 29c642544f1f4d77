/* gst-spdl: one HTTP fetch, with its retries
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

#include "plugins/fetch/http/http.h"
#include "plugins/fetch/store/objectstore.h"

G_BEGIN_DECLS

/* A request asks until it has what it wants: again after a while where an error
 * may pass, and only for what is missing where a body broke off. It bounds how
 * long nothing may come, how long all may take, and how much may come. It ends
 * once, by calling its function, and frees itself. Everything but its making
 * happens on the session's thread. */

typedef struct _SpdlRequest SpdlRequest;

/* @settings must live as long as the request. */
SpdlRequest *spdl_request_new (const SpdlHttpSettings *settings,
    const gchar *uri, const SpdlRange *range, GCancellable *cancellable,
    SpdlHttpFunc func, gpointer user_data);

/* The same, of all that @uri names, which goes into @body_stream. */
SpdlRequest *spdl_request_new_flow (const SpdlHttpSettings *settings,
    const gchar *uri, GCancellable *cancellable, SpdlBodyStream *body_stream);

/* Before it begins: whether it gets no extra headers in any case. */
void spdl_request_set_foreign (SpdlRequest *self, gboolean foreign);
/* @head: (nullable): before it begins */
void spdl_request_set_head (SpdlRequest *self, SpdlHttpHeadFunc head);
/* Before it begins: @known (nullable) says what is at hand already, which need
 * not come again; @origin (nullable) is told what the answer says of what came.
 * Both must live as long as the request. */
void spdl_request_set_validators (
    SpdlRequest *self, const SpdlValidator *known, SpdlValidator *origin);

/* A link that holds the request, for a queue of those that are to begin. */
GList *spdl_request_get_link (SpdlRequest *self);

/* Takes its place in @active until it ends.
 *
 * @store: of the session's thread; lives as long as the request */
void spdl_request_begin (
    SpdlRequest *self, SoupSession *session, SpdlStore *store, GQueue *active);

/* Lets it go on if its flow, if it has one, has room again, and end if nobody
 * reads that any more. */
void spdl_request_look_at_flow (SpdlRequest *self);

/* Ends the request, soon or at once: its function gets G_IO_ERROR_CANCELLED. */
void spdl_request_cancel (SpdlRequest *self);
/* The same, if the caller's cancellable is cancelled. */
void spdl_request_check_cancelled (SpdlRequest *self);

G_END_DECLS
