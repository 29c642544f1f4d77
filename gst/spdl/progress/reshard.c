/* gst-spdl: resume states of several ranks for another number of ranks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/progress/reshard.h"

#define NUMBER "%" G_GUINT64_FORMAT

/* Epochs that may be interrupted at the same time. */
#define MAX_EPOCHS 64

/* Longer pieces are shared by all ranks, which take them in turns. */
#define MAX_SHARED 64
#define MIN_ROUNDS 16

/* The rest of an epoch of all ranks. */
typedef struct {
  guint64 epoch;
  SpdlPieces dealt;  /* that each rank gets a part of */
  SpdlPieces shared; /* in whole rounds */
  guint64 n_left;    /* places of both */
} Rest;

typedef struct {
  guint32 source;
  SpdlIdentity identity; /* with the new number of ranks */
  guint64 n_places;
  guint64 epoch;
  guint64 n_dropped_upstream;
  guint64 n_dropped_upstream_before;
  guint64 n_tokens;
  guint64 n_tokens_before;
  GArray *rests; /* Rest: of the epochs of which not everything is left */
  GArray *cuts;  /* SpdlCut: of all ranks; nullable */
  guint kept;    /* its first rank; states are kept as they are */
  gboolean is_kept;
} Source;

struct _SpdlReshard {
  GPtrArray *ranks;
  GArray *sources; /* Source */
  guint64 world_size;
  guint64 change;
};

static void
clear_rest (gpointer data)
{
  Rest *rest = data;

  spdl_pieces_clear (&rest->dealt);
  spdl_pieces_clear (&rest->shared);
}

static void
clear_source (gpointer data)
{
  g_clear_pointer (&((Source *) data)->rests, g_array_unref);
  g_clear_pointer (&((Source *) data)->cuts, g_array_unref);
}

/* Collecting what is left */

/* A rank in an epoch. */
typedef struct {
  const SpdlState *state;
  SpdlPartition partition;
  guint64 size;  /* sequence numbers of an epoch */
  guint64 epoch; /* first epoch that is not finished */
} Rank;

/* The ranks of a source. */
typedef struct {
  const SpdlIdentity *identity;
  guint64 n_places;
  Rank *ranks;
  guint n;
  guint64 first_epoch; /* in which a rank is */
  guint64 last_epoch;  /* in which an item may be finished */
} Run;

/* Returns the single run of a rank, without the place that it repeats, and with
 * the one that it drops. */
static SpdlPiece
make_single (SpdlPartition partition, guint64 n_places)
{
  partition.mode = SPDL_SHARD_UNEVEN;
  return (SpdlPiece){ spdl_partition_get_begin (&partition, n_places), 1, 1, 0,
    spdl_partition_get_size (&partition, n_places) };
}

/* Makes the part of a rank in an epoch that was not interrupted, without the
 * places that it repeats, and with those that all ranks drop. */
static SpdlLeft *
make_whole (const Rank *rank, guint64 n_places, guint64 epoch)
{
  const SpdlPartition *partition = &rank->partition;
  const guint64 run = partition->run, begin = partition->rank * run;
  const guint64 n_last =
      run > 0 ? n_places % (partition->world_size * run) : n_places;
  SpdlLeft *left = spdl_left_new (epoch, 0, partition);
  const SpdlPiece rounds = { 0, run, run, 0, n_places - n_last };
  SpdlPiece last = { n_places - n_last + begin, 1, 1, 0,
    n_last > begin ? MIN (n_last - begin, run) : 0 };

  if (run == 0)
    last = make_single (*partition, n_places);
  if (rounds.count > 0)
    spdl_pieces_append (&left->shared, &rounds);
  if (last.count > 0)
    spdl_pieces_append (&left->own, &last);
  return left;
}

/* Progress of a rank in an epoch in which it has not finished its part. */
static const SpdlProgress *
get_progress (const Rank *rank, guint64 epoch, SpdlProgress *none)
{
  const SpdlProgress *progress = &rank->state->progress;

  if (progress->epoch == epoch)
    return progress;
  none->mark = none->n_done = spdl_lefts_get_first (rank->state->left, epoch);
  return none;
}

static guint64
get_end (const SpdlProgress *progress)
{
  const guint n = progress->runs->len;

  return n > 0 ? g_array_index (progress->runs, SpdlRun, n - 1).end
               : progress->mark;
}

/* A rank's part of an epoch. */
typedef struct {
  SpdlLeft *left;
  gboolean is_whole; /* the shared places come first, and `left` is owned */
  const SpdlProgress *progress;
  SpdlProgress none;
} Part;

static void
part_init (Part *self, const Run *run, const Rank *rank, guint64 epoch)
{
  SpdlLeft *left = (SpdlLeft *) spdl_lefts_find (rank->state->left, epoch);

  self->is_whole = !left;
  self->left = left ? left : make_whole (rank, run->n_places, epoch);
  spdl_progress_init (&self->none, epoch);
  self->progress = get_progress (rank, epoch, &self->none);
}

static void
part_clear (Part *self)
{
  spdl_progress_clear (&self->none);
  if (self->is_whole)
    spdl_left_free (self->left);
}

static guint64
get_first_own (const Part *self)
{
  return self->is_whole ? spdl_left_count_shared (self->left)
                        : self->left->first;
}

static guint64
get_first_shared (const Part *self)
{
  return self->is_whole
             ? 0
             : self->left->first + spdl_pieces_count (&self->left->own);
}

/* Returns the number of the rank's shared places up to the last finished one.
 */
static guint64
count_reached (const Part *self)
{
  const guint64 end = get_end (self->progress);
  const guint64 first = get_first_shared (self);

  return end > first ? MIN (end - first, spdl_left_count_shared (self->left))
                     : 0;
}

/* Calls @add for each range of unfinished sequence numbers among the @count
 * from
 * @first on, with numbers relative to @first. */
static void
visit_unfinished (const Part *self, guint64 first, guint64 count,
    void (*add) (const Part *self, guint64 begin, guint64 end, SpdlPieces *to),
    SpdlPieces *to)
{
  const GArray *runs = self->progress->runs;
  const guint64 end = first + count;
  guint64 at = MAX (first, self->progress->mark);

  for (guint i = 0; i < runs->len && at < end; i++) {
    const SpdlRun *run = &g_array_index (runs, SpdlRun, i);

    if (run->begin > at)
      add (self, at - first, MIN (run->begin, end) - first, to);
    at = MAX (at, run->end);
  }
  if (at < end)
    add (self, at - first, end - first, to);
}

static void
add_own (const Part *self, guint64 begin, guint64 end, SpdlPieces *to)
{
  spdl_pieces_append_part (to, &self->left->own, begin, end - begin);
}

/* Adds places of a single run of a rank. */
static void
add_in_run (const Part *self, guint64 begin, guint64 end, SpdlPieces *to)
{
  const SpdlLeft *left = self->left;

  if (end > begin)
    spdl_pieces_append_part (to, &left->shared,
        spdl_partition_get_place (
            &left->partition, spdl_pieces_count (&left->shared), begin),
        end - begin);
}

/* Adds the runs from @begin to @end of the rank, which are a lattice in each
 * shared piece. */
static void
add_runs (const SpdlLeft *left, guint64 begin, guint64 end, SpdlPieces *to)
{
  const guint64 run = left->partition.run, n_ranks = left->partition.world_size;
  guint64 at = left->partition.rank + begin * n_ranks;

  while (begin < end) {
    const guint i = spdl_pieces_find (&left->shared, at * run);
    guint64 first;
    const SpdlPiece *piece = spdl_pieces_get (&left->shared, i, &first);
    const guint64 left_in_piece = (first + piece->count) / run - at;
    const guint64 n =
        MIN (end - begin, (left_in_piece + n_ranks - 1) / n_ranks);
    const SpdlPiece lattice = { spdl_piece_get_place (piece, at * run - first),
      run, piece->stride * n_ranks, 0, n * run };
    const SpdlPiece part = spdl_piece_cut (&lattice, 0, lattice.count);

    spdl_pieces_append (to, &part);
    begin += n;
    at += n * n_ranks;
  }
}

static void
add_shared (const Part *self, guint64 begin, guint64 end, SpdlPieces *to)
{
  const guint64 run = self->left->partition.run;
  const guint64 first = (begin + run - 1) / run, last = end / run;

  if (first > last) {
    add_in_run (self, begin, end, to);
    return;
  }
  add_in_run (self, begin, first * run, to);
  add_runs (self->left, first, last, to);
  add_in_run (self, last * run, end, to);
}

/* Collects the unfinished places of the ranks that are in the epoch. Returns
 * FALSE if these do not share the same places.
 *
 * @is_over: whether a rank has finished the epoch */
static gboolean
collect_parts (
    const Part *parts, guint n, gboolean is_over, guint64 n_run, SpdlPieces *to)
{
  const SpdlPieces *shared = &parts[0].left->shared;
  const guint64 n_shared = spdl_left_count_shared (parts[0].left);
  guint64 reached = is_over ? n_shared : 0, begun;

  for (guint i = 0; i < n; i++) {
    if (!spdl_pieces_is_equal (&parts[i].left->shared, shared))
      return FALSE;
    reached = MAX (reached, count_reached (&parts[i]));
  }
  if (n_run > 0) /* else nothing is shared */
    reached = (reached + n_run - 1) / n_run * n_run;
  for (guint i = 0; i < n; i++) {
    visit_unfinished (&parts[i], get_first_own (&parts[i]),
        spdl_pieces_count (&parts[i].left->own), add_own, to);
    visit_unfinished (
        &parts[i], get_first_shared (&parts[i]), reached, add_shared, to);
  }
  /* No rank has begun the rounds after these. */
  begun = reached * parts[0].left->partition.world_size;
  spdl_pieces_append_part (
      to, shared, begun, spdl_pieces_count (shared) - begun);
  return TRUE;
}

/* Collects what is left of @epoch. */
static gboolean
collect (const Run *run, guint64 epoch, SpdlPieces *to)
{
  g_autofree Part *parts = g_new (Part, run->n);
  gboolean ok, is_over = FALSE;
  guint n = 0;

  for (guint i = 0; i < run->n; i++) {
    const Rank *rank = &run->ranks[i];

    is_over |= rank->size > 0 && rank->epoch > epoch;
    if (rank->size > 0 && rank->epoch <= epoch)
      part_init (&parts[n++], run, rank, epoch);
  }
  ok =
      n == 0 || collect_parts (parts, n, is_over, run->identity->shard_run, to);
  for (guint i = 0; i < n; i++)
    part_clear (&parts[i]);
  return ok;
}

/* Dividing */

/* Splits a piece into whole runs, which begin one, and the rest. */
static SpdlPiece
take_runs (const SpdlPiece *piece, guint64 n_run, SpdlPieces *rest)
{
  const gboolean contiguous = spdl_piece_is_contiguous (piece);
  const guint64 head = contiguous ? 0 : (n_run - piece->from) % n_run;
  const guint64 count =
      piece->count > head ? (piece->count - head) / n_run * n_run : 0;
  const guint64 n_end = piece->count - head - count;
  SpdlPiece runs = spdl_piece_cut (piece, head, count), part;

  if (head > 0) {
    part = spdl_piece_cut (piece, 0, head);
    spdl_pieces_append (rest, &part);
  }
  if (n_end > 0) {
    part = spdl_piece_cut (piece, head + count, n_end);
    spdl_pieces_append (rest, &part);
  }
  if (spdl_piece_is_contiguous (&runs))
    runs.run = runs.stride = n_run;
  return runs;
}

/* Moves @count places from the end of the last shared piece to the others. */
static void
give_back (SpdlPieces *shared, guint64 count, SpdlPieces *dealt)
{
  spdl_pieces_append_part (
      dealt, shared, spdl_pieces_count (shared) - count, count);
  spdl_pieces_shorten (shared, count);
}

/* Shares the longest pieces. */
static void
share (Rest *rest, SpdlPieces *pieces, const SpdlIdentity *identity)
{
  const guint64 n_run = identity->shard_run;
  const guint64 n_round = n_run * identity->world_size;
  const guint n = spdl_pieces_get_length (pieces);

  for (guint i = 0; i < n; i++) {
    const SpdlPiece *piece = spdl_pieces_get (pieces, i, NULL);

    if (n_run == 0 || i + MAX_SHARED < n ||
        piece->count < MIN_ROUNDS * n_round ||
        (piece->run != n_run && !spdl_piece_is_contiguous (piece))) {
      spdl_pieces_append (&rest->dealt, piece);
    } else {
      const SpdlPiece runs = take_runs (piece, n_run, &rest->dealt);

      spdl_pieces_append (&rest->shared, &runs);
    }
  }
  if (n_run > 0 && spdl_pieces_count (&rest->shared) % n_round > 0)
    give_back (&rest->shared, spdl_pieces_count (&rest->shared) % n_round,
        &rest->dealt);
}

/* Orders the dealt pieces so that each rank gets short and long ones. */
static void
deal (SpdlPieces *self, guint64 n_ranks)
{
  const guint n = spdl_pieces_get_length (self);
  SpdlPieces dealt;

  spdl_pieces_join (self);
  spdl_pieces_init (&dealt);
  for (guint64 rank = 0; rank < MIN (n_ranks, n); rank++)
    for (guint64 i = rank; i < spdl_pieces_get_length (self); i += n_ranks)
      spdl_pieces_append (&dealt, spdl_pieces_get (self, i, NULL));
  spdl_pieces_clear (self);
  *self = dealt;
}

static gboolean
add_rest (Source *source, const Run *run, guint64 epoch)
{
  Rest rest = { .epoch = epoch };
  SpdlPieces pieces;
  gboolean ok;

  spdl_pieces_init (&pieces);
  spdl_pieces_init (&rest.dealt);
  spdl_pieces_init (&rest.shared);
  ok = collect (run, epoch, &pieces);
  spdl_pieces_join (&pieces);
  share (&rest, &pieces, &source->identity);
  spdl_pieces_clear (&pieces);
  deal (&rest.dealt, source->identity.world_size);
  rest.n_left =
      spdl_pieces_count (&rest.dealt) + spdl_pieces_count (&rest.shared);
  ok = ok && rest.n_left <= source->n_places;
  if (ok && rest.n_left < source->n_places)
    g_array_append_val (source->rests, rest);
  else
    clear_rest (&rest);
  return ok;
}

/* Checking */

static gboolean
is_possible (const Run *run, const Rank *rank)
{
  const SpdlState *state = rank->state;

  if (get_end (&state->progress) > rank->size)
    return FALSE;
  for (guint i = 0; state->left && i < state->left->len; i++) {
    const SpdlLeft *left = g_ptr_array_index (state->left, i);

    if (spdl_left_get_size (left) != rank->size ||
        spdl_left_get_last_place (left) >= run->n_places)
      return FALSE;
  }
  return TRUE;
}

/* Sets the epochs between which ranks with items are, or else all ranks: a rank
 * without items may be far ahead. A rank that has finished an epoch but not
 * reported its end counts as being in the next one. */
static void
find_epochs (Run *run)
{
  gboolean has_items = FALSE;

  for (guint i = 0; i < run->n; i++)
    has_items |= run->ranks[i].size > 0;
  run->first_epoch = G_MAXUINT64;
  run->last_epoch = 0;
  for (guint i = 0; i < run->n; i++) {
    Rank *rank = &run->ranks[i];
    const SpdlProgress *progress = &rank->state->progress;
    const SpdlLeft *last = spdl_lefts_get_last (rank->state->left);

    rank->epoch = progress->epoch;
    rank->epoch += rank->size > 0 && progress->n_done >= rank->size &&
                   rank->epoch < G_MAXUINT64;
    if (has_items && rank->size == 0)
      continue;
    run->last_epoch = MAX (run->last_epoch, rank->epoch);
    if (last)
      run->last_epoch = MAX (run->last_epoch, last->epoch);
    run->first_epoch = MIN (run->first_epoch, rank->epoch);
  }
  if (!has_items)
    run->first_epoch = run->last_epoch;
}

static gchar *
check_run (const Run *run)
{
  const SpdlIdentity *identity = run->identity;
  SpdlShardMode mode;

  if (!spdl_shard_mode_find (identity->shard_mode, &mode))
    return g_strdup_printf (
        "the states were made with an unknown shard-mode, \"%s\"",
        identity->shard_mode);
  if (run->n_places == 0 || run->n_places > SPDL_PIECE_MAX_PLACES)
    return g_strdup_printf ("the states are of an epoch of " NUMBER
                            " items, and the limit is " NUMBER,
        run->n_places, SPDL_PIECE_MAX_PLACES);
  for (guint i = 0; i < run->n; i++)
    if (!is_possible (run, &run->ranks[i]))
      return g_strdup_printf ("the state of rank %u counts more items than "
                              "its part of the epoch has",
          i);
  return NULL;
}

static gchar *
check_epochs (const Run *run)
{
  if (run->last_epoch - run->first_epoch < MAX_EPOCHS)
    return NULL;
  return g_strdup_printf ("the ranks are in epochs from " NUMBER " to " NUMBER
                          ", more than %d apart",
      run->first_epoch, run->last_epoch, MAX_EPOCHS - 1);
}

/* Sources */

static void
share_dropped (Source *source, const Run *run)
{
  for (guint i = 0; i < run->n; i++) {
    const SpdlProgress *progress = &run->ranks[i].state->progress;

    if (progress->epoch == source->epoch) {
      source->n_dropped_upstream += progress->n_dropped_upstream;
      source->n_tokens += progress->n_tokens;
    }
    source->n_tokens_before += progress->n_tokens_before;
    source->n_dropped_upstream_before += progress->n_dropped_upstream_before;
  }
}

/* Collects the documents that a rank has delivered in part. All ranks have
 * them in their states, since any may get the rest. */
static void
share_cuts (Source *source, const Run *run)
{
  for (guint i = 0; i < run->n; i++) {
    const GArray *cuts = run->ranks[i].state->cuts;

    for (guint k = 0; cuts && k < cuts->len; k++) {
      const SpdlCut *cut = &g_array_index (cuts, SpdlCut, k);

      spdl_cuts_set (&source->cuts, cut->epoch, cut->index,
          MAX (cut->tokens,
              spdl_cuts_find (source->cuts, cut->epoch, cut->index)));
    }
  }
}

static gchar *
divide (Source *source, Run *run)
{
  gchar *problem = check_run (run);

  if (problem)
    return problem;
  share_cuts (source, run);
  if (source->cuts && *run->identity->weights)
    return g_strdup_printf (
        "a document of source %u was delivered in part, and the same document "
        "may be drawn again: use the same world size, or states of the "
        "beginning of an epoch",
        source->source);
  find_epochs (run);
  if ((problem = check_epochs (run)))
    return problem;
  source->epoch = run->first_epoch;
  share_dropped (source, run);
  for (guint64 epoch = run->first_epoch; epoch <= run->last_epoch; epoch++)
    if (!add_rest (source, run, epoch))
      return g_strdup_printf (
          "the states of source %u do not match each other in epoch " NUMBER,
          source->source, epoch);
  return NULL;
}

/* Streamed shards have no places. Ranks can change only between epochs. */
static gchar *
divide_streamed (Source *source, const GPtrArray *ranks, guint begin, guint end)
{
  for (guint i = begin; i < end; i++) {
    const SpdlState *state = &spdl_ranks_get (ranks, i)->state;

    if (i == begin)
      source->epoch = state->progress.epoch;
    if (!spdl_state_is_beginning (state) ||
        state->progress.epoch != source->epoch)
      return g_strdup_printf (
          "the states were made with world-size=" NUMBER
          ", but world-size is " NUMBER
          ", which cannot change in the middle of epoch " NUMBER
          ", because the items of source %u, which is streamed, have no known "
          "position: use the same world size, or states of the beginning of "
          "an epoch",
          state->identity.world_size, source->identity.world_size,
          state->progress.epoch, source->source);
  }
  return NULL;
}

static gboolean
is_same_run (const GPtrArray *ranks, guint begin, guint end, guint64 world_size,
    gboolean any_epoch)
{
  const SpdlState *first = &spdl_ranks_get (ranks, begin)->state;

  for (guint i = begin; i < end && !any_epoch; i++)
    if (spdl_ranks_get (ranks, i)->state.progress.epoch !=
        first->progress.epoch)
      return FALSE;
  return first->identity.world_size == world_size;
}

static gchar *
add_source (SpdlReshard *self, guint begin, guint end)
{
  const SpdlRankState *first = spdl_ranks_get (self->ranks, begin);
  const SpdlIdentity *identity = &first->state.identity;
  Source source = { .source = first->source, .kept = begin };
  g_autofree Rank *list = g_new0 (Rank, end - begin);
  Run run = { identity,
    *identity->weights ? identity->items_per_epoch : identity->count, list,
    end - begin, 0, 0 };
  gchar *problem = NULL;

  for (guint i = 0; i < run.n; i++) {
    list[i].state = &spdl_ranks_get (self->ranks, begin + i)->state;
    list[i].partition = spdl_identity_get_partition (&list[i].state->identity);
    list[i].size = spdl_partition_get_size (&list[i].partition, run.n_places);
  }
  source.identity = *identity;
  source.identity.world_size = self->world_size;
  source.n_places = run.n_places;
  source.is_kept = is_same_run (
      self->ranks, begin, end, self->world_size, identity->streamed);
  source.rests = g_array_new (FALSE, FALSE, sizeof (Rest));
  g_array_set_clear_func (source.rests, clear_rest);
  if (!source.is_kept)
    problem = identity->streamed
                  ? divide_streamed (&source, self->ranks, begin, end)
                  : divide (&source, &run);
  g_array_append_val (self->sources, source);
  return problem;
}

static gchar *
add_sources (SpdlReshard *self)
{
  gchar *problem = NULL;

  for (guint i = 0, end; i < self->ranks->len && !problem; i = end) {
    end = spdl_ranks_find_end (self->ranks, i);
    problem = add_source (self, i, end);
  }
  return problem;
}

/* Hashes the states and the new number of ranks, so that states of ranks before
 * and after a change are not taken for those of one run. */
static guint64
hash_change (const GPtrArray *ranks, guint64 world_size)
{
  g_autofree gchar *text = spdl_ranks_write (ranks);
  g_autofree gchar *input = g_strdup_printf (NUMBER ":%s", world_size, text);
  g_autofree gchar *sum =
      g_compute_checksum_for_string (G_CHECKSUM_SHA256, input, -1);
  guint64 hash;

  sum[16] = '\0';
  hash = g_ascii_strtoull (sum, NULL, 16);
  return hash ? hash : 1;
}

SpdlReshard *
spdl_reshard_new (GPtrArray *ranks, guint64 world_size, gchar **problem)
{
  SpdlReshard *self;

  if (world_size < 1 || world_size > SPDL_RESHARD_MAX_RANKS) {
    *problem = g_strdup_printf ("the world size is " NUMBER
                                ", but must be from 1 to %d",
        world_size, SPDL_RESHARD_MAX_RANKS);
    return NULL;
  }
  self = g_new0 (SpdlReshard, 1);
  self->ranks = g_ptr_array_ref (ranks);
  self->world_size = world_size;
  self->change = hash_change (ranks, world_size);
  self->sources = g_array_new (FALSE, FALSE, sizeof (Source));
  g_array_set_clear_func (self->sources, clear_source);
  if (!(*problem = add_sources (self)))
    return self;
  spdl_reshard_free (self);
  return NULL;
}

void
spdl_reshard_free (SpdlReshard *self)
{
  g_array_unref (self->sources);
  g_ptr_array_unref (self->ranks);
  g_free (self);
}

/* States of the new ranks */

static void
append_all (SpdlPieces *to, const SpdlPieces *pieces)
{
  for (guint i = 0; i < spdl_pieces_get_length (pieces); i++)
    spdl_pieces_append (to, spdl_pieces_get (pieces, i, NULL));
}

/* Copies the rank's part of the dealt pieces. After their end, they are
 * repeated from the first one on. */
static void
take_dealt (
    SpdlLeft *left, const SpdlPieces *dealt, guint64 begin, guint64 count)
{
  const guint64 n = spdl_pieces_count (dealt);
  const guint64 n_own = begin < n ? MIN (count, n - begin) : 0;

  spdl_pieces_append_part (&left->own, dealt, begin, n_own);
  spdl_pieces_join (&left->own);
  begin += n_own;
  count -= n_own;
  while (count > 0) {
    const guint64 n_repeated = MIN (count, n - begin % n);

    spdl_pieces_append_part (&left->repeated, dealt, begin % n, n_repeated);
    begin += n_repeated;
    count -= n_repeated;
  }
}

static SpdlLeft *
make_left (const Rest *rest, const Source *source, SpdlPartition *partition)
{
  const guint64 n = spdl_partition_get_size (partition, rest->n_left);
  const guint64 n_shared =
      spdl_pieces_count (&rest->shared) / partition->world_size;
  SpdlLeft *left = spdl_left_new (rest->epoch,
      spdl_partition_get_size (partition, source->n_places) - n, partition);

  append_all (&left->shared, &rest->shared);
  take_dealt (left, &rest->dealt,
      spdl_partition_get_offset (partition, rest->n_left) -
          partition->rank * n_shared,
      n - n_shared);
  return left;
}

/* Returns the share of @n of a rank. */
static guint64
get_share (guint64 n, guint64 rank, guint64 world_size)
{
  return n / world_size + (rank < n % world_size);
}

static void
write_source (
    const SpdlReshard *self, const Source *source, guint64 rank, GString *text)
{
  g_auto (SpdlState) state = { 0 };
  SpdlPartition partition;

  spdl_state_init (&state);
  state.identity = source->identity;
  state.identity.rank = rank;
  state.change = self->change;
  partition = spdl_identity_get_partition (&state.identity);
  state.left = spdl_lefts_new ();
  for (guint i = 0; i < source->rests->len; i++)
    g_ptr_array_add (
        state.left, make_left (&g_array_index (source->rests, Rest, i), source,
                        &partition));
  spdl_progress_reset_at (&state.progress, source->epoch,
      spdl_lefts_get_first (state.left, source->epoch));
  state.progress.n_dropped_upstream =
      MIN (get_share (source->n_dropped_upstream, rank, self->world_size),
          state.progress.n_done);
  state.progress.n_dropped_upstream_before =
      get_share (source->n_dropped_upstream_before, rank, self->world_size);
  state.progress.n_tokens =
      get_share (source->n_tokens, rank, self->world_size);
  state.progress.n_tokens_before =
      get_share (source->n_tokens_before, rank, self->world_size);
  state.cuts = source->cuts ? g_array_ref (source->cuts) : NULL;
  spdl_state_write (text, source->source, &state);
}

gchar *
spdl_reshard_dup_state (const SpdlReshard *self, guint64 rank)
{
  GString *text = g_string_new (NULL);

  spdl_state_begin (text);
  for (guint i = 0; i < self->sources->len; i++) {
    const Source *source = &g_array_index (self->sources, Source, i);

    if (source->is_kept)
      g_string_append (
          text, spdl_ranks_get (self->ranks, source->kept + rank)->text);
    else
      write_source (self, source, rank, text);
  }
  return g_string_free (text, FALSE);
}

/* A source among the states of all ranks */

typedef struct {
  guint32 source;
  guint n;
  guint64 world_size; /* of the source */
  gboolean is_beginning;
  GString *same; /* states of sources with as many ranks */
  GString *others;
} Choice;

static void
find_source (guint32 source, SpdlState *state, gpointer user_data)
{
  Choice *self = user_data;

  if (source != self->source)
    return;
  self->n++;
  self->world_size = state->identity.world_size;
  self->is_beginning = spdl_state_is_beginning (state);
}

static void
sort_out (guint32 source, SpdlState *state, gpointer user_data)
{
  Choice *self = user_data;

  spdl_state_write (state->identity.world_size == self->world_size
                        ? self->same
                        : self->others,
      source, state);
}

static gchar *
divide_text (
    const gchar *text, guint64 rank, guint64 world_size, gchar **problem)
{
  const gchar *const states[] = { text, NULL };
  g_autoptr (GPtrArray) ranks = spdl_ranks_read (states, problem);
  g_autoptr (SpdlReshard) reshard =
      ranks ? spdl_reshard_new (ranks, world_size, problem) : NULL;

  return reshard ? spdl_reshard_dup_state (reshard, rank) : NULL;
}

gchar *
spdl_reshard_pick (const gchar *states, guint32 source, guint64 rank,
    guint64 world_size, gchar **problem)
{
  g_autoptr (GString) same = g_string_new (NULL);
  g_autoptr (GString) others = g_string_new (NULL);
  Choice choice = { source, 0, 0, FALSE, same, others };
  g_autofree gchar *own = NULL;

  if (!spdl_state_visit (states, find_source, &choice) || choice.n == 0 ||
      (choice.n == 1 &&
          (choice.world_size != 1 || world_size == 1 || choice.is_beginning)))
    return g_strdup (states);
  spdl_state_begin (same);
  spdl_state_visit (states, sort_out, &choice);
  own = divide_text (same->str, rank, world_size, problem);
  return own ? g_strconcat (own, others->str, NULL) : NULL;
}
