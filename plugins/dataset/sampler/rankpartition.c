/* gst-spdl: rank and world size of this process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/sampler/rankpartition.h"

#include <gst/gst.h>

#include "plugins/common/fail.h"

/* Environment variables of the supported launchers, in order of precedence.
 * Kubernetes numbers its pods but does not count them, so the count comes from
 * the job's WORLD_SIZE. */
static const struct {
  const gchar *rank;
  const gchar *world_size;
} systems[] = {
  { "RANK", "WORLD_SIZE" },
  { "SLURM_PROCID", "SLURM_NTASKS" },
  { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
  { "JOB_COMPLETION_INDEX", "WORLD_SIZE" },
};

typedef struct {
  const gchar *property;
  const gchar *variable; /* source of the value; NULL: the property */
  gint64 value;          /* -1: unknown */
} Setting;

static gboolean
is_known (const Setting *setting, const gchar *variable)
{
  return setting->value >= 0 || g_getenv (variable) != NULL;
}

/* Returns the first launcher that provides everything that the properties leave
 * unset, so that rank and world size never come from two launchers; otherwise
 * the first that provides something; otherwise the first. */
static guint
find_system (const Setting *rank, const Setting *world_size)
{
  guint partly = G_N_ELEMENTS (systems);

  for (guint i = 0; i < G_N_ELEMENTS (systems); i++) {
    const gboolean has_rank = is_known (rank, systems[i].rank);
    const gboolean has_size = is_known (world_size, systems[i].world_size);

    if (has_rank && has_size)
      return i;
    if ((has_rank || has_size) && partly == G_N_ELEMENTS (systems))
      partly = i;
  }
  return partly == G_N_ELEMENTS (systems) ? 0 : partly;
}

static gboolean
look_up (Setting *setting, const gchar *variable, GError **error)
{
  const gchar *text = g_getenv (variable);
  guint64 number;

  if (setting->value >= 0)
    return TRUE;
  setting->variable = variable;
  if (!text)
    return TRUE;
  if (g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT, &number, NULL)) {
    setting->value = number;
    return TRUE;
  }
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "The environment variable %s is \"%s\", which is not a whole number from "
      "0 to %d: correct or unset it, or set the property %s",
      variable, text, G_MAXINT, setting->property);
}

static const gchar *
source_of (const Setting *setting)
{
  return setting->variable ? "environment's" : "property";
}

static const gchar *
name_of (const Setting *setting)
{
  return setting->variable ? setting->variable : setting->property;
}

static void
set_one_unknown (const Setting *known, const Setting *unknown, GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "The %s %s is %" G_GINT64_FORMAT
      ", but %s is unknown: set the property %s, or %s in the environment",
      source_of (known), name_of (known), known->value, unknown->property,
      unknown->property, unknown->variable);
}

gboolean
spdl_rank_partition_init (
    SpdlPartition *self, gint rank, gint world_size, GError **error)
{
  Setting r = { "rank", NULL, rank < 0 ? -1 : rank };
  Setting w = { "world-size", NULL, world_size < 0 ? -1 : world_size };
  const guint system = find_system (&r, &w);

  if (!look_up (&r, systems[system].rank, error) ||
      !look_up (&w, systems[system].world_size, error))
    return FALSE;
  if ((r.value < 0) != (w.value < 0)) {
    set_one_unknown (r.value < 0 ? &w : &r, r.value < 0 ? &r : &w, error);
    return FALSE;
  }
  if (r.value < 0) {
    r.value = 0;
    w.value = 1;
  }
  if (r.value >= w.value)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "The %s %s is %" G_GINT64_FORMAT ", but the %s %s is %" G_GINT64_FORMAT
        ": ranks go from 0 to one less than the world size",
        source_of (&r), name_of (&r), r.value, source_of (&w), name_of (&w),
        w.value);
  self->rank = r.value;
  self->world_size = w.value;
  return TRUE;
}
