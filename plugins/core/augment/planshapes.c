/* gst-spdl: boxes and keypoints of an image that is augmented
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/augment/planshapes.h"

/* Sets a move of all positions by (@x, @y) into an image of another size. */
static void
set_shift (
    SpdlShapesMove *move, double x, double y, double width, double height)
{
  spdl_shapes_move_init (move, width, height);
  move->matrix[2] = x;
  move->matrix[5] = y;
}

static void
set_mirror (SpdlShapesMove *move, guint axis, guint side)
{
  move->matrix[axis * 4] = -1;
  move->matrix[axis * 3 + 2] = side;
  move->after[axis] = -1;
}

/* The matrix of a warp leads from the centers of the result's pixels to those
 * of the image's. */
static gboolean
set_warp (SpdlShapesMove *move, const SpdlStep *step, const SpdlRaster *in)
{
  static const double to_edges[9] = { 1, 0, 0.5, 0, 1, 0.5, 0, 0, 1 };
  static const double to_centers[9] = { 1, 0, -0.5, 0, 1, -0.5, 0, 0, 1 };
  SpdlWarp warp;

  spdl_warp_init (&warp, step, in);
  spdl_matrix_chain (warp.m, to_centers, warp.m);
  spdl_matrix_chain (warp.m, warp.m, to_edges);
  return spdl_matrix_invert (move->matrix, warp.m);
}

/* Sets @move to what @step does to an image like @in. Returns FALSE if the step
 * moves nothing. */
static gboolean
set_move (SpdlShapesMove *move, const SpdlStep *step, const SpdlRaster *in)
{
  const double *values = step->values;
  const double padding = values[SPDL_PAD_PADDING];

  spdl_shapes_move_init (move, in->width, in->height);
  switch (step->kind) {
    case SPDL_OP_PAD:
      set_shift (move, padding, padding, in->width + 2 * padding,
          in->height + 2 * padding);
      return TRUE;
    case SPDL_OP_CROP:
      set_shift (move, -values[SPDL_CROP_X], -values[SPDL_CROP_Y],
          values[SPDL_CROP_WIDTH], values[SPDL_CROP_HEIGHT]);
      return TRUE;
    case SPDL_OP_HORIZONTAL_FLIP:
      set_mirror (move, 0, in->width);
      return TRUE;
    case SPDL_OP_VERTICAL_FLIP:
      set_mirror (move, 1, in->height);
      return TRUE;
    case SPDL_OP_AFFINE:
    case SPDL_OP_ROTATE:
    case SPDL_OP_PERSPECTIVE:
      return set_warp (move, step, in);
    default:
      return FALSE;
  }
}

SpdlShapes *
spdl_plan_move_shapes (const SpdlPlan *self, const SpdlShapes *shapes,
    const GstStructure *extra, const SpdlRaster *in, GError **error)
{
  g_autoptr (SpdlShapes) own =
      spdl_shapes_read (shapes, extra, in->width, in->height, error);
  SpdlRaster now = *in;
  guint depth = 0; /* in a mixture */

  for (guint i = 0; own && i < self->steps->len; i++) {
    const SpdlStep *step = &g_array_index (self->steps, SpdlStep, i);
    SpdlShapesMove move;

    depth += step->kind == SPDL_OP_MIX || step->kind == SPDL_OP_SEQUENCE;
    depth -= step->kind == SPDL_OP_END;
    if (!set_move (&move, step, &now))
      continue;
    if (depth > 0) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "Boxes and keypoints have no place in a mixture of moved images: use "
          "operations on colors in mix, and another policy than augmix");
      return NULL;
    }
    if (!spdl_shapes_apply (own, &move, error))
      return NULL;
    now.width = move.width;
    now.height = move.height;
  }
  if (own)
    spdl_shapes_drop (own);
  return g_steal_pointer (&own);
}
