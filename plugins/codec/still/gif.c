/* gst-spdl: GIF decoder, with giflib
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gif_lib.h>
#include <string.h>

#include "plugins/codec/resize/scratch.h"
#include "plugins/codec/still/imagedecoder.h"

#define N_COLORS 256
#define OPAQUE 0xff

/* First row and row step of each pass of an interlaced image. */
static const guint8 passes[][2] = { { 0, 8 }, { 4, 8 }, { 2, 4 }, { 1, 2 } };

typedef struct {
  /* The current file. Only the first frame of an animation is decoded. */
  const guint8 *data;
  gsize size;
  gsize at;
  GifFileType *gif;
  gint transparent;
  guint8 palette[N_COLORS][4]; /* RGBA */

  guint8 *indices; /* of all pixels of the frame; kept between files */
  gsize indices_size;
  /* First row of the frame that is not decoded, in the order of the file. */
  guint pass;
  guint y;
} Gif;

static int
read_data (GifFileType *gif, GifByteType *to, int n)
{
  Gif *self = gif->UserData;
  const gsize length = MIN ((gsize) MAX (n, 0), self->size - self->at);

  memcpy (to, self->data + self->at, length);
  self->at += length;
  return length;
}

static gboolean
set_broken (const Gif *self, GError **error)
{
  const gchar *why = self->gif ? GifErrorString (self->gif->Error) : NULL;

  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt GIF: %s", why ? why : "the file ends within its first image");
  return FALSE;
}

static gboolean
gif_accepts (const guint8 *data, gsize size)
{
  return size >= 12 &&
         (memcmp (data, "GIF87a", 6) == 0 || memcmp (data, "GIF89a", 6) == 0);
}

static void
close_file (gpointer decoder)
{
  Gif *self = decoder;

  if (self->gif)
    DGifCloseFile (self->gif, NULL);
  self->gif = NULL;
}

static void
gif_destroy (gpointer decoder)
{
  Gif *self = decoder;

  close_file (self);
  g_free (self->indices);
  g_free (self);
}

/* Header */

static gboolean
read_extension (Gif *self)
{
  GraphicsControlBlock control;
  GifByteType *block;
  int code;

  if (DGifGetExtension (self->gif, &code, &block) != GIF_OK)
    return FALSE;
  if (code == GRAPHICS_EXT_FUNC_CODE && block &&
      DGifExtensionToGCB (block[0], block + 1, &control) == GIF_OK)
    self->transparent = control.TransparentColor;
  while (block)
    if (DGifGetExtensionNext (self->gif, &block) != GIF_OK)
      return FALSE;
  return TRUE;
}

/* Reads up to the first image descriptor. */
static gboolean
find_image (Gif *self)
{
  GifRecordType type;

  do {
    if (DGifGetRecordType (self->gif, &type) != GIF_OK ||
        type == TERMINATE_RECORD_TYPE ||
        (type == EXTENSION_RECORD_TYPE && !read_extension (self)))
      return FALSE;
  } while (type != IMAGE_DESC_RECORD_TYPE);
  return DGifGetImageDesc (self->gif) == GIF_OK;
}

/* Sets the palette as RGBA. Without a color table, indices are gray levels, as
 * in Pillow. */
static void
set_palette (Gif *self)
{
  const ColorMapObject *map = self->gif->Image.ColorMap
                                  ? self->gif->Image.ColorMap
                                  : self->gif->SColorMap;

  for (gint i = 0; i < N_COLORS; i++) {
    guint8 *color = self->palette[i];

    memset (color, map ? 0 : i, 3);
    if (map && i < map->ColorCount) {
      color[0] = map->Colors[i].Red;
      color[1] = map->Colors[i].Green;
      color[2] = map->Colors[i].Blue;
    }
    color[3] = i == self->transparent ? 0 : OPAQUE;
  }
}

static gboolean
read_header (gpointer decoder, const guint8 *data, gsize size,
    guint64 max_pixels, SpdlImageHeader *header, GError **error)
{
  Gif *self = decoder;
  const GifImageDesc *image;

  self->data = data;
  self->size = size;
  self->at = 0;
  self->transparent = NO_TRANSPARENT_COLOR;
  self->gif = DGifOpen (self, read_data, NULL);
  if (!self->gif || !find_image (self))
    return set_broken (self, error);
  set_palette (self);
  image = &self->gif->Image;
  /* The canvas is enlarged to the size of the frame, as in browsers. */
  header->width = MAX (self->gif->SWidth, image->Left + image->Width);
  header->height = MAX (self->gif->SHeight, image->Top + image->Height);
  header->orientation = 1;
  header->depth = 8;
  header->channels = 1;
  header->has_palette = FALSE;
  for (guint i = 0; i < N_COLORS; i++) {
    const guint8 gray[] = { i, i, i };

    header->has_palette |= memcmp (self->palette[i], gray, sizeof gray) != 0;
  }
  return TRUE;
}

/* Rows */

/* Writes row @y of the canvas.
 * @indices: (nullable): row of the frame at this place; NULL: none */
static void
put_row (const Gif *self, const SpdlRows *rows, guint y, const guint8 *indices)
{
  const GifImageDesc *image = &self->gif->Image;
  guint8 *to = rows->get_row (rows->user_data, y);
  const guint width = indices ? image->Width : 0;
  guint8 pixels[64][4];

  if (width < rows->width)
    spdl_rows_fill_row (rows, to);
  to += image->Left * (gsize) rows->pixel_size;
  if (rows->pixels == SPDL_PIXELS_INDEX && indices)
    memcpy (to, indices, width);
  for (guint x = rows->pixels == SPDL_PIXELS_COLOR ? 0 : width; x < width;
       x += G_N_ELEMENTS (pixels)) {
    const guint n = MIN (width - x, G_N_ELEMENTS (pixels));

    for (guint i = 0; i < n; i++)
      memcpy (pixels[i], self->palette[indices[x + i]], 4);
    spdl_rows_put_rgba (rows, to + x * (gsize) rows->pixel_size, pixels[0], n,
        self->transparent < 0 ? SPDL_ALPHA_NONE : SPDL_ALPHA_STRAIGHT);
  }
  rows->rows_done (rows->user_data, y + 1);
}

/* Decodes the frame. */
static gboolean
read_frame (Gif *self)
{
  const guint width = self->gif->Image.Width, height = self->gif->Image.Height;
  const gboolean interlaced = self->gif->Image.Interlace;
  const guint n_passes = interlaced ? G_N_ELEMENTS (passes) : 1;

  for (self->pass = 0; self->pass < n_passes; self->pass++) {
    const guint step = interlaced ? passes[self->pass][1] : 1;

    self->y = interlaced ? passes[self->pass][0] : 0;
    for (; self->y < height; self->y += step)
      if (DGifGetLine (self->gif, self->indices + self->y * (gsize) width,
              width) != GIF_OK)
        return FALSE;
  }
  return TRUE;
}

/* Returns row @y of the frame; NULL if it is not decoded or outside. */
static const guint8 *
find_row (const Gif *self, guint y)
{
  const GifImageDesc *image = &self->gif->Image;
  guint pass = 0;

  if (y >= (guint) image->Height)
    return NULL;
  while (image->Interlace && (y - passes[pass][0]) % passes[pass][1] != 0)
    pass++;
  return pass < self->pass || (pass == self->pass && y < self->y)
             ? self->indices + y * (gsize) image->Width
             : NULL;
}

static gboolean
read_rows (
    gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error)
{
  Gif *self = decoder;
  const GifImageDesc *image = &self->gif->Image;
  const gsize size = image->Width * (gsize) image->Height;
  gboolean ok;

  if (!spdl_scratch_grow (
          (gpointer *) &self->indices, &self->indices_size, size, 1)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory to decode a GIF");
    return FALSE;
  }
  self->pass = self->y = 0;
  ok = size == 0 || read_frame (self);
  for (guint y = 0; (ok || keep) && y < rows->height; y++)
    put_row (self, rows, y, find_row (self, y - image->Top));
  return ok || set_broken (self, error);
}

const SpdlImageDecoder spdl_gif_decoder = { "image/gif", gif_accepts,
  sizeof (Gif), gif_destroy, read_header, read_rows, close_file };
