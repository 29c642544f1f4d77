/* gst-spdl: boxes, masks and keypoints of an image that was decoded
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/element/itemshapes.h"

#include "gst/spdl/common/shapes.h"
#include "plugins/codec/resize/filterweights.h"
#include "plugins/codec/resize/orientation.h"

/* Sets what turns an image of @width by @height as stored upright. */
static void
set_turn (double *m, guint orientation, guint width, guint height)
{
  const gboolean mirrors_x = spdl_orientation_mirrors_x (orientation);
  const gboolean mirrors_y = spdl_orientation_mirrors_y (orientation);
  const double x[3] = { mirrors_x ? -1 : 1, 0, mirrors_x ? width : 0 };
  const double y[3] = { 0, mirrors_y ? -1 : 1, mirrors_y ? height : 0 };
  const gboolean swaps = spdl_orientation_swaps_sides (orientation);

  memcpy (m, swaps ? y : x, sizeof x);
  memcpy (m + 3, swaps ? x : y, sizeof y);
  memcpy (m + 6, (double[]){ 0, 0, 1 }, 3 * sizeof *m);
}

/* Adds the crop and the scale to the frame, which is not turned yet. */
static void
add_fit (double *m, const SpdlImageTransform *transform)
{
  const SpdlFit *fit = &transform->fit;
  const double scale_x =
      (double) fit->full_width * transform->unit_x / fit->box.width;
  const double scale_y =
      (double) fit->full_height * transform->unit_y / fit->box.height;
  const double scale[9] = { scale_x, 0,
    (double) fit->place.x - fit->skip_x -
        scale_x * fit->box.x / transform->unit_x,
    0, scale_y,
    (double) fit->place.y - fit->skip_y -
        scale_y * fit->box.y / transform->unit_y,
    0, 0, 1 };

  spdl_matrix_chain (m, m, scale);
}

/* Sets where the image lies in the result. */
static void
set_clip (double *clip, const SpdlImageTransform *transform)
{
  const guint o = transform->orientation;
  const SpdlFit *fit = &transform->fit;
  const SpdlRectangle *place = &fit->place;
  const gboolean swaps = spdl_orientation_swaps_sides (o);
  const guint x = spdl_orientation_mirrors_x (o)
                      ? fit->width - place->x - place->width
                      : place->x;
  const guint y = spdl_orientation_mirrors_y (o)
                      ? fit->height - place->y - place->height
                      : place->y;

  clip[0] = swaps ? y : x;
  clip[1] = swaps ? x : y;
  clip[2] = clip[0] + (swaps ? place->height : place->width);
  clip[3] = clip[1] + (swaps ? place->width : place->height);
}

/* Sets the move from the upright image to the stored one. */
static void
set_move_back (SpdlShapesMove *move, const SpdlImageTransform *transform)
{
  const guint orientation = transform->exif_orientation;

  spdl_shapes_move_init (move, transform->width, transform->height);
  set_turn (move->matrix, orientation, transform->width, transform->height);
  spdl_matrix_invert (move->matrix, move->matrix);
  move->after[0] = -1 * spdl_orientation_mirrors_x (orientation);
  move->after[1] = -1 * spdl_orientation_mirrors_y (orientation);
}

/* Sets the move from the stored image to the result. */
static void
set_move (SpdlShapesMove *move, const SpdlImageTransform *transform)
{
  const gboolean swaps = spdl_orientation_swaps_sides (transform->orientation);
  const SpdlFit *fit = &transform->fit;
  double turn[9];

  spdl_shapes_move_init (
      move, swaps ? fit->height : fit->width, swaps ? fit->width : fit->height);
  set_turn (turn, transform->orientation, fit->width, fit->height);
  add_fit (move->matrix, transform);
  spdl_matrix_chain (move->matrix, move->matrix, turn);
  move->before[0] = spdl_orientation_mirrors_x (transform->turned);
  move->before[1] = spdl_orientation_mirrors_y (transform->turned);
  move->after[0] = -1 * transform->flip;
  set_clip (move->clip, transform);
}

/* Masks */

/* Mirrors the positions of an axis, whose image has @side pixels. */
static void
mirror_axis (SpdlMaskAxis *axis, guint side)
{
  axis->is_reverse = !axis->is_reverse;
  for (guint i = 0, k = axis->n; i < k--; i++) {
    const guint first = axis->from[i];

    axis->from[i] = side - 1 - axis->from[k];
    axis->from[k] = side - 1 - first;
  }
}

/* Returns an axis of the result, in the order of the stored image.
 *
 * @mirrors: the result has them in reverse order */
static SpdlMaskAxis
make_axis (const SpdlImageTransform *transform, gboolean is_y, gboolean mirrors)
{
  const SpdlFit *fit = &transform->fit;
  const SpdlFilterKey key = {
    .n_in = is_y ? transform->height : transform->width,
    .begin = is_y ? fit->box.y : fit->box.x,
    .length = is_y ? fit->box.height : fit->box.width,
    .unit = is_y ? transform->unit_y : transform->unit_x,
    .n_full = is_y ? fit->full_height : fit->full_width,
    .skip = is_y ? fit->skip_y : fit->skip_x,
    .n_out = is_y ? fit->place.height : fit->place.width,
  };
  const guint begin = is_y ? fit->place.y : fit->place.x;
  SpdlMaskAxis axis = { .side = is_y ? fit->height : fit->width,
    .n = key.n_out,
    .is_reverse = mirrors,
    .from = g_new (guint, key.n_out) };

  axis.begin = mirrors ? axis.side - begin - axis.n : begin;
  spdl_filter_find_nearest (&key, axis.from);
  return axis;
}

/* Picks the pixels of the masks. They are those of the stored image, or of the
 * upright one, if the coordinates are. */
static gboolean
move_masks (SpdlShapes *shapes, const SpdlImageTransform *transform,
    gboolean is_upright, GError **error)
{
  const guint turn = transform->orientation;
  const guint before = is_upright ? transform->exif_orientation : 1;
  const gboolean swaps = spdl_orientation_swaps_sides (turn);
  SpdlMaskAxis x =
      make_axis (transform, FALSE, spdl_orientation_mirrors_x (turn));
  SpdlMaskAxis y =
      make_axis (transform, TRUE, spdl_orientation_mirrors_y (turn));
  SpdlMaskPick pick;
  SpdlMasks *masks = NULL;

  if (spdl_orientation_mirrors_x (before))
    mirror_axis (&x, transform->width);
  if (spdl_orientation_mirrors_y (before))
    mirror_axis (&y, transform->height);
  pick = (SpdlMaskPick){ swaps ? y : x, swaps ? x : y,
    swaps != spdl_orientation_swaps_sides (before) };
  if (spdl_masks_check_size (shapes->masks, pick.x.side, pick.y.side, error)) {
    masks = spdl_masks_pick (shapes->masks, &pick);
    if (!masks)
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
          "Not enough memory for a mask of %u by %u", pick.x.side, pick.y.side);
  }
  g_free (x.from);
  g_free (y.from);
  if (masks)
    spdl_shapes_set_masks (shapes, masks);
  return masks != NULL;
}

static SpdlShapes *
move_shapes (const SpdlShapes *shapes, const GstStructure *extra,
    const SpdlImageTransform *transform, GError **error)
{
  const gboolean is_upright = shapes->spec.is_upright;
  const gboolean swaps =
      is_upright && spdl_orientation_swaps_sides (transform->exif_orientation);
  g_autoptr (SpdlShapes) own = NULL;
  SpdlShapesMove move;

  if (transform->width == 0) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The item has boxes or keypoints, but is not an image");
    return NULL;
  }
  own = spdl_shapes_read (shapes, extra,
      swaps ? transform->height : transform->width,
      swaps ? transform->width : transform->height, error);
  if (own && is_upright) {
    set_move_back (&move, transform);
    spdl_shapes_apply (own, &move, NULL);
  }
  set_move (&move, transform);
  if (!own || !spdl_shapes_apply (own, &move, error) ||
      (own->masks && !move_masks (own, transform, is_upright, error)))
    return NULL;
  spdl_shapes_drop (own);
  return g_steal_pointer (&own);
}

gboolean
spdl_item_shapes_move (GstBuffer *result, const GstSpdlItemMeta *item,
    const SpdlDecodeConfig *config, const SpdlImageTransform *transform,
    GError **error)
{
  const SpdlShapes *shapes = spdl_shapes_find (item->extra);
  g_autoptr (SpdlShapes) own = NULL;
  GstSpdlItemMeta *meta;

  if (G_LIKELY (!shapes) || !spdl_shapes_belong_to (result, config->part))
    return TRUE;
  if (!(own = move_shapes (shapes, item->extra, transform, error)))
    return FALSE;
  if (!(meta = gst_spdl_buffer_get_item_meta (result))) {
    meta = gst_spdl_buffer_add_item_meta (result);
    gst_spdl_item_meta_assign (meta, item);
  }
  spdl_shapes_put (own, meta->extra);
  return TRUE;
}
