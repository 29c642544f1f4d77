/* gst-spdl: metadata of an item
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
 * @source: which spdlsrc of the pipeline the item comes from, by their order
 * @epoch: the pass over the dataset, from 0
 * @index: the item's place in the dataset, from 0
 * @sequence: the item's place in this shard's delivery order of this epoch,
 *     dense from 0
 * @label: the item's class, -1 if it has none
 * @uri: (nullable): where the item came from. A #GRefString: take a reference
 *     with g_ref_string_acquire() to keep it
 * @extra: (nullable): what a manifest or a shard says besides
 * @created: when the item left its source, on the monotonic clock in ns, or
 *     %GST_CLOCK_TIME_NONE
 * @part: which part of its item this is, from 0, where one became several
 * @parts: how many parts the item became; 1 if it is whole
 *
 * Says which sample of a dataset a buffer is. It stays with the buffer through
 * all elements of this project and through decoders, converters and queues: it
 * has no tags, so they copy it.
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
