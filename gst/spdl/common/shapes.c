/* gst-spdl: boxes, masks and keypoints of an item, which move with its image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/shapes.h"

#include <math.h>
#include <string.h>

#include "gst/spdl/gstspdlpartsmeta.h"

static const double identity[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };

G_DEFINE_BOXED_TYPE (
    SpdlShapes, spdl_shapes, spdl_shapes_ref, spdl_shapes_unref)

SpdlShapes *
spdl_shapes_ref (SpdlShapes *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
spdl_shapes_unref (SpdlShapes *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  g_clear_pointer (&self->list, g_ref_string_release);
  g_clear_pointer (&self->masks, spdl_masks_unref);
  g_free (self);
}

guint
spdl_shapes_get_point_row (const SpdlShapesSpec *spec)
{
  return spec->fields[SPDL_SHAPES_POINTS]
             ? spec->point_size * MAX (spec->points_per_box, 1)
             : 0;
}

/* Returns the bytes of shapes with all numbers, which follow the structure. */
static gsize
get_size (const SpdlShapesSpec *spec, guint n_boxes, guint n_points)
{
  const gsize box = 4 * sizeof (float) + spec->n_labels * sizeof (gint64);

  return sizeof (SpdlShapes) + n_boxes * box +
         n_points * spdl_shapes_get_point_row (spec) * sizeof (float);
}

SpdlShapes *
spdl_shapes_new (const SpdlShapesSpec *spec, guint n_boxes, guint n_points)
{
  SpdlShapes *self;

  if (spec->points_per_box > 0)
    n_points = n_boxes;
  self = g_malloc0 (get_size (spec, n_boxes, n_points));
  self->ref_count = 1;
  self->spec = *spec;
  self->n_boxes = n_boxes;
  self->n_points = n_points;
  self->labels = (gint64 *) (gpointer) (self + 1);
  self->boxes =
      (float *) (gpointer) &self->labels[(gsize) n_boxes * spec->n_labels];
  self->points = &self->boxes[(gsize) n_boxes * 4];
  memcpy (self->matrix, identity, sizeof identity);
  return self;
}

SpdlShapes *
spdl_shapes_copy (const SpdlShapes *self, guint n_boxes, guint n_points)
{
  SpdlShapes *copy = spdl_shapes_new (&self->spec, n_boxes, n_points);
  const gsize row = spdl_shapes_get_point_row (&self->spec);

  copy->list = self->list ? g_ref_string_acquire (self->list) : NULL;
  copy->width = self->width;
  copy->height = self->height;
  memcpy (copy->matrix, self->matrix, sizeof self->matrix);
  n_boxes = MIN (n_boxes, self->n_boxes);
  memcpy (copy->labels, self->labels,
      (gsize) n_boxes * self->spec.n_labels * sizeof (gint64));
  memcpy (copy->boxes, self->boxes, (gsize) n_boxes * 4 * sizeof (float));
  memcpy (copy->points, self->points,
      MIN (copy->n_points, self->n_points) * row * sizeof (float));
  if (self->masks && copy->n_boxes == self->n_boxes)
    copy->masks = spdl_masks_ref (self->masks);
  return copy;
}

void
spdl_shapes_set_masks (SpdlShapes *self, SpdlMasks *masks)
{
  g_clear_pointer (&self->masks, spdl_masks_unref);
  self->masks = masks;
}

static gboolean
has_field (const GstStructure *extra, GQuark field)
{
  return field && gst_structure_id_has_field (extra, field);
}

/* No column of a list has this name by chance. */
static GQuark
get_field_quark (void)
{
  static guint quark; /* atomic */
  guint found = g_atomic_int_get (&quark);

  if (!found) {
    found = g_quark_from_static_string ("spdl.shapes");
    g_atomic_int_set (&quark, found);
  }
  return found;
}

const SpdlShapes *
spdl_shapes_find (const GstStructure *extra)
{
  const GValue *value =
      extra ? gst_structure_id_get_value (extra, get_field_quark ()) : NULL;

  return value && G_VALUE_TYPE (value) == SPDL_TYPE_SHAPES
             ? g_value_get_boxed (value)
             : NULL;
}

void
spdl_shapes_put (const SpdlShapes *self, GstStructure *extra)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, SPDL_TYPE_SHAPES);
  g_value_set_boxed (&value, self);
  gst_structure_id_take_value (extra, get_field_quark (), &value);
  for (guint i = 0; self->width > 0 && i < SPDL_SHAPES_N_FIELDS; i++)
    if (has_field (extra, self->spec.fields[i]))
      gst_structure_remove_field (
          extra, g_quark_to_string (self->spec.fields[i]));
}

gboolean
spdl_shapes_belong_to (GstBuffer *item, const gchar *name)
{
  GstSpdlPartsMeta *parts = gst_spdl_buffer_get_parts_meta (item);

  return !name || !parts ||
         g_str_equal (
             name, gst_spdl_parts_meta_find_part (parts, GST_SPDL_MAIN_PART)
                       ? GST_SPDL_MAIN_PART
                       : parts->parts[0].name);
}

gboolean
spdl_shapes_have (const SpdlShapes *self, const gchar *name)
{
  const GQuark field = g_quark_try_string (name);

  for (guint i = 0; self->width > 0 && i < SPDL_SHAPES_N_FIELDS; i++)
    if (field && self->spec.fields[i] == field)
      return TRUE;
  return FALSE;
}

gboolean
spdl_shapes_are_new (const SpdlShapes *self, const GstStructure *extra)
{
  gboolean is_new = self->width == 0;

  for (guint i = 0; !is_new && i < SPDL_SHAPES_N_FIELDS; i++)
    is_new = has_field (extra, self->spec.fields[i]);
  return is_new;
}

gboolean
spdl_shapes_are_alike (const SpdlShapes *self, const SpdlShapes *other)
{
  const SpdlShapesSpec *a = &self->spec, *b = &other->spec;

  return memcmp (a->fields, b->fields, sizeof a->fields) == 0 &&
         a->points_per_box == b->points_per_box &&
         spdl_shapes_get_point_row (a) == spdl_shapes_get_point_row (b);
}

gboolean
spdl_shapes_check_size (
    const SpdlShapes *self, guint width, guint height, GError **error)
{
  if (self->width == width && self->height == height)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The boxes and keypoints belong to an image of %u by %u, but this image "
      "has %u by %u: resize it in spdldecode, which adapts them, or set them "
      "in a function",
      self->width, self->height, width, height);
  return FALSE;
}

/* Matrices */

void
spdl_matrix_chain (double *m, const double *a, const double *b)
{
  double result[9];

  for (guint i = 0; i < 9; i += 3)
    for (guint k = 0; k < 3; k++)
      result[i + k] = b[i] * a[k] + b[i + 1] * a[k + 3] + b[i + 2] * a[k + 6];
  memcpy (m, result, sizeof result);
}

gboolean
spdl_matrix_invert (double *m, const double *a)
{
  const double result[9] = { a[4] * a[8] - a[5] * a[7],
    a[2] * a[7] - a[1] * a[8], a[1] * a[5] - a[2] * a[4],
    a[5] * a[6] - a[3] * a[8], a[0] * a[8] - a[2] * a[6],
    a[2] * a[3] - a[0] * a[5], a[3] * a[7] - a[4] * a[6],
    a[1] * a[6] - a[0] * a[7], a[0] * a[4] - a[1] * a[3] };
  const double determinant =
      a[0] * result[0] + a[1] * result[3] + a[2] * result[6];

  if (!(fabs (determinant) > 1e-12))
    return FALSE;
  for (guint i = 0; i < 9; i++)
    m[i] = result[i] / determinant;
  return TRUE;
}

/* Returns FALSE if the point would be behind the viewer. */
static inline gboolean
move_point (const double *m, double x, double y, double *to)
{
  const double w = m[6] * x + m[7] * y + m[8];

  to[0] = (m[0] * x + m[1] * y + m[2]) / w;
  to[1] = (m[3] * x + m[4] * y + m[5]) / w;
  return w > 1e-9;
}

/* Moves */

void
spdl_shapes_move_init (SpdlShapesMove *move, guint width, guint height)
{
  *move = (SpdlShapesMove){
    .clip = { 0, 0, width, height }, .width = width, .height = height
  };
  memcpy (move->matrix, identity, sizeof identity);
}

/* A box of which nothing is visible begins at NaN until it is dropped: another
 * move must not give it an area again. */
static gboolean
move_box (float *box, const SpdlShapesMove *move)
{
  const double *clip = move->clip;
  double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };

  for (guint i = 0; i < 4 && !isnan (box[0]); i++) {
    double to[2];

    if (!move_point (move->matrix, box[i & 2], box[1 + (i & 1) * 2], to))
      return FALSE;
    for (guint k = 0; k < 2; k++) {
      low[k] = MIN (low[k], to[k]);
      high[k] = MAX (high[k], to[k]);
    }
  }
  for (guint k = 0; k < 2; k++) {
    box[k] = CLAMP (low[k], clip[k], clip[2 + k]);
    box[2 + k] = CLAMP (high[k], clip[k], clip[2 + k]);
  }
  if (!(box[2] > box[0] && box[3] > box[1]))
    box[0] = NAN;
  return TRUE;
}

/* A keypoint with a visibility that is not in the image is not labelled, like
 * those of COCO whose numbers are all 0. */
static gboolean
move_keypoint (
    float *point, gboolean has_visibility, const SpdlShapesMove *move)
{
  const double *clip = move->clip, *before = move->before;
  double to[2];

  if (has_visibility && point[2] == 0)
    return TRUE;
  if (!move_point (
          move->matrix, point[0] + before[0], point[1] + before[1], to))
    return FALSE;
  point[0] = to[0] += move->after[0];
  point[1] = to[1] += move->after[1];
  if (has_visibility && !(to[0] >= clip[0] && to[0] < clip[2] &&
                            to[1] >= clip[1] && to[1] < clip[3]))
    point[0] = point[1] = point[2] = 0;
  return TRUE;
}

static double
get_determinant (const double *m)
{
  return m[0] * (m[4] * m[8] - m[5] * m[7]) -
         m[1] * (m[3] * m[8] - m[5] * m[6]) +
         m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/* A mirrored left hand is a right one. */
static void
swap_pairs (SpdlShapes *self)
{
  const SpdlShapesSpec *spec = &self->spec;
  const gsize row = spdl_shapes_get_point_row (spec);

  for (guint i = 0; i < self->n_points; i++)
    for (guint k = 0; k < spec->n_pairs; k++) {
      float *a = &self->points[i * row + spec->pairs[k][0] * spec->point_size];
      float *b = &self->points[i * row + spec->pairs[k][1] * spec->point_size];
      float before[3];

      memcpy (before, a, spec->point_size * sizeof (float));
      memcpy (a, b, spec->point_size * sizeof (float));
      memcpy (b, before, spec->point_size * sizeof (float));
    }
}

gboolean
spdl_shapes_apply (SpdlShapes *self, const SpdlShapesMove *move, GError **error)
{
  const guint size = MAX (self->spec.point_size, 1);
  const gsize n =
      (gsize) self->n_points * spdl_shapes_get_point_row (&self->spec);
  gboolean ok = TRUE;

  for (guint i = 0; ok && i < self->n_boxes; i++)
    ok = move_box (&self->boxes[i * 4], move);
  for (gsize i = 0; ok && i < n; i += size)
    ok = move_keypoint (&self->points[i], size == 3, move);
  if (!ok)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "A perspective puts a part of a box, or a keypoint, behind the image: "
        "choose corners that do not fold it");
  if (self->spec.n_pairs > 0 && get_determinant (move->matrix) < 0)
    swap_pairs (self);
  spdl_matrix_chain (self->matrix, self->matrix, move->matrix);
  self->width = move->width;
  self->height = move->height;
  return ok;
}

static gboolean
is_kept (const SpdlShapes *self, guint i)
{
  const float *box = &self->boxes[i * 4];
  const double width = (double) box[2] - box[0];

  return !isnan (box[0]) &&
         width * ((double) box[3] - box[1]) >= self->spec.min_area;
}

void
spdl_shapes_drop (SpdlShapes *self)
{
  const gsize n_labels = self->spec.n_labels;
  const gsize row = self->spec.points_per_box > 0
                        ? spdl_shapes_get_point_row (&self->spec)
                        : 0;
  g_autoptr (SpdlMasks) masks =
      self->masks ? spdl_masks_new (self->masks->width, self->masks->height,
                        self->masks->by_columns)
                  : NULL;
  guint n = 0;

  for (guint i = 0; i < self->n_boxes; i++) {
    if (!is_kept (self, i))
      continue;
    if (masks)
      spdl_masks_add_copy (masks, self->masks, i);
    if (n < i) {
      memcpy (&self->boxes[n * 4], &self->boxes[i * 4], 4 * sizeof (float));
      memcpy (&self->labels[n * n_labels], &self->labels[i * n_labels],
          n_labels * sizeof (gint64));
      memcpy (
          &self->points[n * row], &self->points[i * row], row * sizeof (float));
    }
    n++;
  }
  if (n < self->n_boxes)
    spdl_shapes_set_masks (self, g_steal_pointer (&masks));
  self->n_boxes = n;
  if (self->spec.points_per_box > 0)
    self->n_points = n;
}

/* JSON */

/* Appends @n numbers in lists of @sizes, from the innermost one on; 0 ends
 * them. */
static void
append_numbers (
    GString *json, const float *numbers, gsize n, const guint *sizes)
{
  g_string_append_c (json, '[');
  for (gsize i = 0; i < n; i++) {
    gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
    gsize all = 1;

    g_string_append (json, i > 0 ? "," : "");
    for (const guint *size = sizes; *size > 0; size++)
      if (i % (all *= *size) == 0)
        g_string_append_c (json, '[');
    /* Readers make an integer of a number without a point. */
    g_ascii_formatd (digits, sizeof digits, "%.9g", (double) numbers[i]);
    g_string_append_printf (
        json, "%s%s", digits, strpbrk (digits, ".en") ? "" : ".0");
    all = 1;
    for (const guint *size = sizes; *size > 0; size++)
      if ((i + 1) % (all *= *size) == 0)
        g_string_append_c (json, ']');
  }
  g_string_append_c (json, ']');
}

/* Begins a member, whose name needs no escapes but these. Returns FALSE if
 * there is none, or if a function has set it. */
static gboolean
begin_member (GString *json, const GstStructure *extra, GQuark name)
{
  if (!name || has_field (extra, name))
    return FALSE;
  g_string_append (json, json->str[json->len - 1] == '{' ? "\"" : ",\"");
  for (const gchar *c = g_quark_to_string (name); *c; c++)
    g_string_append_printf (json, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
  g_string_append (json, "\":");
  return TRUE;
}

void
spdl_shapes_append_json (
    const SpdlShapes *self, const GstStructure *extra, GString *json)
{
  const SpdlShapesSpec *spec = &self->spec;
  const guint box[] = { 4, 0 }, matrix[] = { 3, 0 };
  const guint points[] = { spec->point_size, spec->points_per_box, 0 };
  float m[9];

  if (self->width == 0)
    return;
  if (begin_member (json, extra, spec->fields[SPDL_SHAPES_BOXES]))
    append_numbers (json, self->boxes, (gsize) self->n_boxes * 4, box);
  if (begin_member (json, extra, spec->fields[SPDL_SHAPES_POINTS]))
    append_numbers (json, self->points,
        (gsize) self->n_points * spdl_shapes_get_point_row (spec), points);
  if (self->masks &&
      begin_member (json, extra, spec->fields[SPDL_SHAPES_MASKS]))
    spdl_masks_append_json (self->masks, json);
  for (guint i = 0; i < spec->n_labels; i++) {
    if (!begin_member (json, extra, spec->fields[SPDL_SHAPES_LABELS + i]))
      continue;
    g_string_append_c (json, '[');
    for (guint k = 0; k < self->n_boxes; k++)
      g_string_append_printf (json, "%s%" G_GINT64_FORMAT, k > 0 ? "," : "",
          self->labels[(gsize) k * spec->n_labels + i]);
    g_string_append_c (json, ']');
  }
  for (guint i = 0; i < 9; i++)
    m[i] = self->matrix[i];
  if (begin_member (json, extra, g_quark_from_static_string ("image-matrix")))
    append_numbers (json, m, 9, matrix);
}

/* Messages */

GstStructure *
spdl_shapes_to_structure (const SpdlShapes *self)
{
  /* Without the room of boxes that were dropped. */
  g_autoptr (SpdlShapes) dense =
      spdl_shapes_copy (self, self->n_boxes, self->n_points);
  GstBuffer *bytes = gst_buffer_new_memdup (
      dense, get_size (&dense->spec, dense->n_boxes, dense->n_points));
  GstStructure *s = gst_structure_new ("shapes", "list", G_TYPE_STRING,
      self->list, "bytes", GST_TYPE_BUFFER, bytes, NULL);

  gst_buffer_unref (bytes);
  if (self->masks) {
    g_autoptr (GBytes) runs = spdl_masks_to_bytes (self->masks);
    GstBuffer *masks = gst_buffer_new_wrapped_bytes (runs);

    gst_structure_set (s, "masks", GST_TYPE_BUFFER, masks, NULL);
    gst_buffer_unref (masks);
  }
  for (guint i = 0; i < SPDL_SHAPES_N_FIELDS; i++)
    gst_structure_set (s, (const gchar[]){ '0' + i, '\0' }, G_TYPE_STRING,
        g_quark_to_string (self->spec.fields[i]), NULL);
  return s;
}

/* Reads the masks that belong to the boxes. Returns FALSE if they are
 * invalid. */
static gboolean
take_masks (SpdlShapes *self, const GstStructure *s)
{
  const GValue *value = gst_structure_get_value (s, "masks");
  GstMapInfo map = GST_MAP_INFO_INIT;
  GstBuffer *bytes;

  if (!value)
    return self->width == 0 || !self->spec.fields[SPDL_SHAPES_MASKS];
  bytes = GST_VALUE_HOLDS_BUFFER (value) ? gst_value_get_buffer (value) : NULL;
  if (!bytes || !gst_buffer_map (bytes, &map, GST_MAP_READ))
    return FALSE;
  self->masks = spdl_masks_new_from_bytes (
      map.data, map.size, self->n_boxes, self->width, self->height);
  gst_buffer_unmap (bytes, &map);
  return self->masks != NULL;
}

static gboolean
is_valid_spec (const SpdlShapesSpec *spec)
{
  for (guint i = 0; i < MIN (spec->n_pairs, SPDL_SHAPES_MAX_PAIRS); i++)
    if (MAX (spec->pairs[i][0], spec->pairs[i][1]) >= spec->points_per_box)
      return FALSE;
  return spec->n_pairs <= SPDL_SHAPES_MAX_PAIRS &&
         spec->n_labels <= SPDL_SHAPES_MAX_LABELS && spec->point_size <= 3 &&
         (!spec->fields[SPDL_SHAPES_POINTS] || spec->point_size >= 2) &&
         spec->points_per_box <= SPDL_SHAPES_MAX_POINTS;
}

SpdlShapes *
spdl_shapes_new_from_structure (const GstStructure *s)
{
  const GValue *value = gst_structure_get_value (s, "bytes");
  const gchar *list = gst_structure_get_string (s, "list");
  GstMapInfo map = GST_MAP_INFO_INIT;
  SpdlShapes before, *self = NULL;
  gboolean is_valid = FALSE;
  GstBuffer *bytes = value && GST_VALUE_HOLDS_BUFFER (value)
                         ? gst_value_get_buffer (value)
                         : NULL;

  if (!bytes || !gst_buffer_map (bytes, &map, GST_MAP_READ))
    return NULL;
  if (map.size >= sizeof before) {
    memcpy (&before, map.data, sizeof before);
    /* The numbers of names differ between processes. */
    for (guint i = 0; i < SPDL_SHAPES_N_FIELDS; i++)
      before.spec.fields[i] = g_quark_from_string (
          gst_structure_get_string (s, (const gchar[]){ '0' + i, '\0' }));
    is_valid =
        is_valid_spec (&before.spec) &&
        (before.spec.points_per_box == 0 ||
            before.n_points == before.n_boxes) &&
        get_size (&before.spec, before.n_boxes, before.n_points) == map.size;
  }
  if (is_valid) {
    self = spdl_shapes_new (&before.spec, before.n_boxes, before.n_points);
    memcpy (self + 1, map.data + sizeof before, map.size - sizeof before);
    memcpy (self->matrix, before.matrix, sizeof before.matrix);
    self->width = before.width;
    self->height = before.height;
    self->list = list ? g_ref_string_new (list) : NULL;
    if (!take_masks (self, s))
      g_clear_pointer (&self, spdl_shapes_unref);
  }
  gst_buffer_unmap (bytes, &map);
  return self;
}
