/* gst-spdl: weighted random sampling (alias method)
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/sampler/weightedsampler.h"

#include <math.h>

#include "gst/spdl/engine/random.h"

#define ONE (G_GUINT64_CONSTANT (1) << 32)
#define TAG G_GUINT64_CONSTANT (0x7765696768740001)

/* Holds the product of a weight (up to 2^53) and 2^64. */
typedef unsigned __int128 Wide;

/* Content of a cell in the successive steps of the construction. */
typedef union {
  double weight;
  guint64 parts; /* share of the item, in units of 2^-32 cells */
  struct {
    guint32 threshold;
    guint32 alias;
  };
} Cell;

G_STATIC_ASSERT (sizeof (Cell) == sizeof (double));

struct _SpdlWeightedSampler {
  GArray *array; /* Cell */
  const Cell *cells;
  guint32 n;
};

void
spdl_weighted_sampler_free (SpdlWeightedSampler *self)
{
  g_array_unref (self->array);
  g_free (self);
}

/* Converts weights to integers. Returns their sum, which is below 2^85. */
static Wide
round_weights (Cell *cells, guint32 n)
{
  double largest = 0;
  Wide sum = 0;

  for (guint32 i = 0; i < n; i++)
    largest = MAX (largest, cells[i].weight);
  if (largest == 0)
    return 0;
  for (guint32 i = 0; i < n; i++) {
    cells[i].parts = (guint64) ldexp (cells[i].weight / largest, 53);
    sum += cells[i].parts;
  }
  return sum;
}

/* Converts integers to shares of n cells. */
static void
share_out (Cell *cells, guint32 n, Wide sum)
{
  const guint64 all = n * ONE;
  Wide rest = 0;

  for (guint32 i = 0; i < n; i++) {
    const Wide share = (Wide) cells[i].parts * all + rest;

    cells[i].parts = share / sum;
    rest = share - cells[i].parts * sum;
  }
}

/* Two stacks in one array: small cells grow from the start of @work, large
 * cells from its end. */
typedef struct {
  guint32 *work;
  gsize n_small;
  gsize large; /* top of the stack of large cells */
} Stacks;

static void
push_cell (Stacks *stacks, const Cell *cells, guint32 i)
{
  if (cells[i].parts < ONE)
    stacks->work[stacks->n_small++] = i;
  else
    stacks->work[--stacks->large] = i;
}

static void
pair_up (Cell *cells, guint32 n)
{
  Stacks stacks = { g_new (guint32, n), 0, n };

  for (guint32 i = n; i > 0; i--)
    push_cell (&stacks, cells, i - 1);
  while (stacks.n_small > 0) {
    const guint32 small = stacks.work[--stacks.n_small];
    const guint32 large = stacks.work[stacks.large++];
    const guint64 parts = cells[small].parts;

    cells[small].threshold = parts;
    cells[small].alias = large;
    cells[large].parts -= ONE - parts;
    push_cell (&stacks, cells, large);
  }
  /* The remaining cells are exactly full. */
  for (; stacks.large < n; stacks.large++) {
    const guint32 full = stacks.work[stacks.large];

    cells[full].threshold = G_MAXUINT32;
    cells[full].alias = full;
  }
  g_free (stacks.work);
}

SpdlWeightedSampler *
spdl_weighted_sampler_new (GArray *weights)
{
  Cell *cells = (Cell *) weights->data;
  const guint32 n = weights->len;
  const Wide sum = round_weights (cells, n);
  SpdlWeightedSampler *self;

  if (sum == 0)
    return NULL;
  share_out (cells, n, sum);
  pair_up (cells, n);
  self = g_new (SpdlWeightedSampler, 1);
  self->array = g_array_ref (weights);
  self->cells = cells;
  self->n = n;
  return self;
}

guint32
spdl_weighted_sampler_get_size (const SpdlWeightedSampler *self)
{
  return self->n;
}

guint32
spdl_weighted_sampler_get_item (const SpdlWeightedSampler *self, guint64 random)
{
  const Wide product = (Wide) random * self->n;
  const guint32 i = product >> 64;
  const guint32 fraction = (guint64) product >> 32;
  const Cell *cell = &self->cells[i];

  return fraction < cell->threshold ? i : cell->alias;
}

void
spdl_draws_init (SpdlDraws *self, guint64 seed, guint64 epoch)
{
  const guint64 key[] = { seed, epoch, TAG };
  SpdlRandom random;

  spdl_random_init (&random, key, G_N_ELEMENTS (key));
  self->keys[0] = spdl_random_next (&random);
  self->keys[1] = spdl_random_next (&random);
}

guint64
spdl_draws_get_number (const SpdlDraws *self, guint64 place)
{
  guint64 state =
      self->keys[0] + place * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  state = spdl_random_splitmix (&state) ^ self->keys[1];
  return spdl_random_splitmix (&state);
}
