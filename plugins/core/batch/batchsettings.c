/* gst-spdl: the properties of spdlbatch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/batchsettings.h"

#include "gst/spdl/common/valuearrays.h"

#define DEFAULT_SIZE 32
#define DEFAULT_DROP_LAST FALSE
#define DEFAULT_LABELS FALSE
#define DEFAULT_INDICES FALSE
#define DEFAULT_TYPE SPDL_COLLATE_DTYPE_AS_IS
#define DEFAULT_LAYOUT SPDL_COLLATE_LAYOUT_AS_IS
#define DEFAULT_PAD FALSE
#define DEFAULT_ON_SHAPE_MISMATCH SPDL_ON_SHAPE_MISMATCH_AUTO

#define GST_TYPE_SPDL_STACK_TYPE (spdl_collate_dtype_get_type ())
static GType
spdl_collate_dtype_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { SPDL_COLLATE_DTYPE_AS_IS, "The items' own", "as-is" },
    { SPDL_COLLATE_DTYPE_UINT8, "Bytes", "uint8" },
    { SPDL_COLLATE_DTYPE_FLOAT16, "IEEE half precision, of uint8 0 to 1",
        "float16" },
    { SPDL_COLLATE_DTYPE_FLOAT32, "IEEE single precision, of uint8 0 to 1",
        "float32" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, g_enum_register_static ("GstSpdlBatchType", values));
  return type;
}

#define GST_TYPE_SPDL_STACK_LAYOUT (spdl_collate_layout_get_type ())
static GType
spdl_collate_layout_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { SPDL_COLLATE_LAYOUT_AS_IS, "The items' own", "as-is" },
    { SPDL_COLLATE_LAYOUT_NHWC, "Channels of a pixel side by side", "nhwc" },
    { SPDL_COLLATE_LAYOUT_NCHW, "A plane for each channel", "nchw" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, g_enum_register_static ("GstSpdlBatchLayout", values));
  return type;
}

#define GST_TYPE_SPDL_ON_SHAPE_MISMATCH (spdl_on_shape_mismatch_get_type ())
static GType
spdl_on_shape_mismatch_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { SPDL_ON_SHAPE_MISMATCH_AUTO,
        "Error in the first batch of a run that begins at the beginning, then "
        "skip",
        "auto" },
    { SPDL_ON_SHAPE_MISMATCH_ERROR, "End the stream with an error", "error" },
    { SPDL_ON_SHAPE_MISMATCH_SKIP, "Fail the item, and go on", "skip" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, g_enum_register_static ("GstSpdlOnShapeMismatch", values));
  return type;
}

void
spdl_batch_settings_init (SpdlBatchSettings *self)
{
  *self = (SpdlBatchSettings){ .size = DEFAULT_SIZE,
    .drop_last = DEFAULT_DROP_LAST,
    .labels = DEFAULT_LABELS,
    .indices = DEFAULT_INDICES,
    .pad = DEFAULT_PAD,
    .on_shape_mismatch = DEFAULT_ON_SHAPE_MISMATCH,
    .stack = { .type = DEFAULT_TYPE, .layout = DEFAULT_LAYOUT } };
}

gboolean
spdl_batch_settings_set (SpdlBatchSettings *self, guint id, const GValue *value)
{
  switch (id) {
    case SPDL_BATCH_SETTING_SIZE:
      self->size = g_value_get_uint (value);
      break;
    case SPDL_BATCH_SETTING_DROP_LAST:
      self->drop_last = g_value_get_boolean (value);
      break;
    case SPDL_BATCH_SETTING_LABELS:
      self->labels = g_value_get_boolean (value);
      break;
    case SPDL_BATCH_SETTING_INDICES:
      self->indices = g_value_get_boolean (value);
      break;
    case SPDL_BATCH_SETTING_TYPE:
      self->stack.type = g_value_get_enum (value);
      break;
    case SPDL_BATCH_SETTING_LAYOUT:
      self->stack.layout = g_value_get_enum (value);
      break;
    case SPDL_BATCH_SETTING_MEAN:
      self->stack.n_mean = gst_spdl_numbers_get (
          value, self->stack.mean, SPDL_CONVERT_MAX_CHANNELS);
      break;
    case SPDL_BATCH_SETTING_STD:
      self->stack.n_std = gst_spdl_numbers_get (
          value, self->stack.std, SPDL_CONVERT_MAX_CHANNELS);
      break;
    case SPDL_BATCH_SETTING_PART:
      self->part = g_intern_string (g_value_get_string (value));
      break;
    case SPDL_BATCH_SETTING_PAD:
      self->pad = g_value_get_boolean (value);
      break;
    case SPDL_BATCH_SETTING_ON_SHAPE_MISMATCH:
      self->on_shape_mismatch = g_value_get_enum (value);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

gboolean
spdl_batch_settings_get (const SpdlBatchSettings *self, guint id, GValue *value)
{
  switch (id) {
    case SPDL_BATCH_SETTING_SIZE:
      g_value_set_uint (value, self->size);
      break;
    case SPDL_BATCH_SETTING_DROP_LAST:
      g_value_set_boolean (value, self->drop_last);
      break;
    case SPDL_BATCH_SETTING_LABELS:
      g_value_set_boolean (value, self->labels);
      break;
    case SPDL_BATCH_SETTING_INDICES:
      g_value_set_boolean (value, self->indices);
      break;
    case SPDL_BATCH_SETTING_TYPE:
      g_value_set_enum (value, self->stack.type);
      break;
    case SPDL_BATCH_SETTING_LAYOUT:
      g_value_set_enum (value, self->stack.layout);
      break;
    case SPDL_BATCH_SETTING_MEAN:
      gst_spdl_numbers_put (value, self->stack.mean, self->stack.n_mean);
      break;
    case SPDL_BATCH_SETTING_STD:
      gst_spdl_numbers_put (value, self->stack.std, self->stack.n_std);
      break;
    case SPDL_BATCH_SETTING_PART:
      g_value_set_string (value, self->part);
      break;
    case SPDL_BATCH_SETTING_PAD:
      g_value_set_boolean (value, self->pad);
      break;
    case SPDL_BATCH_SETTING_ON_SHAPE_MISMATCH:
      g_value_set_enum (value, self->on_shape_mismatch);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

void
spdl_batch_settings_install (GObjectClass *klass)
{
  const GParamFlags playing =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  const GParamFlags ready =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  g_object_class_install_property (klass, SPDL_BATCH_SETTING_SIZE,
      g_param_spec_uint ("batch-size", "Batch size",
          "Number of items in a batch", 1, 1 << 20, DEFAULT_SIZE, playing));
  g_object_class_install_property (klass, SPDL_BATCH_SETTING_DROP_LAST,
      g_param_spec_boolean ("drop-last", "Drop last",
          "Drop a batch that is not full at the end of an epoch or of the "
          "stream",
          DEFAULT_DROP_LAST, playing));
  g_object_class_install_property (klass, SPDL_BATCH_SETTING_LABELS,
      g_param_spec_boolean ("labels", "Labels",
          "Add an int64 tensor of the items' labels", DEFAULT_LABELS, playing));
  g_object_class_install_property (klass, SPDL_BATCH_SETTING_INDICES,
      g_param_spec_boolean ("indices", "Indices",
          "Add an int64 tensor of the items' places in the dataset",
          DEFAULT_INDICES, playing));
  g_object_class_install_property (klass, SPDL_BATCH_SETTING_TYPE,
      g_param_spec_enum ("dtype", "Data type",
          "Type of the samples in a batch; uint8 samples are divided by 255 "
          "for a type of floating point",
          GST_TYPE_SPDL_STACK_TYPE, DEFAULT_TYPE, ready));
  g_object_class_install_property (klass, SPDL_BATCH_SETTING_LAYOUT,
      g_param_spec_enum ("layout", "Layout",
          "In which order they lie; items that come are taken for nhwc",
          GST_TYPE_SPDL_STACK_LAYOUT, DEFAULT_LAYOUT, ready));
  gst_spdl_numbers_install_factors (
      klass, SPDL_BATCH_SETTING_MEAN, SPDL_BATCH_SETTING_STD, ready);
  g_object_class_install_property (klass, SPDL_BATCH_SETTING_PART,
      g_param_spec_string ("part", "Part",
          "Of samples of several media, the part that dtype, layout, mean and "
          "std are for (unset = the first)",
          NULL, ready));
  g_object_class_install_property (klass, SPDL_BATCH_SETTING_PAD,
      g_param_spec_boolean ("pad-to-longest", "Pad to longest",
          "Pad items of unequal length with zeros to the longest of the batch, "
          "and add a tensor of their lengths; of samples of several media, "
          "parts that are bytes or audio",
          DEFAULT_PAD, ready));
  g_object_class_install_property (klass, SPDL_BATCH_SETTING_ON_SHAPE_MISMATCH,
      g_param_spec_enum ("on-shape-mismatch", "On shape mismatch",
          "Effect of an item whose shape, type, or number or names of tensors "
          "differ from those of the first item of its batch",
          GST_TYPE_SPDL_ON_SHAPE_MISMATCH, DEFAULT_ON_SHAPE_MISMATCH, playing));
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_STACK_TYPE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_STACK_LAYOUT, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_ON_SHAPE_MISMATCH, 0);
}
