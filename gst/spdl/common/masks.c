/* gst-spdl: instance masks of an image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/masks.h"

#include <string.h>

SpdlMasks *
spdl_masks_new (guint width, guint height, gboolean by_columns)
{
  SpdlMasks *self = g_new0 (SpdlMasks, 1);

  self->ref_count = 1;
  self->width = width;
  self->height = height;
  self->by_columns = by_columns;
  self->ends = g_array_new (FALSE, FALSE, sizeof (guint));
  self->runs = g_array_new (FALSE, FALSE, sizeof (guint32));
  return self;
}

SpdlMasks *
spdl_masks_ref (SpdlMasks *self)
{
  g_atomic_int_inc (&self->ref_count);
  return self;
}

void
spdl_masks_unref (SpdlMasks *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;
  g_array_unref (self->ends);
  g_array_unref (self->runs);
  g_free (self);
}

/* Returns where the runs of mask @i begin. */
static guint
get_begin (const SpdlMasks *self, guint i)
{
  return i > 0 ? g_array_index (self->ends, guint, i - 1) : 0;
}

static gsize
get_area (const SpdlMasks *self)
{
  return (gsize) self->width * self->height;
}

void
spdl_masks_add_run (SpdlMasks *self, gboolean is_object, guint32 length)
{
  const guint n = self->runs->len - get_begin (self, self->ends->len);
  const guint32 none = 0;

  if (length == 0)
    return;
  self->filled += length;
  if (n > 0 && (n % 2 == 0) == is_object) {
    g_array_index (self->runs, guint32, self->runs->len - 1) += length;
    return;
  }
  if (n == 0 && is_object)
    g_array_append_val (self->runs, none);
  g_array_append_val (self->runs, length);
}

void
spdl_masks_end_mask (SpdlMasks *self)
{
  spdl_masks_add_run (self, FALSE, get_area (self) - self->filled);
  g_array_append_val (self->ends, self->runs->len);
  self->filled = 0;
}

void
spdl_masks_add_copy (SpdlMasks *self, const SpdlMasks *other, guint i)
{
  const guint begin = get_begin (other, i);

  g_array_append_vals (self->runs, &g_array_index (other->runs, guint32, begin),
      g_array_index (other->ends, guint, i) - begin);
  g_array_append_val (self->ends, self->runs->len);
}

/* Returns the end of the pixels with the value of the one at @begin. */
static gsize
find_end (const guint8 *plane, gsize begin, gsize n)
{
  const guint64 same = plane[begin] * G_GUINT64_CONSTANT (0x0101010101010101);
  gsize at = begin;

  for (guint64 word; at + sizeof word <= n; at += sizeof word) {
    memcpy (&word, plane + at, sizeof word);
    if (word != same)
      break;
  }
  while (at < n && plane[at] == plane[begin])
    at++;
  return at;
}

void
spdl_masks_add_plane (SpdlMasks *self, const guint8 *plane)
{
  const gsize n = get_area (self);

  for (gsize at = 0; at < n;) {
    const gsize end = find_end (plane, at, n);

    spdl_masks_add_run (self, plane[at], end - at);
    at = end;
  }
  spdl_masks_end_mask (self);
}

/* Part of an image, with the sides x1, y1, x2, y2 */
typedef void (*PaintFunc) (gpointer user_data, const guint *part);

/* Calls @paint for parts that together are the object. A run across several
 * lines has a part in the first one, whole lines, and a part in the last. */
static void
paint_mask (const SpdlMasks *self, guint i, PaintFunc paint, gpointer user_data)
{
  const guint side = self->by_columns ? self->height : self->width;
  const guint end = g_array_index (self->ends, guint, i);
  guint64 at = 0;

  for (guint k = get_begin (self, i); k < end; k++) {
    const guint64 begin = at;
    const gboolean is_object = (k - get_begin (self, i)) % 2;

    at += g_array_index (self->runs, guint32, k);
    for (guint64 from = begin, to; is_object && from < at; from = to) {
      const guint line = from / side, first = from % side;
      const guint n_lines =
          first == 0 ? MAX ((at - from) / side, 1) : (guint64) 1;
      guint last;

      to = MIN ((guint64) (line + n_lines) * side, at);
      last = to % side == 0 ? side : to % side;
      paint (user_data,
          self->by_columns
              ? (const guint[]){ line, first, line + n_lines, last }
              : (const guint[]){ first, line, last, line + n_lines });
    }
  }
}

typedef struct {
  guint8 *plane;
  gsize stride;
} Plane;

static void
fill_part (const Plane *self, guint x1, guint y1, guint x2, guint y2)
{
  for (guint y = y1; y < y2; y++)
    memset (self->plane + y * self->stride + x1, 1, x2 - x1);
}

/* Implements PaintFunc. */
static void
paint_plane (gpointer plane, const guint *part)
{
  fill_part (plane, part[0], part[1], part[2], part[3]);
}

void
spdl_masks_write_plane (const SpdlMasks *self, guint i, guint8 *plane)
{
  Plane target = { plane, self->width };

  memset (plane, 0, get_area (self));
  paint_mask (self, i, paint_plane, &target);
}

gboolean
spdl_masks_check_size (
    const SpdlMasks *self, guint width, guint height, GError **error)
{
  const gsize area = (gsize) width * height;

  if (!self || area == 0 || self->ends->len <= SPDL_MASKS_MAX_PIXELS / area)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "%u masks of %u by %u have more than %d pixels: choose a smaller size of "
      "the image, or leave box-mask-column unset",
      self->ends->len, width, height, SPDL_MASKS_MAX_PIXELS);
  return FALSE;
}

/* Cropping and resizing */

typedef struct {
  Plane plane;
  const SpdlMaskPick *pick;
  guint *places[2]; /* for x and y: the number of positions below each one */
} Picking;

/* Returns (transfer full) (nullable) for each position before how many pixels
 * come from lower ones. */
static guint *
invert_axis (const SpdlMaskAxis *axis, guint side)
{
  guint *places = g_try_new (guint, (gsize) side + 1);
  guint k = 0;

  for (guint i = 0; places && i <= side; i++) {
    while (k < axis->n && axis->from[k] < i)
      k++;
    places[i] = k;
  }
  return places;
}

/* Sets the pixels that show the positions from @begin to @end. */
static void
find_places (const SpdlMaskAxis *axis, const guint *places, guint begin,
    guint end, guint *place)
{
  const guint from = places[begin], to = places[end];

  place[0] = axis->begin + (axis->is_reverse ? axis->n - to : from);
  place[1] = axis->begin + (axis->is_reverse ? axis->n - from : to);
}

/* Implements PaintFunc. */
static void
paint_picked (gpointer user_data, const guint *part)
{
  const Picking *self = user_data;
  const guint from_x = self->pick->swaps;
  guint x[2], y[2];

  find_places (
      &self->pick->x, self->places[0], part[from_x], part[2 + from_x], x);
  find_places (
      &self->pick->y, self->places[1], part[!from_x], part[2 + !from_x], y);
  if (x[0] < x[1])
    fill_part (&self->plane, x[0], y[0], x[1], y[1]);
}

SpdlMasks *
spdl_masks_pick (const SpdlMasks *self, const SpdlMaskPick *pick)
{
  const guint width = pick->x.side, height = pick->y.side;
  const gsize size = (gsize) width * height;
  const guint sides[2] = { pick->swaps ? self->height : self->width,
    pick->swaps ? self->width : self->height };
  Picking picking = { { g_try_malloc (size), width }, pick,
    { invert_axis (&pick->x, sides[0]), invert_axis (&pick->y, sides[1]) } };
  SpdlMasks *picked = NULL;

  if (picking.plane.plane && picking.places[0] && picking.places[1])
    picked = spdl_masks_new (width, height, FALSE);
  for (guint i = 0; picked && i < self->ends->len; i++) {
    memset (picking.plane.plane, 0, size);
    paint_mask (self, i, paint_picked, &picking);
    spdl_masks_add_plane (picked, picking.plane.plane);
  }
  g_free (picking.plane.plane);
  g_free (picking.places[0]);
  g_free (picking.places[1]);
  return picked;
}

/* JSON */

/* Appends the bits of a run, five in a character: of the difference to the one
 * before the last, as in COCO's RLE. */
static void
append_run (GString *json, gint64 value)
{
  gboolean has_more = TRUE;

  while (has_more) {
    guint bits = value & 0x1f;

    value >>= 5; /* keeps the sign */
    has_more = value != (bits & 0x10 ? -1 : 0);
    bits += 48 + (has_more ? 0x20 : 0);
    if (bits == '\\')
      g_string_append_c (json, '\\');
    g_string_append_c (json, bits);
  }
}

static void
append_columns (GString *json, const guint8 *plane, guint width, guint height)
{
  gint64 runs[3] = { 0, 0, 0 }; /* the last but one, the last, the current */
  guint n = 0;
  guint8 value = 0;

  for (guint x = 0; x < width; x++)
    for (guint y = 0; y < height; y++) {
      const guint8 pixel = plane[(gsize) y * width + x];

      if (pixel != value) {
        append_run (json, runs[2] - (n++ > 2 ? runs[0] : 0));
        runs[0] = runs[1];
        runs[1] = runs[2];
        runs[2] = 0;
        value = pixel;
      }
      runs[2]++;
    }
  append_run (json, runs[2] - (n > 2 ? runs[0] : 0));
}

void
spdl_masks_append_json (const SpdlMasks *self, GString *json)
{
  g_autofree guint8 *plane = g_malloc (MAX (get_area (self), 1));

  g_string_append_c (json, '[');
  for (guint i = 0; i < self->ends->len; i++) {
    spdl_masks_write_plane (self, i, plane);
    g_string_append_printf (json, "%s{\"size\":[%u,%u],\"counts\":\"",
        i > 0 ? "," : "", self->height, self->width);
    append_columns (json, plane, self->width, self->height);
    g_string_append (json, "\"}");
  }
  g_string_append_c (json, ']');
}

/* Messages */

GBytes *
spdl_masks_to_bytes (const SpdlMasks *self)
{
  GByteArray *bytes = g_byte_array_new ();
  const guint32 by_columns = self->by_columns;

  g_byte_array_append (bytes, (const guint8 *) &by_columns, sizeof by_columns);
  g_byte_array_append (bytes, (const guint8 *) self->ends->data,
      self->ends->len * sizeof (guint));
  g_byte_array_append (bytes, (const guint8 *) self->runs->data,
      self->runs->len * sizeof (guint32));
  return g_byte_array_free_to_bytes (bytes);
}

/* Adds the mask that @runs are. Returns FALSE if they are not the size. */
static gboolean
add_runs (SpdlMasks *self, const guint32 *runs, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (runs[i] > get_area (self) - self->filled)
      return FALSE;
    spdl_masks_add_run (self, i % 2, runs[i]);
  }
  spdl_masks_end_mask (self);
  return TRUE;
}

SpdlMasks *
spdl_masks_new_from_bytes (
    gconstpointer data, gsize size, guint n, guint width, guint height)
{
  const guint32 *numbers = data;
  const gsize n_numbers = size / sizeof *numbers;
  g_autoptr (SpdlMasks) self = NULL;
  guint begin = 0;

  if (size % sizeof *numbers != 0 || n_numbers < 1 || n > n_numbers - 1 ||
      width == 0 || height == 0 || (guint64) width * height > G_MAXUINT32)
    return NULL;
  self = spdl_masks_new (width, height, numbers[0]);
  for (guint i = 0; i < n; i++) {
    const guint end = numbers[1 + i];

    if (end < begin || end > n_numbers - 1 - n ||
        !add_runs (self, numbers + 1 + n + begin, end - begin))
      return NULL;
    begin = end;
  }
  return g_steal_pointer (&self);
}
