/* gst-spdl: metadata of a batch: items, tensor names, resume state
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_BATCH_META_H__
#define __GST_SPDL_BATCH_META_H__

#include <gst/spdl/gstspdlitemmeta.h>

G_BEGIN_DECLS

/**
 * GST_SPDL_MAX_TENSORS:
 *
 * Maximum number of tensors in a batch, which is the maximum number of memories
 * of a #GstBuffer.
 *
 * Since: 0.1
 */
#define GST_SPDL_MAX_TENSORS 16

typedef struct _GstSpdlBatchMeta GstSpdlBatchMeta;

/**
 * GstSpdlBatchMeta:
 * @meta: the parent
 * @num_items: number of items in the batch
 * @items: (array length=num_items): metadata of the items, in the order of the
 *     tensors
 * @num_tensors: number of tensors in the batch
 * @names: (array fixed-size=16): names of the tensors
 * @resume_state: (nullable): state with which a run resumes after this batch
 *
 * Names the items and tensors of a batch. Elements that transform the buffer
 * keep it, like #GstSpdlItemMeta.
 *
 * Only gst_spdl_buffer_add_batch_meta() allocates this structure, so new fields
 * can follow the last one.
 *
 * Since: 0.1
 */
struct _GstSpdlBatchMeta {
  GstMeta meta;

  guint num_items;
  GstSpdlItemMeta *items;
  guint num_tensors;
  const gchar *names[GST_SPDL_MAX_TENSORS];
  gchar *resume_state;
};

/**
 * GST_SPDL_BATCH_META_API_TYPE:
 *
 * The API type of #GstSpdlBatchMeta.
 *
 * Since: 0.1
 */
#define GST_SPDL_BATCH_META_API_TYPE (gst_spdl_batch_meta_api_get_type ())

GST_SPDL_API
GType gst_spdl_batch_meta_api_get_type (void);

GST_SPDL_API
const GstMetaInfo *gst_spdl_batch_meta_get_info (void);

GST_SPDL_API
GstSpdlBatchMeta *
gst_spdl_buffer_add_batch_meta (GstBuffer *buffer, guint capacity);

GST_SPDL_API
GstSpdlBatchMeta *gst_spdl_buffer_get_batch_meta (GstBuffer *buffer);

GST_SPDL_API
void gst_spdl_batch_meta_append (
    GstSpdlBatchMeta *batch, const GstSpdlItemMeta *item);

GST_SPDL_API
const GstSpdlItemMeta *
gst_spdl_batch_meta_get_item (GstSpdlBatchMeta *batch, guint i);

GST_SPDL_API
void gst_spdl_batch_meta_add_name (GstSpdlBatchMeta *batch, const gchar *name);

GST_SPDL_API
const gchar *gst_spdl_batch_meta_get_name (GstSpdlBatchMeta *batch, guint i);

G_END_DECLS

#endif /* __GST_SPDL_BATCH_META_H__ */
