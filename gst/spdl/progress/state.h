/* gst-spdl: text format of resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include "gst/spdl/progress/partition.h"
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* The range from `begin` to `end`, exclusive. */
typedef struct {
  guint64 begin;
  guint64 end;
} SpdlRun;

/* Finished sequence numbers of an epoch: all below the mark, and runs above it,
 * in order and separated by gaps. The size depends on the number of gaps, which
 * is the number of unfinished items that others have overtaken. */
typedef struct {
  guint64 epoch;
  guint64 mark;
  GArray *runs; /* SpdlRun */
  guint64 n_done;
  guint64 n_dropped_upstream;        /* lost before spdlmix */
  guint64 n_dropped_upstream_before; /* total of the previous epochs */
  guint64 n_tokens;        /* of finished items, if spdlmix counts tokens */
  guint64 n_tokens_before; /* total of the previous epochs */
} SpdlProgress;

void spdl_progress_init (SpdlProgress *self, guint64 epoch);
void spdl_progress_clear (SpdlProgress *self);

/* Resets the set for another epoch. */
void spdl_progress_reset (SpdlProgress *self, guint64 epoch);

/* Resets the set for another epoch, with all items below @first finished. */
void spdl_progress_reset_at (SpdlProgress *self, guint64 epoch, guint64 first);

void spdl_progress_copy (SpdlProgress *self, const SpdlProgress *other);

/* Adds @sequence. Returns FALSE if it was added before. */
gboolean spdl_progress_add (SpdlProgress *self, guint64 sequence);

/* Returns TRUE if the item is finished. */
gboolean
spdl_progress_has (const SpdlProgress *self, guint64 epoch, guint64 sequence);

/* Appends the runs. Each is written as the length of the gap and of the run, in
 * digits of five bits, lowest digit first. A gap takes at most 8 bytes if no
 * two neighbors are more than 2^20 apart. */
void spdl_progress_write_runs (const SpdlProgress *self, GString *text);

/* Parses the runs in @text, which follow the mark. Returns the end of the runs,
 * or NULL if they are invalid. */
const gchar *spdl_progress_read_runs (SpdlProgress *self, const gchar *text);

/* A number is written in digits of five bits, lowest first, as characters of
 * base64url. 32 is added to each digit but the last, so that no separator is
 * needed. */

void spdl_digits_write (GString *text, guint64 number);

/* Parses a number. Returns its end, or NULL if it is malformed. */
const gchar *spdl_digits_read (const gchar *text, guint64 *number);

/* Returns TRUE if a number may begin with this character. */
gboolean spdl_digits_is_digit (gchar c);

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

guint64 spdl_piece_get_place (const SpdlPiece *self, guint64 i);

/* Returns TRUE if run and stride are 1. */
gboolean spdl_piece_is_contiguous (const SpdlPiece *self);

/* Returns @count places of a piece, from number @begin on. */
SpdlPiece spdl_piece_cut (const SpdlPiece *self, guint64 begin, guint64 count);

/* Places in the order of pieces. */
typedef struct {
  GArray *pieces; /* SpdlPiece */
  GArray *ends;   /* guint64: number of places up to the end of each piece */
} SpdlPieces;

void spdl_pieces_init (SpdlPieces *self);
void spdl_pieces_clear (SpdlPieces *self);

void spdl_pieces_append (SpdlPieces *self, const SpdlPiece *piece);

/* Removes the last @count places, which are fewer than the last piece has. */
void spdl_pieces_shorten (SpdlPieces *self, guint64 count);

guint spdl_pieces_get_length (const SpdlPieces *self);

/* Returns piece number @i, and the number of its first place in @begin
 * (nullable). */
const SpdlPiece *
spdl_pieces_get (const SpdlPieces *self, guint i, guint64 *begin);

/* Returns the number of places. */
guint64 spdl_pieces_count (const SpdlPieces *self);

/* Returns the number of the piece that has place number @i. */
guint spdl_pieces_find (const SpdlPieces *self, guint64 i);

gboolean spdl_pieces_is_equal (const SpdlPieces *a, const SpdlPieces *b);

/* Appends @count places of @other, from number @begin on. */
void spdl_pieces_append_part (
    SpdlPieces *self, const SpdlPieces *other, guint64 begin, guint64 count);

/* Joins pieces that continue each other, and sorts them by their number of
 * places, then by their first place. */
void spdl_pieces_join (SpdlPieces *self);

/* The part of an epoch that is left for a rank, after the number of ranks
 * changed within it (reshard.h). The epoch has as many sequence numbers as any
 * other, but those below `first` count as finished. The others go through
 *
 * - the rank's own places,
 * - its part of the shared places, which all ranks have in their states and
 *   take in turns, in whole rounds, as they do in a complete epoch,
 * - places that are repeated for SPDL_SHARD_PAD.
 *
 * Immutable after it was made. */
typedef struct {
  guint64 epoch;
  guint64 first;
  SpdlPieces own;
  SpdlPieces shared; /* have the run of `partition`, also if contiguous, and
                        whole runs */
  SpdlPieces repeated;
  SpdlPartition partition; /* of the shared places */
} SpdlLeft;

SpdlLeft *
spdl_left_new (guint64 epoch, guint64 first, const SpdlPartition *partition);
void spdl_left_free (SpdlLeft *self);

/* Returns the number of the rank's shared places. */
guint64 spdl_left_count_shared (const SpdlLeft *self);

/* Returns the number of sequence numbers of the epoch. */
guint64 spdl_left_get_size (const SpdlLeft *self);

/* Returns the place of a sequence number, which is not below `first`. */
guint64 spdl_left_get_place (const SpdlLeft *self, guint64 sequence);

/* Returns the highest place, 0 without places. */
guint64 spdl_left_get_last_place (const SpdlLeft *self);

/* The rest of several epochs, in order: an array of SpdlLeft, or NULL if
 * all epochs are complete. */

GPtrArray *spdl_lefts_new (void);

/* Returns what is left of the last interrupted epoch, or NULL. */
const SpdlLeft *spdl_lefts_get_last (const GPtrArray *lefts);

/* Returns what is left of @epoch, or NULL if it is a complete epoch. */
const SpdlLeft *spdl_lefts_find (const GPtrArray *lefts, guint64 epoch);

/* Returns the first sequence number of @epoch that is to be sent. */
guint64 spdl_lefts_get_first (const GPtrArray *lefts, guint64 epoch);

/* Appends what is left of @epoch and of later epochs, as the field "left", if
 * there is something. */
void spdl_lefts_write (const GPtrArray *lefts, guint64 epoch, GString *text);

/* Parses what spdl_lefts_write() writes. Returns its end, which is @text if
 * there is nothing, or NULL if it is malformed.
 *
 * @partition: the rank that has the state */
const gchar *spdl_lefts_read (
    GPtrArray **lefts, const gchar *text, const SpdlPartition *partition);

/* Number of tokens of a document, by its place in the dataset, that were
 * delivered in a row although its rest was not. */
typedef struct {
  guint64 epoch;
  guint64 index;
  guint64 tokens;
} SpdlCut;

/* A list of them is an array of SpdlCut, or NULL if no document was cut. */

/* Returns the number of delivered tokens, 0 if the document was not cut. */
guint64 spdl_cuts_find (const GArray *cuts, guint64 epoch, guint64 index);

/* Sets the number of delivered tokens; 0 removes the document. */
void
spdl_cuts_set (GArray **cuts, guint64 epoch, guint64 index, guint64 tokens);

/* Removes the documents of earlier epochs. */
void spdl_cuts_drop_before (GArray *cuts, guint64 epoch);

/* Appends the documents of @epoch and of later epochs, as the field "cut", if
 * there are any. */
void spdl_cuts_write (const GArray *cuts, guint64 epoch, GString *text);

/* Parses what spdl_cuts_write() writes. Returns its end, which is @text if
 * there is nothing, or NULL if it is malformed. */
const gchar *spdl_cuts_read (GArray **cuts, const gchar *text, guint64 epoch);

/* A resume state is `spdl1;`, followed for each source by its dataset, its part
 * and order, and its progress:
 *
 *     source=0,count=5000,hash=0123456789abcdef,shuffle=1,seed=42,rank=0,
 *     world-size=2,shard-mode=pad,epoch=1,mark=1234,done=BCBB;
 *
 * The fields have this order, without blanks. Numbers are decimal, except
 * hashes. After `shard-mode` may follow `shard-run=NUMBER,` if runs are longer
 * than 1, `streamed=1,` for streams, and with weighted draws
 * `weight-column=COLUMN,items-per-epoch=NUMBER,`. If labels have class names,
 * `classes=HASH,` precedes `epoch`. If items were lost before spdlmix,
 * `,dropped-upstream=NUMBER,dropped-upstream-before=NUMBER` follows the runs:
 * the number of such items among the finished ones of the epoch, and in all
 * previous epochs. `,tokens=NUMBER,tokens-before=NUMBER` has the same for the
 * tokens that spdlmix has counted. Its position is derived from them. After a
 * change of the number of ranks, `,change=HASH` is the same on all of them, and
 * `,left=EPOCHS` has the places that are left (left.h). At the end,
 * `,cut=DOCUMENTS` has the documents that were delivered in part.
 *
 * The states of several ranks may be in one text, after each other.
 *
 * Any change of the format needs another number than 1. */

/* Includes the terminating 0. */
#define SPDL_STATE_MAX_WEIGHTS 64

/* Identity of the dataset and order for which a state is valid. */
typedef struct {
  guint64 count; /* number of items in the dataset */
  guint64 hash;  /* of the dataset */
  gboolean shuffle;
  guint64 seed;
  guint64 rank;
  guint64 world_size;
  gchar shard_mode[16];
  gchar weights[SPDL_STATE_MAX_WEIGHTS]; /* weight column; "": no weighted draws
                                          */
  guint64 items_per_epoch;               /* number of draws per epoch */
  guint64 classes;                       /* hash of the class names; 0: none */
  guint64 shard_run;                     /* 0: a single one per rank */
  guint64 shuffle_buffer;                /* of the order of a table in parts */
  gboolean streamed; /* sequence numbers count items of a stream */
} SpdlIdentity;

/* Returns the rank's partition; an unknown mode counts as uneven. */
SpdlPartition spdl_identity_get_partition (const SpdlIdentity *self);

typedef struct {
  SpdlIdentity identity;
  SpdlProgress progress;
  guint64 change;  /* hash of the last change of the number of ranks; 0: none */
  GPtrArray *left; /* SpdlLeft: of interrupted epochs; nullable */
  GArray *cuts;    /* SpdlCut; nullable */
} SpdlState;

void spdl_state_init (SpdlState *self);
void spdl_state_clear (SpdlState *self);

/* Starts a text. */
void spdl_state_begin (GString *text);

/* Append the state of a source in two steps. The first part does not change
 * during a run. */
void spdl_state_write_identity (
    GString *text, guint32 source, const SpdlIdentity *identity);
void spdl_state_write_progress (GString *text, const SpdlProgress *progress,
    guint64 change, const GPtrArray *left, const GArray *cuts);

/* Appends both. */
void spdl_state_write (GString *text, guint32 source, const SpdlState *state);

/* Returns TRUE if nothing of the epoch or of a later one is finished. */
gboolean spdl_state_is_beginning (const SpdlState *self);

/* Finds the state of a source in a text.
 *
 * @problem: (out) (transfer full): the reason if FALSE is returned, to follow a
 *     colon in a message */
gboolean spdl_state_read (
    SpdlState *self, const gchar *text, guint32 source, gchar **problem);

/* Calls @visit for each part of @text, in order. @visit may take `left`.
 * Returns FALSE if a part is malformed, or if there is no source. */
gboolean spdl_state_visit (const gchar *text,
    void (*visit) (guint32 source, SpdlState *state, gpointer user_data),
    gpointer user_data);

/* Appends the sources in @state, except those for which @is_left_out returns
 * TRUE. */
void spdl_state_write_others (GString *text, const gchar *state,
    gboolean (*is_left_out) (guint32 source, gconstpointer user_data),
    gconstpointer user_data);

/* Writes a state with those of the @n sources from @first on that are in
 * @state, numbered from @base on. Returns the number of these sources, or -1 if
 * @state is malformed or has no source at all.
 *
 * @text: empty */
SPDL_PRIVATE_API
gint spdl_state_renumber (
    GString *text, const gchar *state, guint32 first, guint32 n, guint32 base);

/* Progress of one source at a time, read from a state. Begins with the text,
 * and zeros. */
typedef struct {
  const gchar *text; /* nullable */
  SpdlState state;
  guint32 source;
  gboolean is_read;
} SpdlStatePlace;

SPDL_PRIVATE_API
void spdl_state_place_clear (SpdlStatePlace *self);
/* Returns TRUE if the state counts the item as done. */
SPDL_PRIVATE_API
gboolean spdl_state_place_has (
    SpdlStatePlace *self, guint32 source, guint64 epoch, guint64 sequence);

/* Returns TRUE if the text is valid and contains at least one source, but not
 * @source. Such a state was saved before @source was announced. */
gboolean spdl_state_is_of_others (const gchar *text, guint32 source);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlState, spdl_state_clear)

SPDL_END_PRIVATE_API
G_END_DECLS
