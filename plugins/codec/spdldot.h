/* gst-spdl: the inner loops of resampling
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_DOT_H__
#define __SPDL_DOT_H__

#include <glib.h>

G_BEGIN_DECLS

/* What the lengths are multiples of. */
#define SPDL_DOT_STEP 8

/* The sum of the products of @n samples and weights, at any address. */
typedef struct {
  float (*f32) (const float *a, const float *b, gsize n);
  double (*f64) (const double *a, const double *b, gsize n);
} SpdlDots;

/* The best for this CPU. */
const SpdlDots *spdl_dots_get (void);

G_END_DECLS

#endif /* __SPDL_DOT_H__ */
