/* gst-spdl: the properties of spdlcudanormalize
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/cuda/normalizesettings.h"

#include "gst/spdl/common/numberarrays.h"

enum {
  PROP_0,
  PROP_TYPE,
  PROP_MEAN,
  PROP_STD,
  PROP_FLIP,
  PROP_SEED,
};

#define DEFAULT_TYPE SPDL_NORMALIZE_TYPE_FLOAT32
#define DEFAULT_FLIP 0.0
#define DEFAULT_SEED 0

#define GST_TYPE_SPDL_NORMALIZE_TYPE (spdl_normalize_type_get_type ())
static GType
spdl_normalize_type_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { SPDL_NORMALIZE_TYPE_FLOAT32, "IEEE single precision", "float32" },
    { SPDL_NORMALIZE_TYPE_FLOAT16, "IEEE half precision", "float16" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, g_enum_register_static ("GstSpdlCudaNormalizeType", values));
  return type;
}

void
spdl_normalize_settings_init (SpdlNormalizeSettings *self)
{
  *self = (SpdlNormalizeSettings){
    .type = DEFAULT_TYPE, .flip = DEFAULT_FLIP, .seed = DEFAULT_SEED
  };
}

gboolean
spdl_normalize_settings_set (
    SpdlNormalizeSettings *self, guint id, const GValue *value)
{
  switch (id) {
    case PROP_TYPE:
      self->type = g_value_get_enum (value);
      break;
    case PROP_MEAN:
      self->n_mean =
          gst_spdl_numbers_get (value, self->mean, SPDL_NORMALIZE_MAX_CHANNELS);
      break;
    case PROP_STD:
      self->n_std =
          gst_spdl_numbers_get (value, self->std, SPDL_NORMALIZE_MAX_CHANNELS);
      break;
    case PROP_FLIP:
      self->flip = g_value_get_double (value);
      break;
    case PROP_SEED:
      self->seed = g_value_get_uint64 (value);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

gboolean
spdl_normalize_settings_get (
    const SpdlNormalizeSettings *self, guint id, GValue *value)
{
  switch (id) {
    case PROP_TYPE:
      g_value_set_enum (value, self->type);
      break;
    case PROP_MEAN:
      gst_spdl_numbers_put (value, self->mean, self->n_mean);
      break;
    case PROP_STD:
      gst_spdl_numbers_put (value, self->std, self->n_std);
      break;
    case PROP_FLIP:
      g_value_set_double (value, self->flip);
      break;
    case PROP_SEED:
      g_value_set_uint64 (value, self->seed);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

void
spdl_normalize_settings_install (GObjectClass *klass)
{
  const GParamFlags ready =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  g_object_class_install_property (klass, PROP_TYPE,
      g_param_spec_enum ("dtype", "Data type", "Type of the samples",
          GST_TYPE_SPDL_NORMALIZE_TYPE, DEFAULT_TYPE, ready));
  gst_spdl_numbers_install_factors (klass, PROP_MEAN, PROP_STD, ready);
  g_object_class_install_property (klass, PROP_FLIP,
      g_param_spec_double ("flip", "Flip",
          "The probability with which an image is mirrored, left to right", 0.0,
          1.0, DEFAULT_FLIP, ready));
  g_object_class_install_property (klass, PROP_SEED,
      g_param_spec_uint64 ("seed", "Seed",
          "What is drawn depends on it, the epoch and the index alone", 0,
          G_MAXUINT64, DEFAULT_SEED, ready));
  gst_type_mark_as_plugin_api (GST_TYPE_SPDL_NORMALIZE_TYPE, 0);
}
