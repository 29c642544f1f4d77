/* gst-spdl: spdltestbatches, a source of batches for benchmarks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/plugin/spdltestbatches.h"

#include <gst/base/gstpushsrc.h>
#include <gst/spdl/spdl.h>
#include <string.h>

#define URI "file:///data/imagenet/train/n01440764/n01440764_%05u.JPEG"

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define TEST_TYPE_BATCHES (test_batches_get_type ())
G_DECLARE_FINAL_TYPE (TestBatches, test_batches, TEST, BATCHES, GstPushSrc)

struct _TestBatches {
  GstPushSrc parent;

  guint items;
  guint side;
  guint64 n_sent;
  GPtrArray *uris;    /* of GRefString, for the items of a batch */
  GHashTable *filled; /* addresses of the memory that was filled */
};

enum {
  PROP_0,
  PROP_ITEMS,
  PROP_SIDE,
};

G_DEFINE_FINAL_TYPE (TestBatches, test_batches, GST_TYPE_PUSH_SRC)

static gsize
get_size (TestBatches *self)
{
  return (gsize) self->items * self->side * self->side * 3;
}

static gboolean
test_batches_start (GstBaseSrc *src)
{
  TestBatches *self = TEST_BATCHES (src);
  const guint32 dims[] = { 3, self->side, self->side, self->items };
  GstSpdlTensorsInfo info;
  GstCaps *caps;
  gboolean ok;

  gst_spdl_tensors_info_init (&info);
  gst_spdl_tensors_info_add (&info, GST_SPDL_TENSOR_UINT8, 4, dims);
  caps = gst_spdl_tensors_info_to_caps (&info);
  gst_base_src_set_blocksize (src, get_size (self));
  ok = gst_base_src_set_caps (src, caps);
  for (guint i = self->uris->len; i < self->items; i++) {
    g_autofree gchar *uri = g_strdup_printf (URI, i * 37);

    g_ptr_array_add (self->uris, g_ref_string_new (uri));
  }
  gst_caps_unref (caps);
  return ok;
}

static void
fill_once (TestBatches *self, GstBuffer *buffer)
{
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  if (g_hash_table_add (self->filled, map.data))
    memset (map.data, 7, map.size);
  gst_buffer_unmap (buffer, &map);
}

static GstFlowReturn
test_batches_fill (GstPushSrc *src, GstBuffer *buffer)
{
  TestBatches *self = TEST_BATCHES (src);
  GstSpdlBatchMeta *batch =
      gst_spdl_buffer_add_batch_meta (buffer, self->items);
  GstSpdlItemMeta item = { .label = 3, .parts = 1 };

  gst_buffer_set_size (buffer, get_size (self));
  fill_once (self, buffer);
  for (guint i = 0; i < self->items; i++) {
    item.index = item.sequence = self->n_sent++;
    item.uri = g_ptr_array_index (self->uris, i);
    gst_spdl_batch_meta_append (batch, &item);
  }
  gst_spdl_batch_meta_add_name (batch, "data");
  return GST_FLOW_OK;
}

static void
test_batches_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  TestBatches *self = TEST_BATCHES (object);

  if (id == PROP_ITEMS)
    self->items = g_value_get_uint (value);
  else
    self->side = g_value_get_uint (value);
}

static void
test_batches_finalize (GObject *object)
{
  TestBatches *self = TEST_BATCHES (object);

  g_hash_table_unref (self->filled);
  g_ptr_array_unref (self->uris);
  G_OBJECT_CLASS (test_batches_parent_class)->finalize (object);
}

static void
test_batches_class_init (TestBatchesClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags w = G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS;

  object_class->set_property = test_batches_set_property;
  object_class->finalize = test_batches_finalize;
  g_object_class_install_property (object_class, PROP_ITEMS,
      g_param_spec_uint (
          "items", "items", "Number of items in a batch", 1, 4096, 1, w));
  g_object_class_install_property (object_class, PROP_SIDE,
      g_param_spec_uint ("side", "side",
          "Width and height of an image in pixels", 1, 4096, 224, w));
  gst_element_class_add_static_pad_template (
      GST_ELEMENT_CLASS (klass), &src_template);
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Test batches", "Source", "Produces batches without loading data",
      "the gst-spdl developers");
  GST_BASE_SRC_CLASS (klass)->start = test_batches_start;
  GST_PUSH_SRC_CLASS (klass)->fill = test_batches_fill;
}

static void
test_batches_init (TestBatches *self)
{
  self->items = 1;
  self->side = 224;
  self->uris =
      g_ptr_array_new_with_free_func ((GDestroyNotify) g_ref_string_release);
  self->filled = g_hash_table_new (NULL, NULL);
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
}

gboolean
test_batches_register (GstPlugin *plugin)
{
  return gst_element_register (
      plugin, "spdltestbatches", GST_RANK_NONE, TEST_TYPE_BATCHES);
}
