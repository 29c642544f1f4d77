/* gst-spdl: boxes, masks and keypoints that a source declares
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/common/shapes.h"

G_BEGIN_DECLS

/* Settings of a source. */
typedef struct {
  gchar *boxes;     /* names of fields, nullable */
  gchar *masks;     /* nullable */
  gchar *keypoints; /* nullable */
  gchar *labels;    /* (nullable): with commas */
  gchar *pairs;     /* (nullable): of keypoints */
  gboolean wants_matrix;
  SpdlShapesSpec spec; /* the rest; the fields are set at the start */
} SpdlShapesSettings;

GType spdl_box_format_get_type (void);

/* The properties of a source with boxes, for a table: @S is its struct, @field
 * the settings in it. */
#define SPDL_SHAPES_PROPERTIES(S, field)                                       \
  SPDL_PROPERTY_STRING (S, field.boxes, READY, "box-column", "Box column",     \
      "Column or member with a list of boxes of 4 numbers, which move with "   \
      "the image and become a tensor of the batch",                            \
      NULL),                                                                   \
      SPDL_PROPERTY_ENUM (S, field.spec.format, READY, "box-format",           \
          "Box format", "Numbers of a box", spdl_box_format_get_type,          \
          SPDL_BOX_XYXY),                                                      \
      SPDL_PROPERTY_STRING (S, field.labels, READY, "box-label-columns",       \
          "Box label columns",                                                 \
          "Up to 4 columns or members, such as category,iscrowd, with a "      \
          "whole number for each box, which are dropped with it",              \
          NULL),                                                               \
      SPDL_PROPERTY_STRING (S, field.masks, READY, "box-mask-column",          \
          "Box mask column",                                                   \
          "Column or member with the segmentation of each box as polygons or " \
          "RLE of COCO, which becomes a mask that moves with the image",       \
          NULL),                                                               \
      SPDL_PROPERTY_STRING (S, field.keypoints, READY, "keypoint-column",      \
          "Keypoint column",                                                   \
          "Column or member with a list of keypoints, which move with the "    \
          "image and become a tensor of the batch",                            \
          NULL),                                                               \
      SPDL_PROPERTY_UINT (S, field.spec.point_size, READY, "keypoint-size",    \
          "Keypoint size",                                                     \
          "Numbers of a keypoint: 2, or 3 with the visibility", 2, 3, 2),      \
      SPDL_PROPERTY_UINT (S, field.spec.points_per_box, READY,                 \
          "keypoints-per-box", "Keypoints per box",                            \
          "Number of keypoints of each box (0 = keypoints belong to the "      \
          "image)",                                                            \
          0, SPDL_SHAPES_MAX_POINTS, 0),                                       \
      SPDL_PROPERTY_STRING (S, field.pairs, READY, "keypoint-pairs",           \
          "Keypoint pairs",                                                    \
          "Left and right keypoints of a box, such as 1-2,3-4, which change "  \
          "places in a mirrored image",                                        \
          NULL),                                                               \
      SPDL_PROPERTY_BOOLEAN (S, field.spec.is_relative, READY,                 \
          "relative-coordinates", "Relative coordinates",                      \
          "Boxes and keypoints are in shares of the image's sides instead of " \
          "pixels",                                                            \
          FALSE),                                                              \
      SPDL_PROPERTY_BOOLEAN (S, field.spec.is_upright, READY,                  \
          "upright-coordinates", "Upright coordinates",                        \
          "Boxes and keypoints refer to the image that its EXIF orientation "  \
          "turned upright, instead of the stored image",                       \
          FALSE),                                                              \
      SPDL_PROPERTY_DOUBLE (S, field.spec.min_area, READY, "min-area",         \
          "Minimum area",                                                      \
          "Area in square pixels of the visible part of a box, below which "   \
          "it is dropped",                                                     \
          0, G_MAXDOUBLE, 0),                                                  \
      SPDL_PROPERTY_BOOLEAN (S, field.wants_matrix, READY, "record-matrix",    \
          "Record matrix",                                                     \
          "Record in an item's extra how its image was moved, also without "   \
          "boxes and keypoints",                                               \
          FALSE)

/* Sets the fields of @settings, and creates the shapes that items get, or NULL
 * if there are none.
 *
 * @shapes: (inout): the former ones
 * @list: (nullable): name of the list
 *
 * Returns FALSE with @error set if the settings contradict each other. */
gboolean spdl_source_shapes_take (SpdlShapes **shapes,
    SpdlShapesSettings *settings, const gchar *list, GError **error);

/* Adds @shapes to @extra, which is created if it is NULL. */
void spdl_source_shapes_add (const SpdlShapes *shapes, GstStructure **extra);

G_END_DECLS
