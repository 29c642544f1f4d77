/* gst-spdl: bodies of HTTP responses that are read while they arrive
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Ring buffer between a thread of the client, which writes, and a reader on
 * another one. The reader blocks until there is data. The writer never
 * blocks: if the ring is full, it stops and is woken when there is free
 * space. */

typedef struct _SpdlBodyStream SpdlBodyStream;

typedef void (*SpdlBodyStreamWakeFunc) (gpointer user_data);

SpdlBodyStream *spdl_body_stream_new (gsize capacity);

/* Call it after the stream has ended, or if no request was started. */
void spdl_body_stream_free (SpdlBodyStream *self);

/* Prepares the stream. Call it before the request starts.
 * @wake: called on the reader's thread when there is free space again, or the
 * stream is closed */
void spdl_body_stream_begin (
    SpdlBodyStream *self, SpdlBodyStreamWakeFunc wake, gpointer user_data);

/* Writer */

/* Returns the address of *@capacity contiguous free bytes, or NULL if the ring
 * is full. */
guint8 *spdl_body_stream_reserve (SpdlBodyStream *self, gsize *capacity);

/* Commits @n bytes at the reserved address. */
void spdl_body_stream_add (SpdlBodyStream *self, gsize n);

/* @error: (transfer full) (nullable): reason if the body is incomplete */
void spdl_body_stream_end (SpdlBodyStream *self, GError *error);

gboolean spdl_body_stream_is_closed (SpdlBodyStream *self);

/* Reader */

/* Waits for data, which is valid until the next call. *@size is 0 at the end.
 * Returns FALSE with @error set if the body is incomplete. */
gboolean spdl_body_stream_read (
    SpdlBodyStream *self, const guint8 **data, gsize *size, GError **error);

/* Stops the transfer and waits until it has ended. */
void spdl_body_stream_close (SpdlBodyStream *self);

G_END_DECLS
