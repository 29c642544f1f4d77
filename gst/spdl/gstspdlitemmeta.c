/* gst-spdl: metadata of an item: index, epoch, label, URI
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlitemmeta
 * @title: GstSpdlItemMeta
 * @short_description: metadata of an item
 *
 * An *item* is one #GstBuffer with a #GstSpdlItemMeta: a sample between the
 * dataset and the trainer. `spdlsrc` numbers items. In a pipeline without
 * `spdlsrc`, the first stage numbers them.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlitemmeta.h"

#include <string.h>

#include "gst/spdl/common/showntext.h"
#include "gst/spdl/common/metatype.h"

/* No tags: the meta stays valid whatever an element does to the content. */
SPDL_DEFINE_META_API (GstSpdlItemMeta, gst_spdl_item_meta, NULL)

static gboolean
item_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  GstSpdlItemMeta *item = (GstSpdlItemMeta *) meta;

  memset (
      (guint8 *) item + sizeof (GstMeta), 0, sizeof *item - sizeof (GstMeta));
  item->label = -1;
  item->created = GST_CLOCK_TIME_NONE;
  item->parts = 1;
  return TRUE;
}

static void
item_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  gst_spdl_item_meta_unassign ((GstSpdlItemMeta *) meta);
}

static gboolean
item_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer,
    GQuark type, gpointer data)
{
  /* The destination may already have an item meta. */
  GstSpdlItemMeta *copy = gst_spdl_buffer_get_item_meta (dest);

  if (!copy)
    copy = gst_spdl_buffer_add_item_meta (dest);
  if (!copy)
    return FALSE;
  gst_spdl_item_meta_assign (copy, (GstSpdlItemMeta *) meta);
  return TRUE;
}

/**
 * gst_spdl_item_meta_get_info: (skip)
 *
 * Returns: the implementation of #GstSpdlItemMeta
 *
 * Since: 0.1
 */
SPDL_DEFINE_META_INFO (GstSpdlItemMeta, gst_spdl_item_meta,
    sizeof (GstSpdlItemMeta), item_meta_init, item_meta_free,
    item_meta_transform)

/**
 * gst_spdl_buffer_add_item_meta:
 * @buffer: (transfer none): a writable buffer
 *
 * Turns @buffer into an item without a label, a URI and a number.
 *
 * Returns: (transfer none): the meta, owned by @buffer
 *
 * Since: 0.1
 */
GstSpdlItemMeta *
gst_spdl_buffer_add_item_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return (GstSpdlItemMeta *) gst_buffer_add_meta (
      buffer, gst_spdl_item_meta_get_info (), NULL);
}

/**
 * gst_spdl_buffer_get_item_meta:
 * @buffer: (transfer none): a buffer
 *
 * Gets the item metadata of a buffer.
 *
 * Returns: (transfer none) (nullable): the meta, owned by @buffer; %NULL if
 *     @buffer is not an item
 *
 * Since: 0.1
 */
GstSpdlItemMeta *
gst_spdl_buffer_get_item_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return (GstSpdlItemMeta *) gst_buffer_get_meta (
      buffer, GST_SPDL_ITEM_META_API_TYPE);
}

/**
 * gst_spdl_item_meta_assign: (skip)
 * @dest: the meta to overwrite; its previous content is released
 * @src: the meta to copy
 *
 * Copies all fields except the #GstMeta itself.
 *
 * Since: 0.1
 */
void
gst_spdl_item_meta_assign (GstSpdlItemMeta *dest, const GstSpdlItemMeta *src)
{
  const GstMeta meta = dest->meta;

  if (dest == src)
    return;
  gst_spdl_item_meta_unassign (dest);
  *dest = *src;
  dest->meta = meta;
  if (src->uri)
    dest->uri = g_ref_string_acquire (src->uri);
  if (src->extra)
    dest->extra = gst_structure_copy (src->extra);
}

/**
 * gst_spdl_item_meta_unassign: (skip)
 * @item: a meta
 *
 * Releases the content of @item. Only for metas without a buffer.
 *
 * Since: 0.1
 */
void
gst_spdl_item_meta_unassign (GstSpdlItemMeta *item)
{
  g_clear_pointer (&item->uri, g_ref_string_release);
  g_clear_pointer (&item->extra, gst_structure_free);
}

/**
 * gst_spdl_item_meta_describe:
 * @item: a meta
 *
 * Formats the name of an item for a message: its URI, or its number without
 * one. Characters that are not printable are escaped.
 *
 * Returns: (transfer full): the name; free with g_free()
 *
 * Since: 0.1
 */
gchar *
gst_spdl_item_meta_describe (const GstSpdlItemMeta *item)
{
  g_return_val_if_fail (item != NULL, NULL);

  if (item->uri)
    return spdl_show_line (item->uri);
  return g_strdup_printf ("item %" G_GUINT64_FORMAT
                          " of epoch %" G_GUINT64_FORMAT,
      item->index, item->epoch);
}
