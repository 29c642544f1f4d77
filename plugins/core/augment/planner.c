/* gst-spdl: random values of augmentations
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/augment/plan.h"

#include <gst/gst.h>
#include <math.h>

/* More bytes than this do not fit in the offsets that kernels compute. */
#define MAX_PIXELS (1u << 28)

/* Attempts of erase to fit a rectangle, as in torchvision. */
#define MAX_TRIES 10

static double
draw_value (SpdlPlan *self, const SpdlOp *op, guint slot)
{
  if (!(op->low[slot] < op->high[slot]))
    return (float) op->low[slot];
  return spdl_plan_draw_between (self, op->low[slot], op->high[slot]);
}

/* Draws a whole number from a range, both ends included. */
static double
draw_integer (SpdlPlan *self, const SpdlOp *op, guint slot)
{
  if (!(op->low[slot] < op->high[slot]))
    return op->low[slot];
  return op->low[slot] +
         spdl_random_below (&self->random, op->high[slot] - op->low[slot] + 1);
}

/* Adds a step with the filter and the fill of @op. */
static SpdlStep *
add_step (SpdlPlan *self, const SpdlOp *op, SpdlOpKind kind)
{
  SpdlStep *step = spdl_plan_add (self, kind);

  step->values[SPDL_OP_FILTER] = op->low[SPDL_OP_FILTER];
  step->fill = op->fill;
  return step;
}

/* Operations */

static gboolean
draw_simple (SpdlPlan *self, const SpdlOp *op, GError **error)
{
  SpdlStep *step = add_step (self, op, op->kind);

  step->values[0] =
      op->kind == SPDL_OP_POSTERIZE || op->kind == SPDL_OP_SOLARIZE_ADD
          ? draw_integer (self, op, 0)
          : draw_value (self, op, 0);
  return TRUE;
}

/* Without a kernel size, the kernel reaches 3 standard deviations. */
static gboolean
draw_blur (SpdlPlan *self, const SpdlOp *op, GError **error)
{
  SpdlStep *step = add_step (self, op, op->kind);
  const double sigma = draw_value (self, op, SPDL_BLUR_SIGMA);
  const double size = op->low[SPDL_BLUR_KERNEL_SIZE];

  step->values[SPDL_BLUR_SIGMA] = sigma;
  step->values[SPDL_BLUR_KERNEL_SIZE] =
      isnan (size) ? 2 * ceil (3 * sigma) + 1 : size;
  return TRUE;
}

/* Draws a shift of up to @fraction of @side, in whole pixels. */
static double
draw_shift (SpdlPlan *self, double fraction, guint side)
{
  return rint (
      spdl_plan_draw_between (self, -fraction * side, fraction * side));
}

static gboolean
draw_affine (SpdlPlan *self, const SpdlOp *op, GError **error)
{
  SpdlStep *step = add_step (self, op, op->kind);
  const double fraction = op->low[SPDL_AFFINE_TRANSLATE];

  for (guint i = SPDL_AFFINE_ANGLE; i <= SPDL_AFFINE_CENTER; i++)
    step->values[i] =
        i == SPDL_AFFINE_TRANSLATE_X || i == SPDL_AFFINE_TRANSLATE_Y
            ? draw_integer (self, op, i)
            : draw_value (self, op, i);
  if (isnan (fraction))
    return TRUE;
  step->values[SPDL_AFFINE_TRANSLATE_X] =
      draw_shift (self, fraction, self->width);
  step->values[SPDL_AFFINE_TRANSLATE_Y] =
      draw_shift (self, fraction, self->height);
  return TRUE;
}

/* Draws the corners as torchvision's RandomPerspective. */
static gboolean
draw_perspective (SpdlPlan *self, const SpdlOp *op, GError **error)
{
  SpdlStep *step = add_step (self, op, op->kind);
  const double scale = op->low[SPDL_PERSPECTIVE_DISTORTION];
  const guint sides[2] = { self->width, self->height };

  for (guint i = 0; i < 8; i++) {
    const guint side = sides[i % 2];
    const guint bound = MIN (scale * (side / 2), side - 1);
    /* The corners are in the order of the clock, from the top left. */
    const gboolean is_far = i % 2 == 0 ? i == 2 || i == 4 : i >= 4;

    step->values[i] = !isnan (op->low[i])
                          ? (float) op->low[i]
                          : spdl_random_below (&self->random, bound + 1) +
                                (is_far ? side - bound - 1 : 0);
  }
  return TRUE;
}

static gboolean
check_size (const SpdlPlan *self, double width, double height, GError **error)
{
  if (width <= G_MAXUINT16 && height <= G_MAXUINT16 &&
      width * height <= MAX_PIXELS)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Image of %u by %u pixels becomes %.0f by %.0f, more than the limit of "
      "65535 pixels for a side, and of %u in all",
      self->width, self->height, width, height, MAX_PIXELS);
  return FALSE;
}

static gboolean
add_padding (SpdlPlan *self, const SpdlOp *op, guint padding, SpdlPadMode mode,
    GError **error)
{
  SpdlStep *step;
  const double width = self->width + 2.0 * padding;
  const double height = self->height + 2.0 * padding;

  if (!check_size (self, width, height, error))
    return FALSE;
  if (mode == SPDL_PAD_REFLECT &&
      (padding >= self->width || padding >= self->height)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Image of %u by %u pixels is too small for mode=reflect with a "
        "padding of %u",
        self->width, self->height, padding);
    return FALSE;
  }
  step = add_step (self, op, SPDL_OP_PAD);
  step->values[SPDL_PAD_PADDING] = padding;
  step->values[SPDL_PAD_MODE] = mode;
  self->width = width;
  self->height = height;
  return TRUE;
}

static gboolean
draw_pad (SpdlPlan *self, const SpdlOp *op, GError **error)
{
  return add_padding (
      self, op, op->low[SPDL_PAD_PADDING], op->low[SPDL_PAD_MODE], error);
}

static gboolean
draw_crop (SpdlPlan *self, const SpdlOp *op, GError **error)
{
  const double width = op->low[SPDL_CROP_WIDTH];
  const double height = op->low[SPDL_CROP_HEIGHT];
  double rest_x, rest_y, x = 0, y = 0;
  SpdlStep *step;

  if (op->kind == SPDL_OP_RANDOM_CROP && op->low[SPDL_CROP_PADDING] > 0 &&
      !add_padding (
          self, op, op->low[SPDL_CROP_PADDING], op->low[SPDL_CROP_MODE], error))
    return FALSE;
  rest_x = self->width - width;
  rest_y = self->height - height;
  if (op->kind == SPDL_OP_CROP) {
    x = op->low[SPDL_CROP_X];
    y = op->low[SPDL_CROP_Y];
  } else if (op->kind == SPDL_OP_CENTER_CROP) {
    x = MAX (rint (rest_x / 2), 0);
    y = MAX (rint (rest_y / 2), 0);
  } else if (rest_x >= 0 && rest_y >= 0) {
    y = spdl_random_below (&self->random, rest_y + 1);
    x = spdl_random_below (&self->random, rest_x + 1);
  }
  if (x > rest_x || y > rest_y) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Image of %u by %u pixels is too small for a crop of %.0f by %.0f: "
        "give images a fixed size with width and height on spdldecode, or use "
        "a smaller crop",
        self->width, self->height, x + width, y + height);
    return FALSE;
  }
  step = spdl_plan_add (self, SPDL_OP_CROP);
  step->values[SPDL_CROP_X] = x;
  step->values[SPDL_CROP_Y] = y;
  step->values[SPDL_CROP_WIDTH] = self->width = width;
  step->values[SPDL_CROP_HEIGHT] = self->height = height;
  return TRUE;
}

/* Draws the rectangle as torchvision's RandomErasing. Returns FALSE if none
 * fits. */
static gboolean
draw_rectangle (SpdlPlan *self, const SpdlOp *op, double *rectangle)
{
  const double area = (double) self->width * self->height;
  const double least = log (op->low[SPDL_ERASE_RATIO]);
  const double most = log (op->high[SPDL_ERASE_RATIO]);

  for (guint i = 0; i < MAX_TRIES; i++) {
    const double target = area * draw_value (self, op, SPDL_ERASE_SCALE);
    const double ratio = exp (spdl_plan_draw_between (self, least, most));
    const double height = rint (sqrt (target * ratio));
    const double width = rint (sqrt (target / ratio));

    if (width >= self->width || height >= self->height)
      continue;
    rectangle[2] = width;
    rectangle[3] = height;
    rectangle[1] = spdl_random_below (&self->random, self->height - height + 1);
    rectangle[0] = spdl_random_below (&self->random, self->width - width + 1);
    return width > 0 && height > 0;
  }
  return FALSE;
}

static gboolean
draw_erase (SpdlPlan *self, const SpdlOp *op, GError **error)
{
  double rectangle[4];
  SpdlStep *step;

  for (guint i = 0; i < 4; i++)
    rectangle[i] = op->low[SPDL_ERASE_X + i];
  if (isnan (rectangle[0]) && !draw_rectangle (self, op, rectangle))
    return TRUE;
  step = add_step (self, op, op->kind);
  for (guint i = 0; i < 4; i++)
    step->values[SPDL_ERASE_X + i] = rectangle[i];
  if (op->fill.kind == SPDL_FILL_NOISE)
    step->values[SPDL_ERASE_NOISE] =
        isnan (op->low[SPDL_ERASE_NOISE])
            ? spdl_random_next (&self->random) >> 32
            : op->low[SPDL_ERASE_NOISE];
  return TRUE;
}

/* Applies the parts in random order. A part that changes nothing is left
 * out. */
static gboolean
draw_jitter (SpdlPlan *self, const SpdlOp *op, GError **error)
{
  static const SpdlOpKind kinds[] = { SPDL_OP_BRIGHTNESS, SPDL_OP_CONTRAST,
    SPDL_OP_SATURATION, SPDL_OP_HUE };
  guint order[] = { 0, 1, 2, 3 };

  for (guint i = 3; i > 0; i--) {
    const guint k = spdl_random_below (&self->random, i + 1);
    const guint moved = order[k];

    order[k] = order[i];
    order[i] = moved;
  }
  for (guint i = 0; i < 4; i++) {
    const guint slot = order[i];
    const double value = draw_value (self, op, slot);

    if (value != (slot == SPDL_JITTER_HUE ? 0 : 1))
      spdl_plan_add (self, kinds[slot])->values[0] = value;
  }
  return TRUE;
}

/* Groups */

static gboolean draw_op (SpdlPlan *self, const SpdlOp *op, GError **error);

static gboolean
draw_members (SpdlPlan *self, const SpdlOp *op, GError **error)
{
  for (guint i = 0; i < op->members->len; i++)
    if (!draw_op (self, g_ptr_array_index (op->members, i), error))
      return FALSE;
  return TRUE;
}

static double
get_weight (const SpdlOp *op)
{
  return op->kind == SPDL_OP_SEQUENCE ? op->low[0] : 1;
}

static gboolean
draw_choice (SpdlPlan *self, const SpdlOp *op, GError **error)
{
  const guint last = op->members->len - 1;
  double sum = 0, at;
  guint i;

  for (i = 0; i <= last; i++)
    sum += get_weight (g_ptr_array_index (op->members, i));
  at = sum * spdl_random_double (&self->random);
  for (i = 0; i < last; i++)
    if ((at -= get_weight (g_ptr_array_index (op->members, i))) < 0)
      break;
  return draw_op (self, g_ptr_array_index (op->members, i), error);
}

static gboolean
draw_mix (SpdlPlan *self, const SpdlOp *op, GError **error)
{
  spdl_plan_add (self, SPDL_OP_MIX)->values[0] = (float) op->low[0];
  for (guint i = 0; i < op->members->len; i++) {
    const SpdlOp *member = g_ptr_array_index (op->members, i);

    spdl_plan_add (self, SPDL_OP_SEQUENCE)->values[0] = (float) member->low[0];
    if (!draw_op (self, member, error))
      return FALSE;
    spdl_plan_add (self, SPDL_OP_END);
  }
  spdl_plan_add (self, SPDL_OP_END);
  return TRUE;
}

/* Other operations before the policies are drawn by draw_simple(). */
static gboolean (*const functions[SPDL_OP_RAND_AUGMENT]) (
    SpdlPlan *self, const SpdlOp *op, GError **error) = {
  [SPDL_OP_GAUSSIAN_BLUR] = draw_blur,
  [SPDL_OP_AFFINE] = draw_affine,
  [SPDL_OP_PERSPECTIVE] = draw_perspective,
  [SPDL_OP_PAD] = draw_pad,
  [SPDL_OP_CROP] = draw_crop,
  [SPDL_OP_RANDOM_CROP] = draw_crop,
  [SPDL_OP_CENTER_CROP] = draw_crop,
  [SPDL_OP_ERASE] = draw_erase,
  [SPDL_OP_COLOR_JITTER] = draw_jitter,
  [SPDL_OP_SEQUENCE] = draw_members,
  [SPDL_OP_CHOICE] = draw_choice,
  [SPDL_OP_MIX] = draw_mix,
};

static gboolean
draw_op (SpdlPlan *self, const SpdlOp *op, GError **error)
{
  const double p = op->low[SPDL_OP_P];

  if (p < 1 && !(spdl_random_double (&self->random) < p))
    return TRUE;
  if (op->kind >= SPDL_OP_RAND_AUGMENT) {
    spdl_policy_draw (self, op);
    return TRUE;
  }
  return (functions[op->kind] ? functions[op->kind] : draw_simple) (
      self, op, error);
}

gboolean
spdl_plan_draw (SpdlPlan *self, const GPtrArray *ops, guint64 seed,
    guint64 epoch, guint64 index, guint width, guint height, GError **error)
{
  g_array_set_size (self->steps, 0);
  self->width = width;
  self->height = height;
  if (!check_size (self, width, height, error))
    return FALSE;
  for (guint i = 0; i < ops->len; i++) {
    const guint64 key[] = { seed, epoch, index, SPDL_AUGMENT_OPS_KEY, i };

    spdl_random_init (&self->random, key, G_N_ELEMENTS (key));
    if (!draw_op (self, g_ptr_array_index (ops, i), error))
      return FALSE;
  }
  return TRUE;
}
