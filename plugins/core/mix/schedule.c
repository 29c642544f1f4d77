/* gst-spdl: weights of a mix that change on the way
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/mix/schedule.h"

#include <math.h>

/* From `from` on, in items or tokens of all pads, each pad has a share. */
typedef struct {
  gdouble from;
  gdouble *shares; /* their sum is 1 */
} Stage;

struct _SpdlMixStages {
  guint n_pads;
  GArray *stages; /* Stage */
};

static void
clear_stage (gpointer data)
{
  g_free (((Stage *) data)->shares);
}

static gboolean
read_number (const gchar *text, gdouble *number)
{
  gchar *end;

  *number = g_ascii_strtod (text, &end);
  return end != text && *g_strchug (end) == '\0' && isfinite (*number) &&
         *number >= 0;
}

/* Reads the weights of a stage. */
static gboolean
read_shares (Stage *stage, const gchar *text, guint n_pads)
{
  g_auto (GStrv) weights = g_strsplit (text, ",", -1);
  gdouble sum = 0;

  if (g_strv_length (weights) != n_pads)
    return FALSE;
  for (guint i = 0; i < n_pads; i++) {
    if (!read_number (weights[i], &stage->shares[i]))
      return FALSE;
    sum += stage->shares[i];
  }
  for (guint i = 0; i < n_pads; i++)
    stage->shares[i] /= sum;
  return sum > 0 && isfinite (sum);
}

/* Adds a stage, which begins after the last one. */
static gboolean
add_stage (SpdlMixStages *self, const gchar *text)
{
  g_auto (GStrv) sides = g_strsplit (text, ":", -1);
  Stage stage = { 0, g_new0 (gdouble, self->n_pads) };
  gboolean ok = g_strv_length (sides) == 2 &&
                read_number (sides[0], &stage.from) &&
                read_shares (&stage, sides[1], self->n_pads);

  if (self->stages->len == 0)
    ok = ok && stage.from == 0;
  else
    ok = ok &&
         stage.from >
             g_array_index (self->stages, Stage, self->stages->len - 1).from;
  g_array_append_val (self->stages, stage);
  return ok;
}

SpdlMixStages *
spdl_mix_stages_parse (const gchar *text, guint n_pads, GError **error)
{
  g_auto (GStrv) stages = g_strsplit (text, ";", -1);
  SpdlMixStages *self = g_new0 (SpdlMixStages, 1);
  gboolean ok = TRUE;

  self->n_pads = n_pads;
  self->stages = g_array_new (FALSE, FALSE, sizeof (Stage));
  g_array_set_clear_func (self->stages, clear_stage);
  for (guint i = 0; stages[i] && ok; i++)
    ok = add_stage (self, stages[i]);
  if (ok)
    return self;
  spdl_mix_stages_free (self);
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "schedule is \"%s\", but must be stages such as \"0: 3,1; 1e9: 1,1\": "
      "rising numbers from 0 on, and the weights of the %u pads from there on",
      text, n_pads);
  return NULL;
}

void
spdl_mix_stages_free (SpdlMixStages *self)
{
  g_array_unref (self->stages);
  g_free (self);
}

gdouble
spdl_mix_stages_get_due (const SpdlMixStages *self, guint pad, gdouble count)
{
  for (guint i = 0; i < self->stages->len; i++) {
    const Stage *stage = &g_array_index (self->stages, Stage, i);
    const gdouble share = stage->shares[pad];
    const gdouble end = i + 1 < self->stages->len ? stage[1].from : INFINITY;
    /* Not 0 times infinity. */
    const gdouble n = share > 0 ? (end - stage->from) * share : 0;

    if (count < n)
      return stage->from + count / share;
    count -= n;
  }
  return INFINITY;
}
