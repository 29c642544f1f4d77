/* gst-spdl: reader of boxes, masks and keypoints from the fields of an item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/jsonnumber.h"
#include "gst/spdl/common/shapes.h"

#include <math.h>
#include <string.h>

/* Numbers of lists */

#define MAX_DEPTH 3

/* Begins a text in place of a list: the reason why there is none. */
#define ERROR_PREFIX "error: "

typedef struct {
  const SpdlShapes *before;
  const GstStructure *extra;
  double *numbers; /* of all fields in turn */
  gsize n, room;

  /* Numbers of the current field: */
  guint row;   /* numbers of a list in its list */
  guint inner; /* numbers of a list in such a list */

  /* By field. Rows that are not new are those before. */
  gboolean is_new[SPDL_SHAPES_N_FIELDS];
  gsize begins[SPDL_SHAPES_N_FIELDS];
  guint rows[SPDL_SHAPES_N_FIELDS];

  SpdlMasks *masks; /* (nullable): new ones */
  gchar *reason;    /* (nullable): error of the masks */
} Reader;

/* Returns whether a list at @depth, whose numbers begin at @begin, is right. */
static gboolean
check_list (const Reader *self, guint depth, gsize begin)
{
  const gsize n = self->n - begin;

  return depth == 0   ? n % self->row == 0
         : depth == 1 ? n == self->row
                      : n == self->inner;
}

static inline gboolean
add_number (Reader *self, double number)
{
  if (G_UNLIKELY (self->n == self->room)) {
    self->room = MAX (128, self->room * 2);
    self->numbers = g_renew (double, self->numbers, self->room);
  }
  self->numbers[self->n++] = number;
  return isfinite (number);
}

static inline gboolean
read_number (Reader *self, const gchar **at)
{
  double number;

  return spdl_json_read_number (at, &number) && add_number (self, number);
}

/* Reads a list of numbers or lists from JSON. */
static gboolean
read_text (Reader *self, const gchar **at, guint depth)
{
  const gsize begin = self->n;

  if (depth == MAX_DEPTH || **at != '[')
    return FALSE;
  *at = spdl_json_skip_blanks (*at + 1);
  while (**at != ']') {
    if (!(**at == '[' ? read_text (self, at, depth + 1)
                      : read_number (self, at)))
      return FALSE;
    *at = spdl_json_skip_blanks (*at);
    if (**at == ',')
      *at = spdl_json_skip_blanks (*at + 1);
    else if (**at != ']')
      return FALSE;
  }
  (*at)++;
  return check_list (self, depth, begin);
}

static gboolean
read_values (Reader *self, const GValue *list, guint depth)
{
  const gsize begin = self->n;

  if (depth == MAX_DEPTH)
    return FALSE;
  for (guint i = 0; i < gst_value_array_get_size (list); i++) {
    const GValue *value = gst_value_array_get_value (list, i);
    GValue number = G_VALUE_INIT;

    if (GST_VALUE_HOLDS_ARRAY (value)) {
      if (!read_values (self, value, depth + 1))
        return FALSE;
      continue;
    }
    g_value_init (&number, G_TYPE_DOUBLE);
    /* GLib would also make numbers of texts. */
    if (G_VALUE_HOLDS_STRING (value) || !g_value_transform (value, &number) ||
        !add_number (self, g_value_get_double (&number)))
      return FALSE;
  }
  return check_list (self, depth, begin);
}

static gboolean
read_list (Reader *self, const GValue *value)
{
  const gchar *at;

  if (GST_VALUE_HOLDS_ARRAY (value))
    return read_values (self, value, 0);
  if (!G_VALUE_HOLDS_STRING (value) || !g_value_get_string (value))
    return FALSE;
  at = spdl_json_skip_blanks (g_value_get_string (value));
  return read_text (self, &at, 0) && *spdl_json_skip_blanks (at) == '\0';
}

/* Fields of an item */

static gchar *
describe_needs (const Reader *self, guint field)
{
  const SpdlShapesSpec *spec = &self->before->spec;
  const guint n_boxes = self->rows[SPDL_SHAPES_BOXES];

  if (field == SPDL_SHAPES_BOXES)
    return g_strdup (
        "a list of boxes of 4 numbers, which end after they begin (see "
        "box-format)");
  if (field == SPDL_SHAPES_MASKS)
    return g_strdup_printf (
        "a list with the segmentation of each of %u boxes: polygons or COCO's "
        "RLE%s%s%s",
        n_boxes, self->reason ? "; " : "", self->reason ? self->reason : "",
        self->reason ? " (counted from 0)" : "");
  if (field < SPDL_SHAPES_POINTS)
    return g_strdup_printf (
        "a list of %u whole numbers, one for each box", n_boxes);
  if (spec->points_per_box == 0)
    return g_strdup_printf (
        "a list of keypoints of %u numbers (see keypoint-size)",
        spec->point_size);
  return g_strdup_printf (
      "a list with %u keypoints of %u numbers for each of %u boxes (see "
      "keypoints-per-box and keypoint-size)",
      spec->points_per_box, spec->point_size, n_boxes);
}

static gboolean
set_wrong (const Reader *self, guint field, GError **error)
{
  const GQuark name = self->before->spec.fields[field];
  const GValue *value = gst_structure_id_get_value (self->extra, name);
  const gchar *list = self->before->list;
  g_autofree gchar *needs = describe_needs (self, field);
  g_autofree gchar *text = !value ? g_strdup ("missing")
                           : G_VALUE_HOLDS_STRING (value)
                               ? g_value_dup_string (value)
                               : gst_value_serialize (value);

  if (g_str_has_prefix (text, ERROR_PREFIX)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "Field \"%s\" cannot be read: %s", g_quark_to_string (name),
        text + strlen (ERROR_PREFIX));
    return FALSE;
  }
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "Field \"%s\"%s%s%s is %.100s%s, but must be %s",
      g_quark_to_string (name), list ? " of the list \"" : "", list ? list : "",
      list ? "\"" : "", text, strlen (text) > 100 ? "..." : "", needs);
  return FALSE;
}

/* @n: rows of the field before */
static gboolean
read_field (
    Reader *self, guint field, guint row, guint inner, guint n, GError **error)
{
  const GQuark name = self->before->spec.fields[field];
  const GValue *value =
      name ? gst_structure_id_get_value (self->extra, name) : NULL;

  self->rows[field] = n;
  self->begins[field] = self->n;
  self->is_new[field] = name && (self->before->width == 0 || value);
  if (!self->is_new[field])
    return TRUE;
  self->row = row;
  self->inner = inner;
  if (!value || !read_list (self, value))
    return set_wrong (self, field, error);
  self->rows[field] = (self->n - self->begins[field]) / row;
  return TRUE;
}

/* Reads the masks of an image of this size. */
static gboolean
read_masks (Reader *self, guint width, guint height, GError **error)
{
  const SpdlShapes *before = self->before;
  const GQuark name = before->spec.fields[SPDL_SHAPES_MASKS];
  const GValue *value =
      name ? gst_structure_id_get_value (self->extra, name) : NULL;
  const gboolean scales = before->width == 0 && before->spec.is_relative;
  const double scale[2] = { scales ? width : 1, scales ? height : 1 };
  guint n = before->n_boxes;

  if (!name)
    return TRUE;
  if (before->width == 0 || value) {
    self->masks =
        value ? spdl_masks_read (value, width, height, scale, &self->reason)
              : NULL;
    if (!self->masks)
      return set_wrong (self, SPDL_SHAPES_MASKS, error);
    n = self->masks->ends->len;
  }
  return n == self->rows[SPDL_SHAPES_BOXES] ||
         set_wrong (self, SPDL_SHAPES_MASKS, error);
}

static gboolean
read_fields (Reader *self, GError **error)
{
  const SpdlShapes *before = self->before;
  const SpdlShapesSpec *spec = &before->spec;
  const guint *n_boxes = &self->rows[SPDL_SHAPES_BOXES];

  if (!read_field (self, SPDL_SHAPES_BOXES, 4, 0, before->n_boxes, error) ||
      !read_field (self, SPDL_SHAPES_POINTS, spdl_shapes_get_point_row (spec),
          spec->points_per_box > 0 ? spec->point_size : 0, before->n_points,
          error))
    return FALSE;
  if (spec->points_per_box > 0 && self->rows[SPDL_SHAPES_POINTS] != *n_boxes)
    return set_wrong (self, SPDL_SHAPES_POINTS, error);
  for (guint i = SPDL_SHAPES_LABELS; i < SPDL_SHAPES_LABELS + spec->n_labels;
       i++)
    if (!read_field (self, i, 1, 0, before->n_boxes, error))
      return FALSE;
    else if (self->rows[i] != *n_boxes)
      return set_wrong (self, i, error);
  return TRUE;
}

/* Sets a box from numbers in pixels. Returns FALSE if it ends before it
 * begins. */
static gboolean
set_box (float *box, const double *from, SpdlBoxFormat format)
{
  for (guint k = 0; k < 2; k++) {
    const double size =
        format == SPDL_BOX_XYXY ? from[2 + k] - from[k] : from[2 + k];
    const double begin = from[k] - (format == SPDL_BOX_CXCYWH ? 0.5 * size : 0);

    if (size < 0)
      return FALSE;
    box[k] = begin;
    box[2 + k] = begin + size;
  }
  return TRUE;
}

static gboolean
take_boxes (SpdlShapes *self, const Reader *reader, const double *scale)
{
  const double *from = reader->numbers + reader->begins[SPDL_SHAPES_BOXES];
  /* A function sets boxes as it found them. */
  const SpdlBoxFormat format =
      reader->before->width == 0 ? self->spec.format : SPDL_BOX_XYXY;

  for (guint i = 0; i < self->n_boxes; i++, from += 4) {
    const double pixels[4] = { from[0] * scale[0], from[1] * scale[1],
      from[2] * scale[0], from[3] * scale[1] };

    if (!set_box (&self->boxes[i * 4], pixels, format))
      return FALSE;
  }
  return TRUE;
}

static void
take_keypoints (SpdlShapes *self, const Reader *reader, const double *scale)
{
  const double *from = reader->numbers + reader->begins[SPDL_SHAPES_POINTS];
  const gsize n =
      (gsize) self->n_points * spdl_shapes_get_point_row (&self->spec);
  const guint size = self->spec.point_size;

  for (gsize i = 0; i < n; i += size) {
    self->points[i] = from[i] * scale[0];
    self->points[i + 1] = from[i + 1] * scale[1];
    if (size == 3)
      self->points[i + 2] = from[i + 2];
  }
}

static gboolean
take_labels (SpdlShapes *self, const Reader *reader, guint label)
{
  const double *from =
      reader->numbers + reader->begins[SPDL_SHAPES_LABELS + label];

  for (guint i = 0; i < self->n_boxes; i++) {
    if (from[i] != rint (from[i]) || fabs (from[i]) > 9007199254740992.)
      return FALSE;
    self->labels[(gsize) i * self->spec.n_labels + label] = from[i];
  }
  return TRUE;
}

static gboolean
take_fields (SpdlShapes *self, const Reader *reader, GError **error)
{
  const gboolean scales = reader->before->width == 0 && self->spec.is_relative;
  const double scale[2] = { scales ? self->width : 1,
    scales ? self->height : 1 };

  if (reader->is_new[SPDL_SHAPES_BOXES] && !take_boxes (self, reader, scale))
    return set_wrong (reader, SPDL_SHAPES_BOXES, error);
  if (reader->is_new[SPDL_SHAPES_POINTS])
    take_keypoints (self, reader, scale);
  for (guint i = 0; i < self->spec.n_labels; i++)
    if (reader->is_new[SPDL_SHAPES_LABELS + i] &&
        !take_labels (self, reader, i))
      return set_wrong (reader, SPDL_SHAPES_LABELS + i, error);
  return TRUE;
}

SpdlShapes *
spdl_shapes_read (const SpdlShapes *self, const GstStructure *extra,
    guint width, guint height, GError **error)
{
  Reader reader = { .before = self, .extra = extra };
  SpdlShapes *result = NULL;

  if (self->width > 0 && !spdl_shapes_check_size (self, width, height, error))
    return NULL;
  if (read_fields (&reader, error) &&
      read_masks (&reader, width, height, error)) {
    result = spdl_shapes_copy (
        self, reader.rows[SPDL_SHAPES_BOXES], reader.rows[SPDL_SHAPES_POINTS]);
    result->width = width;
    result->height = height;
    if (reader.masks)
      spdl_shapes_set_masks (result, g_steal_pointer (&reader.masks));
    if (!take_fields (result, &reader, error))
      g_clear_pointer (&result, spdl_shapes_unref);
  }
  g_clear_pointer (&reader.masks, spdl_masks_unref);
  g_free (reader.reason);
  g_free (reader.numbers);
  return result;
}
