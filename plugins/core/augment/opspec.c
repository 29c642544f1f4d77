/* gst-spdl: names and arguments of augmentations
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/augment/opspec.h"

#include <math.h>

#define MAX_SIDE 65535

#define SINGLE(name, kind, min, max)       \
  (const SpdlArg[])                        \
  {                                        \
    { name, kind, 0, min, max, NAN, NAN }, \
    {                                      \
      NULL                                 \
    }                                      \
  }

const gchar *const spdl_warp_filters[] = { "nearest", "bilinear", NULL };
static const gchar *const pad_modes[] = { "constant", "edge", "reflect",
  "symmetric", NULL };
static const gchar *const centers[] = { "middle", "corner", NULL };
static const gchar *const policies[] = { "imagenet", "cifar10", "svhn", NULL };
static const gchar *const booleans[] = { "false", "true", NULL };

static const SpdlArg jitter_args[] = {
  { "brightness", SPDL_ARG_JITTER, SPDL_JITTER_BRIGHTNESS, 0, 100, 1, 1 },
  { "contrast", SPDL_ARG_JITTER, SPDL_JITTER_CONTRAST, 0, 100, 1, 1 },
  { "saturation", SPDL_ARG_JITTER, SPDL_JITTER_SATURATION, 0, 100, 1, 1 },
  { "hue", SPDL_ARG_SPREAD, SPDL_JITTER_HUE, -0.5, 0.5, 0, 0 },
  { NULL },
};
static const SpdlArg blur_args[] = {
  { "kernel-size", SPDL_ARG_ODD, SPDL_BLUR_KERNEL_SIZE, 1, 255, NAN, NAN },
  { "sigma", SPDL_ARG_RANGE, SPDL_BLUR_SIGMA, 0.01, 40, 0.1, 2 },
  { NULL },
};
static const SpdlArg affine_args[] = {
  { "degrees", SPDL_ARG_SPREAD, SPDL_AFFINE_ANGLE, -360, 360, 0, 0, NULL,
      TRUE },
  { "angle", SPDL_ARG_RANGE, SPDL_AFFINE_ANGLE, -360, 360, 0, 0 },
  { "translate", SPDL_ARG_NUMBER, SPDL_AFFINE_TRANSLATE, 0, 1, NAN, NAN, NULL,
      TRUE },
  { "translate-x", SPDL_ARG_INTEGERS, SPDL_AFFINE_TRANSLATE_X, -MAX_SIDE,
      MAX_SIDE, 0, 0 },
  { "translate-y", SPDL_ARG_INTEGERS, SPDL_AFFINE_TRANSLATE_Y, -MAX_SIDE,
      MAX_SIDE, 0, 0 },
  { "scale", SPDL_ARG_RANGE, SPDL_AFFINE_SCALE, 0.01, 100, 1, 1 },
  { "shear", SPDL_ARG_SPREAD, SPDL_AFFINE_SHEAR_X, -89, 89, 0, 0, NULL, TRUE },
  { "shear-x", SPDL_ARG_RANGE, SPDL_AFFINE_SHEAR_X, -89, 89, 0, 0 },
  { "shear-y", SPDL_ARG_RANGE, SPDL_AFFINE_SHEAR_Y, -89, 89, 0, 0 },
  { "center", SPDL_ARG_WORD, SPDL_AFFINE_CENTER, 0, 0, 0, 0, centers },
  { NULL },
};
static const SpdlArg rotate_args[] = {
  { "degrees", SPDL_ARG_SPREAD, SPDL_AFFINE_ANGLE, -360, 360, NAN, NAN, NULL,
      TRUE },
  { "angle", SPDL_ARG_RANGE, SPDL_AFFINE_ANGLE, -360, 360, NAN, NAN, NULL,
      FALSE },
  { NULL },
};
static const SpdlArg perspective_args[] = {
  { "distortion-scale", SPDL_ARG_NUMBER, SPDL_PERSPECTIVE_DISTORTION, 0, 1, 0.5,
      0.5, NULL, TRUE },
  { "corners", SPDL_ARG_CORNERS, SPDL_PERSPECTIVE_CORNERS, -MAX_SIDE, MAX_SIDE,
      NAN, NAN },
  { NULL },
};
static const SpdlArg pad_args[] = {
  { "padding", SPDL_ARG_INTEGER, SPDL_PAD_PADDING, 0, 4096, NAN, NAN },
  { "mode", SPDL_ARG_WORD, SPDL_PAD_MODE, 0, 0, 0, 0, pad_modes },
  { NULL },
};
static const SpdlArg random_crop_args[] = {
  { "size", SPDL_ARG_SIZE, SPDL_CROP_WIDTH, 1, MAX_SIDE, NAN, NAN },
  { "padding", SPDL_ARG_INTEGER, SPDL_CROP_PADDING, 0, 4096, 0, 0 },
  { "mode", SPDL_ARG_WORD, SPDL_CROP_MODE, 0, 0, 0, 0, pad_modes },
  { NULL },
};
static const SpdlArg crop_args[] = {
  { "x", SPDL_ARG_INTEGER, SPDL_CROP_X, 0, MAX_SIDE, NAN, NAN },
  { "y", SPDL_ARG_INTEGER, SPDL_CROP_Y, 0, MAX_SIDE, NAN, NAN },
  { "width", SPDL_ARG_INTEGER, SPDL_CROP_WIDTH, 1, MAX_SIDE, NAN, NAN },
  { "height", SPDL_ARG_INTEGER, SPDL_CROP_HEIGHT, 1, MAX_SIDE, NAN, NAN },
  { NULL },
};
static const SpdlArg erase_args[] = {
  { "scale", SPDL_ARG_RANGE, SPDL_ERASE_SCALE, 0, 1, 0.02, 0.33, NULL, TRUE },
  { "ratio", SPDL_ARG_RANGE, SPDL_ERASE_RATIO, 0.01, 100, 0.3, 3.3, NULL,
      TRUE },
  { "noise", SPDL_ARG_INTEGER, SPDL_ERASE_NOISE, 0, G_MAXUINT32, NAN, NAN },
  { "x", SPDL_ARG_INTEGER, SPDL_ERASE_X, 0, MAX_SIDE, NAN, NAN },
  { "y", SPDL_ARG_INTEGER, SPDL_ERASE_Y, 0, MAX_SIDE, NAN, NAN },
  { "width", SPDL_ARG_INTEGER, SPDL_ERASE_WIDTH, 1, MAX_SIDE, NAN, NAN },
  { "height", SPDL_ARG_INTEGER, SPDL_ERASE_HEIGHT, 1, MAX_SIDE, NAN, NAN },
  { NULL },
};
static const SpdlArg weight_args[] = {
  { "weight", SPDL_ARG_NUMBER, 0, 0, 1000, 1, 1 },
  { NULL },
};
static const SpdlArg rand_args[] = {
  { "n", SPDL_ARG_INTEGER, SPDL_RAND_N, 0, 16, 2, 2 },
  { "m", SPDL_ARG_INTEGER, SPDL_RAND_M, 0, 1000, 9, 9 },
  { "bins", SPDL_ARG_INTEGER, SPDL_RAND_BINS, 2, 1001, 31, 31 },
  { NULL },
};
static const SpdlArg trivial_args[] = {
  { "bins", SPDL_ARG_INTEGER, 0, 2, 1001, 31, 31 },
  { NULL },
};
static const SpdlArg auto_args[] = {
  { "policy", SPDL_ARG_WORD, 0, 0, 0, 0, 0, policies },
  { NULL },
};
static const SpdlArg augmix_args[] = {
  { "severity", SPDL_ARG_INTEGER, SPDL_AUGMIX_SEVERITY, 1, 10, 3, 3 },
  { "width", SPDL_ARG_INTEGER, SPDL_AUGMIX_WIDTH, 1, 16, 3, 3 },
  { "depth", SPDL_ARG_INTEGER, SPDL_AUGMIX_DEPTH, 0, 16, 0, 0 },
  { "alpha", SPDL_ARG_NUMBER, SPDL_AUGMIX_ALPHA, 0.01, 100, 1, 1 },
  { "all-ops", SPDL_ARG_WORD, SPDL_AUGMIX_ALL_OPS, 0, 0, 1, 1, booleans },
  { NULL },
};
static const SpdlArg timm_args[] = {
  { "n", SPDL_ARG_INTEGER, SPDL_TIMM_N, 0, 16, 2, 2 },
  { "m", SPDL_ARG_INTEGER, SPDL_TIMM_M, 0, 100, 10, 10 },
  { "mstd", SPDL_ARG_NUMBER, SPDL_TIMM_MSTD, 0, 1000, 0, 0 },
  { "mmax", SPDL_ARG_INTEGER, SPDL_TIMM_MMAX, 0, 100, 10, 10 },
  { "inc", SPDL_ARG_INTEGER, SPDL_TIMM_INC, 0, 1, 0, 0 },
  { "p", SPDL_ARG_NUMBER, SPDL_TIMM_P, 0, 1, 0.5, 0.5 },
  { NULL },
};

const SpdlOpSpec spdl_op_specs[SPDL_N_OPS] = {
  [SPDL_OP_BRIGHTNESS] = { "brightness", 1, SPDL_OP_NEEDS_ALL,
      SINGLE ("factor", SPDL_ARG_RANGE, 0, 100) },
  [SPDL_OP_CONTRAST] = { "contrast", 1, SPDL_OP_NEEDS_ALL,
      SINGLE ("factor", SPDL_ARG_RANGE, 0, 100) },
  [SPDL_OP_SATURATION] = { "saturation", 1, SPDL_OP_NEEDS_ALL,
      SINGLE ("factor", SPDL_ARG_RANGE, 0, 100) },
  [SPDL_OP_HUE] = { "hue", 1, SPDL_OP_NEEDS_ALL,
      SINGLE ("factor", SPDL_ARG_RANGE, -0.5, 0.5) },
  [SPDL_OP_SHARPNESS] = { "sharpness", 0.5, SPDL_OP_NEEDS_ALL,
      SINGLE ("factor", SPDL_ARG_RANGE, 0, 100) },
  [SPDL_OP_AUTOCONTRAST] = { "autocontrast", 0.5 },
  [SPDL_OP_EQUALIZE] = { "equalize", 0.5 },
  [SPDL_OP_INVERT] = { "invert", 0.5 },
  [SPDL_OP_POSTERIZE] = { "posterize", 0.5, SPDL_OP_NEEDS_ALL,
      SINGLE ("bits", SPDL_ARG_INTEGERS, 0, 8) },
  [SPDL_OP_SOLARIZE] = { "solarize", 0.5, SPDL_OP_NEEDS_ALL,
      SINGLE ("threshold", SPDL_ARG_RANGE, 0, 256) },
  [SPDL_OP_SOLARIZE_ADD] = { "solarize-add", 1, SPDL_OP_NEEDS_ALL,
      SINGLE ("add", SPDL_ARG_INTEGERS, 0, 255) },
  [SPDL_OP_GRAYSCALE] = { "grayscale", 0.1 },
  [SPDL_OP_GAUSSIAN_BLUR] = { "gaussian-blur", 1, 0, blur_args },
  [SPDL_OP_AFFINE] = { "affine", 1, SPDL_OP_HAS_FILTER | SPDL_OP_HAS_FILL,
      affine_args },
  [SPDL_OP_ROTATE] = { "rotate", 1,
      SPDL_OP_NEEDS_ALL | SPDL_OP_HAS_FILTER | SPDL_OP_HAS_FILL, rotate_args },
  [SPDL_OP_PERSPECTIVE] = { "perspective", 0.5,
      SPDL_OP_HAS_FILTER | SPDL_OP_IS_BILINEAR | SPDL_OP_HAS_FILL,
      perspective_args },
  [SPDL_OP_PAD] = { "pad", 1,
      SPDL_OP_NEEDS_ALL | SPDL_OP_HAS_FILL | SPDL_OP_IS_RESIZING, pad_args },
  [SPDL_OP_CROP] = { "crop", 1, SPDL_OP_NEEDS_ALL | SPDL_OP_IS_RESIZING,
      crop_args },
  [SPDL_OP_ERASE] = { "erase", 0.5, SPDL_OP_HAS_VALUE, erase_args },
  [SPDL_OP_HORIZONTAL_FLIP] = { "horizontal-flip", 0.5 },
  [SPDL_OP_VERTICAL_FLIP] = { "vertical-flip", 0.5 },
  [SPDL_OP_MIX] = { "mix", 1, SPDL_OP_HAS_MEMBERS, weight_args },
  [SPDL_OP_SEQUENCE] = { "sequence", 1, SPDL_OP_HAS_MEMBERS, weight_args },
  [SPDL_OP_CHOICE] = { "choice", 1, SPDL_OP_HAS_MEMBERS },
  [SPDL_OP_COLOR_JITTER] = { "color-jitter", 1, 0, jitter_args },
  [SPDL_OP_RANDOM_CROP] = { "random-crop", 1,
      SPDL_OP_NEEDS_ALL | SPDL_OP_HAS_FILL | SPDL_OP_IS_RESIZING,
      random_crop_args },
  [SPDL_OP_CENTER_CROP] = { "center-crop", 1,
      SPDL_OP_NEEDS_ALL | SPDL_OP_IS_RESIZING,
      (const SpdlArg[]){
          { "size", SPDL_ARG_SIZE, SPDL_CROP_WIDTH, 1, MAX_SIDE, NAN, NAN },
          { NULL } } },
  [SPDL_OP_RAND_AUGMENT] = { "rand-augment", 1,
      SPDL_OP_HAS_FILTER | SPDL_OP_HAS_FILL, rand_args },
  [SPDL_OP_TRIVIAL_AUGMENT_WIDE] = { "trivial-augment-wide", 1,
      SPDL_OP_HAS_FILTER | SPDL_OP_HAS_FILL, trivial_args },
  [SPDL_OP_AUTO_AUGMENT] = { "auto-augment", 1,
      SPDL_OP_HAS_FILTER | SPDL_OP_HAS_FILL | SPDL_OP_HAS_WORD, auto_args },
  [SPDL_OP_AUGMIX] = { "augmix", 1,
      SPDL_OP_HAS_FILTER | SPDL_OP_IS_BILINEAR | SPDL_OP_HAS_FILL,
      augmix_args },
  [SPDL_OP_TIMM_RAND] = { "rand-m9-mstd0.5-inc1", 1,
      SPDL_OP_HAS_FILTER | SPDL_OP_IS_BILINEAR | SPDL_OP_HAS_FILL |
          SPDL_OP_IS_HIDDEN,
      timm_args },
};

void
spdl_op_spec_get_defaults (const SpdlOpSpec *self, double *low, double *high)
{
  for (guint i = 0; i < SPDL_OP_VALUES; i++)
    low[i] = high[i] = NAN;
  for (const SpdlArg *arg = self->args; arg && arg->name; arg++) {
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
}
