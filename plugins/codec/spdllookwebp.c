/* gst-spdl: a first look at WebP
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "spdlbytes.h"
#include "spdlexif.h"
#include "spdllook.h"

/* A RIFF file: a chunk is its name, the size of its content, and the content,
 * padded to an even number of bytes. The content of an animation's frame is
 * again chunks. */

#define RIFF_HEADER 12
#define CHUNK_HEADER 8
#define FRAME_HEADER 16 /* of an ANMF chunk's content */

typedef struct {
  const guint8 *name;
  const guint8 *content;
  gsize size;
} Chunk;

/* Takes the chunk at @at, which it moves on; FALSE if it is not all there. */
static gboolean
next_chunk (const guint8 *data, gsize size, gsize *at, Chunk *chunk)
{
  if (*at > size || size - *at < CHUNK_HEADER)
    return FALSE;
  chunk->name = data + *at;
  chunk->size = spdl_read_32_le (data + *at + 4);
  chunk->content = data + *at + CHUNK_HEADER;
  if (chunk->size > size - *at - CHUNK_HEADER)
    return FALSE;
  *at += CHUNK_HEADER + chunk->size + (chunk->size & 1);
  return TRUE;
}

static gboolean
is (const Chunk *chunk, const gchar *name)
{
  return memcmp (chunk->name, name, 4) == 0;
}

static gboolean
is_bitstream (const Chunk *chunk)
{
  return is (chunk, "VP8 ") || is (chunk, "VP8L");
}

/* The size is within the first ten bytes of a bitstream: also where the rest
 * of it is missing. */
static void
read_size (SpdlLook *self, const guint8 *name, const guint8 *content)
{
  if (name[3] == 'L') {
    const guint32 bits = spdl_read_32_le (content + 1);

    self->width = (bits & 0x3fff) + 1;
    self->height = (bits >> 14 & 0x3fff) + 1;
  } else {
    self->width = spdl_read_16_le (content + 6) & 0x3fff;
    self->height = spdl_read_16_le (content + 8) & 0x3fff;
  }
}

static void
read_canvas (SpdlLook *self, const guint8 *content)
{
  self->width = spdl_read_24_le (content + 4) + 1;
  self->height = spdl_read_24_le (content + 7) + 1;
}

/* The header of the first chunk, which need not be complete. */
static void
look_at_first (SpdlLook *self, const guint8 *data, gsize size)
{
  const guint8 *name = data + RIFF_HEADER;

  if (size < RIFF_HEADER + CHUNK_HEADER + 10)
    return;
  if (memcmp (name, "VP8X", 4) == 0)
    read_canvas (self, name + CHUNK_HEADER);
  else if (memcmp (name, "VP8 ", 4) == 0 || memcmp (name, "VP8L", 4) == 0)
    read_size (self, name, name + CHUNK_HEADER);
}

/* Returns whether the frame has its bitstream, whole. */
static gboolean
note_frame (SpdlLook *self, const guint8 *data, const Chunk *frame)
{
  gsize at = FRAME_HEADER;
  Chunk chunk;

  if (frame->size < FRAME_HEADER)
    return FALSE;
  self->frame_at = frame->content - data + FRAME_HEADER;
  self->frame_size = frame->size - FRAME_HEADER;
  self->frame_x = spdl_read_24_le (frame->content) * 2;
  self->frame_y = spdl_read_24_le (frame->content + 3) * 2;
  self->frame_width = spdl_read_24_le (frame->content + 6) + 1;
  self->frame_height = spdl_read_24_le (frame->content + 9) + 1;
  while (next_chunk (frame->content, frame->size, &at, &chunk))
    if (is_bitstream (&chunk))
      return TRUE;
  return FALSE;
}

void
spdl_look_at_webp (SpdlLook *self, const guint8 *data, gsize size)
{
  const gsize end = (gsize) spdl_read_32_le (data + 4) + CHUNK_HEADER;
  gsize at = RIFF_HEADER;
  gboolean has_image = FALSE;
  Chunk chunk;

  self->type = "image/webp";
  look_at_first (self, data, size);
  while (next_chunk (data, MIN (size, end), &at, &chunk)) {
    if (is_bitstream (&chunk) && chunk.size >= 10)
      has_image = TRUE;
    else if (is (&chunk, "ANMF") && !has_image)
      has_image = note_frame (self, data, &chunk);
    else if (is (&chunk, "EXIF"))
      self->orientation = spdl_exif_get_orientation (chunk.content, chunk.size);
  }
  if (!has_image)
    self->damage = "it ends before its image does";
}
