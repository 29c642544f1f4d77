/* gst-spdl: lists of places of an epoch, as pieces of lattices
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/progress/pieces.h"

#include <string.h>

gboolean
spdl_piece_is_valid (const SpdlPiece *self)
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

guint64
spdl_pieces_get_place (const SpdlPieces *self, guint64 i)
{
  guint64 begin;
  const SpdlPiece *piece =
      spdl_pieces_get (self, spdl_pieces_find (self, i), &begin);

  return spdl_piece_get_place (piece, i - begin);
}

guint64
spdl_pieces_get_last_place (const SpdlPieces *self)
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
