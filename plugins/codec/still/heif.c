/* gst-spdl: HEIC decoder, with libheif
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <libheif/heif.h>
#include <string.h>

#include "plugins/codec/common/containers.h"
#include "plugins/codec/common/exif.h"
#include "plugins/codec/still/stillplugins.h"

typedef struct {
  /* The current file. */
  struct heif_context *context;
  struct heif_image_handle *handle;
  struct heif_image *image;
  gboolean is_turned; /* by libheif */
} Heif;

static void
close_file (gpointer decoder)
{
  Heif *self = decoder;

  g_clear_pointer (&self->image, heif_image_release);
  g_clear_pointer (&self->handle, heif_image_handle_release);
  g_clear_pointer (&self->context, heif_context_free);
}

static void
heif_destroy (gpointer decoder)
{
  close_file (decoder);
  g_free (decoder);
}

static gboolean
set_broken (const gchar *why, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt HEIC: %s", why);
  return FALSE;
}

/* Returns whether there is no error. */
static gboolean
check_error (struct heif_error result, GError **error)
{
  switch (result.code) {
    case heif_error_Ok:
      return TRUE;
    case heif_error_Memory_allocation_error:
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
          "Not enough memory to decode a HEIC: %s", result.message);
      return FALSE;
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature:
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_NOT_IMPLEMENTED,
          "HEIC is not supported: %s", result.message);
      return FALSE;
    default:
      return set_broken (result.message, error);
  }
}

/* Properties of the image that is displayed. libheif 1.15 does not tell them,
 * and with some orders of them it does not tell the size either. */

/* Returns whether box @at of @ipco, counted from 1, is a turn or a mirroring,
 * or none that changes the geometry. */
static gboolean
read_property (SpdlMp4Box ipco, guint at, guint *angle, gint *axis)
{
  SpdlMp4Box box = { NULL };
  gchar type[4] = "";

  while (at-- > 0 && spdl_mp4_box_next (&ipco, &box, type))
    ;
  if (memcmp (type, "irot", 4) == 0 && box.size > 0 && *axis < 0)
    *angle += box.data[0] & 3;
  else if (memcmp (type, "imir", 4) == 0 && box.size > 0 && *axis < 0)
    *axis = box.data[0] & 1;
  else
    return memcmp (type, "irot", 4) != 0 && memcmp (type, "imir", 4) != 0 &&
           memcmp (type, "clap", 4) != 0;
  return TRUE;
}

/* Takes a number of @n_bytes off @box, which has 0 behind its end. */
static guint32
take_number (SpdlMp4Box *box, guint n_bytes)
{
  guint32 number = 0;

  for (; n_bytes > 0 && box->size > 0; n_bytes--, box->data++, box->size--)
    number = number << 8 | box->data[0];
  return number;
}

/* Returns whether the properties in @ipma of the item @id are none that only
 * libheif can follow. */
static gboolean
read_properties (
    SpdlMp4Box ipma, SpdlMp4Box ipco, guint32 id, guint *angle, gint *axis)
{
  const guint32 flags = take_number (&ipma, 4);
  const guint n_id = flags >> 24 ? 4 : 2, n_index = flags & 1 ? 2 : 1;
  guint32 n = take_number (&ipma, 4);
  gboolean is_simple = TRUE;

  for (; n > 0 && ipma.size > 0; n--) {
    const gboolean is_wanted = take_number (&ipma, n_id) == id;

    for (guint i = take_number (&ipma, 1); i > 0 && ipma.size > 0; i--) {
      /* The first bit says whether readers must know it. */
      const guint at =
          take_number (&ipma, n_index) & (n_index == 2 ? 0x7fff : 0x7f);

      if (is_wanted && !read_property (ipco, at, angle, axis))
        is_simple = FALSE;
    }
  }
  return is_simple;
}

/* Returns the orientation, or 0 if libheif is to turn and to crop. */
static guint
find_orientation (Heif *self, const guint8 *data, gsize size)
{
  SpdlMp4Box meta = { data, size }, iprp, ipco, ipma;
  heif_item_id id;
  guint angle = 0;
  gint axis = -1;

  if (heif_context_get_primary_image_ID (self->context, &id).code !=
          heif_error_Ok ||
      !spdl_mp4_box_find (&meta, "meta", &meta) || meta.size < 4)
    return 0;
  take_number (&meta, 4); /* version and flags */
  if (!spdl_mp4_box_find (&meta, "iprp", &iprp) ||
      !spdl_mp4_box_find (&iprp, "ipco", &ipco) ||
      !spdl_mp4_box_find (&iprp, "ipma", &ipma) ||
      !read_properties (ipma, ipco, id, &angle, &axis))
    return 0;
  return spdl_exif_find_turn (angle, axis);
}

static gboolean
read_header (gpointer decoder, const guint8 *data, gsize size,
    guint64 max_pixels, SpdlImageHeader *header, GError **error)
{
  Heif *self = decoder;
  guint64 width, height;

  self->context = heif_context_alloc ();
  /* Tiles are decoded in the calling thread. */
  heif_context_set_max_decoding_threads (self->context, 0);
  if (!check_error (heif_context_read_from_memory_without_copy (
                        self->context, data, size, NULL),
          error) ||
      !check_error (
          heif_context_get_primary_image_handle (self->context, &self->handle),
          error))
    return FALSE;
  width = heif_image_handle_get_ispe_width (self->handle);
  height = heif_image_handle_get_ispe_height (self->handle);
  header->orientation = find_orientation (self, data, size);
  self->is_turned = header->orientation == 0;
  if (self->is_turned)
    header->orientation = 1;
  /* The caller rejects an image with more pixels, also if it is cropped. */
  if (self->is_turned && width * height <= max_pixels) {
    width = heif_image_handle_get_width (self->handle);
    height = heif_image_handle_get_height (self->handle);
  }
  header->width = width;
  header->height = height;
  header->depth = heif_image_handle_get_luma_bits_per_pixel (self->handle);
  header->channels = 3; /* whether it is gray is not known yet */
  header->has_palette = FALSE;
  return TRUE;
}

static gboolean
decode_image (Heif *self, enum heif_chroma chroma, GError **error)
{
  struct heif_decoding_options *options = heif_decoding_options_alloc ();
  struct heif_error warning, result;

  options->ignore_transformations = !self->is_turned;
  options->convert_hdr_to_8bit = TRUE;
  options->strict_decoding = TRUE;
  result = heif_decode_image (
      self->handle, &self->image, heif_colorspace_RGB, chroma, options);
  heif_decoding_options_free (options);
  if (!check_error (result, error))
    return FALSE;
  if (heif_image_get_decoding_warnings (self->image, 0, &warning, 1) > 0)
    return set_broken (warning.message, error);
  return TRUE;
}

static gboolean
put_rows (const Heif *self, const SpdlRows *rows, guint n_channels)
{
  int stride;
  const guint8 *pixels = heif_image_get_plane_readonly (
      self->image, heif_channel_interleaved, &stride);
  SpdlAlpha alpha = SPDL_ALPHA_NONE;

  if (!pixels ||
      heif_image_get_width (self->image, heif_channel_interleaved) !=
          (int) rows->width ||
      heif_image_get_height (self->image, heif_channel_interleaved) !=
          (int) rows->height)
    return FALSE;
  if (heif_image_handle_has_alpha_channel (self->handle))
    alpha = heif_image_handle_is_premultiplied_alpha (self->handle)
                ? SPDL_ALPHA_PREMULTIPLIED
                : SPDL_ALPHA_STRAIGHT;
  spdl_rows_put_image (rows, pixels, stride, n_channels, alpha);
  return TRUE;
}

static gboolean
read_rows (
    gpointer decoder, const SpdlRows *rows, gboolean keep, GError **error)
{
  Heif *self = decoder;
  const guint n_channels = spdl_rows_count_channels (
      rows, heif_image_handle_has_alpha_channel (self->handle));

  if (!decode_image (self,
          n_channels == 4 ? heif_chroma_interleaved_RGBA
                          : heif_chroma_interleaved_RGB,
          error)) {
    if (keep)
      spdl_rows_fill (rows, 0);
    return FALSE;
  }
  if (put_rows (self, rows, n_channels))
    return TRUE;
  if (keep)
    spdl_rows_fill (rows, 0);
  return set_broken ("the image has another size than its header", error);
}

const SpdlImageDecoder spdl_libheif_decoder = { "image/heif", NULL,
  sizeof (Heif), heif_destroy, read_header, read_rows, close_file };

SPDL_STILL_PLUGIN (spdlheif, "HEIC", spdl_libheif_decoder)
