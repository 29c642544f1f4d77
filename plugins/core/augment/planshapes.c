/* gst-spdl: boxes, masks and keypoints of an image that is augmented
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

/* Returns (transfer full) the steps that move something, which take the nearest
 * pixel and fill with the background. */
static GArray *
list_moves (const SpdlPlan *self, const SpdlRaster *in)
{
  GArray *moves = g_array_new (FALSE, FALSE, sizeof (SpdlStep));
  SpdlShapesMove move;

  for (guint i = 0; i < self->steps->len; i++) {
    SpdlStep step = g_array_index (self->steps, SpdlStep, i);

    if (!set_move (&move, &step, in))
      continue;
    step.fill = (SpdlFill){ .kind = SPDL_FILL_COLOR };
    step.values[SPDL_OP_FILTER] = SPDL_WARP_NEAREST;
    g_array_append_val (moves, step);
  }
  return moves;
}

/* Applies @moves to each mask. */
static SpdlMasks *
paint_masks (const SpdlMasks *masks, const GArray *moves, SpdlPainter *painter,
    const SpdlRaster *in, const SpdlRaster *out, GError **error)
{
  g_autoptr (SpdlMasks) moved = spdl_masks_new (out->width, out->height, FALSE);

  for (guint i = 0; i < masks->ends->len; i++) {
    spdl_masks_write_plane (masks, i, in->data);
    if (!spdl_painter_run (painter, (const SpdlStep *) moves->data, moves->len,
            in, out, error))
      return NULL;
    spdl_masks_add_plane (moved, out->data);
  }
  return g_steal_pointer (&moved);
}

static SpdlRaster
make_plane (guint width, guint height)
{
  return (SpdlRaster){ .data = g_try_malloc (
                           (gsize) width * height + SPDL_LOOP_PADDING),
    .stride = width,
    .width = width,
    .height = height,
    .n_channels = 1 };
}

static gboolean
move_masks (const SpdlPlan *self, SpdlShapes *shapes, SpdlPainter *painter,
    const SpdlRaster *image, GError **error)
{
  g_autoptr (GArray) moves = list_moves (self, image);
  SpdlRaster in, out;
  SpdlMasks *moved = NULL;

  if (moves->len == 0)
    return TRUE;
  if (!spdl_masks_check_size (shapes->masks, self->width, self->height, error))
    return FALSE;
  in = make_plane (image->width, image->height);
  out = make_plane (self->width, self->height);
  if (in.data && out.data)
    moved = paint_masks (shapes->masks, moves, painter, &in, &out, error);
  else
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory for masks of %u by %u", self->width, self->height);
  g_free (in.data);
  g_free (out.data);
  if (moved)
    spdl_shapes_set_masks (shapes, moved);
  return moved != NULL;
}

SpdlShapes *
spdl_plan_move_shapes (const SpdlPlan *self, const SpdlShapes *shapes,
    const GstStructure *extra, SpdlPainter *painter, const SpdlRaster *in,
    GError **error)
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
  if (own && own->masks && !move_masks (self, own, painter, in, error))
    return NULL;
  if (own)
    spdl_shapes_drop (own);
  return g_steal_pointer (&own);
}
