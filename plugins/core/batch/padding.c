/* gst-spdl: items of unequal length on their way into a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/padding.h"

#include <string.h>

static SpdlHeld *
get_held (const SpdlPad *self, guint i)
{
  return &g_array_index (self->held, SpdlHeld, i);
}

static void
clear_held (gpointer data)
{
  gst_clear_buffer (&((SpdlHeld *) data)->buffer);
}

void
spdl_pad_init (SpdlPad *self)
{
  self->held = g_array_new (FALSE, FALSE, sizeof (SpdlHeld));
  g_array_set_clear_func (self->held, clear_held);
}

void
spdl_pad_clear (SpdlPad *self)
{
  g_clear_pointer (&self->held, g_array_unref);
}

void
spdl_pad_forget (SpdlPad *self)
{
  g_array_set_size (self->held, 0);
}

static gboolean
is_planar (const SpdlStacker *stacker)
{
  return stacker->converts && stacker->convert.planar;
}

/* The dimension that may differ; -1: none. */
static gint
find_dim (const SpdlStacker *stacker)
{
  const guint rank = stacker->info.tensors[0].rank;

  if (stacker->n_channels > 0)
    return is_planar (stacker) ? 0 : 1;
  /* In images all of a plane would be between the rows and what is added. */
  if (stacker->is_video || (is_planar (stacker) && rank == 3))
    return -1;
  return rank - 1;
}

gboolean
spdl_pad_can (const SpdlStacker *stacker)
{
  return find_dim (stacker) >= 0;
}

static guint32
length_of (const SpdlStacker *stacker)
{
  const gint dim = find_dim (stacker);

  return dim < 0 ? 0 : stacker->info.tensors[0].dims[dim];
}

gboolean
spdl_pad_take (
    SpdlPad *self, const SpdlStacker *stacker, GstBuffer *item, GError **error)
{
  const gint dim = find_dim (stacker);
  SpdlHeld held = { NULL, *stacker };

  if (self->held->len > 0) {
    const SpdlStacker *first = &get_held (self, 0)->stacker;

    if (dim >= 0 && find_dim (first) == dim)
      held.stacker.info.tensors[0].dims[dim] = length_of (first);
    /* The message is to have both lengths as they are. */
    if (!spdl_stacker_is_compatible (first, &held.stacker, NULL))
      return spdl_stacker_is_compatible (first, stacker, error);
  }
  held.stacker = *stacker;
  held.buffer = gst_buffer_ref (item);
  g_array_append_val (self->held, held);
  return TRUE;
}

const SpdlStacker *
spdl_pad_get_longest (const SpdlPad *self)
{
  const SpdlStacker *longest = &get_held (self, 0)->stacker;

  for (guint i = 1; i < self->held->len; i++) {
    const SpdlStacker *stacker = &get_held (self, i)->stacker;

    if (length_of (stacker) > length_of (longest))
      longest = stacker;
  }
  return longest;
}

guint32
spdl_pad_get_length (const SpdlPad *self, guint i)
{
  return length_of (&get_held (self, i)->stacker);
}

/* Behind each channel, where it has a plane; else behind all of it. */
static void
fill (const SpdlStacker *stacker, const SpdlStacker *longest, guint8 *place)
{
  const GstSpdlTensorInfo *own = &stacker->info.tensors[0];
  const gboolean silence = stacker->n_channels > 0 && !stacker->converts &&
                           own->type == GST_SPDL_TENSOR_UINT8;
  const guint n_planes =
      stacker->n_channels > 0 && is_planar (stacker) ? stacker->n_channels : 1;
  const gsize size = gst_spdl_tensor_info_get_size (own) / n_planes;
  const gsize all =
      gst_spdl_tensor_info_get_size (&longest->info.tensors[0]) / n_planes;

  for (guint i = 0; i < n_planes; i++)
    memset (place + i * all + size, silence ? 0x80 : 0, all - size);
}

gboolean
spdl_pad_write (const SpdlPad *self, guint i, const SpdlStacker *longest,
    guint8 *const *places, GError **error)
{
  SpdlHeld *held = get_held (self, i);

  held->stacker.plane = longest->n_pixels;
  if (!spdl_stacker_write (&held->stacker, held->buffer, places, error))
    return FALSE;
  fill (&held->stacker, longest, places[0]);
  return TRUE;
}
