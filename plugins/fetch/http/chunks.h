/* gst-spdl: chunks of an HTTP/1.1 body
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Decoder of the chunked transfer coding.
 *
 * libsoup before 3.7.1 takes an invalid chunk size for that of the last chunk,
 * and before 3.6.5 the end of a connection between two chunks for the end of
 * the body: a part would pass for the whole. From 3.6.6 on it reads trailers
 * without end in one call. So the chunks are decoded here, from the stream
 * below libsoup's decoder, and a body without a correct end counts as broken
 * off. */
typedef struct {
  GInputStream *raw; /* nullable: bytes of the connection; NULL: unused */
  guint state;
  guint64 left;      /* in the current chunk */
  guint n_other;     /* bytes of extensions and trailers */
  guint8 framing[8]; /* destination of what is not content */
} SpdlChunks;

/* Prepares for the body in @stream of libsoup. If libsoup's streams are not the
 * expected ones, libsoup decodes the chunks itself. */
void spdl_chunks_begin (SpdlChunks *self, GInputStream *stream);

static inline gboolean
spdl_chunks_is_used (const SpdlChunks *self)
{
  return self->raw != NULL;
}

/* Returns whether the next bytes are content. */
gboolean spdl_chunks_is_in_content (const SpdlChunks *self);

/* Returns the number of bytes to read next, which are all content or none. */
gsize spdl_chunks_get_wanted (const SpdlChunks *self);

typedef enum {
  SPDL_CHUNKS_CONTENT, /* the bytes belong to the content */
  SPDL_CHUNKS_FRAMING, /* they do not */
  SPDL_CHUNKS_END,     /* they end the body */
  SPDL_CHUNKS_INVALID,
} SpdlChunksResult;

/* Takes @n bytes, at most the wanted number. At the end, tells libsoup, which
 * can then use the connection again.
 * @stream: the same as in spdl_chunks_begin() */
SpdlChunksResult spdl_chunks_take (
    SpdlChunks *self, const guint8 *data, gsize n, GInputStream *stream);

G_END_DECLS
