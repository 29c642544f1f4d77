/* gst-spdl: augmentation policies: RandAugment, AutoAugment and others
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <math.h>

#include "plugins/core/augment/plan.h"

/* Operations by the names of the papers. */
typedef enum {
  IDENTITY,
  SHEAR_X,
  SHEAR_Y,
  TRANSLATE_X,
  TRANSLATE_Y,
  ROTATE,
  BRIGHTNESS,
  COLOR,
  CONTRAST,
  SHARPNESS,
  POSTERIZE,
  SOLARIZE,
  AUTOCONTRAST,
  EQUALIZE,
  INVERT,
  SOLARIZE_ADD,
} Operation;

/* Magnitudes of a policy, as in torchvision: of a number of equal distances
 * from 0 to these values, one is selected. */
typedef struct {
  float shear;
  double translate; /* as a fraction of the side, or */
  float translate_pixels;
  float rotate;
  float enhance;
  float posterize_bits; /* at magnitude 0 */
  float posterize_range;
} Space;

static const Space auto_space = { 0.3f, 150.0 / 331.0, 0, 30, 0.9f, 8, 4 };
static const Space wide_space = { 0.99f, 0, 32, 135, 0.99f, 8, 6 };
static const Space augmix_space = { 0.3f, 1.0 / 3.0, 0, 30, 0.9f, 4, 4 };

/* The order decides which operation a random number selects. */
static const Operation rand_operations[] = { IDENTITY, SHEAR_X, SHEAR_Y,
  TRANSLATE_X, TRANSLATE_Y, ROTATE, BRIGHTNESS, COLOR, CONTRAST, SHARPNESS,
  POSTERIZE, SOLARIZE, AUTOCONTRAST, EQUALIZE };
/* Without the last four if all-ops is false. */
static const Operation augmix_operations[] = { SHEAR_X, SHEAR_Y, TRANSLATE_X,
  TRANSLATE_Y, ROTATE, POSTERIZE, SOLARIZE, AUTOCONTRAST, EQUALIZE, BRIGHTNESS,
  COLOR, CONTRAST, SHARPNESS };
static const Operation timm_operations[] = { AUTOCONTRAST, EQUALIZE, INVERT,
  ROTATE, POSTERIZE, SOLARIZE, SOLARIZE_ADD, COLOR, CONTRAST, BRIGHTNESS,
  SHARPNESS, SHEAR_X, SHEAR_Y, TRANSLATE_X, TRANSLATE_Y };

#define N_BINS 10 /* of auto-augment and augmix */
#define N_PAIRS 25

typedef struct {
  Operation operation;
  float p;
  guint bin;
} Choice;

/* The policies of the AutoAugment paper. */
static const Choice auto_policies[][N_PAIRS][2] = {
  {
      { { POSTERIZE, 0.4, 8 }, { ROTATE, 0.6, 9 } },
      { { SOLARIZE, 0.6, 5 }, { AUTOCONTRAST, 0.6, 0 } },
      { { EQUALIZE, 0.8, 0 }, { EQUALIZE, 0.6, 0 } },
      { { POSTERIZE, 0.6, 7 }, { POSTERIZE, 0.6, 6 } },
      { { EQUALIZE, 0.4, 0 }, { SOLARIZE, 0.2, 4 } },
      { { EQUALIZE, 0.4, 0 }, { ROTATE, 0.8, 8 } },
      { { SOLARIZE, 0.6, 3 }, { EQUALIZE, 0.6, 0 } },
      { { POSTERIZE, 0.8, 5 }, { EQUALIZE, 1, 0 } },
      { { ROTATE, 0.2, 3 }, { SOLARIZE, 0.6, 8 } },
      { { EQUALIZE, 0.6, 0 }, { POSTERIZE, 0.4, 6 } },
      { { ROTATE, 0.8, 8 }, { COLOR, 0.4, 0 } },
      { { ROTATE, 0.4, 9 }, { EQUALIZE, 0.6, 0 } },
      { { EQUALIZE, 0, 0 }, { EQUALIZE, 0.8, 0 } },
      { { INVERT, 0.6, 0 }, { EQUALIZE, 1, 0 } },
      { { COLOR, 0.6, 4 }, { CONTRAST, 1, 8 } },
      { { ROTATE, 0.8, 8 }, { COLOR, 1, 2 } },
      { { COLOR, 0.8, 8 }, { SOLARIZE, 0.8, 7 } },
      { { SHARPNESS, 0.4, 7 }, { INVERT, 0.6, 0 } },
      { { SHEAR_X, 0.6, 5 }, { EQUALIZE, 1, 0 } },
      { { COLOR, 0.4, 0 }, { EQUALIZE, 0.6, 0 } },
      { { EQUALIZE, 0.4, 0 }, { SOLARIZE, 0.2, 4 } },
      { { SOLARIZE, 0.6, 5 }, { AUTOCONTRAST, 0.6, 0 } },
      { { INVERT, 0.6, 0 }, { EQUALIZE, 1, 0 } },
      { { COLOR, 0.6, 4 }, { CONTRAST, 1, 8 } },
      { { EQUALIZE, 0.8, 0 }, { EQUALIZE, 0.6, 0 } },
  },
  {
      { { INVERT, 0.1, 0 }, { CONTRAST, 0.2, 6 } },
      { { ROTATE, 0.7, 2 }, { TRANSLATE_X, 0.3, 9 } },
      { { SHARPNESS, 0.8, 1 }, { SHARPNESS, 0.9, 3 } },
      { { SHEAR_Y, 0.5, 8 }, { TRANSLATE_Y, 0.7, 9 } },
      { { AUTOCONTRAST, 0.5, 0 }, { EQUALIZE, 0.9, 0 } },
      { { SHEAR_Y, 0.2, 7 }, { POSTERIZE, 0.3, 7 } },
      { { COLOR, 0.4, 3 }, { BRIGHTNESS, 0.6, 7 } },
      { { SHARPNESS, 0.3, 9 }, { BRIGHTNESS, 0.7, 9 } },
      { { EQUALIZE, 0.6, 0 }, { EQUALIZE, 0.5, 0 } },
      { { CONTRAST, 0.6, 7 }, { SHARPNESS, 0.6, 5 } },
      { { COLOR, 0.7, 7 }, { TRANSLATE_X, 0.5, 8 } },
      { { EQUALIZE, 0.3, 0 }, { AUTOCONTRAST, 0.4, 0 } },
      { { TRANSLATE_Y, 0.4, 3 }, { SHARPNESS, 0.2, 6 } },
      { { BRIGHTNESS, 0.9, 6 }, { COLOR, 0.2, 8 } },
      { { SOLARIZE, 0.5, 2 }, { INVERT, 0, 0 } },
      { { EQUALIZE, 0.2, 0 }, { AUTOCONTRAST, 0.6, 0 } },
      { { EQUALIZE, 0.2, 0 }, { EQUALIZE, 0.6, 0 } },
      { { COLOR, 0.9, 9 }, { EQUALIZE, 0.6, 0 } },
      { { AUTOCONTRAST, 0.8, 0 }, { SOLARIZE, 0.2, 8 } },
      { { BRIGHTNESS, 0.1, 3 }, { COLOR, 0.7, 0 } },
      { { SOLARIZE, 0.4, 5 }, { AUTOCONTRAST, 0.9, 0 } },
      { { TRANSLATE_Y, 0.9, 9 }, { TRANSLATE_Y, 0.7, 9 } },
      { { AUTOCONTRAST, 0.9, 0 }, { SOLARIZE, 0.8, 3 } },
      { { EQUALIZE, 0.8, 0 }, { INVERT, 0.1, 0 } },
      { { TRANSLATE_Y, 0.7, 9 }, { AUTOCONTRAST, 0.9, 0 } },
  },
  {
      { { SHEAR_X, 0.9, 4 }, { INVERT, 0.2, 0 } },
      { { SHEAR_Y, 0.9, 8 }, { INVERT, 0.7, 0 } },
      { { EQUALIZE, 0.6, 0 }, { SOLARIZE, 0.6, 6 } },
      { { INVERT, 0.9, 0 }, { EQUALIZE, 0.6, 0 } },
      { { EQUALIZE, 0.6, 0 }, { ROTATE, 0.9, 3 } },
      { { SHEAR_X, 0.9, 4 }, { AUTOCONTRAST, 0.8, 0 } },
      { { SHEAR_Y, 0.9, 8 }, { INVERT, 0.4, 0 } },
      { { SHEAR_Y, 0.9, 5 }, { SOLARIZE, 0.2, 6 } },
      { { INVERT, 0.9, 0 }, { AUTOCONTRAST, 0.8, 0 } },
      { { EQUALIZE, 0.6, 0 }, { ROTATE, 0.9, 3 } },
      { { SHEAR_X, 0.9, 4 }, { SOLARIZE, 0.3, 3 } },
      { { SHEAR_Y, 0.8, 8 }, { INVERT, 0.7, 0 } },
      { { EQUALIZE, 0.9, 0 }, { TRANSLATE_Y, 0.6, 6 } },
      { { INVERT, 0.9, 0 }, { EQUALIZE, 0.6, 0 } },
      { { CONTRAST, 0.3, 3 }, { ROTATE, 0.8, 4 } },
      { { INVERT, 0.8, 0 }, { TRANSLATE_Y, 0, 2 } },
      { { SHEAR_Y, 0.7, 6 }, { SOLARIZE, 0.4, 8 } },
      { { INVERT, 0.6, 0 }, { ROTATE, 0.8, 4 } },
      { { SHEAR_Y, 0.3, 7 }, { TRANSLATE_X, 0.9, 3 } },
      { { SHEAR_X, 0.1, 6 }, { INVERT, 0.6, 0 } },
      { { SOLARIZE, 0.7, 2 }, { TRANSLATE_Y, 0.6, 7 } },
      { { SHEAR_Y, 0.8, 4 }, { INVERT, 0.8, 0 } },
      { { SHEAR_X, 0.7, 9 }, { TRANSLATE_Y, 0.8, 3 } },
      { { SHEAR_Y, 0.8, 5 }, { AUTOCONTRAST, 0.7, 0 } },
      { { SHEAR_X, 0.7, 2 }, { INVERT, 0.1, 0 } },
  },
};

/* Returns number @bin of @n_bins values from @low to @high, as
 * torch.linspace() does: in single precision, rounded once. Policies drop the
 * fraction of shifts, so the last bit can count. */
static float
get_bin (float low, float high, guint bin, guint n_bins)
{
  const double step = (high - low) / (n_bins - 1);

  return bin < n_bins / 2 ? low + step * bin : high - step * (n_bins - 1 - bin);
}

/* Sets of operations whose magnitudes have the same meaning */
typedef enum {
  PLAIN, /* without a magnitude */
  SHEAR,
  TRANSLATE,
  TURN,
  ENHANCE,
  BITS,
  THRESHOLD,
  ADDEND,
} Group;

/* The step of each operation, and the number of its argument. */
static const struct {
  Group group;
  SpdlOpKind kind;
  guint slot;
} steps[] = {
  [SHEAR_X] = { SHEAR, SPDL_OP_AFFINE, SPDL_AFFINE_SHEAR_X },
  [SHEAR_Y] = { SHEAR, SPDL_OP_AFFINE, SPDL_AFFINE_SHEAR_Y },
  [TRANSLATE_X] = { TRANSLATE, SPDL_OP_AFFINE, SPDL_AFFINE_TRANSLATE_X },
  [TRANSLATE_Y] = { TRANSLATE, SPDL_OP_AFFINE, SPDL_AFFINE_TRANSLATE_Y },
  [ROTATE] = { TURN, SPDL_OP_ROTATE, SPDL_AFFINE_ANGLE },
  [BRIGHTNESS] = { ENHANCE, SPDL_OP_BRIGHTNESS },
  [COLOR] = { ENHANCE, SPDL_OP_SATURATION },
  [CONTRAST] = { ENHANCE, SPDL_OP_CONTRAST },
  [SHARPNESS] = { ENHANCE, SPDL_OP_SHARPNESS },
  [POSTERIZE] = { BITS, SPDL_OP_POSTERIZE },
  [SOLARIZE] = { THRESHOLD, SPDL_OP_SOLARIZE },
  [AUTOCONTRAST] = { PLAIN, SPDL_OP_AUTOCONTRAST },
  [EQUALIZE] = { PLAIN, SPDL_OP_EQUALIZE },
  [INVERT] = { PLAIN, SPDL_OP_INVERT },
  [SOLARIZE_ADD] = { ADDEND, SPDL_OP_SOLARIZE_ADD },
};

static gboolean
is_signed (Operation operation)
{
  return steps[operation].group >= SHEAR && steps[operation].group <= ENHANCE;
}

/* Returns the side of the image that a shift moves along. */
static guint
get_side (const SpdlPlan *plan, Operation operation)
{
  return operation == TRANSLATE_X ? plan->width : plan->height;
}

/* Returns the magnitude for @bin. */
static double
get_magnitude (const SpdlPlan *plan, const Space *space, Operation operation,
    guint bin, guint n_bins)
{
  switch (steps[operation].group) {
    case SHEAR:
      return get_bin (0, space->shear, bin, n_bins);
    case TRANSLATE:
      return get_bin (0,
          space->translate > 0 ? space->translate * get_side (plan, operation)
                               : space->translate_pixels,
          bin, n_bins);
    case TURN:
      return get_bin (0, space->rotate, bin, n_bins);
    case ENHANCE:
      return get_bin (0, space->enhance, bin, n_bins);
    case BITS:
      return rintf (space->posterize_bits -
                    bin / ((n_bins - 1) / space->posterize_range));
    case THRESHOLD:
      return get_bin (1, 0, bin, n_bins);
    default:
      return 0;
  }
}

/* Adds the operation with the meaning that torchvision gives to @magnitude. */
static void
add_operation (
    SpdlPlan *plan, const SpdlOp *op, Operation operation, double magnitude)
{
  const Group group = steps[operation].group;
  SpdlStep *step;

  if (operation == IDENTITY)
    return;
  step = spdl_plan_add (plan, steps[operation].kind);
  if (group == SHEAR)
    magnitude = atan (magnitude) * 180 / G_PI;
  else if (group == TRANSLATE)
    magnitude = trunc (magnitude);
  else if (group == ENHANCE)
    magnitude += 1;
  else if (group == THRESHOLD)
    magnitude *= 255;
  step->values[steps[operation].slot] = (float) magnitude;
  if (group > TURN)
    return;
  step->values[SPDL_OP_FILTER] = op->low[SPDL_OP_FILTER];
  step->fill = op->fill;
  /* The policies shear from the corner. */
  if (group == SHEAR)
    step->values[SPDL_AFFINE_CENTER] = 1;
}

/* Adds the operation with the magnitude of @bin, and a random sign. */
static void
add_binned (SpdlPlan *plan, const SpdlOp *op, const Space *space,
    Operation operation, guint bin, guint n_bins)
{
  double magnitude = get_magnitude (plan, space, operation, bin, n_bins);

  if (is_signed (operation) && spdl_random_double (&plan->random) < 0.5)
    magnitude = -magnitude;
  add_operation (plan, op, operation, magnitude);
}

static void
draw_rand (SpdlPlan *plan, const SpdlOp *op)
{
  for (guint i = 0; i < op->low[SPDL_RAND_N]; i++)
    add_binned (plan, op, &auto_space,
        rand_operations[spdl_random_below (
            &plan->random, G_N_ELEMENTS (rand_operations))],
        op->low[SPDL_RAND_M], op->low[SPDL_RAND_BINS]);
}

static void
draw_trivial (SpdlPlan *plan, const SpdlOp *op)
{
  const guint n_bins = op->low[0];
  const Operation operation = rand_operations[spdl_random_below (
      &plan->random, G_N_ELEMENTS (rand_operations))];
  const guint bin = spdl_random_below (&plan->random, n_bins);

  add_binned (plan, op, &wide_space, operation, bin, n_bins);
}

static void
draw_auto (SpdlPlan *plan, const SpdlOp *op)
{
  const Choice *pair = auto_policies[(guint) op->low[0]][spdl_random_below (
      &plan->random, N_PAIRS)];

  for (guint i = 0; i < 2; i++)
    if (spdl_random_double (&plan->random) < pair[i].p)
      add_binned (
          plan, op, &auto_space, pair[i].operation, pair[i].bin, N_BINS);
}

/* AugMix */

/* Draws @n weights that add up to @sum. */
static void
draw_weights (
    SpdlPlan *plan, double alpha, guint n, double sum, double *weights)
{
  double all = 0;

  for (guint i = 0; i < n; i++)
    all += weights[i] = exp (spdl_random_log_gamma (&plan->random, alpha));
  for (guint i = 0; i < n; i++)
    weights[i] = all > 0 ? (float) (weights[i] / all * sum) : sum / n;
}

static void
draw_augmix (SpdlPlan *plan, const SpdlOp *op)
{
  const guint width = op->low[SPDL_AUGMIX_WIDTH];
  const guint severity = op->low[SPDL_AUGMIX_SEVERITY];
  const double alpha = op->low[SPDL_AUGMIX_ALPHA];
  const guint n_operations = G_N_ELEMENTS (augmix_operations) -
                             (op->low[SPDL_AUGMIX_ALL_OPS] > 0 ? 0 : 4);
  double halves[2], weights[16];

  draw_weights (plan, alpha, 2, 1, halves);
  draw_weights (plan, alpha, width, halves[1], weights);
  spdl_plan_add (plan, SPDL_OP_MIX)->values[0] = halves[0];
  for (guint i = 0; i < width; i++) {
    guint depth = op->low[SPDL_AUGMIX_DEPTH];

    spdl_plan_add (plan, SPDL_OP_SEQUENCE)->values[0] = weights[i];
    if (depth == 0)
      depth = 1 + spdl_random_below (&plan->random, 3);
    for (guint k = 0; k < depth; k++) {
      const Operation operation =
          augmix_operations[spdl_random_below (&plan->random, n_operations)];

      add_binned (plan, op, &augmix_space, operation,
          spdl_random_below (&plan->random, severity), N_BINS);
    }
    spdl_plan_add (plan, SPDL_OP_END);
  }
  spdl_plan_add (plan, SPDL_OP_END);
}

/* timm */

static double
draw_timm_magnitude (SpdlPlan *plan, const SpdlOp *op)
{
  const double m = op->low[SPDL_TIMM_M], spread = op->low[SPDL_TIMM_MSTD];
  double magnitude = m, pair[2];

  if (spread > 100) {
    magnitude = spdl_plan_draw_between (plan, 0, m);
  } else if (spread > 0) {
    spdl_random_normal (&plan->random, pair);
    magnitude += spread * pair[0];
  }
  return CLAMP (magnitude, 0, op->low[SPDL_TIMM_MMAX]);
}

/* Returns the operation's argument at @level, 0 to 1, in torchvision's
 * terms. */
static double
get_timm_argument (
    const SpdlPlan *plan, Operation operation, double level, gboolean inc)
{
  switch (steps[operation].group) {
    case SHEAR:
      return level * 0.3;
    case TRANSLATE:
      return level * 0.45 * get_side (plan, operation);
    case TURN:
      return level * 30;
    case ENHANCE:
      return inc ? level * 0.9 : level * 1.8 + 0.1 - 1;
    case BITS:
      return inc ? 4 - trunc (level * 4) : trunc (level * 4);
    case THRESHOLD:
      return (inc ? 256 - MIN (256, trunc (level * 256))
                  : MIN (256, trunc (level * 256))) /
             255;
    case ADDEND:
      return MIN (128, trunc (level * 110));
    default:
      return 0;
  }
}

static void
add_timm (SpdlPlan *plan, const SpdlOp *op, Operation operation)
{
  const gboolean inc = op->low[SPDL_TIMM_INC] > 0;
  const gboolean is_enhance = steps[operation].group == ENHANCE;
  double value;

  if (!(spdl_random_double (&plan->random) < op->low[SPDL_TIMM_P]))
    return;
  value = get_timm_argument (
      plan, operation, draw_timm_magnitude (plan, op) / 10, inc);
  if (is_signed (operation) && (inc || !is_enhance) &&
      spdl_random_double (&plan->random) < 0.5)
    value = -value;
  if (is_enhance && inc)
    value = MAX (value, -0.9);
  if (operation == POSTERIZE)
    value = CLAMP (value, 0, 8);
  add_operation (plan, op, operation, value);
}

/* Draws operations, which may repeat. */
static void
draw_timm (SpdlPlan *plan, const SpdlOp *op)
{
  for (guint i = 0; i < op->low[SPDL_TIMM_N]; i++)
    add_timm (plan, op,
        timm_operations[spdl_random_below (
            &plan->random, G_N_ELEMENTS (timm_operations))]);
}

void
spdl_policy_draw (SpdlPlan *self, const SpdlOp *op)
{
  static void (*const functions[]) (SpdlPlan * plan, const SpdlOp *op) = {
    [SPDL_OP_RAND_AUGMENT] = draw_rand,
    [SPDL_OP_TRIVIAL_AUGMENT_WIDE] = draw_trivial,
    [SPDL_OP_AUTO_AUGMENT] = draw_auto,
    [SPDL_OP_AUGMIX] = draw_augmix,
    [SPDL_OP_TIMM_RAND] = draw_timm,
  };

  functions[op->kind](self, op);
}
