/* gst-spdl: what the result of an item keeps of its buffer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/inherit.h"

#include "gst/spdl/common/carried.h"
#include "gst/spdl/gstspdlbatchmeta.h"
#include "gst/spdl/gstspdlitemmeta.h"
#include "gst/spdl/gstspdlpartsmeta.h"

/* The flags that do not depend on the media type, without those about memory
 * and about references between encoded frames. */
#define FLAGS                                                 \
  ((GST_BUFFER_FLAG_LAST - 1) & ~(GST_BUFFER_FLAG_LIVE - 1) & \
      ~(GST_BUFFER_FLAG_TAG_MEMORY | GST_BUFFER_FLAG_DELTA_UNIT))

/* Returns TRUE if a meta describes the item, whatever its bytes become. Tasks
 * give results the metas of gst-spdl. */
static gboolean
is_inherited (const GstMeta *meta)
{
  const GType api = meta->info->api;
  const gchar *const *tags;

  if (api == GST_SPDL_ITEM_META_API_TYPE ||
      api == GST_SPDL_BATCH_META_API_TYPE ||
      api == GST_SPDL_PARTS_META_API_TYPE ||
      api == gst_spdl_carried_meta_api_get_type ())
    return FALSE;
  tags = gst_meta_api_type_get_tags (api);
  return meta->info->transform_func && (!tags || !tags[0]) &&
         !GST_META_FLAG_IS_SET (meta, GST_META_FLAG_POOLED);
}

static gboolean
has_inherited_meta (GstBuffer *item)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta (item, &state)))
    if (is_inherited (meta))
      return TRUE;
  return FALSE;
}

gboolean
gst_spdl_buffer_has_heritage (GstBuffer *item)
{
  return GST_BUFFER_PTS_IS_VALID (item) || GST_BUFFER_DTS_IS_VALID (item) ||
         GST_BUFFER_DURATION_IS_VALID (item) ||
         GST_BUFFER_OFFSET_IS_VALID (item) ||
         GST_BUFFER_OFFSET_END_IS_VALID (item) ||
         (GST_BUFFER_FLAGS (item) & FLAGS) || has_inherited_meta (item);
}

static void
inherit_timestamps (GstBuffer *result, GstBuffer *item, guint n)
{
  if (!GST_BUFFER_PTS_IS_VALID (result) && !GST_BUFFER_DTS_IS_VALID (result)) {
    GST_BUFFER_PTS (result) = GST_BUFFER_PTS (item);
    GST_BUFFER_DTS (result) = GST_BUFFER_DTS (item);
  }
  if (n > 1)
    return;
  if (!GST_BUFFER_DURATION_IS_VALID (result))
    GST_BUFFER_DURATION (result) = GST_BUFFER_DURATION (item);
  if (!GST_BUFFER_OFFSET_IS_VALID (result) &&
      !GST_BUFFER_OFFSET_END_IS_VALID (result)) {
    GST_BUFFER_OFFSET (result) = GST_BUFFER_OFFSET (item);
    GST_BUFFER_OFFSET_END (result) = GST_BUFFER_OFFSET_END (item);
  }
}

/* A buffer may have several metas of one kind, which are copied together. */
static void
inherit_metas (GstBuffer *result, GstBuffer *item)
{
  GstMetaTransformCopy copy = { FALSE, 0, -1 };
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta (item, &state))) {
    const GType api = meta->info->api;

    if (is_inherited (meta) &&
        gst_buffer_get_n_meta (result, api) < gst_buffer_get_n_meta (item, api))
      meta->info->transform_func (
          result, meta, item, _gst_meta_transform_copy, &copy);
  }
}

GstBuffer *
gst_spdl_buffer_inherit (GstBuffer *result, GstBuffer *item, guint i, guint n)
{
  if (result == item || !gst_spdl_buffer_has_heritage (item))
    return result;
  result = gst_buffer_make_writable (result);
  if (i == 0) {
    inherit_timestamps (result, item, n);
    GST_BUFFER_FLAG_SET (result, GST_BUFFER_FLAGS (item) & FLAGS);
  }
  inherit_metas (result, item);
  return result;
}
