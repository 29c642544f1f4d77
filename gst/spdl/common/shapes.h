/* gst-spdl: boxes, masks and keypoints of an item, which move with its image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/common/masks.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

typedef enum {
  SPDL_BOX_XYXY,
  SPDL_BOX_XYWH,
  SPDL_BOX_CXCYWH,
} SpdlBoxFormat;

#define SPDL_SHAPES_MAX_LABELS 4
#define SPDL_SHAPES_MAX_POINTS 4096 /* of a box */
#define SPDL_SHAPES_MAX_PAIRS 64

/* Numbers of the fields that are shapes. */
enum {
  SPDL_SHAPES_BOXES,
  SPDL_SHAPES_LABELS, /* the first one: a whole number for each box */
  SPDL_SHAPES_POINTS = SPDL_SHAPES_LABELS + SPDL_SHAPES_MAX_LABELS,
  SPDL_SHAPES_MASKS, /* one for each box */
  SPDL_SHAPES_N_FIELDS,
};

/* Declaration by a source: the fields of `extra` that are shapes, and how their
 * numbers are meant. */
typedef struct {
  GQuark fields[SPDL_SHAPES_N_FIELDS]; /* 0: none */
  guint n_labels;
  SpdlBoxFormat format;
  gboolean is_relative; /* to the sides of the image, instead of pixels */
  gboolean is_upright;  /* in the image that its EXIF orientation turned */
  guint point_size;     /* 2, or 3 with the visibility */
  guint points_per_box; /* 0: keypoints belong to the image */
  guint n_pairs;        /* of keypoints that a mirror swaps */
  guint16 pairs[SPDL_SHAPES_MAX_PAIRS][2];
  double min_area; /* of the visible part of a box, in square pixels */
} SpdlShapesSpec;

/* The shapes of an item are a field of its `extra`. Until an element reads the
 * numbers from the declared fields, `width` is 0. Then these fields are gone,
 * and the numbers are pixels of the item's current image: x1, y1, x2, y2 of a
 * box, x, y and maybe the visibility of a keypoint. A function that sets such a
 * field again replaces these numbers. Shapes in a structure are shared and must
 * not change. */
typedef struct {
  gint ref_count;
  SpdlShapesSpec spec;
  gchar *list; /* (nullable): GRefString: the name of the list, for errors */
  guint width, height;
  double matrix[9]; /* from the image as it was stored, row by row */
  guint n_boxes;
  guint n_points; /* rows of keypoints: n_boxes with points_per_box */
  gint64 *labels; /* of the first box, of the second, ... */
  float *boxes;
  float *points;
  SpdlMasks *masks; /* nullable */
} SpdlShapes;

#define SPDL_TYPE_SHAPES (spdl_shapes_get_type ())
GType spdl_shapes_get_type (void);

SpdlShapes *spdl_shapes_ref (SpdlShapes *self);
void spdl_shapes_unref (SpdlShapes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlShapes, spdl_shapes_unref)

/* Creates shapes with the numbers 0, which a source that knows them sets,
 * together with `width` and `height`.
 *
 * @n_points: ignored if keypoints belong to boxes */
SpdlShapes *
spdl_shapes_new (const SpdlShapesSpec *spec, guint n_boxes, guint n_points);

/* Returns: (transfer full): a copy with as many rows; new ones are 0 */
SpdlShapes *
spdl_shapes_copy (const SpdlShapes *self, guint n_boxes, guint n_points);

/* Replaces the masks by @masks (transfer full). */
void spdl_shapes_set_masks (SpdlShapes *self, SpdlMasks *masks);

/* Returns: (nullable): the shapes in @extra (nullable) */
const SpdlShapes *spdl_shapes_find (const GstStructure *extra);

/* Sets the shapes of @extra, and removes the fields that they replace. */
void spdl_shapes_put (const SpdlShapes *self, GstStructure *extra);

/* Returns whether shapes belong to the part @name (nullable) of @item: they do
 * to the main part. */
gboolean spdl_shapes_belong_to (GstBuffer *item, const gchar *name);

/* Returns the numbers in a row of keypoints; 0 without keypoints. */
guint spdl_shapes_get_point_row (const SpdlShapesSpec *spec);

/* Returns whether both have the same fields with the same numbers in a row. */
gboolean
spdl_shapes_are_alike (const SpdlShapes *self, const SpdlShapes *other);

/* Returns whether @name is a field that these shapes replaced. */
gboolean spdl_shapes_have (const SpdlShapes *self, const gchar *name);

/* Returns whether fields of @extra must be read: for the first time, or because
 * a function set them. */
gboolean
spdl_shapes_are_new (const SpdlShapes *self, const GstStructure *extra);

/* Returns FALSE with @error set if the shapes are those of an image of another
 * size. */
gboolean spdl_shapes_check_size (
    const SpdlShapes *self, guint width, guint height, GError **error);

/* Reads the fields that are new. They refer to an image of this size.
 *
 * Returns: (transfer full) (nullable): a copy that may change; NULL with @error
 *     set, which names the list and the field, if a field is missing or wrong
 */
SpdlShapes *spdl_shapes_read (const SpdlShapes *self, const GstStructure *extra,
    guint width, guint height, GError **error);

/* A change of the image. The matrix, row by row, maps (x, y, 1) of the image
 * before to (x, y, 1) of the one after, for positions from the corner of the
 * image. A mirror moves the center of the first pixel to that of the last one,
 * so it moves keypoints, which are such positions, by one pixel less. */
typedef struct {
  double matrix[9];
  double before[2]; /* is added to keypoints before the matrix is applied */
  double after[2];
  double clip[4]; /* where the image is: x1, y1, x2, y2 */
  guint width, height;
} SpdlShapesMove;

/* Sets @m, which may be @a or @b, to the matrix that applies @b after @a. */
void spdl_matrix_chain (double *m, const double *a, const double *b);

/* Sets @m to what undoes @a. Returns FALSE if nothing does. */
gboolean spdl_matrix_invert (double *m, const double *a);

/* Starts a move to an image of this size that changes nothing else. */
void spdl_shapes_move_init (SpdlShapesMove *move, guint width, guint height);

/* Moves the shapes except the masks, which are pixels, and clips the boxes.
 * Boxes without a visible area stay away.
 * Returns FALSE with @error set if @move has no place for a shape. */
gboolean spdl_shapes_apply (
    SpdlShapes *self, const SpdlShapesMove *move, GError **error);

/* Drops the boxes without a visible part, or with too small a one, and what
 * belongs to them. To be called after the last move. */
void spdl_shapes_drop (SpdlShapes *self);

/* Appends the shapes as members of the object @json, except those that @extra
 * has. */
void spdl_shapes_append_json (
    const SpdlShapes *self, const GstStructure *extra, GString *json);

/* For messages between processes. The second function returns NULL if the
 * structure is invalid. */
GstStructure *spdl_shapes_to_structure (const SpdlShapes *self);
SpdlShapes *spdl_shapes_new_from_structure (const GstStructure *s);

SPDL_END_PRIVATE_API
G_END_DECLS
