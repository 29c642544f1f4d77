/* gst-spdl: what follows from what a filter is asked to be
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_FILTER_KEY_H__
#define __SPDL_FILTER_KEY_H__

#include <math.h>

#include "plugins/codec/resize/filter.h"

G_BEGIN_DECLS

/* Pillow has as many bits below the point. */
#define MAX_SHIFT 22
#define MAX_WEIGHT (G_MAXINT16 - 1)

/* The shift that makes the most of 16 bits, with sums that fit 32. @largest: of
 * all weights; @sum: of the absolute values of a sample's, which rounding may
 * change by 1 for each. */
static inline guint
spdl_filter_key_get_shift (
    const SpdlFilterKey *key, double largest, double sum, gsize n_taps)
{
  guint shift = MAX_SHIFT;

  while (largest * (1 << shift) > MAX_WEIGHT ||
         (sum * (1 << shift) + n_taps) * key->max_value +
                 (1 << shift) * (key->max_value / 510.0) >
             G_MAXINT32)
    shift--;
  return shift;
}

/* The samples that the box has a part of. */
static inline guint
spdl_filter_key_get_first (const SpdlFilterKey *key)
{
  return key->begin / key->unit;
}

static inline guint
spdl_filter_key_get_end (const SpdlFilterKey *key)
{
  const guint64 end = (guint64) key->begin + key->length + key->unit - 1;

  return MIN (end / key->unit, key->n_in);
}

static inline double
spdl_filter_key_get_scale (const SpdlFilterKey *key)
{
  return (double) key->length / key->unit / key->n_full;
}

G_END_DECLS

#endif /* __SPDL_FILTER_KEY_H__ */
