/* gst-spdl: frame selection of a clip
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/result/clip.h"

#include <math.h>
#include <string.h>

#include "gst/spdl/engine/random.h"

#define FIELD "clip-times"

guint64
spdl_clip_get_reach (const SpdlClip *self)
{
  const guint64 n = MAX (self->num_frames, 1);

  return self->kind == SPDL_CLIP_UNIFORM ? n : (n - 1) * self->frame_step + 1;
}

static guint64
draw_begin (guint64 seed, guint64 epoch, guint64 index, guint n_begins)
{
  const guint64 key[] = { seed, epoch, index, SPDL_CLIP_KEY };
  SpdlRandom random;

  spdl_random_init (&random, key, G_N_ELEMENTS (key));
  return spdl_random_below (&random, n_begins + 1);
}

static void
choose_uniform (guint n, guint n_frames, guint *ranks)
{
  for (guint i = 0; i < n; i++)
    ranks[i] = (2 * (guint64) i + 1) * n_frames / (2 * (guint64) n);
}

guint
spdl_clip_choose (const SpdlClip *self, guint64 seed, guint64 epoch,
    guint64 index, guint n_frames, guint *ranks)
{
  const guint n = MAX (self->num_frames, 1);
  const gboolean uniform = self->kind == SPDL_CLIP_UNIFORM;
  const guint step = uniform ? 1 : self->frame_step;
  const guint64 reach = spdl_clip_get_reach (self);
  guint64 begin = 0;
  guint i;

  if (n_frames >= reach) {
    const guint n_begins = n_frames - reach;

    if (uniform) {
      choose_uniform (n, n_frames, ranks);
      return n;
    }
    if (self->kind == SPDL_CLIP_CENTER)
      begin = n_begins / 2;
    else if (self->kind == SPDL_CLIP_RANDOM)
      begin = draw_begin (seed, epoch, index, n_begins);
  }
  for (i = 0; i < n && begin + (guint64) i * step < n_frames; i++)
    ranks[i] = begin + (guint64) i * step;
  return i;
}

/* Times */

static gboolean
add_seconds (GArray *times, double seconds)
{
  GstClockTime time;

  if (!(seconds >= 0.0 && seconds < 1e9))
    return FALSE;
  time = rint (seconds * GST_SECOND);
  g_array_append_val (times, time);
  return TRUE;
}

static gboolean
add_text (GArray *times, const gchar *text)
{
  g_auto (GStrv) words = g_strsplit_set (text, " ;", -1);

  for (gchar **word = words; *word; word++) {
    gchar *end;

    if (!**word)
      continue;
    if (!add_seconds (times, g_ascii_strtod (*word, &end)) || *end)
      return FALSE;
  }
  return TRUE;
}

static gboolean
add_value (GArray *times, const GValue *value)
{
  GValue seconds = G_VALUE_INIT;
  gboolean ok;

  if (G_VALUE_HOLDS_UINT64 (value)) {
    const GstClockTime time = g_value_get_uint64 (value);

    g_array_append_val (times, time);
    return GST_CLOCK_TIME_IS_VALID (time);
  }
  if (G_VALUE_HOLDS_STRING (value))
    return add_text (times, g_value_get_string (value));
  g_value_init (&seconds, G_TYPE_DOUBLE);
  ok = g_value_transform (value, &seconds) &&
       add_seconds (times, g_value_get_double (&seconds));
  g_value_unset (&seconds);
  return ok;
}

static gboolean
add_values (GArray *times, const GValue *value)
{
  const gboolean is_array = GST_VALUE_HOLDS_ARRAY (value);
  guint n = 1;

  if (is_array)
    n = gst_value_array_get_size (value);
  for (guint i = 0; i < n; i++)
    if (!add_value (
            times, is_array ? gst_value_array_get_value (value, i) : value))
      return FALSE;
  return TRUE;
}

GArray *
spdl_clip_get_times (
    const GstStructure *extra, guint num_frames, GError **error)
{
  const GValue *value = extra ? gst_structure_get_value (extra, FIELD) : NULL;
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (GstClockTime));

  if (!value)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Item has no times: clip-sampling=times needs the field " FIELD
        " in the item's extra, for example from a column of a list");
  else if (!add_values (times, value) || times->len == 0)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The field " FIELD " must hold numbers of seconds");
  else if (times->len > num_frames)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Item has %u times in " FIELD ", more than num-frames (%u)", times->len,
        num_frames);
  else
    return g_steal_pointer (&times);
  return NULL;
}
