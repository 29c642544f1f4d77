/* gst-spdl: list of augmentations, as the property ops describes it
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A list is written like a list of transforms in torchvision:
 *
 *     LIST   = OP { ";" OP }
 *     OP     = NAME [ "(" [ ARG { "," ARG } ] ")" ]
 *     ARG    = NAME "=" VALUE | OP
 *     VALUE  = number | number ".." number | word | number { "/" number }
 *
 * Only choice, sequence and mix have other operations as arguments. */

typedef enum {
  /* Operations on pixels: steps of a plan. */
  SPDL_OP_BRIGHTNESS,
  SPDL_OP_CONTRAST,
  SPDL_OP_SATURATION,
  SPDL_OP_HUE,
  SPDL_OP_SHARPNESS,
  SPDL_OP_AUTOCONTRAST,
  SPDL_OP_EQUALIZE,
  SPDL_OP_INVERT,
  SPDL_OP_POSTERIZE,
  SPDL_OP_SOLARIZE,
  SPDL_OP_SOLARIZE_ADD,
  SPDL_OP_GRAYSCALE,
  SPDL_OP_GAUSSIAN_BLUR,
  SPDL_OP_AFFINE,
  SPDL_OP_ROTATE,
  SPDL_OP_PERSPECTIVE,
  SPDL_OP_PAD,
  SPDL_OP_CROP,
  SPDL_OP_ERASE,
  SPDL_OP_HORIZONTAL_FLIP,
  SPDL_OP_VERTICAL_FLIP,
  SPDL_OP_MIX,      /* followed by sequences */
  SPDL_OP_SEQUENCE, /* in a plan only within a mix */
  /* Operations that are drawn as others. */
  SPDL_OP_CHOICE,
  SPDL_OP_COLOR_JITTER,
  SPDL_OP_RANDOM_CROP,
  SPDL_OP_CENTER_CROP,
  /* Policies */
  SPDL_OP_RAND_AUGMENT,
  SPDL_OP_TRIVIAL_AUGMENT_WIDE,
  SPDL_OP_AUTO_AUGMENT,
  SPDL_OP_AUGMIX,
  SPDL_OP_TIMM_RAND,
  SPDL_N_OPS,
  SPDL_OP_END = SPDL_N_OPS, /* ends a sequence or a mix in a plan */
} SpdlOpKind;

/* Numbers of arguments in the arrays of values. */
enum {
  SPDL_OP_VALUE = 0,  /* of an operation that has only one */
  SPDL_OP_FILTER = 9, /* SpdlWarpFilter; of several operations, as the next */
  SPDL_OP_P,
  SPDL_OP_FILL, /* not used: SpdlFill has the values */
  SPDL_OP_VALUES
};
enum { SPDL_BLUR_KERNEL_SIZE, SPDL_BLUR_SIGMA };
enum { SPDL_PAD_PADDING, SPDL_PAD_MODE };
enum { SPDL_RAND_N, SPDL_RAND_M, SPDL_RAND_BINS };
/* Corners are 8 values. */
enum { SPDL_PERSPECTIVE_CORNERS = 0, SPDL_PERSPECTIVE_DISTORTION = 8 };
enum {
  SPDL_JITTER_BRIGHTNESS = 0,
  SPDL_JITTER_CONTRAST,
  SPDL_JITTER_SATURATION,
  SPDL_JITTER_HUE,

  SPDL_AFFINE_ANGLE = 0, /* of rotate, too */
  SPDL_AFFINE_TRANSLATE_X,
  SPDL_AFFINE_TRANSLATE_Y,
  SPDL_AFFINE_SCALE,
  SPDL_AFFINE_SHEAR_X,
  SPDL_AFFINE_SHEAR_Y,
  SPDL_AFFINE_CENTER,
  SPDL_AFFINE_TRANSLATE,

  SPDL_CROP_X = 0,
  SPDL_CROP_Y,
  SPDL_CROP_WIDTH, /* of random-crop and center-crop, too */
  SPDL_CROP_HEIGHT,
  SPDL_CROP_PADDING,
  SPDL_CROP_MODE,

  SPDL_ERASE_SCALE = 0,
  SPDL_ERASE_RATIO,
  SPDL_ERASE_NOISE,
  SPDL_ERASE_X,
  SPDL_ERASE_Y,
  SPDL_ERASE_WIDTH,
  SPDL_ERASE_HEIGHT,

  SPDL_AUGMIX_SEVERITY = 0,
  SPDL_AUGMIX_WIDTH,
  SPDL_AUGMIX_DEPTH,
  SPDL_AUGMIX_ALPHA,
  SPDL_AUGMIX_ALL_OPS,

  SPDL_TIMM_N = 0,
  SPDL_TIMM_M,
  SPDL_TIMM_MSTD,
  SPDL_TIMM_MMAX,
  SPDL_TIMM_INC,
  SPDL_TIMM_P,
};

typedef enum { SPDL_WARP_NEAREST, SPDL_WARP_BILINEAR } SpdlWarpFilter;

typedef enum {
  SPDL_PAD_CONSTANT,
  SPDL_PAD_EDGE,
  SPDL_PAD_REFLECT,
  SPDL_PAD_SYMMETRIC
} SpdlPadMode;

typedef enum {
  SPDL_FILL_NONE, /* torchvision's None: black, and blended with it */
  SPDL_FILL_COLOR,
  SPDL_FILL_NOISE, /* only erase */
} SpdlFillKind;

typedef struct {
  SpdlFillKind kind;
  guint8 color[3];
} SpdlFill;

/* An operation of a list: its arguments are ranges, from which an item's values
 * are drawn. An argument that was not set, and has no default, is NaN. */
typedef struct _SpdlOp SpdlOp;

struct _SpdlOp {
  SpdlOpKind kind;
  double low[SPDL_OP_VALUES];
  double high[SPDL_OP_VALUES];
  SpdlFill fill;
  GPtrArray *members; /* of SpdlOp; nullable */
};

/* A step of an item's plan: an operation with the values that were drawn. */
typedef struct {
  SpdlOpKind kind;
  SpdlFill fill;
  double values[SPDL_OP_VALUES];
} SpdlStep;

/* Returns: (transfer full) (nullable): array of SpdlOp, or NULL with @error
 * set, which names the position, the wrong word, and what is right there */
GPtrArray *spdl_op_list_parse (const gchar *text, GError **error);

/* Sets @step to @kind with the default values. */
void spdl_step_init (SpdlStep *step, SpdlOpKind kind);

/* Returns: (transfer full): @n_steps steps as a list that repeats them */
gchar *spdl_steps_to_text (const SpdlStep *steps, guint n_steps);

G_END_DECLS
