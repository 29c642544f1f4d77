/* gst-spdl: the order of an epoch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_PERMUTATION_H__
#define __SPDL_PERMUTATION_H__

#include <glib.h>

G_BEGIN_DECLS

/* In which order the items of a dataset come in an epoch: a pure function of
 * (size, seed, epoch), the same on every machine and in every version. */

typedef struct _SpdlPermutation SpdlPermutation;

/* @size: below 2^32 */
SpdlPermutation *spdl_permutation_new (guint64 size);
void spdl_permutation_free (SpdlPermutation *self);

/* Must come before the first spdl_permutation_get(). */
void
spdl_permutation_set_epoch (SpdlPermutation *self, guint64 seed, guint64 epoch);

/* The item at place @i of the order. */
guint64 spdl_permutation_get (const SpdlPermutation *self, guint64 i);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlPermutation, spdl_permutation_free)

G_END_DECLS

#endif /* __SPDL_PERMUTATION_H__ */
