/* gst-spdl: the order of an epoch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlpermutation.h"

#include "gst/spdl/engine/spdlrandom.h"

struct _SpdlPermutation {
  guint32 size;
  guint32 items[];
};

SpdlPermutation *
spdl_permutation_new (guint64 size)
{
  SpdlPermutation *self;

  g_return_val_if_fail (size <= G_MAXUINT32, NULL);
  self = g_malloc (sizeof *self + size * sizeof self->items[0]);
  self->size = size;
  return self;
}

void
spdl_permutation_free (SpdlPermutation *self)
{
  g_free (self);
}

/* Fisher and Yates's shuffle, anew from the order of the dataset: so an epoch
 * does not depend on those that came before it. */
void
spdl_permutation_set_epoch (SpdlPermutation *self, guint64 seed, guint64 epoch)
{
  const guint64 key[] = { seed, epoch, self->size };
  SpdlRandom random;

  for (guint32 i = 0; i < self->size; i++)
    self->items[i] = i;
  spdl_random_init (&random, key, G_N_ELEMENTS (key));
  for (guint32 i = self->size; i > 1; i--) {
    const guint32 k = spdl_random_below (&random, i);
    const guint32 item = self->items[k];

    self->items[k] = self->items[i - 1];
    self->items[i - 1] = item;
  }
}

guint64
spdl_permutation_get (const SpdlPermutation *self, guint64 i)
{
  return self->items[i];
}
