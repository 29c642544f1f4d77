/* gst-spdl: chunks of an HTTP/1.1 body
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/chunks.h"

#include <string.h>

/* Maximum number of bytes of the size and extensions of one chunk, and of all
 * trailers. */
#define MAX_OTHER (16 * 1024)

typedef enum {
  SIZE,      /* at the first digit of a size */
  DIGITS,    /* behind a digit */
  EXTENSION, /* behind the size */
  SIZE_LF,
  CONTENT,
  CONTENT_CR, /* behind the content */
  CONTENT_LF,
  TRAILER, /* at the beginning of a line */
  TRAILER_TEXT,
  TRAILER_LF,
  END_LF,
  END,
  INVALID,
} State;

/* Returns the stream below libsoup's decoder, which buffers what was read
 * together with the header. The types are private in libsoup; their names and
 * order are the same from 3.0 to 3.8. */
static GInputStream *
find_raw (GInputStream *stream)
{
  gboolean below = FALSE;

  if (g_signal_lookup ("eof", G_OBJECT_TYPE (stream)) == 0)
    return NULL;
  while (G_IS_FILTER_INPUT_STREAM (stream)) {
    const gchar *name = G_OBJECT_TYPE_NAME (stream);

    if (below && g_str_equal (name, "SoupFilterInputStream"))
      return G_IS_POLLABLE_INPUT_STREAM (stream) ? stream : NULL;
    below = g_str_equal (name, "SoupBodyInputStream");
    stream =
        g_filter_input_stream_get_base_stream (G_FILTER_INPUT_STREAM (stream));
  }
  return NULL;
}

void
spdl_chunks_begin (SpdlChunks *self, GInputStream *stream)
{
  *self = (SpdlChunks){ .raw = find_raw (stream), .state = SIZE };
}

gboolean
spdl_chunks_is_in_content (const SpdlChunks *self)
{
  return self->state == CONTENT;
}

/* The number of bytes outside of the content is the fewest that can follow:
 * another read never takes content, and there are few reads. */
gsize
spdl_chunks_get_wanted (const SpdlChunks *self)
{
  switch (self->state) {
    case CONTENT:
      return MIN (self->left, G_MAXSSIZE);
    case CONTENT_CR:
      return strlen ("\r\n0\r\n");
    case CONTENT_LF:
      return strlen ("\n0\r\n");
    case SIZE:
      return strlen ("0\r\n");
    case DIGITS:
    case EXTENSION:
    case TRAILER:
      return strlen ("\r\n");
    case TRAILER_TEXT:
      return strlen ("\r\n\r\n");
    case TRAILER_LF:
      return strlen ("\n\r\n");
    default:
      return 1;
  }
}

static State
take_digit (SpdlChunks *self, gchar c)
{
  if (self->left > G_MAXINT64 >> 4 || ++self->n_other > MAX_OTHER)
    return INVALID;
  self->left = self->left << 4 | g_ascii_xdigit_value (c);
  return DIGITS;
}

/* Counts a byte that has no meaning here. */
static State
ignore (SpdlChunks *self, State state)
{
  return ++self->n_other <= MAX_OTHER ? state : INVALID;
}

static State
end_size (SpdlChunks *self)
{
  self->n_other = 0;
  return self->left > 0 ? CONTENT : TRAILER;
}

static State
take_byte (SpdlChunks *self, gchar c)
{
  switch (self->state) {
    case SIZE:
      self->left = 0;
      return g_ascii_isxdigit (c) ? take_digit (self, c) : INVALID;
    case DIGITS:
      if (g_ascii_isxdigit (c))
        return take_digit (self, c);
      /* Some servers pad sizes with spaces. */
      return c == '\r'                           ? SIZE_LF
             : c == ';' || c == ' ' || c == '\t' ? EXTENSION
                                                 : INVALID;
    case EXTENSION:
      return c == '\r' ? SIZE_LF : ignore (self, EXTENSION);
    case SIZE_LF:
      return c == '\n' ? end_size (self) : INVALID;
    case CONTENT_CR:
      return c == '\r' ? CONTENT_LF : INVALID;
    case CONTENT_LF:
      return c == '\n' ? SIZE : INVALID;
    case TRAILER:
      return c == '\r' ? END_LF : ignore (self, TRAILER_TEXT);
    case TRAILER_TEXT:
      return c == '\r' ? TRAILER_LF : ignore (self, TRAILER_TEXT);
    case TRAILER_LF:
      return c == '\n' ? TRAILER : INVALID;
    case END_LF:
      return c == '\n' ? END : INVALID;
    default:
      return INVALID;
  }
}

SpdlChunksResult
spdl_chunks_take (
    SpdlChunks *self, const guint8 *data, gsize n, GInputStream *stream)
{
  if (self->state == CONTENT) {
    self->left -= n;
    if (self->left == 0)
      self->state = CONTENT_CR;
    return SPDL_CHUNKS_CONTENT;
  }
  for (gsize i = 0; i < n; i++)
    self->state = take_byte (self, data[i]);
  if (self->state == INVALID)
    return SPDL_CHUNKS_INVALID;
  if (self->state != END)
    return SPDL_CHUNKS_FRAMING;
  /* libsoup's own reads emit this signal at the end of the body. */
  g_signal_emit_by_name (stream, "eof");
  return SPDL_CHUNKS_END;
}
