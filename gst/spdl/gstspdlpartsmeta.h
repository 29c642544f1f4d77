/* gst-spdl: metadata of samples of several media
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_PARTS_META_H__
#define __GST_SPDL_PARTS_META_H__

#include <gst/spdl/spdl-prelude.h>

G_BEGIN_DECLS

/**
 * GST_SPDL_MAX_PARTS:
 *
 * The most parts that a sample can have: the memories of a #GstBuffer.
 *
 * Since: 0.1
 */
#define GST_SPDL_MAX_PARTS 16

/**
 * GST_SPDL_SAMPLE_CAPS:
 *
 * The caps of samples of several media.
 *
 * Since: 0.1
 */
#define GST_SPDL_SAMPLE_CAPS "application/x-spdl-sample"

/**
 * GST_SPDL_MAIN_PART:
 *
 * What the part is called that an item's own URI names.
 *
 * Since: 0.1
 */
#define GST_SPDL_MAIN_PART "data"

typedef struct _GstSpdlPart GstSpdlPart;
typedef struct _GstSpdlPartsMeta GstSpdlPartsMeta;

/**
 * GstSpdlPart:
 * @name: what the part is called
 * @caps: (nullable): what it is; %NULL: bytes of an unknown kind
 * @offset: where it begins in the buffer, in bytes
 * @size: how many bytes it has
 *
 * One medium of a sample. Raw video lies as its caps alone say, without a
 * #GstVideoMeta.
 *
 * Since: 0.1
 */
struct _GstSpdlPart {
  gchar *name;
  GstCaps *caps;
  gsize offset;
  gsize size;
};

/**
 * GstSpdlPartsMeta:
 * @meta: the parent
 * @num_parts: how many parts there are
 * @parts: (array fixed-size=16): the parts, one behind the other
 *
 * Says which media lie in a buffer, and where. It stays with the buffer's
 * memory: copies of the whole have it, copies of a part of the bytes, or of the
 * metas alone, have not.
 *
 * Since: 0.1
 */
struct _GstSpdlPartsMeta {
  GstMeta meta;

  guint num_parts;
  GstSpdlPart parts[GST_SPDL_MAX_PARTS];
};

/**
 * GST_SPDL_PARTS_META_API_TYPE:
 *
 * The API type of #GstSpdlPartsMeta.
 *
 * Since: 0.1
 */
#define GST_SPDL_PARTS_META_API_TYPE (gst_spdl_parts_meta_api_get_type ())

GST_SPDL_API
GType gst_spdl_parts_meta_api_get_type (void);

GST_SPDL_API
const GstMetaInfo *gst_spdl_parts_meta_get_info (void);

GST_SPDL_API
GstSpdlPartsMeta *gst_spdl_buffer_get_parts_meta (GstBuffer *buffer);

GST_SPDL_API
const GstSpdlPart *
gst_spdl_parts_meta_get_part (GstSpdlPartsMeta *parts, guint i);

GST_SPDL_API
const GstSpdlPart *
gst_spdl_parts_meta_find_part (GstSpdlPartsMeta *parts, const gchar *name);

GST_SPDL_API
gboolean gst_spdl_buffer_append_part (
    GstBuffer *buffer, const gchar *name, GstBuffer *part, GstCaps *caps);

GST_SPDL_API
GstBuffer *gst_spdl_buffer_dup_part (GstBuffer *buffer, const gchar *name);

GST_SPDL_API
GstBuffer *gst_spdl_buffer_replace_part (
    GstBuffer *buffer, const gchar *name, GstBuffer *part, GstCaps *caps);

G_END_DECLS

#endif /* __GST_SPDL_PARTS_META_H__ */
