/* gst-spdl: matrices of geometric transforms
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/augment/warp.h"

#include <math.h>
#include <string.h>

static double
to_radians (double degrees)
{
  return degrees * G_PI / 180;
}

/* Moves the origins of the matrix, which are @x, @y from the centers of the
 * first pixels, to these centers. */
static void
move_origin (double *m, double x, double y)
{
  m[2] += x - m[0] * x - m[1] * y;
  m[5] += y - m[3] * x - m[4] * y;
}

/* Sets the inverse of: shear, scale, rotate about the center, then move. */
static void
set_affine (double *m, const SpdlStep *step, guint width, guint height)
{
  const double *v = step->values;
  /* Positive angles of rotate turn to the left, those of affine to the
   * right. */
  const double angle =
      to_radians (step->kind == SPDL_OP_ROTATE ? -v[SPDL_AFFINE_ANGLE]
                                               : v[SPDL_AFFINE_ANGLE]);
  const gboolean is_affine = step->kind == SPDL_OP_AFFINE;
  const double shear_x = is_affine ? to_radians (v[SPDL_AFFINE_SHEAR_X]) : 0;
  const double shear_y = is_affine ? to_radians (v[SPDL_AFFINE_SHEAR_Y]) : 0;
  const double scale = is_affine ? v[SPDL_AFFINE_SCALE] : 1;
  const double dx = is_affine ? v[SPDL_AFFINE_TRANSLATE_X] : 0;
  const double dy = is_affine ? v[SPDL_AFFINE_TRANSLATE_Y] : 0;
  const gboolean is_corner = is_affine && v[SPDL_AFFINE_CENTER] > 0;
  const double a = cos (angle - shear_y) / cos (shear_y);
  const double b = -(a * tan (shear_x) + sin (angle));
  const double c = sin (angle - shear_y) / cos (shear_y);
  const double d = cos (angle) - c * tan (shear_x);

  m[0] = d / scale;
  m[1] = -b / scale;
  m[3] = -c / scale;
  m[4] = a / scale;
  m[2] = -m[0] * dx - m[1] * dy;
  m[5] = -m[3] * dx - m[4] * dy;
  move_origin (m, is_corner ? -0.5 : width * 0.5 - 0.5,
      is_corner ? -0.5 : height * 0.5 - 0.5);
}

/* Solves the equations by Gauss's method with pivots. Returns FALSE if they
 * have no solution. */
static gboolean
solve (double rows[8][9])
{
  for (guint i = 0; i < 8; i++) {
    guint pivot = i;

    for (guint k = i + 1; k < 8; k++)
      if (fabs (rows[k][i]) > fabs (rows[pivot][i]))
        pivot = k;
    if (fabs (rows[pivot][i]) < 1e-9)
      return FALSE;
    for (guint k = 0; k < 9; k++) {
      const double moved = rows[i][k];

      rows[i][k] = rows[pivot][k];
      rows[pivot][k] = moved;
    }
    for (guint k = 0; k < 8; k++) {
      const double factor = k == i ? 0 : rows[k][i] / rows[i][i];

      for (guint j = i; j < 9 && k != i; j++)
        rows[k][j] -= factor * rows[i][j];
    }
  }
  return TRUE;
}

/* Sets the transform that moves the corners of the image to those of @step.
 * Corners on a line leave the image as it is. */
static void
set_perspective (double *m, const SpdlStep *step, guint width, guint height)
{
  const double *to = &step->values[SPDL_PERSPECTIVE_CORNERS];
  const double from[8] = { 0, 0, width - 1.0, 0, width - 1.0, height - 1.0, 0,
    height - 1.0 };
  double rows[8][9];

  for (guint i = 0; i < 8; i++) {
    const double x = to[i & ~1u], y = to[i | 1];
    const gboolean is_y = i % 2;
    const double row[9] = { is_y ? 0 : x, is_y ? 0 : y, !is_y, is_y ? x : 0,
      is_y ? y : 0, is_y, -from[i] * x, -from[i] * y, from[i] };

    memcpy (rows[i], row, sizeof row);
  }
  if (!solve (rows))
    return;
  for (guint i = 0; i < 8; i++)
    m[i] = rows[i][8] / rows[i][i];
  /* torchvision applies the matrix to positions from the corner. */
  m[2] += 0.5 * (m[0] + m[1]);
  m[5] += 0.5 * (m[3] + m[4]);
  m[8] += 0.5 * (m[6] + m[7]);
  for (guint i = 0; i < 3; i++) {
    m[i] -= 0.5 * m[6 + i];
    m[3 + i] -= 0.5 * m[6 + i];
  }
}

void
spdl_warp_init (SpdlWarp *self, const SpdlStep *step, const SpdlRaster *in)
{
  *self = (SpdlWarp){ in, step->values[SPDL_OP_FILTER], step->fill,
    step->kind == SPDL_OP_PERSPECTIVE, { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
  if (in->bgr) {
    self->fill.color[0] = step->fill.color[2];
    self->fill.color[2] = step->fill.color[0];
  }
  if (self->is_projective)
    set_perspective (self->m, step, in->width, in->height);
  else
    set_affine (self->m, step, in->width, in->height);
}
