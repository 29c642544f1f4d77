/* gst-spdl: batches, tensors and decoders for the Python package
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/binding/binding.h"
#include "gst/spdl/binding/structurejson.h"
#include "gst/spdl/gstspdlitemmeta.h"

/* Tensors */

static gboolean
describe (GstSpdlTensor *tensor, GstSpdlBindingTensor *view)
{
  if (!tensor)
    return FALSE;
  *view = (GstSpdlBindingTensor){
    .tensor = tensor,
    .typestr = gst_spdl_tensor_get_typestr (tensor),
    .address = gst_spdl_tensor_get_address (tensor),
    .contiguous = gst_spdl_tensor_is_contiguous (tensor),
    .writable = gst_spdl_tensor_is_writable (tensor),
  };
  view->shape = gst_spdl_tensor_get_shape (tensor, &view->n_dims);
  view->device_type =
      (gint) gst_spdl_tensor_get_device (tensor, &view->device_id);
  /* The batch keeps it. */
  gst_spdl_tensor_unref (tensor);
  return TRUE;
}

gboolean
gst_spdl_binding_batch_find_tensor (
    GstSpdlBatch *batch, const gchar *name, GstSpdlBindingTensor *view)
{
  return describe (gst_spdl_batch_find_tensor (batch, name), view);
}

gboolean
gst_spdl_binding_batch_get_tensor (
    GstSpdlBatch *batch, guint i, GstSpdlBindingTensor *view)
{
  return describe (gst_spdl_batch_get_tensor (batch, i), view);
}

/* Batches */

gchar *
gst_spdl_binding_batch_dup_extra (const GstSpdlBatch *batch, guint i)
{
  const GstSpdlItemMeta *item = gst_spdl_batch_get_item (batch, i);
  GString *json;

  if (!item || !item->extra)
    return NULL;
  json = g_string_new (NULL);
  spdl_json_append_structure (json, item->extra);
  return g_string_free (json, FALSE);
}

GstSpdlBatch *
gst_spdl_binding_batch_copy (const GstSpdlBatch *batch, GError **error)
{
  g_autoptr (GstBuffer) copy =
      gst_buffer_copy_deep (gst_spdl_batch_get_buffer (batch));

  return gst_spdl_batch_new (copy, gst_spdl_batch_get_caps (batch), error);
}

GstSpdlBatch *
gst_spdl_binding_decode (GstSpdlDecoder *decoder, gconstpointer data,
    gsize size, guint64 epoch, guint64 index, GError **error)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);

  return gst_spdl_decoder_decode (decoder, bytes, epoch, index, error);
}
