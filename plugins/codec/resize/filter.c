/* gst-spdl: fixed-point filters of the resizer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/resize/filter.h"

#include <string.h>

#include "plugins/codec/resize/filterweights.h"
#include "plugins/codec/resize/scratch.h"

typedef struct {
  SpdlFilterKey key;
  SpdlFilter filter;
  gsize n_first_allocated;
  gsize n_weights_allocated;
  gsize n_quads_allocated;
  guint64 used; /* time of the last use; 0: never */
} Entry;

/* Largest allocation that any entry needed. New allocations get this size,
 * because images use the entries in turn and each would otherwise be
 * reallocated until it had held the largest filter. Allocations larger than
 * LARGE do not count. */
#define LARGE 65536
typedef struct {
  gsize n_first, n_weights, n_quads;
} Most;

struct _SpdlFilters {
  Entry entries[SPDL_FILTERS_KEPT];
  SpdlFilterWeights weights;
  Most most;
  guint64 n_gets;
};

SpdlFilters *
spdl_filters_new (void)
{
  return g_new0 (SpdlFilters, 1);
}

void
spdl_filters_free (SpdlFilters *self)
{
  for (guint i = 0; i < SPDL_FILTERS_KEPT; i++) {
    g_free (self->entries[i].filter.first);
    g_free (self->entries[i].filter.weights);
    g_free (self->entries[i].filter.quads);
  }
  spdl_filter_weights_clear (&self->weights);
  g_free (self);
}

static gboolean
grow_to_most (
    gpointer *memory, gsize *n_allocated, gsize *most, gsize n, gsize size)
{
  if (n * size <= LARGE)
    *most = MAX (n, *most);
  return spdl_scratch_grow (memory, n_allocated, MAX (n, *most), size);
}

static gboolean
make_weights (Entry *self, Most *most, const SpdlFilterWeights *weights)
{
  SpdlFilter *filter = &self->filter;
  gsize n;

  filter->stride = (filter->n_taps + 7) & ~7u;
  if (!g_size_checked_mul (
          &n, filter->stride, (gsize) filter->n_out + (SPDL_FILTER_STEP - 1)) ||
      !grow_to_most ((gpointer *) &filter->weights, &self->n_weights_allocated,
          &most->n_weights, n, sizeof (gint16)))
    return FALSE;
  memset (filter->weights, 0, n * sizeof (gint16));
  spdl_filter_weights_write (weights, filter);
  for (guint i = 0; i < SPDL_FILTER_STEP - 1; i++)
    filter->first[filter->n_out + i] = filter->first[filter->n_out - 1];
  return TRUE;
}

/* Returns whether the taps of each group of four output samples are close
 * enough for a single load. */
static gboolean
fits_quads (const SpdlFilter *filter)
{
  for (guint o = 0; o < filter->n_out; o += SPDL_FILTER_STEP)
    if (filter->first[o + SPDL_FILTER_STEP - 1] - filter->first[o] +
            filter->n_taps >
        sizeof ((SpdlFilterQuad *) NULL)->places)
      return FALSE;
  return TRUE;
}

/* Writes the taps @tap and @tap + 1 of four samples. With an odd number of
 * taps, the last one is paired with itself at weight 0. */
static void
set_quad (SpdlFilterQuad *self, const SpdlFilter *filter, guint o, guint tap)
{
  const guint next = tap + 1 < filter->n_taps;
  const gint16 *weights = filter->weights + (gsize) o * filter->stride + tap;
  guint8 *places = self->places;

  for (guint i = 0; i < SPDL_FILTER_STEP; i++, places += 4) {
    const guint at = filter->first[o + i] - filter->first[o] + tap;

    places[0] = at;
    places[1] = 0xff;
    places[2] = at + next;
    places[3] = 0xff;
    memcpy (self->weights + i * 2, weights + i * filter->stride,
        2 * sizeof (gint16));
  }
}

static gboolean
make_quads (Entry *self, Most *most)
{
  SpdlFilter *filter = &self->filter;
  SpdlFilterQuad *quad;
  gsize n;

  filter->n_pairs = 0;
  if (!fits_quads (filter))
    return TRUE;
  n = (filter->n_taps + 1) / 2 *
      (((gsize) filter->n_out + SPDL_FILTER_STEP - 1) / SPDL_FILTER_STEP);
  if (!grow_to_most ((gpointer *) &filter->quads, &self->n_quads_allocated,
          &most->n_quads, n, sizeof (SpdlFilterQuad)))
    return FALSE;
  filter->n_pairs = (filter->n_taps + 1) / 2;
  quad = filter->quads;
  for (guint o = 0; o < filter->n_out; o += SPDL_FILTER_STEP)
    for (guint tap = 0; tap < filter->n_taps; tap += 2)
      set_quad (quad++, filter, o, tap);
  return TRUE;
}

static gboolean
make_filter (Entry *self, Most *most, SpdlFilterWeights *weights,
    const SpdlFilterKey *key)
{
  SpdlFilter *filter = &self->filter;

  filter->n_pairs = 0;
  return grow_to_most ((gpointer *) &filter->first, &self->n_first_allocated,
             &most->n_first, key->n_out + (SPDL_FILTER_STEP - 1),
             sizeof (guint)) &&
         spdl_filter_weights_make (weights, key, filter) &&
         make_weights (self, most, weights) &&
         (!key->quads || make_quads (self, most));
}

static gboolean
is_same (const SpdlFilterKey *a, const SpdlFilterKey *b)
{
  return a->interpolation == b->interpolation && a->n_in == b->n_in &&
         a->begin == b->begin && a->length == b->length && a->unit == b->unit &&
         a->crop == b->crop && a->doubled == b->doubled &&
         a->n_full == b->n_full && a->skip == b->skip && a->n_out == b->n_out &&
         a->max_value == b->max_value && a->quads == b->quads;
}

const SpdlFilter *
spdl_filters_get (SpdlFilters *self, const SpdlFilterKey *key)
{
  Entry *entry = self->entries;

  self->n_gets++;
  for (guint i = 0; i < SPDL_FILTERS_KEPT; i++) {
    Entry *other = self->entries + i;

    if (other->used && is_same (&other->key, key)) {
      other->used = self->n_gets;
      return &other->filter;
    }
    if (other->used < entry->used)
      entry = other;
  }
  entry->used = 0;
  if (!make_filter (entry, &self->most, &self->weights, key))
    return NULL;
  entry->key = *key;
  entry->used = self->n_gets;
  return &entry->filter;
}
