/* gst-spdl: decompression of a shard that is compressed by gzip
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/shards/gzipinput.h"

#include <gio/gio.h>

#include "plugins/shards/archivemember.h"

#define BLOCK ((gsize) 128 * 1024)

struct _SpdlGzipInput {
  const SpdlArchiveInput *input;
  GConverter *decompressor;
  const guint8 *data; /* compressed bytes that are left */
  gsize size;
  gboolean in_member;
  gboolean ended;
  guint8 block[BLOCK];
};

SpdlGzipInput *
spdl_gzip_input_new (
    const SpdlArchiveInput *input, const guint8 *data, gsize size)
{
  SpdlGzipInput *self = g_new (SpdlGzipInput, 1);

  self->input = input;
  self->decompressor =
      G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  self->data = data;
  self->size = size;
  self->in_member = self->ended = FALSE;
  return self;
}

void
spdl_gzip_input_free (SpdlGzipInput *self)
{
  g_object_unref (self->decompressor);
  g_free (self);
}

/* Reads compressed bytes. Sets `ended` at their end, or if other data than a
 * member follows. */
static gboolean
fill (SpdlGzipInput *self, GError **error)
{
  if (self->size == 0 && !self->input->read (self->input->user_data,
                             &self->data, &self->size, error))
    return FALSE;
  self->ended =
      self->size == 0 ||
      (!self->in_member && !spdl_gzip_input_accepts (self->data, self->size));
  if (self->size == 0 && self->in_member)
    return spdl_archive_refuse (
        self->input->name, error, "its gzip data is cut off", "");
  self->in_member = !self->ended;
  return TRUE;
}

/* Decompresses what fits into the block. */
static gboolean
decompress (SpdlGzipInput *self, gsize *written, GError **error)
{
  g_autoptr (GError) reason = NULL;
  gsize n = 0;
  const GConverterResult result =
      g_converter_convert (self->decompressor, self->data, self->size,
          self->block, BLOCK, G_CONVERTER_NO_FLAGS, &n, written, &reason);

  if (result == G_CONVERTER_ERROR &&
      g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT))
    n = self->size; /* it was stored */
  else if (result == G_CONVERTER_ERROR)
    return spdl_archive_refuse (
        self->input->name, error, "its gzip data is damaged", "");
  self->data += n;
  self->size -= n;
  if (result == G_CONVERTER_FINISHED) {
    g_converter_reset (self->decompressor);
    self->in_member = FALSE;
  }
  return TRUE;
}

gboolean
spdl_gzip_input_read (
    SpdlGzipInput *self, const guint8 **data, gsize *size, GError **error)
{
  *data = self->block;
  *size = 0;
  while (*size == 0) {
    if ((self->size == 0 || !self->in_member) && !self->ended &&
        !fill (self, error))
      return FALSE;
    if (self->ended)
      return TRUE;
    if (!decompress (self, size, error))
      return FALSE;
  }
  return TRUE;
}
