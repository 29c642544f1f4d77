/* gst-spdl: named tensors of a batch and their items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_BATCH_H__
#define __GST_SPDL_BATCH_H__

#include <gst/spdl/gstspdltensor.h>

G_BEGIN_DECLS

/**
 * GstSpdlBatch:
 *
 * A view of a buffer for a trainer: named tensors, and the items in them.
 * Opaque and immutable; all functions may be called from any thread.
 *
 * Since: 0.1
 */
typedef struct _GstSpdlBatch GstSpdlBatch;

#define GST_TYPE_SPDL_BATCH (gst_spdl_batch_get_type ())
GST_SPDL_API
GType gst_spdl_batch_get_type (void);

GST_SPDL_API
GstSpdlBatch *
gst_spdl_batch_new (GstBuffer *buffer, GstCaps *caps, GError **error);

GST_SPDL_API
GstSpdlBatch *gst_spdl_batch_ref (GstSpdlBatch *batch);

GST_SPDL_API
void gst_spdl_batch_unref (GstSpdlBatch *batch);

GST_SPDL_API
guint gst_spdl_batch_get_n_tensors (const GstSpdlBatch *batch);

GST_SPDL_API
const gchar *gst_spdl_batch_get_name (const GstSpdlBatch *batch, guint i);

GST_SPDL_API
GstSpdlTensor *gst_spdl_batch_dup_tensor (GstSpdlBatch *batch, guint i);

GST_SPDL_API
GstSpdlTensor *
gst_spdl_batch_find_tensor (GstSpdlBatch *batch, const gchar *name);

GST_SPDL_API
guint gst_spdl_batch_get_n_items (const GstSpdlBatch *batch);

GST_SPDL_API
const GstSpdlItemMeta *
gst_spdl_batch_get_item (const GstSpdlBatch *batch, guint i);

GST_SPDL_API
gint64 *gst_spdl_batch_dup_labels (const GstSpdlBatch *batch, guint *n_items);

GST_SPDL_API
guint64 *gst_spdl_batch_dup_indices (const GstSpdlBatch *batch, guint *n_items);

GST_SPDL_API
gchar **gst_spdl_batch_dup_keys (const GstSpdlBatch *batch);

GST_SPDL_API
GstStructure *gst_spdl_batch_dup_extra (const GstSpdlBatch *batch, guint i);

GST_SPDL_API
guint64 gst_spdl_batch_get_epoch (const GstSpdlBatch *batch);

GST_SPDL_API
const gchar *gst_spdl_batch_get_state (const GstSpdlBatch *batch);

GST_SPDL_API
GstBuffer *gst_spdl_batch_get_buffer (const GstSpdlBatch *batch);

GST_SPDL_API
GstCaps *gst_spdl_batch_get_caps (const GstSpdlBatch *batch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstSpdlBatch, gst_spdl_batch_unref)

G_END_DECLS

#endif /* __GST_SPDL_BATCH_H__ */
