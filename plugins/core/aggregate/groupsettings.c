/* gst-spdl: the properties of spdlaggregate
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/aggregate/groupsettings.h"

enum {
  PROP_0,
  PROP_SIZE,
  PROP_DROP_LAST,
  PROP_MAX_BYTES,
  PROP_KEY,
  PROP_MAX_KEYS,
  N_PROPS,
};

#define DEFAULT_SIZE 1
#define DEFAULT_DROP_LAST FALSE
#define DEFAULT_MAX_BYTES 0
#define DEFAULT_MAX_KEYS 1024

static GParamSpec *properties[N_PROPS];

void
spdl_group_settings_init (SpdlGroupSettings *self)
{
  *self = (SpdlGroupSettings){ DEFAULT_SIZE, DEFAULT_MAX_BYTES,
    DEFAULT_DROP_LAST, DEFAULT_MAX_KEYS, NULL };
}

void
spdl_group_settings_clear (SpdlGroupSettings *self)
{
  g_clear_pointer (&self->key, g_free);
}

gboolean
spdl_group_settings_set (SpdlGroupSettings *self, guint id, const GValue *value)
{
  switch (id) {
    case PROP_SIZE:
      self->size = g_value_get_uint (value);
      return TRUE;
    case PROP_DROP_LAST:
      self->drop_last = g_value_get_boolean (value);
      return TRUE;
    case PROP_MAX_BYTES:
      self->max_bytes = g_value_get_uint64 (value);
      return TRUE;
    case PROP_KEY:
      g_free (self->key);
      self->key = g_value_dup_string (value);
      return TRUE;
    case PROP_MAX_KEYS:
      self->max_keys = g_value_get_uint (value);
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
spdl_group_settings_get (const SpdlGroupSettings *self, guint id, GValue *value)
{
  switch (id) {
    case PROP_SIZE:
      g_value_set_uint (value, self->size);
      return TRUE;
    case PROP_DROP_LAST:
      g_value_set_boolean (value, self->drop_last);
      return TRUE;
    case PROP_MAX_BYTES:
      g_value_set_uint64 (value, self->max_bytes);
      return TRUE;
    case PROP_KEY:
      g_value_set_string (value, self->key);
      return TRUE;
    case PROP_MAX_KEYS:
      g_value_set_uint (value, self->max_keys);
      return TRUE;
    default:
      return FALSE;
  }
}

void
spdl_group_settings_install (GObjectClass *klass)
{
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  properties[PROP_SIZE] = g_param_spec_uint ("size", "Size",
      "Items of a group (0 = no limit)", 0, 1 << 20, DEFAULT_SIZE, flags);
  properties[PROP_DROP_LAST] = g_param_spec_boolean ("drop-last", "Drop last",
      "Drop a group that is not full at the end of an epoch or of the stream",
      DEFAULT_DROP_LAST, flags);
  properties[PROP_MAX_BYTES] = g_param_spec_uint64 ("max-bytes",
      "Maximum bytes",
      "Bytes of a group's items; a larger item is a group alone (0 = no limit)",
      0, G_MAXUINT64, DEFAULT_MAX_BYTES, flags);
  properties[PROP_KEY] = g_param_spec_string ("key", "Key",
      "Items for which this is the same go together: label, bytes, caps, "
      "caps.FIELD or extra.FIELD, numbers divided with /N behind it; unset = "
      "all do",
      NULL,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_MAX_KEYS] = g_param_spec_uint ("max-keys", "Maximum keys",
      "Groups of different keys that may be pending; before one more begins, "
      "the oldest goes",
      1, G_MAXUINT, DEFAULT_MAX_KEYS, flags);
  g_object_class_install_properties (klass, N_PROPS, properties);
}
