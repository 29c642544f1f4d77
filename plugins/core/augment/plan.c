/* gst-spdl: augmentations that are drawn for an item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/augment/plan.h"

SpdlPlan *
spdl_plan_new (void)
{
  SpdlPlan *self = g_new0 (SpdlPlan, 1);

  self->steps = g_array_new (FALSE, FALSE, sizeof (SpdlStep));
  return self;
}

void
spdl_plan_free (SpdlPlan *self)
{
  g_array_unref (self->steps);
  g_free (self);
}

SpdlStep *
spdl_plan_add (SpdlPlan *self, SpdlOpKind kind)
{
  SpdlStep *step;

  g_array_set_size (self->steps, self->steps->len + 1);
  step = &g_array_index (self->steps, SpdlStep, self->steps->len - 1);
  spdl_step_init (step, kind);
  return step;
}

double
spdl_plan_draw_between (SpdlPlan *self, double low, double high)
{
  return (float) spdl_random_between (&self->random, low, high);
}
