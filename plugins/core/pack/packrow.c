/* gst-spdl: row of tokens in the making
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/pack/packrow.h"

#include <string.h>

#include "gst/spdl/common/tryallocator.h"

static const gchar *const names[] = { "tokens", "segment_ids", "positions",
  SPDL_LOSS_MASK, "cu_seqlens", "num_documents", NULL };

/* Format */

static gboolean
fits (gint64 token, GstSpdlTensorType type)
{
  switch (type) {
    case GST_SPDL_TENSOR_UINT8:
      return token >= 0 && token <= G_MAXUINT8;
    case GST_SPDL_TENSOR_UINT16:
      return token >= 0 && token <= G_MAXUINT16;
    case GST_SPDL_TENSOR_INT32:
      return token >= G_MININT32 && token <= G_MAXINT32;
    case GST_SPDL_TENSOR_UINT32:
      return token >= 0 && token <= G_MAXUINT32;
    default:
      return TRUE;
  }
}

static gboolean
check_token (const SpdlRowFormat *self, gint64 token, const gchar *property,
    GError **error)
{
  if (fits (token, self->type))
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "%s is %" G_GINT64_FORMAT ", which is not a token of type %s: set "
      "another one, or dtype=int64",
      property, token, spdl_token_type_get_name (self->type));
  return FALSE;
}

gboolean
spdl_row_format_plan (
    SpdlRowFormat *self, const SpdlDocument *document, GError **error)
{
  /* One end for the row's begin, and one for its padding. */
  const guint32 lengths[] = { self->length, self->length, self->length,
    self->length, self->max_documents + 2, 0 };
  const GstSpdlTensorType types[] = { self->type, GST_SPDL_TENSOR_INT32,
    GST_SPDL_TENSOR_INT32, GST_SPDL_TENSOR_UINT8, GST_SPDL_TENSOR_INT32,
    GST_SPDL_TENSOR_INT32 };
  g_autoptr (GstCaps) sample = gst_caps_new_empty_simple (GST_SPDL_SAMPLE_CAPS);
  gsize end = 0;

  if ((self->eos >= 0 && !check_token (self, self->eos, "eos-id", error)) ||
      !check_token (self, self->padding, "pad-id", error) ||
      !spdl_others_format_init (&self->others, document, names,
          (GST_SPDL_MAX_PARTS - SPDL_ROW_N_PARTS) / 2, error))
    return FALSE;
  for (guint i = 0; i < SPDL_ROW_N_PARTS; i++) {
    GstSpdlTensorsInfo info;

    gst_spdl_tensors_info_init (&info);
    gst_spdl_tensors_info_add (
        &info, types[i], i == SPDL_ROW_NUM_DOCUMENTS ? 0 : 1, &lengths[i]);
    self->caps[i] = gst_spdl_tensors_info_to_caps (&info);
    self->sizes[i] = gst_spdl_tensor_info_get_size (&info.tensors[0]);
    self->offsets[i] = end;
    end += spdl_slab_align (self->sizes[i]);
  }
  if ((self->pool = gst_spdl_try_pool_new (sample, end)))
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "A row of %u tokens is too large for a pool: lower row-length",
      self->length);
  return FALSE;
}

void
spdl_row_format_clear (SpdlRowFormat *self)
{
  for (guint i = 0; i < SPDL_ROW_N_PARTS; i++)
    gst_clear_caps (&self->caps[i]);
  if (self->pool)
    gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
  spdl_others_format_clear (&self->others);
}

/* Rows */

SpdlPackRow *
spdl_pack_row_new (const SpdlRowFormat *format)
{
  GstBuffer *memory;
  SpdlSlab *slab;
  SpdlPackRow *self;

  if (gst_buffer_pool_acquire_buffer (format->pool, &memory, NULL) !=
          GST_FLOW_OK ||
      !(slab = spdl_slab_new (memory)))
    return NULL;
  self = g_new0 (SpdlPackRow, 1);
  self->slab = slab;
  self->items = g_array_new (FALSE, TRUE, sizeof (GstSpdlItemMeta));
  self->others = g_array_new (FALSE, TRUE, sizeof (SpdlOthers));
  g_array_set_clear_func (self->others, spdl_others_clear);
  return self;
}

static void
free_empty (SpdlPackRow *self)
{
  g_array_unref (self->items);
  g_array_unref (self->others);
  spdl_slab_unref (self->slab);
  g_free (self);
}

void
spdl_pack_row_free (SpdlPackRow *self)
{
  for (guint i = 0; i < self->items->len; i++)
    gst_spdl_item_meta_unassign (
        &g_array_index (self->items, GstSpdlItemMeta, i));
  free_empty (self);
}

/* Returns the address of token or number @i of a part, of @size bytes. */
static guint8 *
get_place (const SpdlPackRow *self, const SpdlRowFormat *format,
    SpdlRowPart part, gsize i, gsize size)
{
  return self->slab->map.data + format->offsets[part] + i * size;
}

static gint32 *
get_numbers (const SpdlPackRow *self, const SpdlRowFormat *format,
    SpdlRowPart part, gsize i)
{
  return (gint32 *) (gpointer) get_place (
      self, format, part, i, sizeof (gint32));
}

#define WIDEN(Type)                                       \
  for (gsize i = 0; i < n; i++) {                         \
    Type token;                                           \
                                                          \
    memcpy (&token, in + i * sizeof token, sizeof token); \
    out[i] = token;                                       \
  }

/* Copies tokens to int64. The tokens of a file may not be aligned. */
static void
widen (gint64 *out, const guint8 *in, GstSpdlTensorType type, gsize n)
{
  switch (type) {
    case GST_SPDL_TENSOR_UINT8:
      WIDEN (guint8)
      break;
    case GST_SPDL_TENSOR_UINT16:
      WIDEN (guint16)
      break;
    case GST_SPDL_TENSOR_INT32:
      WIDEN (gint32)
      break;
    case GST_SPDL_TENSOR_UINT32:
      WIDEN (guint32)
      break;
    default:
      memcpy (out, in, n * sizeof *out);
  }
}

static void
write_tokens (const SpdlPackRow *self, const SpdlRowFormat *format, gsize at,
    const guint8 *tokens, GstSpdlTensorType type, gsize n)
{
  const gsize size = gst_spdl_tensor_type_get_size (format->type);
  guint8 *out = get_place (self, format, SPDL_ROW_TOKENS, at, size);

  if (format->type == type)
    memcpy (out, tokens, n * size);
  else
    widen ((gint64 *) (gpointer) out, tokens, type, n);
}

/* Writes one token @n times. */
static void
fill_tokens (const SpdlPackRow *self, const SpdlRowFormat *format, gsize at,
    gint64 token, gsize n)
{
  const gsize size = gst_spdl_tensor_type_get_size (format->type);
  guint8 *out = get_place (self, format, SPDL_ROW_TOKENS, at, size);

#if G_BYTE_ORDER == G_BIG_ENDIAN
  token = (gint64) ((guint64) token << (8 * (sizeof token - size)));
#endif
  for (gsize i = 0; i < n; i++)
    memcpy (out + i * size, &token, size);
}

static void
number_tokens (const SpdlPackRow *self, const SpdlRowFormat *format, gint32 n)
{
  const gint32 segment = self->n_documents + 1;
  gint32 *segments = get_numbers (self, format, SPDL_ROW_SEGMENT_IDS, self->n);
  gint32 *positions = get_numbers (self, format, SPDL_ROW_POSITIONS, self->n);

  for (gint32 i = 0; i < n; i++) {
    segments[i] = segment;
    positions[i] = i;
  }
}

static void
add_item (SpdlPackRow *self, const GstSpdlItemMeta *item)
{
  g_array_set_size (self->items, self->items->len + 1);
  gst_spdl_item_meta_assign (
      &g_array_index (self->items, GstSpdlItemMeta, self->items->len - 1),
      item);
}

static void
add_others (SpdlPackRow *self, const SpdlDocument *document)
{
  g_array_set_size (self->others, self->others->len + 1);
  spdl_others_take (
      &g_array_index (self->others, SpdlOthers, self->others->len - 1),
      document);
}

void
spdl_pack_row_add (SpdlPackRow *self, const SpdlRowFormat *format,
    const SpdlDocument *document, gsize first, gsize end,
    const GstSpdlItemMeta *item)
{
  const gsize last = MIN (end, document->n);
  const gsize n_tokens = last > first ? last - first : 0;
  const gsize size = gst_spdl_tensor_type_get_size (document->type);
  guint8 *mask = get_place (self, format, SPDL_ROW_LOSS_MASK, self->n, 1);

  write_tokens (self, format, self->n, document->tokens + first * size,
      document->type, n_tokens);
  if (end > document->n)
    fill_tokens (self, format, self->n + n_tokens, format->eos, 1);
  memset (mask, 1, end - first);
  for (gsize i = 0; document->mask && i < n_tokens; i++)
    mask[i] = document->mask[first + i] != 0;
  number_tokens (self, format, end - first);
  *get_numbers (self, format, SPDL_ROW_CU_SEQLENS, self->n_documents) = self->n;
  self->n += end - first;
  self->n_documents++;
  add_item (self, item);
  if (format->others.n > 0)
    add_others (self, document);
}

static void
pad (SpdlPackRow *self, const SpdlRowFormat *format)
{
  const gsize n = format->length - self->n;
  gint32 *ends =
      get_numbers (self, format, SPDL_ROW_CU_SEQLENS, self->n_documents);

  fill_tokens (self, format, self->n, format->padding, n);
  memset (get_numbers (self, format, SPDL_ROW_SEGMENT_IDS, self->n), 0,
      n * sizeof (gint32));
  memset (get_numbers (self, format, SPDL_ROW_POSITIONS, self->n), 0,
      n * sizeof (gint32));
  memset (get_place (self, format, SPDL_ROW_LOSS_MASK, self->n, 1), 0, n);
  *ends++ = self->n;
  for (guint i = self->n_documents; i <= format->max_documents; i++)
    *ends++ = format->length;
  *get_numbers (self, format, SPDL_ROW_NUM_DOCUMENTS, 0) = self->n_documents;
}

GstBuffer *
spdl_pack_row_finish (SpdlPackRow *self, const SpdlRowFormat *format)
{
  GstBuffer *row = gst_buffer_new ();
  GstSpdlBatchMeta *batch;

  pad (self, format);
  for (guint i = 0; i < SPDL_ROW_N_PARTS; i++) {
    g_autoptr (GstBuffer) part = gst_buffer_new ();

    gst_buffer_append_memory (part,
        spdl_slab_get_part (self->slab, format->offsets[i], format->sizes[i]));
    gst_spdl_buffer_append_part (row, names[i], part, format->caps[i]);
  }
  if (!spdl_others_append (
          &format->others, self->others, format->max_documents, row)) {
    gst_buffer_unref (row);
    spdl_pack_row_free (self);
    return NULL;
  }
  batch = gst_spdl_buffer_add_batch_meta (row, self->items->len);
  batch->num_items = self->items->len;
  memcpy (batch->items, self->items->data,
      self->items->len * sizeof (GstSpdlItemMeta));
  free_empty (self);
  return row;
}
