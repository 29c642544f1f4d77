/* gst-spdl: lists of places of an epoch, as pieces of lattices
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* A piece is a part of a lattice: the places
 *
 *     base + j / run * stride + j % run    for j from `from`, `count` times
 *
 * so that the whole rest of an epoch of a rank is one piece, and so is a single
 * place. A contiguous piece has run and stride 1, except where it says
 * otherwise. */
typedef struct {
  guint64 base;
  guint64 run;
  guint64 stride;
  guint64 from; /* less than `run` */
  guint64 count;
} SpdlPiece;

/* Places are below this limit. */
#define SPDL_PIECE_MAX_PLACES (G_GUINT64_CONSTANT (1) << 60)

/* Returns TRUE if all numbers and places are within the limits. */
SPDL_PRIVATE_API
gboolean spdl_piece_is_valid (const SpdlPiece *self);

SPDL_PRIVATE_API
guint64 spdl_piece_get_place (const SpdlPiece *self, guint64 i);

/* Returns TRUE if run and stride are 1. */
SPDL_PRIVATE_API
gboolean spdl_piece_is_contiguous (const SpdlPiece *self);

/* Returns @count places of a piece, from number @begin on. */
SPDL_PRIVATE_API
SpdlPiece spdl_piece_cut (const SpdlPiece *self, guint64 begin, guint64 count);

/* Places in the order of pieces. */
typedef struct {
  GArray *pieces; /* SpdlPiece */
  GArray *ends;   /* guint64: number of places up to the end of each piece */
} SpdlPieces;

SPDL_PRIVATE_API
void spdl_pieces_init (SpdlPieces *self);
SPDL_PRIVATE_API
void spdl_pieces_clear (SpdlPieces *self);

SPDL_PRIVATE_API
void spdl_pieces_append (SpdlPieces *self, const SpdlPiece *piece);

/* Removes the last @count places, which are fewer than the last piece has. */
SPDL_PRIVATE_API
void spdl_pieces_shorten (SpdlPieces *self, guint64 count);

SPDL_PRIVATE_API
guint spdl_pieces_get_length (const SpdlPieces *self);

/* Returns piece number @i, and the number of its first place in @begin
 * (nullable). */
SPDL_PRIVATE_API
const SpdlPiece *
spdl_pieces_get (const SpdlPieces *self, guint i, guint64 *begin);

/* Returns the number of places. */
SPDL_PRIVATE_API
guint64 spdl_pieces_count (const SpdlPieces *self);

/* Returns the number of the piece that has place number @i. */
SPDL_PRIVATE_API
guint spdl_pieces_find (const SpdlPieces *self, guint64 i);

/* Returns place number @i, which is below the number of places. */
SPDL_PRIVATE_API
guint64 spdl_pieces_get_place (const SpdlPieces *self, guint64 i);

/* Returns the highest place, 0 without pieces. */
SPDL_PRIVATE_API
guint64 spdl_pieces_get_last_place (const SpdlPieces *self);

SPDL_PRIVATE_API
gboolean spdl_pieces_is_equal (const SpdlPieces *a, const SpdlPieces *b);

/* Appends @count places of @other, from number @begin on. */
SPDL_PRIVATE_API
void spdl_pieces_append_part (
    SpdlPieces *self, const SpdlPieces *other, guint64 begin, guint64 count);

/* Joins pieces that continue each other, and sorts them by their number of
 * places, then by their first place. */
SPDL_PRIVATE_API
void spdl_pieces_join (SpdlPieces *self);

G_END_DECLS
