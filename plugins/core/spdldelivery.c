/* gst-spdl: which items a process delivers, and in which order
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdldelivery.h"

#include "spdlpermutation.h"

struct _SpdlDelivery {
  SpdlDataset *dataset;
  gboolean shuffle;
  guint64 seed;
  SpdlPermutation permutation; /* of this epoch, if shuffled */
  SpdlShard shard;
};

void
spdl_delivery_free (SpdlDelivery *self)
{
  g_clear_pointer (&self->dataset, spdl_dataset_free);
  g_free (self);
}

static gboolean
check_shard (SpdlDelivery *self, const SpdlSettings *settings, GError **error)
{
  const guint64 n = spdl_dataset_get_size (self->dataset);

  if (settings->shard_mode != SPDL_SHARD_DROP || n >= self->shard.world_size)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "shard-mode=drop leaves no item: \"%s\" has %" G_GUINT64_FORMAT
      ", and the world size is %" G_GUINT64_FORMAT
      ": set shard-mode to pad or uneven, or use fewer processes",
      settings->location, n, self->shard.world_size);
  return FALSE;
}

SpdlDelivery *
spdl_delivery_open (const SpdlSettings *settings,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data,
    GError **error)
{
  SpdlDelivery *self = g_new0 (SpdlDelivery, 1);

  self->shuffle = settings->shuffle;
  self->seed = settings->seed;
  /* First, because it takes no time: a dataset may. */
  if (spdl_shard_init (&self->shard, settings->rank, settings->world_size,
          settings->shard_mode, error))
    self->dataset = spdl_dataset_open (settings->location, settings->pattern,
        settings->label, warn, user_data, error);
  if (!self->dataset || !check_shard (self, settings, error)) {
    spdl_delivery_free (self);
    return NULL;
  }
  return self;
}

guint64
spdl_delivery_get_size (const SpdlDelivery *self)
{
  return spdl_shard_get_size (
      &self->shard, spdl_dataset_get_size (self->dataset));
}

void
spdl_delivery_begin_epoch (SpdlDelivery *self, guint64 epoch)
{
  if (self->shuffle)
    spdl_permutation_init (&self->permutation,
        spdl_dataset_get_size (self->dataset), self->seed, epoch);
}

guint64
spdl_delivery_get_index (const SpdlDelivery *self, guint64 i)
{
  const guint64 place = spdl_shard_get_place (
      &self->shard, spdl_dataset_get_size (self->dataset), i);

  return self->shuffle ? spdl_permutation_get_item (&self->permutation, place)
                       : place;
}

const SpdlDataset *
spdl_delivery_get_dataset (const SpdlDelivery *self)
{
  return self->dataset;
}
