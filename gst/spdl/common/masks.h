/* gst-spdl: instance masks of an image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* Masks of the objects of an image. Each is the lengths of its runs, in turn
 * background and object, as in COCO's RLE. Masks that are read run down the
 * columns, as there; all others run along the rows, which are the rows of a
 * tensor. Masks that others hold must not change. */
typedef struct {
  gint ref_count;
  guint width, height;
  gboolean by_columns;
  GArray *ends;   /* guint: for each mask, where its runs end */
  GArray *runs;   /* guint32 */
  guint64 filled; /* pixels of the mask that is being added */
} SpdlMasks;

/* @width, @height: at most G_MAXUINT32 pixels */
SpdlMasks *spdl_masks_new (guint width, guint height, gboolean by_columns);
SpdlMasks *spdl_masks_ref (SpdlMasks *self);
void spdl_masks_unref (SpdlMasks *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlMasks, spdl_masks_unref)

/* Appends a run to the mask that is being added, which has room for it. */
void spdl_masks_add_run (SpdlMasks *self, gboolean is_object, guint32 length);

/* Ends the mask that is being added. The rest of it is background. */
void spdl_masks_end_mask (SpdlMasks *self);

/* Adds mask @i of @other, which has the same size and order. */
void spdl_masks_add_copy (SpdlMasks *self, const SpdlMasks *other, guint i);

/* Adds a mask whose rows are in @plane, with 0 or 1 for each pixel. */
void spdl_masks_add_plane (SpdlMasks *self, const guint8 *plane);

/* Writes mask @i to @plane: 0 or 1 for each pixel, row by row. */
void spdl_masks_write_plane (const SpdlMasks *self, guint i, guint8 *plane);

/* Maximum number of pixels of all masks of an item that was decoded */
#define SPDL_MASKS_MAX_PIXELS (1 << 28)

/* Returns FALSE with @error set if as many masks as in @self (nullable) have
 * too many pixels in an image of this size. */
gboolean spdl_masks_check_size (
    const SpdlMasks *self, guint width, guint height, GError **error);

/* One side of an image that was cropped and resized: @n pixels from @begin on
 * show the image before. */
typedef struct {
  guint side;
  guint begin, n;
  gboolean is_reverse; /* the first of them shows the last of @from */
  guint *from;         /* positions in the image before, which ascend */
} SpdlMaskAxis;

typedef struct {
  SpdlMaskAxis x, y; /* of the result */
  gboolean swaps;    /* x is from the y of the image before */
} SpdlMaskPick;

/* Returns (transfer full) (nullable) the nearest pixels of the masks; NULL if
 * memory is exhausted. */
SpdlMasks *spdl_masks_pick (const SpdlMasks *self, const SpdlMaskPick *pick);

/* Reads a list with the segmentation of each object: polygons, or COCO's RLE
 * with or without compression. Polygons are filled as by pycocotools.
 *
 * @list: JSON as text, or values of GStreamer
 * @scale: of the coordinates of polygons
 *
 * Returns (transfer full) (nullable): NULL with @reason (transfer full) set */
SpdlMasks *spdl_masks_read (const GValue *list, guint width, guint height,
    const double *scale, gchar **reason);

/* Appends the masks as a list of COCO's compressed RLE. */
void spdl_masks_append_json (const SpdlMasks *self, GString *json);

/* For messages between processes. @n is the number of masks. Both functions
 * return (transfer full), the second one NULL if the bytes are invalid. */
GBytes *spdl_masks_to_bytes (const SpdlMasks *self);
SpdlMasks *spdl_masks_new_from_bytes (
    gconstpointer data, gsize size, guint n, guint width, guint height);

SPDL_END_PRIVATE_API
G_END_DECLS
