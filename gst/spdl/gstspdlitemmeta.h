/* gst-spdl: metadata of an item: index, epoch, label, URI
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_ITEM_META_H__
#define __GST_SPDL_ITEM_META_H__

#include <gst/spdl/spdl-prelude.h>

G_BEGIN_DECLS

typedef struct _GstSpdlItemMeta GstSpdlItemMeta;

/**
 * GstSpdlItemMeta:
 * @meta: the parent
 * @source: number of the `spdlsrc` in the pipeline that the item comes from
 * @epoch: epoch of the item, from 0
 * @index: index of the item in the dataset, from 0
 * @sequence: position of the item in the delivery order of this rank and epoch,
 *     without gaps, from 0
 * @label: class of the item, -1 without a label
 * @uri: (nullable): URI of the item. A #GRefString: take a reference with
 *     g_ref_string_acquire() to keep it
 * @extra: (nullable): further fields from a list, a shard or an element
 * @created: time when the item left its source, on the monotonic clock in ns,
 *     or %GST_CLOCK_TIME_NONE
 * @part: number of this part, from 0, if the item became several buffers
 * @parts: the buffer is one of @parts equal shares of the item: the number of
 *     buffers that the item became, or the product of these numbers if they
 * were split again; 1 if the item is whole
 * @first_token: first token of the document that the buffer has, if the rest is
 *     in other rows
 * @end_token: end of these tokens; 0 if the document is whole
 * @num_tokens: number of tokens that `spdlmix` has counted; 0 if it counts
 * items
 *
 * Identifies the sample in a buffer. Elements of this project keep it, and so
 * do decoders, converters and queues, because it has no tags.
 *
 * #GstSpdlBatchMeta has an array of this structure, and programs make their own
 * for gst_spdl_batch_meta_append(). Its size can therefore not change, and new
 * fields take the place of the reserved one, which costs 4 of 104 bytes per
 * item. Initialize it with zeros.
 *
 * Since: 0.1
 */
struct _GstSpdlItemMeta {
  GstMeta meta;

  guint32 source;
  guint64 epoch;
  guint64 index;
  guint64 sequence;
  gint64 label;
  gchar *uri;
  GstStructure *extra;
  GstClockTime created;
  guint32 part;
  guint32 parts;
  guint32 first_token;
  guint32 end_token;
  guint32 num_tokens;

  /*< private >*/
  /* With more of these, glibc would not keep the memory of a meta in its fast
   * bins. */
  guint32 _gst_reserved[1];
};

/**
 * GST_SPDL_ITEM_META_API_TYPE:
 *
 * The API type of #GstSpdlItemMeta.
 *
 * Since: 0.1
 */
#define GST_SPDL_ITEM_META_API_TYPE (gst_spdl_item_meta_api_get_type ())

GST_SPDL_API
GType gst_spdl_item_meta_api_get_type (void);

GST_SPDL_API
const GstMetaInfo *gst_spdl_item_meta_get_info (void);

GST_SPDL_API
GstSpdlItemMeta *gst_spdl_buffer_add_item_meta (GstBuffer *buffer);

GST_SPDL_API
GstSpdlItemMeta *gst_spdl_buffer_get_item_meta (GstBuffer *buffer);

GST_SPDL_API
void
gst_spdl_item_meta_assign (GstSpdlItemMeta *dest, const GstSpdlItemMeta *src);

GST_SPDL_API
void gst_spdl_item_meta_unassign (GstSpdlItemMeta *item);

GST_SPDL_API
gchar *gst_spdl_item_meta_describe (const GstSpdlItemMeta *item);

G_END_DECLS

#endif /* __GST_SPDL_ITEM_META_H__ */
