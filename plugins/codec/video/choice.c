/* gst-spdl: the frames of one video that become a clip
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/video/choice.h"

void
spdl_choice_init (SpdlChoice *self)
{
  self->ranks = g_array_new (FALSE, TRUE, sizeof (guint));
  self->sorted = g_array_new (FALSE, TRUE, sizeof (guint));
}

void
spdl_choice_clear (SpdlChoice *self)
{
  g_array_unref (self->ranks);
  g_array_unref (self->sorted);
}

/* Which frame is shown at @time: the last one that has begun. */
static guint
find_rank (const SpdlPackets *packets, GstClockTime time)
{
  guint from = 0, to = packets->by_rank->len;

  while (to - from > 1) {
    const guint middle = from + (to - from) / 2;

    if (spdl_packets_get (packets, spdl_packets_find (packets, middle))->time <=
        time)
      from = middle;
    else
      to = middle;
  }
  return from;
}

/* Those behind the end of the video are missing. */
static guint
choose_times (SpdlChoice *self, const SpdlPackets *packets, const GArray *times)
{
  guint *ranks = (guint *) self->ranks->data;
  guint n = 0;

  for (guint i = 0; i < times->len; i++) {
    const GstClockTime time = g_array_index (times, GstClockTime, i);

    if (!GST_CLOCK_TIME_IS_VALID (packets->end) || time < packets->end ||
        time == 0)
      ranks[n++] = find_rank (packets, time);
  }
  return n;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const guint rank = *(const guint *) a, other = *(const guint *) b;

  return rank < other ? -1 : rank > other;
}

static void
sort (SpdlChoice *self)
{
  guint n = 0;
  guint *sorted;

  g_array_set_size (self->sorted, 0);
  g_array_append_vals (self->sorted, self->ranks->data, self->ranks->len);
  g_array_sort (self->sorted, compare);
  sorted = (guint *) self->sorted->data;
  for (guint i = 0; i < self->ranks->len; i++)
    if (n == 0 || sorted[i] != sorted[n - 1])
      sorted[n++] = sorted[i];
  g_array_set_size (self->sorted, n);
}

gboolean
spdl_choice_make (SpdlChoice *self, const SpdlClip *clip,
    const SpdlPackets *packets, const GArray *times, const SpdlChoiceKey *key,
    GError **error)
{
  const guint n_frames = packets->by_rank->len;
  guint n_own;

  self->n_frames = MAX (clip->num_frames, 1);
  g_array_set_size (self->ranks, self->n_frames);
  n_own = times ? choose_times (self, packets, times)
                : spdl_clip_choose (clip, key->seed, key->epoch, key->index,
                      n_frames, (guint *) self->ranks->data);
  if (n_own == 0 ||
      (n_own < self->n_frames && clip->pad == SPDL_CLIP_PAD_FAIL)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "It has %u frames, of which a clip of %u would have %u of its own",
        n_frames, self->n_frames, n_own);
    return FALSE;
  }
  g_array_set_size (self->ranks, n_own);
  sort (self);
  return TRUE;
}
