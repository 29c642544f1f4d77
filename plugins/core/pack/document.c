/* gst-spdl: token ids of an item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/pack/document.h"

#include <stdio.h>
#include <string.h>

#include "gst/spdl/common/carried.h"

static const struct {
  const gchar *name;
  GstSpdlTensorType type;
} types[] = {
  { "uint8", GST_SPDL_TENSOR_UINT8 },
  { "uint16", GST_SPDL_TENSOR_UINT16 },
  { "int32", GST_SPDL_TENSOR_INT32 },
  { "uint32", GST_SPDL_TENSOR_UINT32 },
  { "int64", GST_SPDL_TENSOR_INT64 },
};

const gchar *
spdl_token_type_get_name (GstSpdlTensorType type)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].type == type)
      return types[i].name;
  return NULL;
}

gboolean
spdl_token_type_find (const gchar *name, GstSpdlTensorType *type)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (g_strcmp0 (types[i].name, name) == 0) {
      *type = types[i].type;
      return TRUE;
    }
  return FALSE;
}

static gboolean
    G_GNUC_PRINTF (2, 3) fail (GError **error, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error, g_error_new_valist (GST_STREAM_ERROR,
                                GST_STREAM_ERROR_FORMAT, format, args));
  va_end (args);
  return FALSE;
}

/* Finds the tensor @name in @caps, or the only one if @is_tokens. */
static gboolean
find_tensor (const GstCaps *caps, const gchar *name, gboolean is_tokens,
    SpdlDocumentPart *place, GError **error)
{
  GstSpdlTensorsInfo info;

  if (!gst_spdl_tensors_info_from_caps (&info, caps, error))
    return FALSE;
  place->offset = 0;
  for (guint i = 0; i < info.num_tensors; i++) {
    if ((is_tokens && info.num_tensors == 1) ||
        g_strcmp0 (gst_spdl_caps_get_tensor_name (caps, i), name) == 0) {
      place->info = info.tensors[i];
      return TRUE;
    }
    place->offset += gst_spdl_tensor_info_get_size (&info.tensors[i]);
  }
  return fail (error, "The item has no tensor named \"%s\"", name);
}

static gboolean
has_type (const GstCaps *caps, const gchar *type)
{
  return caps &&
         gst_structure_has_name (gst_caps_get_structure (caps, 0), type);
}

/* Finds the tensor that is the part @name of a sample. */
static gboolean
find_part (GstBuffer *buffer, const gchar *name, SpdlDocumentPart *place,
    GError **error)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (buffer);
  const GstSpdlPart *part =
      parts ? gst_spdl_parts_meta_find_part (parts, name) : NULL;

  if (!part || !has_type (part->caps, "other/tensors"))
    return fail (
        error, "The item has no part named \"%s\" that is a tensor", name);
  if (!find_tensor (part->caps, name, TRUE, place, error))
    return FALSE;
  place->offset += part->offset;
  return TRUE;
}

static gboolean
find (GstBuffer *buffer, GstCaps *caps, const gchar *name, gboolean is_tokens,
    SpdlDocumentPart *place, GError **error)
{
  return gst_spdl_buffer_get_parts_meta (buffer)
             ? find_part (buffer, name, place, error)
             : find_tensor (caps, name, is_tokens, place, error);
}

/* Describes the tokens of an item that is bytes. */
static gboolean
describe_bytes (GstBuffer *buffer, const gchar *type, SpdlDocumentPart *place,
    GError **error)
{
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);
  const gsize size = gst_buffer_get_size (buffer);
  gsize n;

  if (!type && item && item->extra)
    type = gst_structure_get_string (item->extra, SPDL_TOKEN_TYPE_FIELD);
  if (!spdl_token_type_find (type, &place->info.type))
    return fail (error,
        "The item is bytes, and the type of its tokens is not known: set "
        "token-type, or pass tensors of one dimension");
  n = gst_spdl_tensor_type_get_size (place->info.type);
  if (size % n != 0 || size / n > G_MAXUINT32)
    return fail (error,
        "The item has %" G_GSIZE_FORMAT " bytes, which are not tokens of type "
        "%s",
        size, type);
  place->info.rank = 1;
  place->info.dims[0] = size / n;
  place->offset = 0;
  return TRUE;
}

/* Maps the memory of a tensor without that of others. */
static const guint8 *
map (SpdlDocument *self, guint i, const SpdlDocumentPart *place, GError **error)
{
  const gsize size = gst_spdl_tensor_info_get_size (&place->info);
  guint first, n;
  gsize skip;

  if (size == 0)
    return (const guint8 *) "";
  if (!gst_buffer_find_memory (
          self->buffer, place->offset, size, &first, &n, &skip) ||
      !gst_buffer_map_range (
          self->buffer, first, n, &self->maps[i], GST_MAP_READ)) {
    self->maps[i] = (GstMapInfo){ 0 };
    fail (error, "The item holds less data than its caps require");
    return NULL;
  }
  return self->maps[i].data + skip;
}

static gboolean
read_mask (SpdlDocument *self, GstCaps *caps, GError **error)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (self->buffer);
  SpdlDocumentPart place;

  if (parts ? !gst_spdl_parts_meta_find_part (parts, SPDL_LOSS_MASK)
            : !find_tensor (caps, SPDL_LOSS_MASK, FALSE, &place, NULL))
    return TRUE;
  if (!find (self->buffer, caps, SPDL_LOSS_MASK, FALSE, &place, error))
    return FALSE;
  if (place.info.rank != 1 || place.info.dims[0] != self->n ||
      gst_spdl_tensor_type_get_size (place.info.type) != 1)
    return fail (error,
        "\"" SPDL_LOSS_MASK "\" must have a uint8 or bool for each of the "
        "%" G_GSIZE_FORMAT " tokens",
        self->n);
  return (self->mask = map (self, 1, &place, error)) != NULL;
}

static gboolean
is_bytes_of (GstBuffer *buffer, const GstCaps *caps)
{
  return !gst_spdl_buffer_get_parts_meta (buffer) &&
         !has_type (caps, "other/tensors");
}

/* Returns the number of bytes of a URI that has them, or whose source has put
 * them into a byte range. A row of a table without them will fail. */
static gboolean
find_size (GstBuffer *buffer, const gchar *uri, guint64 *size)
{
  GstBuffer *content = gst_spdl_buffer_dup_carried (buffer, uri);
  const gchar *range = strstr (uri, "#bytes=");
  guint64 first, last;

  *size = 0;
  if (content) {
    *size = gst_buffer_get_size (content);
    gst_buffer_unref (content);
  } else if (range &&
             sscanf (range, "#bytes=%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT,
                 &first, &last) == 2) {
    *size = last - first + 1;
  } else {
    return g_str_has_prefix (uri, "arrow://");
  }
  return TRUE;
}

/* Counts the tokens of a URI whose source knows their type. */
static gboolean
count_bytes (GstBuffer *buffer, guint64 *n, GError **error)
{
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);
  GstSpdlTensorType type;

  if (!item || !item->uri || !item->extra ||
      !spdl_token_type_find (
          gst_structure_get_string (item->extra, SPDL_TOKEN_TYPE_FIELD),
          &type) ||
      !find_size (buffer, item->uri, n))
    return fail (error,
        "The source does not know the number of tokens: put the mix after the "
        "stage that makes them, or use token ids (.idx, or lists of a table)");
  *n /= gst_spdl_tensor_type_get_size (type);
  return TRUE;
}

gboolean
spdl_document_count (
    GstBuffer *buffer, GstCaps *caps, guint64 *n, GError **error)
{
  SpdlDocumentPart place;

  if (has_type (caps, "text/uri-list"))
    return count_bytes (buffer, n, error);
  if (is_bytes_of (buffer, caps)
          ? !describe_bytes (buffer, NULL, &place, error)
          : !find (buffer, caps, "tokens", TRUE, &place, error))
    return FALSE;
  *n = place.info.rank > 0 ? place.info.dims[0] : 1;
  return TRUE;
}

static gboolean
is_other (const gchar *name, const gchar *tokens)
{
  return g_strcmp0 (name, tokens) != 0 && !g_str_equal (name, SPDL_LOSS_MASK);
}

/* @room: bytes from the offset of the part to its end */
static gboolean
add_other (SpdlDocument *self, const SpdlDocumentPart *part, gsize room,
    GError **error)
{
  if (gst_spdl_tensor_info_get_size (&part->info) > room)
    return fail (error,
        "\"%s\" of the item holds less data than its caps require", part->name);
  if (!self->others)
    self->others = g_array_new (FALSE, FALSE, sizeof *part);
  g_array_append_vals (self->others, part, 1);
  return TRUE;
}

static gboolean
list_tensors (
    SpdlDocument *self, GstCaps *caps, const gchar *tokens, GError **error)
{
  const gsize size = gst_buffer_get_size (self->buffer);
  SpdlDocumentPart part = { .offset = 0 };
  GstSpdlTensorsInfo info;

  if (!gst_spdl_tensors_info_from_caps (&info, caps, error))
    return FALSE;
  for (guint i = 0; info.num_tensors > 1 && i < info.num_tensors; i++) {
    part.name = gst_spdl_caps_get_tensor_name (caps, i);
    part.info = info.tensors[i];
    if (!part.name)
      return fail (error, "Tensor %u of the item has no name", i);
    if (is_other (part.name, tokens) &&
        !add_other (self, &part, size - MIN (size, part.offset), error))
      return FALSE;
    part.offset += gst_spdl_tensor_info_get_size (&part.info);
  }
  return TRUE;
}

/* Describes a part that is a tensor or bytes. */
static gboolean
describe_part (const GstSpdlPart *in, SpdlDocumentPart *part, GError **error)
{
  GstSpdlTensorsInfo info;

  *part = (SpdlDocumentPart){ .name = in->name, .offset = in->offset };
  if (has_type (in->caps, "other/tensors")) {
    if (!gst_spdl_tensors_info_from_caps (&info, in->caps, error))
      return FALSE;
    part->info = info.tensors[0];
    return info.num_tensors == 1 ||
           fail (error, "Part \"%s\" has %u tensors, not one", in->name,
               info.num_tensors);
  }
  if (has_type (in->caps, GST_SPDL_SAMPLE_CAPS))
    return fail (error,
        "Part \"%s\" has parts itself: make each a part of the item", in->name);
  if (has_type (in->caps, "video/x-raw") || has_type (in->caps, "audio/x-raw"))
    return fail (error,
        "Part \"%s\" is decoded, so rows cannot join it: decode it after "
        "spdlpack, or make an array of it",
        in->name);
  if (in->size > G_MAXUINT32)
    return fail (error, "Part \"%s\" has more than 4 GiB", in->name);
  part->info = (GstSpdlTensorInfo){
    .type = GST_SPDL_TENSOR_UINT8, .rank = 1, .dims = { in->size }
  };
  return TRUE;
}

/* Lists what the item has besides its tokens. */
static gboolean
list_others (
    SpdlDocument *self, GstCaps *caps, const gchar *tokens, GError **error)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (self->buffer);
  SpdlDocumentPart part;

  if (!parts)
    return list_tensors (self, caps, tokens, error);
  if (parts->num_parts == 1u + (self->mask != NULL))
    return TRUE;
  for (guint i = 0; i < parts->num_parts; i++) {
    const GstSpdlPart *in = gst_spdl_parts_meta_get_part (parts, i);

    if (!is_other (in->name, tokens))
      continue;
    if (!describe_part (in, &part, error) ||
        !add_other (self, &part, in->size, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_document (SpdlDocument *self, GstCaps *caps, const gchar *name,
    const gchar *type, GError **error)
{
  const gboolean is_bytes = is_bytes_of (self->buffer, caps);
  SpdlDocumentPart place;

  if (is_bytes ? !describe_bytes (self->buffer, type, &place, error)
               : !find (self->buffer, caps, name, TRUE, &place, error))
    return FALSE;
  if (place.info.rank != 1 || !spdl_token_type_get_name (place.info.type)) {
    g_autofree gchar *text = gst_spdl_tensor_info_to_string (&place.info);

    return fail (error,
        "Tokens must be one dimension of uint8, uint16, int32, uint32 or "
        "int64, but the item has %s",
        text);
  }
  self->type = place.info.type;
  self->n = place.info.dims[0];
  return (self->tokens = map (self, 0, &place, error)) &&
         (is_bytes || (read_mask (self, caps, error) &&
                          list_others (self, caps, name, error)));
}

gboolean
spdl_document_read (SpdlDocument *self, GstBuffer *buffer, GstCaps *caps,
    const gchar *name, const gchar *type, GError **error)
{
  *self = (SpdlDocument){ .buffer = buffer };
  if (read_document (self, caps, name, type, error))
    return TRUE;
  spdl_document_clear (self);
  return FALSE;
}

void
spdl_document_clear (SpdlDocument *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->maps); i++)
    if (self->maps[i].memory)
      gst_buffer_unmap (self->buffer, &self->maps[i]);
  g_clear_pointer (&self->others, g_array_unref);
}
