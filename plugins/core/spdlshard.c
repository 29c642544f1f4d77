/* gst-spdl: which part of an epoch is this process's
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlshard.h"

#include <gst/gst.h>

const gchar *
spdl_shard_mode_get_name (SpdlShardMode mode)
{
  static const gchar *const names[] = {
    [SPDL_SHARD_PAD] = "pad",
    [SPDL_SHARD_DROP] = "drop",
    [SPDL_SHARD_UNEVEN] = "uneven",
  };

  return names[mode];
}

typedef struct {
  const gchar *property;
  const gchar *variable;
  gint64 value; /* -1: unknown */
  gboolean from_environment;
} Setting;

static gboolean
look_up (Setting *setting, gint value, GError **error)
{
  const gchar *text = g_getenv (setting->variable);
  guint64 number;

  setting->value = value < 0 ? -1 : value;
  setting->from_environment = value < 0 && text != NULL;
  if (!setting->from_environment)
    return TRUE;
  if (g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT, &number, NULL)) {
    setting->value = number;
    return TRUE;
  }
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "The environment's %s is \"%s\", which is no whole number from 0 to %d: "
      "correct or unset it, or set the property %s",
      setting->variable, text, G_MAXINT, setting->property);
  return FALSE;
}

static const gchar *
source_of (const Setting *setting)
{
  return setting->from_environment ? "environment's" : "property";
}

static const gchar *
name_of (const Setting *setting)
{
  return setting->from_environment ? setting->variable : setting->property;
}

static void
set_one_unknown (const Setting *known, const Setting *unknown, GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "The %s %s is %" G_GINT64_FORMAT ", but %s is not known: set the "
      "property %s, or %s in the environment",
      source_of (known), name_of (known), known->value, unknown->property,
      unknown->property, unknown->variable);
}

gboolean
spdl_shard_init (SpdlShard *self, gint rank, gint world_size,
    SpdlShardMode mode, GError **error)
{
  Setting r = { "rank", "RANK" };
  Setting w = { "world-size", "WORLD_SIZE" };

  if (!look_up (&r, rank, error) || !look_up (&w, world_size, error))
    return FALSE;
  if ((r.value < 0) != (w.value < 0)) {
    set_one_unknown (r.value < 0 ? &w : &r, r.value < 0 ? &r : &w, error);
    return FALSE;
  }
  if (r.value < 0) {
    r.value = 0;
    w.value = 1;
  }
  if (r.value >= w.value) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "The %s %s is %" G_GINT64_FORMAT ", but the %s %s is %" G_GINT64_FORMAT
        ": ranks go from 0 to one below the world size",
        source_of (&r), name_of (&r), r.value, source_of (&w), name_of (&w),
        w.value);
    return FALSE;
  }
  self->rank = r.value;
  self->world_size = w.value;
  self->mode = mode;
  return TRUE;
}

guint64
spdl_shard_get_size (const SpdlShard *self, guint64 n_items)
{
  const guint64 each = n_items / self->world_size;
  const guint64 rest = n_items % self->world_size;

  switch (self->mode) {
    case SPDL_SHARD_PAD:
      return each + (rest > 0);
    case SPDL_SHARD_DROP:
      return each;
    default:
      return each + (self->rank < rest);
  }
}

guint64
spdl_shard_get_place (const SpdlShard *self, guint64 n_items, guint64 i)
{
  return (self->rank + i * self->world_size) % n_items;
}
