/* gst-spdl: names and arguments of augmentations
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/augment/opspec.h"

#include <math.h>

#define SIDE 65535 /* of the largest image */

/* clang-format off */
#define ARGS(...) \
  (const SpdlArg[]) { __VA_ARGS__, { NULL } }
/* An operation and its arguments */
#define OP(kind, name, flags, ...) \
  [SPDL_OP_##kind] = { name, flags, ARGS (__VA_ARGS__) }
/* Arguments with limits: with a default range, without a default, and other
 * names for such arguments */
#define ARG(name, kind, slot, ...) \
  { name, SPDL_ARG_##kind, SPDL_##slot, __VA_ARGS__ }
#define UNSET(name, kind, slot, ...) \
  { name, SPDL_ARG_##kind, SPDL_##slot, __VA_ARGS__, NAN, NAN }
#define ALIAS(name, kind, slot, ...) \
  { name, SPDL_ARG_##kind, SPDL_##slot, __VA_ARGS__, NULL, TRUE }
#define WORD(name, slot, default, words) \
  { name, SPDL_ARG_WORD, SPDL_##slot, 0, 0, default, default, words }
/* Arguments of several operations. The default of p is torchvision's. */
#define P(default) ARG ("p", NUMBER, OP_P, 0, 1, default, default)
#define FILTER(default) WORD ("interpolation", OP_FILTER, default, filters)
#define FILL ARG ("fill", FILL, OP_FILL)
#define FACTOR(min, max) UNSET ("factor", RANGE, OP_VALUE, min, max)
#define WEIGHT ARG ("weight", NUMBER, OP_VALUE, 0, 1000, 1, 1)
/* clang-format on */

/* In the order of SpdlWarpFilter and SpdlPadMode. */
static const gchar *const filters[] = { "nearest", "bilinear", NULL };
static const gchar *const pad_modes[] = { "constant", "edge", "reflect",
  "symmetric", NULL };
static const gchar *const centers[] = { "middle", "corner", NULL };
static const gchar *const policies[] = { "imagenet", "cifar10", "svhn", NULL };
static const gchar *const booleans[] = { "false", "true", NULL };

const SpdlOpSpec spdl_op_specs[SPDL_N_OPS] = {
  OP (BRIGHTNESS, "brightness", SPDL_OP_NEEDS_ALL, FACTOR (0, 100), P (1)),
  OP (CONTRAST, "contrast", SPDL_OP_NEEDS_ALL, FACTOR (0, 100), P (1)),
  OP (SATURATION, "saturation", SPDL_OP_NEEDS_ALL, FACTOR (0, 100), P (1)),
  OP (HUE, "hue", SPDL_OP_NEEDS_ALL, FACTOR (-0.5, 0.5), P (1)),
  OP (SHARPNESS, "sharpness", SPDL_OP_NEEDS_ALL, FACTOR (0, 100), P (0.5)),
  OP (AUTOCONTRAST, "autocontrast", 0, P (0.5)),
  OP (EQUALIZE, "equalize", 0, P (0.5)),
  OP (INVERT, "invert", 0, P (0.5)),
  OP (POSTERIZE, "posterize", SPDL_OP_NEEDS_ALL,
      UNSET ("bits", INTEGERS, OP_VALUE, 0, 8), P (0.5)),
  OP (SOLARIZE, "solarize", SPDL_OP_NEEDS_ALL,
      UNSET ("threshold", RANGE, OP_VALUE, 0, 256), P (0.5)),
  OP (SOLARIZE_ADD, "solarize-add", SPDL_OP_NEEDS_ALL,
      UNSET ("add", INTEGERS, OP_VALUE, 0, 255), P (1)),
  OP (GRAYSCALE, "grayscale", 0, P (0.1)),
  OP (GAUSSIAN_BLUR, "gaussian-blur", 0,
      UNSET ("kernel-size", ODD, BLUR_KERNEL_SIZE, 1, 255),
      ARG ("sigma", RANGE, BLUR_SIGMA, 0.01, 40, 0.1, 2), P (1)),
  OP (AFFINE, "affine", 0,
      ALIAS ("degrees", SPREAD, AFFINE_ANGLE, -360, 360, 0, 0),
      ARG ("angle", RANGE, AFFINE_ANGLE, -360, 360, 0, 0),
      ALIAS ("translate", NUMBER, AFFINE_TRANSLATE, 0, 1, NAN, NAN),
      ARG ("translate-x", INTEGERS, AFFINE_TRANSLATE_X, -SIDE, SIDE, 0, 0),
      ARG ("translate-y", INTEGERS, AFFINE_TRANSLATE_Y, -SIDE, SIDE, 0, 0),
      ARG ("scale", RANGE, AFFINE_SCALE, 0.01, 100, 1, 1),
      ALIAS ("shear", SPREAD, AFFINE_SHEAR_X, -89, 89, 0, 0),
      ARG ("shear-x", RANGE, AFFINE_SHEAR_X, -89, 89, 0, 0),
      ARG ("shear-y", RANGE, AFFINE_SHEAR_Y, -89, 89, 0, 0),
      WORD ("center", AFFINE_CENTER, 0, centers), FILTER (0), FILL, P (1)),
  OP (ROTATE, "rotate", SPDL_OP_NEEDS_ALL,
      ALIAS ("degrees", SPREAD, AFFINE_ANGLE, -360, 360, NAN, NAN),
      UNSET ("angle", RANGE, AFFINE_ANGLE, -360, 360), FILTER (0), FILL, P (1)),
  OP (PERSPECTIVE, "perspective", 0,
      ALIAS (
          "distortion-scale", NUMBER, PERSPECTIVE_DISTORTION, 0, 1, 0.5, 0.5),
      UNSET ("corners", CORNERS, PERSPECTIVE_CORNERS, -SIDE, SIDE), FILTER (1),
      FILL, P (0.5)),
  OP (PAD, "pad", SPDL_OP_NEEDS_ALL | SPDL_OP_IS_RESIZING,
      UNSET ("padding", INTEGER, PAD_PADDING, 0, 4096),
      WORD ("mode", PAD_MODE, 0, pad_modes), FILL, P (1)),
  OP (CROP, "crop", SPDL_OP_NEEDS_ALL | SPDL_OP_IS_RESIZING,
      UNSET ("x", INTEGER, CROP_X, 0, SIDE),
      UNSET ("y", INTEGER, CROP_Y, 0, SIDE),
      UNSET ("width", INTEGER, CROP_WIDTH, 1, SIDE),
      UNSET ("height", INTEGER, CROP_HEIGHT, 1, SIDE), P (1)),
  [SPDL_OP_ERASE] = { "erase", 0,
      ARGS (ALIAS ("scale", RANGE, ERASE_SCALE, 0, 1, 0.02, 0.33),
          ALIAS ("ratio", RANGE, ERASE_RATIO, 0.01, 100, 0.3, 3.3),
          UNSET ("noise", INTEGER, ERASE_NOISE, 0, G_MAXUINT32),
          UNSET ("x", INTEGER, ERASE_X, 0, SIDE),
          UNSET ("y", INTEGER, ERASE_Y, 0, SIDE),
          UNSET ("width", INTEGER, ERASE_WIDTH, 1, SIDE),
          UNSET ("height", INTEGER, ERASE_HEIGHT, 1, SIDE),
          ARG ("value", NOISE, OP_FILL), P (0.5)),
      { SPDL_FILL_COLOR } },
  OP (HORIZONTAL_FLIP, "horizontal-flip", 0, P (0.5)),
  OP (VERTICAL_FLIP, "vertical-flip", 0, P (0.5)),
  OP (MIX, "mix", SPDL_OP_HAS_MEMBERS, WEIGHT, P (1)),
  OP (SEQUENCE, "sequence", SPDL_OP_HAS_MEMBERS, WEIGHT, P (1)),
  OP (CHOICE, "choice", SPDL_OP_HAS_MEMBERS, P (1)),
  OP (COLOR_JITTER, "color-jitter", 0,
      ARG ("brightness", JITTER, JITTER_BRIGHTNESS, 0, 100, 1, 1),
      ARG ("contrast", JITTER, JITTER_CONTRAST, 0, 100, 1, 1),
      ARG ("saturation", JITTER, JITTER_SATURATION, 0, 100, 1, 1),
      ARG ("hue", SPREAD, JITTER_HUE, -0.5, 0.5, 0, 0), P (1)),
  OP (RANDOM_CROP, "random-crop", SPDL_OP_NEEDS_ALL | SPDL_OP_IS_RESIZING,
      UNSET ("size", SIZE, CROP_WIDTH, 1, SIDE),
      ARG ("padding", INTEGER, CROP_PADDING, 0, 4096, 0, 0),
      WORD ("mode", CROP_MODE, 0, pad_modes), FILL, P (1)),
  OP (CENTER_CROP, "center-crop", SPDL_OP_NEEDS_ALL | SPDL_OP_IS_RESIZING,
      UNSET ("size", SIZE, CROP_WIDTH, 1, SIDE), P (1)),
  OP (RAND_AUGMENT, "rand-augment", 0, ARG ("n", INTEGER, RAND_N, 0, 16, 2, 2),
      ARG ("m", INTEGER, RAND_M, 0, 1000, 9, 9),
      ARG ("bins", INTEGER, RAND_BINS, 2, 1001, 31, 31), FILTER (0), FILL,
      P (1)),
  OP (TRIVIAL_AUGMENT_WIDE, "trivial-augment-wide", 0,
      ARG ("bins", INTEGER, OP_VALUE, 2, 1001, 31, 31), FILTER (0), FILL,
      P (1)),
  OP (AUTO_AUGMENT, "auto-augment", 0, WORD ("policy", OP_VALUE, 0, policies),
      FILTER (0), FILL, P (1)),
  OP (AUGMIX, "augmix", 0,
      ARG ("severity", INTEGER, AUGMIX_SEVERITY, 1, 10, 3, 3),
      ARG ("width", INTEGER, AUGMIX_WIDTH, 1, 16, 3, 3),
      ARG ("depth", INTEGER, AUGMIX_DEPTH, 0, 16, 0, 0),
      ARG ("alpha", NUMBER, AUGMIX_ALPHA, 0.01, 100, 1, 1),
      WORD ("all-ops", AUGMIX_ALL_OPS, 1, booleans), FILTER (1), FILL, P (1)),
  /* The arguments are in the name, except for the last two. */
  [SPDL_OP_TIMM_RAND] = { "rand-m9-mstd0.5-inc1", 0,
      ARGS (ARG ("n", INTEGER, TIMM_N, 0, 16, 2, 2),
          ARG ("m", INTEGER, TIMM_M, 0, 100, 10, 10),
          ARG ("mstd", NUMBER, TIMM_MSTD, 0, 1000, 0, 0),
          ARG ("mmax", INTEGER, TIMM_MMAX, 0, 100, 10, 10),
          ARG ("inc", INTEGER, TIMM_INC, 0, 1, 0, 0),
          ARG ("p", NUMBER, TIMM_P, 0, 1, 0.5, 0.5), FILTER (1), FILL),
      { SPDL_FILL_COLOR, { 124, 116, 104 } } },
};

void
spdl_op_spec_get_defaults (const SpdlOpSpec *self, double *low, double *high)
{
  for (guint i = 0; i < SPDL_OP_VALUES; i++)
    low[i] = high[i] = NAN;
  for (const SpdlArg *arg = self->args; arg->name; arg++) {
    low[arg->slot] = arg->low;
    high[arg->slot] = arg->high;
  }
}

void
spdl_step_init (SpdlStep *step, SpdlOpKind kind)
{
  double high[SPDL_OP_VALUES];

  *step = (SpdlStep){ kind };
  if (kind < SPDL_N_OPS)
    spdl_op_spec_get_defaults (&spdl_op_specs[kind], step->values, high);
  step->values[SPDL_OP_P] = 1;
}
