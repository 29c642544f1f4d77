/* gst-spdl: the disk cache's properties
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/diskcache/diskcache.h"

enum {
  ID_DIR,
  ID_SIZE,
  ID_VALIDATE,
};

/* 64 GiB. */
#define DEFAULT_MAX_SIZE ((guint64) 1 << 36)

static GType
cache_validate_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { SPDL_CACHE_VALIDATE_ETAG,
        "The server is asked by the ETag whether an item is still the same",
        "etag" },
    { SPDL_CACHE_VALIDATE_DATE,
        "By the ETag or else by the date of the last change", "date" },
    { SPDL_CACHE_VALIDATE_NONE, "Nothing changes, and nobody is asked",
        "none" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type)) {
    GType made = g_enum_register_static ("GstSpdlFetchCacheValidate", values);

    gst_type_mark_as_plugin_api (made, 0);
    g_once_init_leave (&type, made);
  }
  return type;
}

void
spdl_disk_cache_install_properties (GObjectClass *object_class, guint first_id)
{
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  g_object_class_install_property (object_class, first_id + ID_DIR,
      g_param_spec_string ("cache-dir", "Cache folder",
          "A folder where items and ranges from HTTP servers are kept; any "
          "number of processes may share it (unset = none is)",
          NULL, flags));
  g_object_class_install_property (object_class, first_id + ID_SIZE,
      g_param_spec_uint64 ("cache-size", "Cache size",
          "Bytes that cache-dir may have, beyond which goes what was not used "
          "for the longest time (0 = no limit)",
          0, G_MAXINT64, DEFAULT_MAX_SIZE, flags));
  g_object_class_install_property (object_class, first_id + ID_VALIDATE,
      g_param_spec_enum ("cache-validate", "Cache validation",
          "How it is made sure that a server still has what cache-dir has",
          cache_validate_get_type (), SPDL_CACHE_VALIDATE_ETAG, flags));
}

void
spdl_disk_cache_settings_init (SpdlDiskCacheSettings *self)
{
  *self = (SpdlDiskCacheSettings){ NULL, DEFAULT_MAX_SIZE,
    SPDL_CACHE_VALIDATE_ETAG };
}

void
spdl_disk_cache_settings_copy (
    SpdlDiskCacheSettings *self, const SpdlDiskCacheSettings *other)
{
  *self = *other;
  self->folder = g_strdup (other->folder);
}

void
spdl_disk_cache_settings_clear (SpdlDiskCacheSettings *self)
{
  g_clear_pointer (&self->folder, g_free);
}

gboolean
spdl_disk_cache_settings_set (
    SpdlDiskCacheSettings *self, guint id, const GValue *value)
{
  switch (id) {
    case ID_DIR:
      g_free (self->folder);
      self->folder = g_value_dup_string (value);
      return TRUE;
    case ID_SIZE:
      self->max_size = g_value_get_uint64 (value);
      return TRUE;
    case ID_VALIDATE:
      self->validate = g_value_get_enum (value);
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
spdl_disk_cache_settings_get (
    const SpdlDiskCacheSettings *self, guint id, GValue *value)
{
  switch (id) {
    case ID_DIR:
      g_value_set_string (value, self->folder);
      return TRUE;
    case ID_SIZE:
      g_value_set_uint64 (value, self->max_size);
      return TRUE;
    case ID_VALIDATE:
      g_value_set_enum (value, self->validate);
      return TRUE;
    default:
      return FALSE;
  }
}
