/* gst-spdl: targets of items: numbers of their extra fields
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* Field of the source event with the names of the targets. */
#define SPDL_TARGETS_FIELD "target-columns"

/* Numbers of an item, such as those of a regression, in the fields of its extra
 * that the source named. Each target is a tensor of doubles of the batch. */
typedef struct {
  GStrv names;    /* nullable */
  guint32 source; /* number of the source that named them */
  guint n;
  guint sizes[GST_SPDL_MAX_TENSORS]; /* numbers of each; 0: one, without a
                                        dimension */
  GArray *values;                    /* double: of all targets in turn */
} SpdlTargets;

void spdl_targets_init (SpdlTargets *self);
void spdl_targets_clear (SpdlTargets *self);

/* Forgets the names. */
void spdl_targets_reset (SpdlTargets *self);

/* Takes the names from a source event. Other events are ignored, and so are
 * sources without targets beside one with targets, whose items then fail.
 * Returns FALSE with @error set if there are more names than tensors in a
 * batch, or another source has other names. */
gboolean
spdl_targets_take_event (SpdlTargets *self, GstEvent *event, GError **error);

/* Reads the targets of an item. Returns FALSE with @error set if one is missing
 * or not a number or a list of numbers. */
gboolean spdl_targets_read (
    SpdlTargets *self, const GstSpdlItemMeta *item, GError **error);

/* Returns FALSE with @error set if the targets are not @n, or have other sizes
 * than @sizes. */
gboolean spdl_targets_have_sizes (
    const SpdlTargets *self, guint n, const guint *sizes, GError **error);

G_END_DECLS
