/* gst-spdl: numbers for items that have none
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/stage-private.h"

#include "gst/spdl/gstspdlbatchmeta.h"

static gboolean
is_numbered (GstBuffer *buffer)
{
  return gst_spdl_buffer_get_item_meta (buffer) ||
         gst_spdl_buffer_get_batch_meta (buffer);
}

GstBuffer *
gst_spdl_stage_number_item (GstSpdlStage *self, GstBuffer *buffer)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);
  const gboolean numbered = is_numbered (buffer);
  GstSpdlItemMeta *meta;

  if (!priv->saw_buffer) {
    priv->saw_buffer = TRUE;
    priv->numbers_items = !numbered;
  }
  if (numbered)
    return buffer;
  if (!priv->numbers_items) {
    gst_buffer_unref (buffer);
    gst_spdl_stage_fail (self,
        g_error_new_literal (GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
            "A buffer came without the meta that says which item it is, though "
            "items are numbered upstream: an element between drops it, or "
            "makes several buffers of one item"));
    return NULL;
  }

  buffer = gst_buffer_make_writable (buffer);
  meta = gst_spdl_buffer_add_item_meta (buffer);
  meta->index = meta->sequence = priv->next_number++;
  meta->created = spdl_meter_now (&priv->executor.meter);
  return buffer;
}

GstBufferList *
gst_spdl_stage_number_group (GstSpdlStage *self, GstBufferList *list)
{
  const guint n = gst_buffer_list_length (list);
  guint i = 0;

  while (i < n && is_numbered (gst_buffer_list_get (list, i)))
    i++;
  if (i == n) {
    if (n > 0)
      gst_spdl_stage_get_private (self)->saw_buffer = TRUE;
    return list;
  }

  GstBufferList *copy = gst_buffer_list_new_sized (n);
  for (i = 0; i < n; i++) {
    GstBuffer *buffer = gst_spdl_stage_number_item (
        self, gst_buffer_ref (gst_buffer_list_get (list, i)));

    if (!buffer) {
      gst_clear_buffer_list (&copy);
      break;
    }
    gst_buffer_list_add (copy, buffer);
  }
  gst_buffer_list_unref (list);
  return copy;
}
