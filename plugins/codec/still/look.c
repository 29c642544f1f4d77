/* gst-spdl: a first look at the bytes of a still image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/still/look.h"

#include <string.h>

#include "plugins/common/bytes.h"

/* OpenEXR: attributes, each a name, a type, a size and a value. */

/* Returns the text at *@at, which is moved behind its end, or NULL. */
static const gchar *
read_exr_text (const guint8 *data, gsize size, gsize *at)
{
  const gchar *text = (const gchar *) data + *at;
  const gsize length = strnlen (text, size - *at);

  if (length == size - *at)
    return NULL;
  *at += length + 1;
  return text;
}

/* The larger of the data window and the display window. */
static void
note_exr_window (SpdlLook *self, const guint8 *box)
{
  const gint64 left = (gint32) spdl_read_32_le (box);
  const gint64 top = (gint32) spdl_read_32_le (box + 4);
  const gint64 width = (gint32) spdl_read_32_le (box + 8) - left + 1;
  const gint64 height = (gint32) spdl_read_32_le (box + 12) - top + 1;

  self->width = MAX (self->width, CLAMP (width, 0, G_MAXUINT32));
  self->height = MAX (self->height, CLAMP (height, 0, G_MAXUINT32));
}

static void
look_at_exr (SpdlLook *self, const guint8 *data, gsize size)
{
  const gchar *name, *type;
  gsize at = 8;

  self->type = "image/x-exr";
  while ((name = read_exr_text (data, size, &at)) && *name) {
    guint32 length;

    if (!(type = read_exr_text (data, size, &at)) || size - at < 4)
      break;
    length = spdl_read_32_le (data + at);
    at += 4;
    if (length > size - at)
      break;
    if (g_str_equal (type, "box2i") && length == 16)
      note_exr_window (self, data + at);
    at += length;
  }
  if (!name || *name || self->width == 0 || self->height == 0)
    self->damage = "its header is not complete";
}

/* Formats whose decoder takes memory first. */

static void
look_at_sun (SpdlLook *self, const guint8 *data)
{
  self->type = "image/x-sun-raster";
  self->width = spdl_read_32_be (data + 4);
  self->height = spdl_read_32_be (data + 8);
}

void
spdl_look_for_size (SpdlLook *self, const guint8 *data, gsize size)
{
  if (size < 18)
    return;
  if (g_str_equal (self->type, "image/x-tga")) {
    self->width = spdl_read_16_le (data + 12);
    self->height = spdl_read_16_le (data + 14);
  } else if (g_str_equal (self->type, "image/x-sgi")) {
    self->width = spdl_read_16_be (data + 6);
    self->height = spdl_read_16_be (data + 8);
  } else if (g_str_equal (self->type, "image/x-pcx")) {
    self->width = spdl_read_16_le (data + 8) - spdl_read_16_le (data + 4) + 1;
    self->height = spdl_read_16_le (data + 10) - spdl_read_16_le (data + 6) + 1;
  }
}

void
spdl_look (SpdlLook *self, const guint8 *data, gsize size)
{
  memset (self, 0, sizeof *self);
  self->orientation = 1;
  if (size >= 3 && data[0] == 'P' && data[1] >= '1' && data[1] <= '7')
    spdl_look_at_pnm (self, data, size);
  if (self->type || size < 12)
    return;
  if (memcmp (data, "\x59\xa6\x6a\x95", 4) == 0)
    look_at_sun (self, data);
  else if (memcmp (data, "BM", 2) == 0)
    spdl_look_at_bmp (self, data, size);
  else if (memcmp (data, "\x76\x2f\x31\x01", 4) == 0)
    look_at_exr (self, data, size);
}
