/* gst-spdl-launch: hash over the contents of a run's items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/itemdigest.h"

#include <string.h>

#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

static void
append_number (XXH3_state_t *state, guint64 number)
{
  const guint64 stored = GUINT64_TO_LE (number);

  XXH3_128bits_update (state, &stored, sizeof stored);
}

static void
append_text (XXH3_state_t *state, const gchar *text)
{
  XXH3_128bits_update (state, text, strlen (text) + 1);
}

/* Returns the length of item @i along the first dimension of @tensor, without
 * padding. */
static gint64
get_length (GstSpdlBatch *batch, GstSpdlTensor *tensor, guint i)
{
  guint n_dims;
  const gint64 *shape = gst_spdl_tensor_get_shape (tensor, &n_dims);
  g_autofree gchar *name =
      g_strconcat (gst_spdl_tensor_get_name (tensor), "_lengths", NULL);
  g_autoptr (GstSpdlTensor) lengths = gst_spdl_batch_find_tensor (batch, name);

  if (!lengths ||
      gst_spdl_tensor_get_element_type (lengths) != GST_SPDL_TENSOR_INT64)
    return shape[1];
  return MIN (((gint64 *) gst_spdl_tensor_get_address (lengths))[i], shape[1]);
}

/* Appends the row @i of a tensor. */
static void
append_row (
    XXH3_state_t *state, GstSpdlBatch *batch, GstSpdlTensor *tensor, guint i)
{
  guint n_dims;
  const gint64 *shape = gst_spdl_tensor_get_shape (tensor, &n_dims);
  const guint8 *data = gst_spdl_tensor_get_address (tensor);
  const gsize row = gst_spdl_tensor_get_size (tensor) / shape[0];
  gsize size = row;

  append_text (state, gst_spdl_tensor_get_name (tensor));
  append_text (state, gst_spdl_tensor_get_typestr (tensor));
  for (guint k = 1; k < n_dims; k++) {
    gint64 length = shape[k];

    if (k == 1 && length > 0) {
      length = get_length (batch, tensor, i);
      size = row / shape[k] * length;
    }
    append_number (state, length);
  }
  XXH3_128bits_update (state, data + i * row, size);
}

static gboolean
check_tensors (GstSpdlBatch *batch, GError **error)
{
  const guint n_items = gst_spdl_batch_get_n_items (batch);

  for (guint k = 0; k < gst_spdl_batch_get_n_tensors (batch); k++) {
    g_autoptr (GstSpdlTensor) tensor = gst_spdl_batch_dup_tensor (batch, k);
    const gchar *name = gst_spdl_tensor_get_name (tensor);
    guint n_dims;
    const gint64 *shape = gst_spdl_tensor_get_shape (tensor, &n_dims);

    if (gst_spdl_tensor_get_device (tensor, NULL) != GST_SPDL_DEVICE_CPU) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
          "--digest cannot read the tensor \"%s\", which is on a GPU: remove "
          "spdlcudaupload",
          name);
      return FALSE;
    }
    if (!gst_spdl_tensor_is_contiguous (tensor) || n_items == 0 ||
        n_dims == 0 || shape[0] != n_items) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
          "--digest needs contiguous tensors with a row per item, unlike the "
          "tensor \"%s\" of a batch of %u items: end the pipeline with "
          "spdlbatch",
          name, n_items);
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
digest_add (Digest *self, GstSpdlBatch *batch)
{
  if (!check_tensors (batch, &self->error))
    return FALSE;
  for (guint i = 0; i < gst_spdl_batch_get_n_items (batch); i++) {
    XXH3_state_t state;
    XXH128_hash_t hash;

    XXH3_128bits_reset (&state);
    append_number (&state, gst_spdl_batch_get_item (batch, i)->index);
    for (guint k = 0; k < gst_spdl_batch_get_n_tensors (batch); k++) {
      g_autoptr (GstSpdlTensor) tensor = gst_spdl_batch_dup_tensor (batch, k);

      append_row (&state, batch, tensor, i);
    }
    hash = XXH3_128bits_digest (&state);
    self->low += hash.low64;
    self->high += hash.high64 + (self->low < hash.low64);
    self->n_items++;
  }
  return TRUE;
}

gchar *
digest_to_string (const Digest *self)
{
  return g_strdup_printf ("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER
                          "x",
      self->high, self->low);
}

void
digest_clear (Digest *self)
{
  g_clear_error (&self->error);
}
