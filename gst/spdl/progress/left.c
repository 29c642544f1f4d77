/* gst-spdl: places of an interrupted epoch that are left for a rank
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/progress/state.h"

#include <string.h>

/* Pieces */

/* Returns TRUE if all numbers and places are within the limits. */
static gboolean
piece_is_valid (const SpdlPiece *self)
{
  guint64 last;

  if (self->from >= self->run || self->run > self->stride ||
      self->stride > SPDL_PIECE_MAX_PLACES || self->count == 0 ||
      self->count > SPDL_PIECE_MAX_PLACES || self->base > SPDL_PIECE_MAX_PLACES)
    return FALSE;
  last = (self->from + self->count - 1) / self->run;
  return !__builtin_mul_overflow (last, self->stride, &last) &&
         last < SPDL_PIECE_MAX_PLACES &&
         spdl_piece_get_place (self, self->count - 1) < SPDL_PIECE_MAX_PLACES;
}

guint64
spdl_piece_get_place (const SpdlPiece *self, guint64 i)
{
  const guint64 j = self->from + i;

  return self->base + j / self->run * self->stride + j % self->run;
}

gboolean
spdl_piece_is_contiguous (const SpdlPiece *self)
{
  return self->stride == 1;
}

SpdlPiece
spdl_piece_cut (const SpdlPiece *self, guint64 begin, guint64 count)
{
  const guint64 from = self->from + begin;
  const SpdlPiece part = { self->base + from / self->run * self->stride,
    self->run, self->stride, from % self->run, count };

  if (count > part.run - part.from && part.run != part.stride)
    return part;
  return (SpdlPiece){ part.base + part.from, 1, 1, 0, count };
}

void
spdl_pieces_init (SpdlPieces *self)
{
  self->pieces = g_array_new (FALSE, FALSE, sizeof (SpdlPiece));
  self->ends = g_array_new (FALSE, FALSE, sizeof (guint64));
}

void
spdl_pieces_clear (SpdlPieces *self)
{
  g_clear_pointer (&self->pieces, g_array_unref);
  g_clear_pointer (&self->ends, g_array_unref);
}

void
spdl_pieces_append (SpdlPieces *self, const SpdlPiece *piece)
{
  const guint64 end = spdl_pieces_count (self) + piece->count;

  g_array_append_val (self->pieces, *piece);
  g_array_append_val (self->ends, end);
}

void
spdl_pieces_shorten (SpdlPieces *self, guint64 count)
{
  const guint last = self->pieces->len - 1;

  g_array_index (self->pieces, SpdlPiece, last).count -= count;
  g_array_index (self->ends, guint64, last) -= count;
}

guint
spdl_pieces_get_length (const SpdlPieces *self)
{
  return self->pieces->len;
}

static guint64
get_begin (const SpdlPieces *self, guint i)
{
  return i > 0 ? g_array_index (self->ends, guint64, i - 1) : 0;
}

const SpdlPiece *
spdl_pieces_get (const SpdlPieces *self, guint i, guint64 *begin)
{
  if (begin)
    *begin = get_begin (self, i);
  return &g_array_index (self->pieces, SpdlPiece, i);
}

guint64
spdl_pieces_count (const SpdlPieces *self)
{
  return get_begin (self, self->ends->len);
}

guint
spdl_pieces_find (const SpdlPieces *self, guint64 i)
{
  guint low = 0, high = self->ends->len - 1;

  while (low < high) {
    const guint middle = (low + high) / 2;

    if (g_array_index (self->ends, guint64, middle) <= i)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns place number @i, which is below the number of places. */
static guint64
pieces_get_place (const SpdlPieces *self, guint64 i)
{
  guint64 begin;
  const SpdlPiece *piece =
      spdl_pieces_get (self, spdl_pieces_find (self, i), &begin);

  return spdl_piece_get_place (piece, i - begin);
}

/* Returns the highest place, 0 without pieces. */
static guint64
pieces_get_last_place (const SpdlPieces *self)
{
  guint64 last = 0;

  for (guint i = 0; i < self->pieces->len; i++) {
    const SpdlPiece *piece = spdl_pieces_get (self, i, NULL);

    last = MAX (last, spdl_piece_get_place (piece, piece->count - 1));
  }
  return last;
}

gboolean
spdl_pieces_is_equal (const SpdlPieces *a, const SpdlPieces *b)
{
  return a->pieces->len == b->pieces->len &&
         (a->pieces->len == 0 || memcmp (a->pieces->data, b->pieces->data,
                                     a->pieces->len * sizeof (SpdlPiece)) == 0);
}

void
spdl_pieces_append_part (
    SpdlPieces *self, const SpdlPieces *other, guint64 begin, guint64 count)
{
  guint i = count > 0 ? spdl_pieces_find (other, begin) : 0;

  for (; count > 0; i++) {
    guint64 first;
    const SpdlPiece *piece = spdl_pieces_get (other, i, &first);
    const guint64 skip = begin - first;
    const SpdlPiece part =
        spdl_piece_cut (piece, skip, MIN (count, piece->count - skip));

    spdl_pieces_append (self, &part);
    begin += part.count;
    count -= part.count;
  }
}

/* Joining */

/* Returns the position of the piece in its lattice. */
static guint64
get_index (const SpdlPiece *piece)
{
  return piece->base / piece->stride * piece->run + piece->from;
}

#define COMPARE(a, b) \
  if ((a) != (b))     \
  return (a) < (b) ? -1 : 1

/* Compares the lattices, and the positions in one. */
static gint
compare_lattices (gconstpointer a, gconstpointer b)
{
  const SpdlPiece *one = a, *other = b;

  COMPARE (one->stride, other->stride);
  COMPARE (one->run, other->run);
  COMPARE (one->base % one->stride, other->base % other->stride);
  COMPARE (get_index (one), get_index (other));
  return 0;
}

static gint
compare_counts (gconstpointer a, gconstpointer b)
{
  const SpdlPiece *one = a, *other = b;

  COMPARE (one->count, other->count);
  COMPARE (spdl_piece_get_place (one, 0), spdl_piece_get_place (other, 0));
  return 0;
}

static gboolean
continues (const SpdlPiece *piece, const SpdlPiece *next)
{
  return piece->stride == next->stride && piece->run == next->run &&
         piece->base % piece->stride == next->base % next->stride &&
         get_index (piece) + piece->count == get_index (next);
}

void
spdl_pieces_join (SpdlPieces *self)
{
  g_autoptr (GArray) pieces = g_steal_pointer (&self->pieces);
  guint n = 0;

  g_array_sort (pieces, compare_lattices);
  for (guint i = 0; i < pieces->len; i++) {
    SpdlPiece *last = n > 0 ? &g_array_index (pieces, SpdlPiece, n - 1) : NULL;
    const SpdlPiece *piece = &g_array_index (pieces, SpdlPiece, i);

    if (last && continues (last, piece))
      last->count += piece->count;
    else
      g_array_index (pieces, SpdlPiece, n++) = *piece;
  }
  g_array_set_size (pieces, n);
  g_array_sort (pieces, compare_counts);
  g_clear_pointer (&self->ends, g_array_unref);
  spdl_pieces_init (self);
  for (guint i = 0; i < n; i++)
    spdl_pieces_append (self, &g_array_index (pieces, SpdlPiece, i));
}

/* Parts of an epoch that are left */

SpdlLeft *
spdl_left_new (guint64 epoch, guint64 first, const SpdlPartition *partition)
{
  SpdlLeft *self = g_new (SpdlLeft, 1);

  self->epoch = epoch;
  self->first = first;
  self->partition = *partition;
  spdl_pieces_init (&self->own);
  spdl_pieces_init (&self->shared);
  spdl_pieces_init (&self->repeated);
  return self;
}

void
spdl_left_free (SpdlLeft *self)
{
  spdl_pieces_clear (&self->own);
  spdl_pieces_clear (&self->shared);
  spdl_pieces_clear (&self->repeated);
  g_free (self);
}

guint64
spdl_left_count_shared (const SpdlLeft *self)
{
  return spdl_pieces_count (&self->shared) / self->partition.world_size;
}

guint64
spdl_left_get_size (const SpdlLeft *self)
{
  return self->first + spdl_pieces_count (&self->own) +
         spdl_left_count_shared (self) + spdl_pieces_count (&self->repeated);
}

guint64
spdl_left_get_place (const SpdlLeft *self, guint64 sequence)
{
  const guint64 n_own = spdl_pieces_count (&self->own);
  const guint64 n_shared = spdl_left_count_shared (self);
  guint64 i = sequence - self->first;

  if (i < n_own)
    return pieces_get_place (&self->own, i);
  i -= n_own;
  if (i >= n_shared)
    return pieces_get_place (&self->repeated, i - n_shared);
  return pieces_get_place (
      &self->shared, spdl_partition_get_place (&self->partition,
                         spdl_pieces_count (&self->shared), i));
}

guint64
spdl_left_get_last_place (const SpdlLeft *self)
{
  const guint64 own = pieces_get_last_place (&self->own);
  const guint64 shared = pieces_get_last_place (&self->shared);

  return MAX (MAX (own, shared), pieces_get_last_place (&self->repeated));
}

GPtrArray *
spdl_lefts_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) spdl_left_free);
}

const SpdlLeft *
spdl_lefts_get_last (const GPtrArray *lefts)
{
  return lefts && lefts->len > 0 ? g_ptr_array_index (lefts, lefts->len - 1)
                                 : NULL;
}

const SpdlLeft *
spdl_lefts_find (const GPtrArray *lefts, guint64 epoch)
{
  for (guint i = 0; lefts && i < lefts->len; i++) {
    const SpdlLeft *left = g_ptr_array_index (lefts, i);

    if (left->epoch == epoch)
      return left;
  }
  return NULL;
}

guint64
spdl_lefts_get_first (const GPtrArray *lefts, guint64 epoch)
{
  const SpdlLeft *left = spdl_lefts_find (lefts, epoch);

  return left ? left->first : 0;
}

/* Text format */

#define NAME ",left="

/* Writes the distance to the previous piece as 2d, or 2d + 1 if it lies
 * before. */
static void
write_distance (GString *text, guint64 from, guint64 to)
{
  spdl_digits_write (text, to >= from ? (to - from) * 2 : (from - to) * 2 + 1);
}

static void
write_piece (GString *text, const SpdlPiece *piece, guint64 *last)
{
  const gboolean strided = !spdl_piece_is_contiguous (piece);
  const guint64 place = spdl_piece_get_place (piece, 0);

  write_distance (text, *last, place);
  spdl_digits_write (text, piece->count * 2 + strided);
  *last = place;
  if (!strided)
    return;
  spdl_digits_write (text, piece->run);
  spdl_digits_write (text, piece->stride);
  if (piece->run > 1)
    spdl_digits_write (text, piece->from);
}

static void
write_pieces (GString *text, const SpdlPieces *pieces, guint64 *last)
{
  spdl_digits_write (text, spdl_pieces_get_length (pieces));
  for (guint i = 0; i < spdl_pieces_get_length (pieces); i++)
    write_piece (text, spdl_pieces_get (pieces, i, NULL), last);
}

void
spdl_lefts_write (const GPtrArray *lefts, guint64 epoch, GString *text)
{
  gboolean any = FALSE;
  guint64 last;

  for (guint i = 0; lefts && i < lefts->len; i++) {
    const SpdlLeft *left = g_ptr_array_index (lefts, i);

    if (left->epoch < epoch)
      continue;
    if (!any)
      g_string_append (text, NAME);
    any = TRUE;
    last = 0;
    spdl_digits_write (text, left->epoch);
    spdl_digits_write (text, left->first);
    write_pieces (text, &left->own, &last);
    write_pieces (text, &left->shared, &last);
    write_pieces (text, &left->repeated, &last);
  }
}

static const gchar *
read_distance (const gchar *text, guint64 *place)
{
  guint64 distance;

  if (!(text = spdl_digits_read (text, &distance)))
    return NULL;
  if (distance % 2 == 0)
    *place += distance / 2;
  else if (distance / 2 <= *place)
    *place -= distance / 2;
  else
    return NULL;
  return *place < SPDL_PIECE_MAX_PLACES ? text : NULL;
}

static const gchar *
read_piece (const gchar *text, SpdlPiece *piece, guint64 *last)
{
  guint64 count;

  *piece = (SpdlPiece){ .run = 1, .stride = 1 };
  if (!(text = read_distance (text, last)) ||
      !(text = spdl_digits_read (text, &count)))
    return NULL;
  piece->count = count / 2;
  if (count % 2 > 0 &&
      (!(text = spdl_digits_read (text, &piece->run)) ||
          !(text = spdl_digits_read (text, &piece->stride)) ||
          piece->stride < 2 ||
          (piece->run > 1 && !(text = spdl_digits_read (text, &piece->from)))))
    return NULL;
  if (piece->from > *last)
    return NULL;
  piece->base = *last - piece->from;
  return piece_is_valid (piece) ? text : NULL;
}

static const gchar *
read_pieces (const gchar *text, SpdlPieces *pieces, guint64 *last)
{
  SpdlPiece piece;
  guint64 n;

  if (!(text = spdl_digits_read (text, &n)))
    return NULL;
  for (; n > 0; n--) {
    if (!(text = read_piece (text, &piece, last)))
      return NULL;
    spdl_pieces_append (pieces, &piece);
    if (spdl_pieces_count (pieces) > SPDL_PIECE_MAX_PLACES)
      return NULL;
  }
  return text;
}

/* Checks that the shared places can be divided into whole rounds of runs. */
static gboolean
is_divisible (const SpdlLeft *self)
{
  const SpdlPartition *partition = &self->partition;
  const guint n = spdl_pieces_get_length (&self->shared);

  if (partition->world_size == 0 || partition->world_size > G_MAXINT ||
      partition->rank >= partition->world_size)
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const SpdlPiece *piece = spdl_pieces_get (&self->shared, i, NULL);

    if (piece->run != partition->run || piece->from != 0 ||
        piece->count % piece->run != 0)
      return FALSE;
  }
  return n == 0 || spdl_pieces_count (&self->shared) %
                           (partition->run * partition->world_size) ==
                       0;
}

static const gchar *
read_left (GPtrArray *lefts, const gchar *text, const SpdlPartition *partition)
{
  const SpdlLeft *before = spdl_lefts_get_last (lefts);
  guint64 epoch, first, last = 0;
  SpdlLeft *left;

  if (!(text = spdl_digits_read (text, &epoch)) ||
      !(text = spdl_digits_read (text, &first)) ||
      first > SPDL_PIECE_MAX_PLACES || (before && before->epoch >= epoch))
    return NULL;
  left = spdl_left_new (epoch, first, partition);
  g_ptr_array_add (lefts, left);
  return (text = read_pieces (text, &left->own, &last)) &&
                 (text = read_pieces (text, &left->shared, &last)) &&
                 (text = read_pieces (text, &left->repeated, &last)) &&
                 is_divisible (left)
             ? text
             : NULL;
}

const gchar *
spdl_lefts_read (
    GPtrArray **lefts, const gchar *text, const SpdlPartition *partition)
{
  g_clear_pointer (lefts, g_ptr_array_unref);
  if (!g_str_has_prefix (text, NAME))
    return text;
  text += strlen (NAME);
  *lefts = spdl_lefts_new ();
  do
    text = read_left (*lefts, text, partition);
  while (text && spdl_digits_is_digit (*text));
  return text;
}
