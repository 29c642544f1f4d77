/* gst-spdl: reader of instance masks from polygons and COCO's RLE
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/jsonnumber.h"
#include "gst/spdl/common/masks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps of a polygon in a pixel, by pycocotools' definition */
#define STEPS 5

/* Limits of coordinates, and of the crossings of columns and polygons. */
#define MAX_COORDINATE 1e8
#define MAX_CROSSINGS (1 << 24)

typedef struct {
  guint32 begin, end;
} Interval;

typedef struct {
  SpdlMasks *masks;
  const double *scale;
  const gchar *at;
  gchar *reason;     /* nullable */
  GArray *points;    /* double: of a polygon */
  GArray *crossings; /* guint32: of a polygon */
  GArray *intervals; /* Interval: of the polygons of a mask */
  guint n_polygons;  /* of a mask */
  guint n_crossings; /* of all */
  guint n_counts;    /* of a mask */
} Reader;

static gboolean
fail (Reader *self, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
fail (Reader *self, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  if (!self->reason)
    self->reason =
        g_strdup_printf ("segmentation %u %s", self->masks->ends->len, text);
  return FALSE;
}

/* Moves to the next character. Returns FALSE if it is another one. */
static gboolean
take (Reader *self, gchar wanted)
{
  self->at = spdl_json_skip_blanks (self->at);
  if (*self->at != wanted)
    return FALSE;
  self->at++;
  return TRUE;
}

static gboolean
fail_text (Reader *self)
{
  return fail (self,
      "is neither a list of polygons nor an object with size and counts at "
      "\"%.20s\"",
      self->at);
}

/* Reads a list.
 *
 * @read: reads an element */
static gboolean
read_elements (Reader *self, gboolean (*read) (Reader *))
{
  if (!take (self, '['))
    return fail_text (self);
  if (take (self, ']'))
    return TRUE;
  do {
    self->at = spdl_json_skip_blanks (self->at);
    if (!read (self))
      return FALSE;
  } while (take (self, ','));
  return take (self, ']') || fail_text (self);
}

/* Polygons */

static gboolean
read_coordinate (Reader *self)
{
  double number;

  if (!spdl_json_read_number (&self->at, &number))
    return fail_text (self);
  number *= self->scale[self->points->len % 2];
  if (!(fabs (number) <= MAX_COORDINATE))
    return fail (
        self, "has the coordinate %g, more than %g", number, MAX_COORDINATE);
  g_array_append_val (self->points, number);
  return TRUE;
}

/* Adds a crossing of the border after @column at the position @y in steps. */
static void
add_crossing (Reader *self, guint column, gint64 y)
{
  const guint height = self->masks->height;
  const double row = CLAMP ((y + 0.5) / STEPS - 0.5, 0, height);
  const guint32 place = column * height + (guint32) ceil (row);

  g_array_append_val (self->crossings, place);
}

/* An edge from its left end, or, if it is steep, from its upper end */
typedef struct {
  gint64 x, y;
  double slope; /* steps aside in each step */
  gint64 n;     /* steps */
} Edge;

static inline gint64
round_step (gint64 start, double slope, gint64 step)
{
  return start + slope * step + 0.5;
}

/* Returns the upper one of the two steps around the right border of column @x
 * in steps, of an edge that is not steep. */
static gint64
cross_flat (const Edge *self, gint64 x)
{
  return MIN (round_step (self->y, self->slope, x - self->x),
      round_step (self->y, self->slope, x + 1 - self->x));
}

static inline gboolean
is_across (const Edge *self, gint64 x, gint64 step)
{
  return (round_step (self->x, self->slope, step) > x) == (self->slope > 0);
}

static gint64
cross_steep (const Edge *self, gint64 x)
{
  gint64 step = (x + 0.5 - self->x) / self->slope;

  step = CLAMP (step, 1, self->n);
  while (step > 1 && is_across (self, x, step - 1))
    step--;
  while (step < self->n && !is_across (self, x, step))
    step++;
  return self->y + step - 1;
}

/* Adds the crossings of an edge, whose ends are in steps. pycocotools walks
 * along all steps; only those across the middle between two columns count. */
static gboolean
add_edge (Reader *self, const gint64 *from, const gint64 *to)
{
  const gint64 dx = ABS (to[0] - from[0]), dy = ABS (to[1] - from[1]);
  const gboolean is_steep = dx < dy;
  const gint64 *first = from[is_steep] > to[is_steep] ? to : from;
  const gint64 *last = first == from ? to : from;
  const Edge edge = { first[0], first[1],
    is_steep ? (double) (last[0] - first[0]) / dy
             : (double) (last[1] - first[1]) / dx,
    MAX (dx, dy) };
  const gint64 left = MIN (from[0], to[0]), right = MAX (from[0], to[0]);
  const guint before = self->crossings->len;
  /* The first column whose last step but two is not left of the edge. */
  gint64 column = MAX (left - 2 + STEPS - 1, 0) / STEPS;

  for (; column < self->masks->width && column * STEPS + 2 < right; column++)
    add_crossing (self, column,
        (is_steep ? cross_steep : cross_flat) (&edge, column * STEPS + 2));
  self->n_crossings += self->crossings->len - before;
  return self->n_crossings <= MAX_CROSSINGS ||
         fail (self, "has polygons that cross more than %d pixels",
             MAX_CROSSINGS);
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  const guint32 one = *(const guint32 *) a, other = *(const guint32 *) b;

  return one < other ? -1 : one > other;
}

/* Adds what is between each two crossings. */
static void
add_intervals (Reader *self)
{
  const guint32 end = self->masks->width * self->masks->height;

  if (self->crossings->len % 2)
    g_array_append_val (self->crossings, end);
  g_array_sort (self->crossings, compare_numbers);
  for (guint i = 0; i < self->crossings->len; i += 2) {
    const guint32 *place = &g_array_index (self->crossings, guint32, i);
    const Interval interval = { place[0], place[1] };

    if (place[0] < place[1])
      g_array_append_val (self->intervals, interval);
  }
}

static gboolean
read_polygon (Reader *self)
{
  const GArray *points = self->points;
  gint64 from[2], to[2];

  g_array_set_size (self->points, 0);
  g_array_set_size (self->crossings, 0);
  if (!read_elements (self, read_coordinate))
    return FALSE;
  if (points->len < 6 || points->len % 2)
    return fail (self,
        "has a polygon of %u numbers, but must have an x and a y for each of "
        "at least 3 points",
        points->len);
  for (guint i = 0; i <= points->len; i += 2) {
    const double *point =
        &g_array_index (points, double, i < points->len ? i : 0);

    to[0] = STEPS * point[0] + 0.5;
    to[1] = STEPS * point[1] + 0.5;
    if (i > 0 && !add_edge (self, from, to))
      return FALSE;
    memcpy (from, to, sizeof from);
  }
  add_intervals (self);
  self->n_polygons++;
  return TRUE;
}

static gint
compare_intervals (gconstpointer a, gconstpointer b)
{
  return compare_numbers (
      &((const Interval *) a)->begin, &((const Interval *) b)->begin);
}

static gboolean
read_polygons (Reader *self)
{
  guint32 at = 0;

  g_array_set_size (self->intervals, 0);
  self->n_polygons = 0;
  if (!read_elements (self, read_polygon))
    return FALSE;
  if (self->n_polygons == 0)
    return fail (self, "has no polygon");
  g_array_sort (self->intervals, compare_intervals);
  for (guint i = 0; i < self->intervals->len; i++) {
    const Interval *interval = &g_array_index (self->intervals, Interval, i);
    const guint32 begin = MAX (interval->begin, at);

    if (interval->end <= at)
      continue;
    spdl_masks_add_run (self->masks, FALSE, begin - at);
    spdl_masks_add_run (self->masks, TRUE, interval->end - begin);
    at = interval->end;
  }
  spdl_masks_end_mask (self->masks);
  return TRUE;
}

/* RLE */

/* Adds run @i, in turn of the background and of the object. */
static gboolean
add_count (Reader *self, guint i, double count)
{
  SpdlMasks *masks = self->masks;
  const guint64 rest = (guint64) masks->width * masks->height - masks->filled;

  if (!(count >= 0 && count <= rest && count == floor (count)))
    return fail (self,
        "has the count %g, but only %" G_GUINT64_FORMAT
        " of %u by %u pixels are left",
        count, rest, masks->width, masks->height);
  spdl_masks_add_run (masks, i % 2, count);
  return TRUE;
}

static gboolean
read_count (Reader *self)
{
  double count;

  if (!spdl_json_read_number (&self->at, &count))
    return fail_text (self);
  return add_count (self, self->n_counts++, count);
}

/* Reads a character of a text, all of which are ASCII. */
static gboolean
read_character (Reader *self, guint *character)
{
  const gchar *at = self->at;
  gint64 value = -1;

  *character = *at;
  if (*at != '\\') {
    self->at += *at != '\0';
    return *at != '\0';
  }
  if (at[1] == '\\') {
    value = '\\';
    at += 2;
  } else if (at[1] == 'u' && strlen (at) >= 6) {
    const gchar digits[] = { at[2], at[3], at[4], at[5], '\0' };

    value = g_ascii_strtoll (digits, NULL, 16);
    at += 6;
  }
  *character = value;
  self->at = at;
  return value >= 0;
}

/* Reads the five bits of each character of a count. From the fourth count on,
 * it is the difference to the last but one. */
static gboolean
read_compressed (Reader *self)
{
  gint64 counts[2] = { 0, 0 }, count = 0;
  guint character, shift = 0;

  for (self->at++; read_character (self, &character) && character != '"';) {
    const guint bits = character - '0';

    if (bits > 63 || shift > 40)
      return fail (self, "has counts that are not COCO's RLE");
    count |= (gint64) (bits & 0x1f) << shift;
    shift += 5;
    if (bits & 0x20)
      continue;
    if (bits & 0x10)
      count -= (gint64) 1 << shift;
    if (self->n_counts > 2)
      count += counts[0];
    if (!add_count (self, self->n_counts++, count))
      return FALSE;
    counts[0] = counts[1];
    counts[1] = count;
    count = shift = 0;
  }
  return (character == '"' && shift == 0) ||
         fail (self, "has counts that end within a count");
}

static gboolean
read_side (Reader *self)
{
  double side;

  if (!spdl_json_read_number (&self->at, &side))
    return fail_text (self);
  g_array_append_val (self->points, side);
  return TRUE;
}

static gboolean
read_size (Reader *self)
{
  const double *size;

  g_array_set_size (self->points, 0);
  if (!read_elements (self, read_side))
    return FALSE;
  size = (const double *) self->points->data;
  if (self->points->len != 2)
    return fail (self, "has a size that is not a height and a width");
  return (size[0] == self->masks->height && size[1] == self->masks->width) ||
         fail (self,
             "has a height of %g and a width of %g, but the image has %u and "
             "%u",
             size[0], size[1], self->masks->height, self->masks->width);
}

/* Reads a member with its name. */
static gboolean
read_member (Reader *self, gboolean *has_size, gboolean *has_counts)
{
  const gboolean is_size = g_str_has_prefix (self->at, "\"size\"");
  const gboolean is_counts = g_str_has_prefix (self->at, "\"counts\"");

  if ((!is_size && !is_counts) || (is_size && *has_size) ||
      (is_counts && *has_counts))
    return fail_text (self);
  self->at += is_size ? 6 : 8;
  if (!take (self, ':'))
    return fail_text (self);
  self->at = spdl_json_skip_blanks (self->at);
  *has_size |= is_size;
  *has_counts |= is_counts;
  return is_size            ? read_size (self)
         : *self->at == '"' ? read_compressed (self)
                            : read_elements (self, read_count);
}

static gboolean
read_rle (Reader *self)
{
  const SpdlMasks *masks = self->masks;
  gboolean has_size = FALSE, has_counts = FALSE;

  self->at++;
  self->n_counts = 0;
  do {
    self->at = spdl_json_skip_blanks (self->at);
    if (!read_member (self, &has_size, &has_counts))
      return FALSE;
  } while (take (self, ','));
  if (!take (self, '}') || !has_size || !has_counts)
    return fail_text (self);
  if (masks->filled != (guint64) masks->width * masks->height)
    return fail (self,
        "has counts of %" G_GUINT64_FORMAT
        " pixels, but the image has %u by %u",
        masks->filled, masks->width, masks->height);
  spdl_masks_end_mask (self->masks);
  return TRUE;
}

static gboolean
read_segmentation (Reader *self)
{
  return *self->at == '{' ? read_rle (self) : read_polygons (self);
}

/* Values */

static void append_value (GString *json, const GValue *value);

/* Implements GstStructureForeachFunc. */
static gboolean
append_member (GQuark name, const GValue *value, gpointer json)
{
  GString *text = json;

  g_string_append_printf (text,
      "%s\"%s\":", text->str[text->len - 1] == '{' ? "" : ",",
      g_quark_to_string (name));
  append_value (text, value);
  return TRUE;
}

static void
append_text (GString *json, const gchar *text)
{
  g_string_append_c (json, '"');
  for (; *text; text++)
    g_string_append_printf (
        json, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  g_string_append_c (json, '"');
}

static void
append_number (GString *json, const GValue *value)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
  GValue number = G_VALUE_INIT;

  g_value_init (&number, G_TYPE_DOUBLE);
  if (g_value_transform (value, &number))
    g_string_append (json,
        g_ascii_dtostr (digits, sizeof digits, g_value_get_double (&number)));
}

/* Appends values that a function set, as JSON. */
static void
append_value (GString *json, const GValue *value)
{
  if (GST_VALUE_HOLDS_ARRAY (value)) {
    g_string_append_c (json, '[');
    for (guint i = 0; i < gst_value_array_get_size (value); i++) {
      g_string_append (json, i > 0 ? "," : "");
      append_value (json, gst_value_array_get_value (value, i));
    }
    g_string_append_c (json, ']');
  } else if (GST_VALUE_HOLDS_STRUCTURE (value)) {
    g_string_append_c (json, '{');
    gst_structure_foreach (
        gst_value_get_structure (value), append_member, json);
    g_string_append_c (json, '}');
  } else if (G_VALUE_HOLDS_STRING (value) && g_value_get_string (value)) {
    append_text (json, g_value_get_string (value));
  } else {
    append_number (json, value);
  }
}

SpdlMasks *
spdl_masks_read (const GValue *list, guint width, guint height,
    const double *scale, gchar **reason)
{
  const gboolean is_text =
      G_VALUE_HOLDS_STRING (list) && g_value_get_string (list);
  g_autoptr (GString) json = g_string_new (NULL);
  Reader self = { .scale = scale };
  gboolean ok = FALSE;

  if ((guint64) width * height > G_MAXUINT32) {
    *reason = g_strdup_printf (
        "has no place in an image of %u by %u pixels", width, height);
    return NULL;
  }
  if (!is_text)
    append_value (json, list);
  self.at = is_text ? g_value_get_string (list) : json->str;
  self.masks = spdl_masks_new (width, height, TRUE);
  self.points = g_array_new (FALSE, FALSE, sizeof (double));
  self.crossings = g_array_new (FALSE, FALSE, sizeof (guint32));
  self.intervals = g_array_new (FALSE, FALSE, sizeof (Interval));
  ok = read_elements (&self, read_segmentation) &&
       (*spdl_json_skip_blanks (self.at) == '\0' || fail_text (&self));
  g_array_unref (self.points);
  g_array_unref (self.crossings);
  g_array_unref (self.intervals);
  *reason = self.reason;
  if (ok)
    return self.masks;
  spdl_masks_unref (self.masks);
  return NULL;
}
