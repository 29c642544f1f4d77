/* gst-spdl: shuffled order of rows that are read in parts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/sampler/blockorder.h"

#include "plugins/dataset/sampler/permutation.h"

/* Distance of the seeds of successive blocks. */
#define BLOCK_SEED G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)

struct _SpdlBlockOrder {
  guint n_parts;
  guint64 buffer;
  guint64 *rows;   /* first row of each part, and the number of rows */
  guint32 *parts;  /* of the epoch, in their order */
  guint64 *places; /* first place of each of `parts`, and the number of rows */
  guint32 *blocks; /* first of `parts` of each block, and their number */
  guint n_blocks;

  gboolean shuffle;
  guint64 seed;
  guint64 epoch;
  guint block;                 /* of the last place */
  SpdlPermutation permutation; /* of the rows of this block, if shuffled */
};

SpdlBlockOrder *
spdl_block_order_new (const guint64 *sizes, guint n_parts, guint64 buffer)
{
  SpdlBlockOrder *self = g_new0 (SpdlBlockOrder, 1);

  self->n_parts = n_parts;
  self->buffer = buffer;
  self->rows = g_new0 (guint64, n_parts + 1);
  self->parts = g_new0 (guint32, n_parts);
  self->places = g_new0 (guint64, n_parts + 1);
  self->blocks = g_new0 (guint32, n_parts + 1);
  for (guint i = 0; i < n_parts; i++)
    self->rows[i + 1] = self->rows[i] + sizes[i];
  return self;
}

void
spdl_block_order_free (SpdlBlockOrder *self)
{
  g_free (self->rows);
  g_free (self->parts);
  g_free (self->places);
  g_free (self->blocks);
  g_free (self);
}

static guint64
get_size (const SpdlBlockOrder *self, guint part)
{
  return self->rows[part + 1] - self->rows[part];
}

static void
order_parts (SpdlBlockOrder *self)
{
  SpdlPermutation permutation;

  if (self->shuffle)
    spdl_permutation_init (
        &permutation, self->n_parts, self->seed, self->epoch);
  for (guint i = 0; i < self->n_parts; i++) {
    self->parts[i] =
        self->shuffle ? spdl_permutation_get_item (&permutation, i) : i;
    self->places[i + 1] = self->places[i] + get_size (self, self->parts[i]);
  }
}

static void
make_blocks (SpdlBlockOrder *self)
{
  self->n_blocks = 0;
  for (guint i = 0; i < self->n_parts; i++) {
    const guint64 first = self->places[self->blocks[self->n_blocks]];

    if (i + 1 == self->n_parts ||
        self->places[i + 1] - first >= MAX (self->buffer, 1))
      self->blocks[++self->n_blocks] = i + 1;
  }
}

void
spdl_block_order_begin_epoch (
    SpdlBlockOrder *self, gboolean shuffle, guint64 seed, guint64 epoch)
{
  self->shuffle = shuffle;
  self->seed = seed;
  self->epoch = epoch;
  self->block = G_MAXUINT;
  order_parts (self);
  make_blocks (self);
}

/* Returns the last of @n ascending numbers, the first of which is 0, that is
 * not above @value. */
static guint
find_last (const guint64 *numbers, guint n, guint64 value)
{
  guint begin = 0, end = n;

  while (end - begin > 1) {
    const guint middle = begin + (end - begin) / 2;

    if (numbers[middle] <= value)
      begin = middle;
    else
      end = middle;
  }
  return begin;
}

static guint64
get_first_place (const SpdlBlockOrder *self, guint block)
{
  return self->places[self->blocks[block]];
}

guint
spdl_block_order_find_block (SpdlBlockOrder *self, guint64 place)
{
  guint begin = 0, end = self->n_blocks;

  if (self->block < self->n_blocks &&
      place >= get_first_place (self, self->block) &&
      place < get_first_place (self, self->block + 1))
    return self->block;
  while (end - begin > 1) {
    const guint middle = begin + (end - begin) / 2;

    if (get_first_place (self, middle) <= place)
      begin = middle;
    else
      end = middle;
  }
  self->block = begin;
  if (self->shuffle)
    spdl_permutation_init (&self->permutation,
        get_first_place (self, begin + 1) - get_first_place (self, begin),
        self->seed + (begin + 1) * BLOCK_SEED, self->epoch);
  return begin;
}

guint64
spdl_block_order_get_item (SpdlBlockOrder *self, guint64 place)
{
  const guint block = spdl_block_order_find_block (self, place);
  const guint64 first = get_first_place (self, block);
  guint at;

  if (self->shuffle)
    place =
        first + spdl_permutation_get_item (&self->permutation, place - first);
  at = find_last (self->places, self->n_parts, place);
  return self->rows[self->parts[at]] + place - self->places[at];
}

const guint32 *
spdl_block_order_get_parts (
    SpdlBlockOrder *self, guint block, guint64 last, guint *n_block, guint *n)
{
  const guint begin = self->blocks[block];
  const guint end = find_last (self->places, self->n_parts, last) + 1;

  *n_block = self->blocks[block + 1] - begin;
  *n = MAX (end, begin + *n_block) - begin;
  return self->parts + begin;
}
