/* gst-spdl: augmentations that are drawn for an item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/engine/random.h"
#include "plugins/core/augment/oplist.h"

G_BEGIN_DECLS

/* Random values come from SpdlRandom with the key (seed, epoch, index,
 * SPDL_AUGMENT_OPS_KEY, i), where i is the number of the operation in the list,
 * from 0. So values depend neither on other items nor on other operations. They
 * are rounded to float. */
#define SPDL_AUGMENT_OPS_KEY G_GUINT64_CONSTANT (0x61756d656e740002)

typedef struct {
  GArray *steps; /* of SpdlStep */
  guint width;   /* of the result */
  guint height;

  /* While steps are drawn. */
  SpdlRandom random;
} SpdlPlan;

SpdlPlan *spdl_plan_new (void);
void spdl_plan_free (SpdlPlan *self);

/* Draws the steps for an image of @width by @height pixels. Returns FALSE with
 * @error set if the image is smaller than a crop, or the result too large. */
gboolean spdl_plan_draw (SpdlPlan *self, const GPtrArray *ops, guint64 seed,
    guint64 epoch, guint64 index, guint width, guint height, GError **error);

/* Appends a step and returns it; it is valid until the next one. */
SpdlStep *spdl_plan_add (SpdlPlan *self, SpdlOpKind kind);

/* Draws a number between @low and @high, rounded to float. */
double spdl_plan_draw_between (SpdlPlan *self, double low, double high);

/* Draws the steps of a policy: rand-augment, trivial-augment-wide,
 * auto-augment, augmix, and timm's RandAugment. */
void spdl_policy_draw (SpdlPlan *self, const SpdlOp *op);

G_END_DECLS
