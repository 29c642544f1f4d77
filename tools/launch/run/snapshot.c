/* gst-spdl-launch: snapshot of a pipeline's statistics
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/snapshot.h"

#include <math.h>

Snapshot *
snapshot_new (void)
{
  Snapshot *self = g_new0 (Snapshot, 1);

  self->stages =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_structure_free);
  return self;
}

void
snapshot_free (gpointer data)
{
  Snapshot *self = data;

  g_ptr_array_unref (self->stages);
  g_clear_pointer (&self->diagnosis, gst_spdl_diagnosis_unref);
  g_clear_pointer (&self->overall, gst_spdl_diagnosis_unref);
  g_free (self);
}

guint64
stats_get (const GstStructure *stats, const gchar *field)
{
  guint64 value = 0;

  gst_structure_get_uint64 (stats, field, &value);
  return value;
}

guint
stats_get_uint (const GstStructure *stats, const gchar *field)
{
  guint value = 0;

  gst_structure_get_uint (stats, field, &value);
  return value;
}

double
stats_get_double (const GstStructure *stats, const gchar *field)
{
  gdouble value = 0;

  gst_structure_get_double (stats, field, &value);
  return value;
}

const gchar *
stats_get_name (const GstStructure *stats)
{
  return gst_structure_get_string (stats, "stage");
}

/* Returns whether the unit of a field is nanoseconds. */
static gboolean
is_time (const gchar *field)
{
  return g_str_has_suffix (field, "-time") ||
         g_str_has_suffix (field, "-latency");
}

double
stats_get_number (const GstStructure *stats, const gchar *field)
{
  g_auto (GValue) number = G_VALUE_INIT;

  g_value_init (&number, G_TYPE_DOUBLE);
  g_value_transform (gst_structure_get_value (stats, field), &number);
  return g_value_get_double (&number) / (is_time (field) ? 1e9 : 1);
}

gchar *
stats_format (const GstStructure *stats, const gchar *field)
{
  const GValue *value = gst_structure_get_value (stats, field);

  if (!value)
    return g_strdup ("");
  if (is_time (field))
    return format_ns (g_value_get_uint64 (value));
  if (!G_VALUE_HOLDS_DOUBLE (value))
    return format_count (stats_get_number (stats, field));
  return g_str_equal (field, "qps")
             ? format_rate (g_value_get_double (value))
             : format_percent (g_value_get_double (value));
}

gboolean
snapshot_has_field (const Snapshot *snapshot, const gchar *field)
{
  for (guint i = 0; i < snapshot->stages->len; i++)
    if (gst_structure_has_field (
            g_ptr_array_index (snapshot->stages, i), field))
      return TRUE;
  return FALSE;
}

const GstStructure *
snapshot_find (const Snapshot *snapshot, const gchar *name)
{
  for (guint i = 0; i < snapshot->stages->len; i++) {
    const GstStructure *stats = g_ptr_array_index (snapshot->stages, i);

    if (g_strcmp0 (stats_get_name (stats), name) == 0)
      return stats;
  }
  return NULL;
}

static double
get_share (double part, double whole)
{
  return whole > 0 ? MIN (part / whole, 1.0) : 0;
}

static double
time_in_tasks (const GstStructure *stats)
{
  return (double) stats_get (stats, "num-tasks") *
         stats_get (stats, "ave-time");
}

const GstStructure *
snapshot_get_trainer (const Snapshot *snapshot)
{
  for (guint i = snapshot->stages->len; i > 0; i--) {
    const GstStructure *stats = g_ptr_array_index (snapshot->stages, i - 1);

    if (stats_get (stats, "p50-step-time") > 0)
      return stats;
  }
  return NULL;
}

double
stats_get_computing (const GstStructure *stats)
{
  return get_share (stats_get (stats, "cpu-time"), time_in_tasks (stats));
}

double
stats_get_busy (const GstStructure *stats)
{
  return get_share (time_in_tasks (stats),
      (double) stats_get (stats, "elapsed") *
          MAX (stats_get_uint (stats, "concurrency"), 1));
}

/* Formats about three digits. */
static gchar *
format_number (double value, const gchar *unit)
{
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

  return g_strdup_printf ("%.*f%s", decimals, value, unit);
}

gchar *
format_ns (guint64 ns)
{
  if (ns < 999500)
    return format_number (ns / 1e3, " us");
  if (ns < 999500000)
    return format_number (ns / 1e6, " ms");
  return format_number (ns / 1e9, " s");
}

gchar *
format_bytes (guint64 bytes)
{
  if (bytes >= 10e9)
    return format_number (bytes / 1e9, " GB");
  return g_strdup_printf ("%.0f MB", bytes / 1e6);
}

gchar *
format_rate (double rate)
{
  return format_number (rate, "");
}

gchar *
format_count (guint64 n)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT, n);
}

gchar *
format_percent (double share)
{
  return g_strdup_printf ("%ld %%", lround (share * 100));
}

gchar *
format_clock (double seconds)
{
  const guint64 s = (guint64) llround (MAX (seconds, 0));

  if (s >= 3600)
    return g_strdup_printf ("%u:%02u:%02u", (guint) (s / 3600),
        (guint) (s / 60 % 60), (guint) (s % 60));
  return g_strdup_printf ("%u:%02u", (guint) (s / 60), (guint) (s % 60));
}
