/* gst-spdl: a first look at JPEG 2000
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "spdlbytes.h"
#include "spdllook.h"

#define CUT_OFF "it ends before its codestream does"
#define MARKER_SOT 0xff90
#define MARKER_EOC 0xffd9

/* Steps from tile part to tile part, from the first on, to the end. */
static gboolean
tile_parts_are_there (const guint8 *data, gsize size, gsize at)
{
  while (at <= size && size - at >= 2) {
    const guint16 marker = spdl_read_16_be (data + at);
    guint32 length;

    if (marker == MARKER_EOC)
      return TRUE;
    if (marker != MARKER_SOT || size - at < 12)
      return FALSE;
    length = spdl_read_32_be (data + at + 6);
    if (length == 0) /* the last one, up to the end */
      return spdl_read_16_be (data + size - 2) == MARKER_EOC;
    if (length < 14 || length > size - at)
      return FALSE;
    at += length;
  }
  return FALSE;
}

/* Returns where the first tile part begins, or 0. */
static gsize
skip_main_header (const guint8 *data, gsize size)
{
  gsize at = 2;

  while (
      at <= size && size - at >= 4 && spdl_read_16_be (data + at) != MARKER_SOT)
    at += 2 + spdl_read_16_be (data + at + 2);
  return at <= size && size - at >= 4 ? at : 0;
}

void
spdl_look_at_codestream (SpdlLook *self, const guint8 *data, gsize size)
{
  gsize at;

  if (!self->type)
    self->type = "image/x-jpc";
  if (size < 45) {
    self->damage = CUT_OFF;
    return;
  }
  self->width = spdl_read_32_be (data + 8) - spdl_read_32_be (data + 16);
  self->height = spdl_read_32_be (data + 12) - spdl_read_32_be (data + 20);
  switch (spdl_read_16_be (data + 40)) {
    case 1:
      self->sampling = "GRAYSCALE";
      break;
    case 4:
      self->sampling = "RGBA";
      break;
    default:
      self->sampling = "RGB";
      break;
  }
  /* openjpegdec would read beyond a first component that is smaller. */
  if (data[43] != 1 || data[44] != 1) {
    self->damage = "its first component has not the image's size";
    return;
  }
  at = skip_main_header (data, size);
  if (at == 0 || !tile_parts_are_there (data, size, at))
    self->damage = CUT_OFF;
}

/* A box is its length, its name and its content; the image's size stands in
 * the header box and again in the codestream, which is what counts. */
void
spdl_look_at_jp2 (SpdlLook *self, const guint8 *data, gsize size)
{
  gsize at = 0;

  self->type = "image/jp2";
  self->damage = CUT_OFF;
  while (at < size && size - at >= 8) {
    const gsize left = size - at;
    guint64 length = spdl_read_32_be (data + at);
    gsize header = 8;

    if (length == 1 && left >= 16) {
      length = spdl_read_64_be (data + at + 8);
      header = 16;
    } else if (length == 0) {
      length = left; /* up to the end */
    }
    if (length < header)
      return;
    if (memcmp (data + at + 4, "jp2c", 4) == 0) {
      self->damage = NULL;
      spdl_look_at_codestream (
          self, data + at + header, MIN (length, left) - header);
      return;
    }
    if (length > left)
      return;
    at += length;
  }
}
