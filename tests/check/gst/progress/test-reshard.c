/* gst-spdl: tests of states for another number of ranks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "gst/spdl/progress/reshard.h"
#include "gst/spdl/progress/tally.h"
#include "tests/check/support/slow.h"

#define MAX_WORLD 6
#define SOURCE 2

/* Properties shared by all ranks of a run. */
typedef struct {
  guint n_places;
  guint world;
  guint run; /* 0: a single one per rank */
  SpdlShardMode mode;
} Plan;

/* Single runs differ as much as runs of one place. */
static guint
get_run (const Plan *plan)
{
  return MAX (plan->run, 1);
}

static SpdlPartition
get_partition (const Plan *plan, guint rank)
{
  return (SpdlPartition){ rank, plan->world, plan->run, plan->mode };
}

static SpdlIdentity
get_identity (const Plan *plan, guint rank)
{
  SpdlIdentity self = { .count = plan->n_places,
    .hash = 7,
    .rank = rank,
    .world_size = plan->world,
    .shard_run = plan->run };

  g_strlcpy (self.shard_mode, spdl_shard_mode_get_name (plan->mode),
      sizeof self.shard_mode);
  return self;
}

static gchar *
write_state (const SpdlState *state)
{
  GString *text = g_string_new (NULL);

  spdl_state_begin (text);
  spdl_state_write (text, SOURCE, state);
  return g_string_free (text, FALSE);
}

static void
read_state (SpdlState *state, const gchar *text)
{
  g_autofree gchar *problem = NULL;

  spdl_state_init (state);
  if (!spdl_state_read (state, text, SOURCE, &problem))
    g_error ("%s: %s", text, problem);
}

static guint64
get_place (const SpdlState *state, const SpdlPartition *partition,
    guint64 n_places, guint64 epoch, guint64 sequence)
{
  const SpdlLeft *left = spdl_lefts_find (state->left, epoch);

  return left ? spdl_left_get_place (left, sequence)
              : spdl_partition_get_place (partition, n_places, sequence);
}

static GStrv
reshard (const gchar *const *states, guint world)
{
  g_autofree gchar *problem = NULL;
  g_autoptr (GPtrArray) ranks = spdl_ranks_read (states, &problem);
  g_autoptr (SpdlReshard) self =
      ranks ? spdl_reshard_new (ranks, world, &problem) : NULL;
  GStrv result;

  if (!self)
    g_error ("%s", problem);
  result = g_new0 (gchar *, world + 1);
  for (guint rank = 0; rank < world; rank++)
    result[rank] = spdl_reshard_dup_state (self, rank);
  return result;
}

static GStrv
make_beginning (const Plan *plan)
{
  GStrv states = g_new0 (gchar *, plan->world + 1);

  for (guint rank = 0; rank < plan->world; rank++) {
    g_auto (SpdlState) state = { 0 };

    spdl_state_init (&state);
    state.identity = get_identity (plan, rank);
    states[rank] = write_state (&state);
  }
  return states;
}

/* A rank without items does not wait in its epochs, so it may be far ahead. */
static void
test_empty_rank (void)
{
  const Plan plan = { 2, 3, 1, SPDL_SHARD_UNEVEN };
  g_auto (GStrv) states = make_beginning (&plan);
  g_auto (GStrv) resharded = NULL;

  for (guint rank = 0; rank < plan.world; rank++) {
    g_auto (SpdlState) state = { 0 };

    read_state (&state, states[rank]);
    g_free (states[rank]);
    spdl_progress_reset_at (&state.progress, rank == 2 ? 1000 : 3, 0);
    states[rank] = write_state (&state);
  }
  resharded = reshard ((const gchar *const *) states, 2);
  for (guint rank = 0; rank < 2; rank++) {
    g_auto (SpdlState) state = { 0 };

    read_state (&state, resharded[rank]);
    g_assert_cmpuint (state.progress.epoch, ==, 3);
  }
}

/* All sets of finished places */

/* Writes the states of ranks that have finished the places in @done. */
static GStrv
make_states (const Plan *plan, const guint8 *done)
{
  GStrv states = g_new0 (gchar *, plan->world + 1);

  for (guint rank = 0; rank < plan->world; rank++) {
    const SpdlPartition partition = get_partition (plan, rank);
    const guint64 size = spdl_partition_get_size (&partition, plan->n_places);
    g_auto (SpdlState) state = { 0 };

    spdl_state_init (&state);
    state.identity = get_identity (plan, rank);
    for (guint64 i = 0; i < size; i++)
      if (done[spdl_partition_get_place (&partition, plan->n_places, i)])
        spdl_progress_add (&state.progress, i);
    states[rank] = write_state (&state);
  }
  return states;
}

/* Counts what the ranks still send in epoch 0. Returns the largest difference
 * between ranks. */
static guint
count_left (const Plan *plan, GStrv states, guint *counts)
{
  guint least = G_MAXUINT, most = 0;

  for (guint rank = 0; rank < plan->world; rank++) {
    const SpdlPartition partition = get_partition (plan, rank);
    const guint64 size = spdl_partition_get_size (&partition, plan->n_places);
    g_auto (SpdlState) state = { 0 };
    guint n = 0;

    read_state (&state, states[rank]);
    g_assert_cmpuint (state.identity.rank, ==, rank);
    g_assert_cmpuint (state.identity.world_size, ==, plan->world);
    if (state.progress.epoch > 0)
      continue;
    for (guint64 i = 0; i < size; i++) {
      guint64 place;

      if (spdl_progress_has (&state.progress, 0, i))
        continue;
      place = get_place (&state, &partition, plan->n_places, 0, i);
      g_assert_cmpuint (place, <, plan->n_places);
      counts[place]++;
      n++;
    }
    least = MIN (least, n);
    most = MAX (most, n);
  }
  return most > least ? most - least : 0;
}

static void
check_left (const Plan *plan, guint n_before, const guint8 *done,
    const guint *counts, guint difference)
{
  guint n_left = 0, n_more = 0, n_never = 0;
  const guint n_round = plan->world * get_run (plan);

  for (guint i = 0; i < plan->n_places; i++) {
    if (done[i]) {
      g_assert_cmpuint (counts[i], ==, 0);
      continue;
    }
    n_left++;
    n_never += counts[i] == 0;
    n_more += counts[i] > 0 ? counts[i] - 1 : 0;
  }
  if (plan->mode != SPDL_SHARD_PAD)
    g_assert_cmpuint (n_more, ==, 0);
  if (plan->mode != SPDL_SHARD_DROP)
    g_assert_cmpuint (n_never, ==, 0);
  g_assert_cmpuint (n_more, <, n_round);
  /* Items that earlier ranks have dropped, and that these ranks drop. */
  g_assert_cmpuint (n_never, <=, n_before * get_run (plan) - 1 + n_round - 1);
  g_assert_cmpuint (
      difference, <=, plan->mode == SPDL_SHARD_UNEVEN ? get_run (plan) : 0);
  if (n_left % n_round == 0 && plan->mode != SPDL_SHARD_DROP)
    g_assert_cmpuint (n_more + n_never + difference, ==, 0);
}

/* Divides what is left of @old among 1 to 6 ranks. */
static void
check_set (const Plan *old, const guint8 *done)
{
  g_auto (GStrv) states = make_states (old, done);
  g_autofree guint *counts = g_new (guint, old->n_places);

  for (guint world = 1; world <= MAX_WORLD; world++) {
    const Plan plan = { old->n_places, world, old->run, old->mode };
    g_auto (GStrv) parts = NULL;
    guint difference;

    if (world == old->world)
      continue;
    parts = reshard ((const gchar *const *) states, world);
    memset (counts, 0, old->n_places * sizeof *counts);
    difference = count_left (&plan, parts, counts);
    check_left (&plan, old->world, done, counts, difference);
  }
}

/* The repeated places of SPDL_SHARD_PAD are finished with the first ones. With
 * SPDL_SHARD_DROP, some places are never sent. */
static gboolean
is_possible (const Plan *plan, const guint8 *done)
{
  gboolean any_left = FALSE;

  if (plan->mode == SPDL_SHARD_DROP && plan->n_places < plan->world)
    return FALSE;
  for (guint rank = 0; rank < plan->world; rank++) {
    const SpdlPartition partition = get_partition (plan, rank);
    const guint64 size = spdl_partition_get_size (&partition, plan->n_places);

    if (plan->mode == SPDL_SHARD_DROP && size == 0)
      return FALSE;
    for (guint64 i = 0; i < size; i++)
      any_left |=
          !done[spdl_partition_get_place (&partition, plan->n_places, i)];
  }
  /* Else the epoch is over. */
  return any_left;
}

static gboolean
is_sent_of_single (const Plan *plan, guint place)
{
  for (guint rank = 0; rank < plan->world; rank++) {
    const SpdlPartition partition = get_partition (plan, rank);
    const guint64 begin = spdl_partition_get_begin (&partition, plan->n_places);

    if (place >= begin &&
        place < begin + spdl_partition_get_size (&partition, plan->n_places))
      return TRUE;
  }
  return FALSE;
}

static gboolean
is_sent (const Plan *plan, guint place)
{
  if (plan->run == 0)
    return is_sent_of_single (plan, place);

  const guint round = plan->world * plan->run;
  const guint rest = plan->n_places % round, begin = plan->n_places - rest;
  const SpdlPartition last = get_partition (plan, plan->world - 1);

  return plan->mode != SPDL_SHARD_DROP || place < begin ||
         (place - begin) % plan->run <
             spdl_partition_get_size (&last, plan->n_places) % plan->run;
}

static void
check_sets_of (const Plan *plan)
{
  guint8 done[16];
  /* GCC 14 cannot know that no plan is larger. */
  const guint n = MIN (plan->n_places, G_N_ELEMENTS (done));

  for (guint set = 0; set < 1u << n; set++) {
    gboolean ok = TRUE;

    for (guint i = 0; i < n; i++) {
      done[i] = set >> i & 1;
      ok = ok && (!done[i] || is_sent (plan, i));
    }
    if (ok && is_possible (plan, done))
      check_set (plan, done);
  }
}

/* All sets of finished items of small epochs. */
static void
test_all_sets (void)
{
  const guint max = spdl_test_slow_or (13, 6);

  for (guint mode = SPDL_SHARD_PAD; mode <= SPDL_SHARD_UNEVEN; mode++)
    for (guint run = 0; run <= 3; run++)
      for (guint world = 1; world <= MAX_WORLD; world++)
        for (guint n = 1; n <= max; n++) {
          const Plan plan = { n, world, run, mode };

          check_sets_of (&plan);
        }
}

/* The number of sets of finished items that a rank with two tasks can reach:
 * its first items, and any number of those after an item that is still running.
 */
static guint
count_reached (const Plan *plan, guint rank)
{
  const SpdlPartition partition = get_partition (plan, rank);
  const guint64 size = spdl_partition_get_size (&partition, plan->n_places);

  return size * (size + 1) / 2 + 1;
}

static void
add_reached (const Plan *plan, guint rank, guint number, guint8 *done)
{
  const SpdlPartition partition = get_partition (plan, rank);
  const guint64 size = spdl_partition_get_size (&partition, plan->n_places);
  guint64 running = 0;
  guint n_after;

  /* All sets with the same item running follow each other. */
  for (n_after = number; running < size && n_after >= size - running; running++)
    n_after -= size - running;
  for (guint64 i = 0; i < running + n_after + 1 && i < size; i++)
    if (i < running || (i > running && n_after > 0))
      done[spdl_partition_get_place (&partition, plan->n_places, i)] = 1;
}

/* Checks @max combinations of what the ranks have finished, spread over all of
 * them, or all if there are no more. */
static void
check_reached (const Plan *plan, guint64 max)
{
  const guint64 prime = 2654435761;
  guint64 n_all = 1;

  for (guint rank = 0; rank < plan->world; rank++)
    n_all *= count_reached (plan, rank);
  for (guint64 i = 0; i < MIN (n_all, max); i++) {
    guint64 number = i * prime % n_all;
    guint8 done[40] = { 0 };

    for (guint rank = 0; rank < plan->world; rank++) {
      const guint n_sets = count_reached (plan, rank);

      add_reached (plan, rank, number % n_sets, done);
      number /= n_sets;
    }
    if (is_possible (plan, done))
      check_set (plan, done);
  }
}

/* Items that ranks with two tasks each can have finished, in epochs of up to 40
 * items: in the slow mode and with up to 3 ranks, every combination. */
static void
test_two_tasks (void)
{
  static const guint sizes[] = { 1, 5, 12, 23, 36, 40 };

  for (guint run = 0; run <= 4; run += run > 0 ? 3 : 1)
    for (guint world = 1; world <= MAX_WORLD; world++)
      for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
        const Plan plan = { sizes[s], world, run, SPDL_SHARD_UNEVEN };

        check_reached (
            &plan, spdl_test_slow_or (world <= 3 ? G_MAXUINT64 : 100000, 60));
      }
}

/* Runs with many changes */

#define N_EPOCHS 3

/* How often each place was used, of each epoch. */
typedef struct {
  guint n_places;
  guint *counts[N_EPOCHS];
} Log;

/* A rank that sends items and finishes them in any order among the next
 * @window. */
typedef struct {
  SpdlState start;
  SpdlTally *tally;
  SpdlPartition partition;
  guint64 size;
  guint64 epoch;
  guint64 next;
  GArray *flying; /* guint64 */
} Sender;

static void
sender_init (Sender *self, const Plan *plan, guint rank, const gchar *text)
{
  g_autofree gchar *problem = NULL;

  read_state (&self->start, text);
  self->partition = get_partition (plan, rank);
  self->size = spdl_partition_get_size (&self->partition, plan->n_places);
  self->tally = spdl_tally_new (SOURCE, text, self->size, &problem);
  g_assert_nonnull (self->tally);
  self->epoch = self->start.progress.epoch;
  self->next = self->start.progress.mark;
  self->flying = g_array_new (FALSE, FALSE, sizeof (guint64));
}

static gchar *
sender_clear (Sender *self)
{
  GString *text = g_string_new (NULL);

  spdl_state_begin (text);
  spdl_tally_write (self->tally, text);
  spdl_state_clear (&self->start);
  spdl_tally_free (self->tally);
  g_array_unref (self->flying);
  return g_string_free (text, FALSE);
}

static void
send (Sender *self, guint window)
{
  while (self->flying->len < window && self->next < self->size) {
    if (self->epoch != self->start.progress.epoch ||
        !spdl_progress_has (&self->start.progress, self->epoch, self->next))
      g_array_append_val (self->flying, self->next);
    self->next++;
  }
}

/* Finishes an item. Returns FALSE at the end. */
static gboolean
finish (Sender *self, GRand *rand, guint window, Log *log)
{
  guint64 sequence, place;
  guint i;

  for (;;) {
    if (self->epoch >= N_EPOCHS)
      return FALSE;
    send (self, window);
    if (self->flying->len > 0)
      break;
    spdl_tally_end_epoch (self->tally, self->epoch, self->size);
    self->epoch++;
    self->next = spdl_lefts_get_first (self->start.left, self->epoch);
  }
  i = g_rand_int_range (rand, 0, self->flying->len);
  sequence = g_array_index (self->flying, guint64, i);
  g_array_remove_index_fast (self->flying, i);
  place = get_place (
      &self->start, &self->partition, log->n_places, self->epoch, sequence);
  log->counts[self->epoch][place]++;
  /* Failed items are recorded in another way. */
  if (g_rand_int_range (rand, 0, 20) == 0)
    spdl_tally_drop (self->tally, self->epoch, sequence, 1);
  else
    spdl_tally_deliver (self->tally, self->epoch, sequence, 1);
  return TRUE;
}

/* Runs all ranks, each for a random number of items up to @most. */
static GStrv
run (const Plan *plan, GStrv states, GRand *rand, guint most, Log *log)
{
  GStrv result = g_new0 (gchar *, plan->world + 1);

  for (guint rank = 0; rank < plan->world; rank++) {
    const guint window = g_rand_int_range (rand, 1, 9);
    guint n = most;
    Sender sender;

    if (most < G_MAXUINT)
      n = g_rand_int_range (rand, 0, most + 1);
    sender_init (&sender, plan, rank, states[rank]);
    while (n-- > 0 && finish (&sender, rand, window, log))
      ;
    result[rank] = sender_clear (&sender);
  }
  g_strfreev (states);
  return result;
}

static void
check_log (const Plan *plan, const Log *log)
{
  for (guint epoch = 0; epoch < N_EPOCHS; epoch++)
    for (guint i = 0; i < log->n_places; i++) {
      const guint n = log->counts[epoch][i];

      if (plan->mode == SPDL_SHARD_UNEVEN)
        g_assert_cmpuint (n, ==, 1);
      else if (plan->mode == SPDL_SHARD_PAD)
        g_assert_cmpuint (n, >=, 1);
      else
        g_assert_cmpuint (n, <=, 1);
    }
}

static void
run_with_changes (GRand *rand, guint n_changes, guint n_places, guint max_world,
    SpdlShardMode mode)
{
  Log log = { n_places, { NULL } };
  Plan plan = { n_places, g_rand_int_range (rand, 1, max_world + 1),
    g_rand_int_range (rand, 0, 2) ? 1 : g_rand_int_range (rand, 0, 9), mode };
  const guint most = g_rand_int_range (rand, 1, 2 * n_places);
  g_auto (GStrv) states = make_beginning (&plan);

  for (guint epoch = 0; epoch < N_EPOCHS; epoch++)
    log.counts[epoch] = g_new0 (guint, n_places);
  for (guint i = 0; i < n_changes; i++) {
    GStrv before;

    states = run (&plan, states, rand, most / n_changes + 1, &log);
    before = states;
    plan.world = g_rand_int_range (rand, 1, max_world + 1);
    states = reshard ((const gchar *const *) before, plan.world);
    g_strfreev (before);
  }
  states = run (&plan, states, rand, G_MAXUINT, &log);
  check_log (&plan, &log);
  for (guint epoch = 0; epoch < N_EPOCHS; epoch++)
    g_free (log.counts[epoch]);
}

static void
test_random (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (36);
  const guint n = spdl_test_slow_or (20000, 300);

  for (guint i = 0; i < n; i++)
    run_with_changes (rand, g_rand_int_range (rand, 1, 40),
        g_rand_int_range (rand, 6, i % 8 == 0 ? 3000 : 120),
        i % 5 == 0 ? 16 : MAX_WORLD, i % 3);
}

/* Size of the states of large epochs */

#define LARGE 100000000
#define N_CHANGES 100
#define N_GAPS 32
#define MAX_SIZE 4096

/* Returns the state of a rank after @n further items, of which the last ones
 * have overtaken N_GAPS others. */
static gchar *
go_on (const gchar *text, guint64 n, guint64 n_left, GRand *rand)
{
  g_auto (SpdlState) state = { 0 };
  SpdlProgress *progress = &state.progress;
  guint64 next;

  read_state (&state, text);
  next = progress->mark;
  for (guint i = 0; i < progress->runs->len; i++)
    next = g_array_index (progress->runs, SpdlRun, i).end;
  n = MIN (n, n_left);
  if (n > 8 * N_GAPS) {
    progress->mark = progress->n_done = next + n - 8 * N_GAPS;
    g_array_set_size (progress->runs, 0);
    for (guint i = 0; i < N_GAPS; i++) {
      const guint64 begin =
          next + n - 8 * (N_GAPS - i) + g_rand_int_range (rand, 1, 4);

      for (guint k = 0; k < 4; k++)
        spdl_progress_add (progress, begin + k);
    }
  }
  return write_state (&state);
}

typedef struct {
  const gchar *name;
  guint min_world;
  guint max_world;
  guint stalls;   /* one of this number of ranks has no progress; 0: none */
  guint64 first;  /* items before the first change */
  guint64 others; /* items between two others */
} Changes;

static void
check_size (const Changes *self)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (self->max_world);
  Plan plan = { LARGE, self->max_world, 1, SPDL_SHARD_UNEVEN };
  g_auto (GStrv) states = make_beginning (&plan);
  gint64 slowest = 0;
  gsize largest = 0;

  for (guint i = 0; i < N_CHANGES; i++) {
    const guint64 n = (i == 0 ? self->first : self->others) / plan.world;
    gint64 since;
    GStrv before = states;

    for (guint rank = 0; rank < plan.world; rank++) {
      const SpdlPartition partition = get_partition (&plan, rank);
      gchar *text = before[rank];
      g_auto (SpdlState) state = { 0 };

      read_state (&state, text);
      before[rank] = go_on (text,
          self->stalls && g_rand_int_range (rand, 0, self->stalls) == 0
              ? 0
              : n - g_rand_int_range (rand, 0, n / 10),
          spdl_partition_get_size (&partition, LARGE) - state.progress.mark,
          rand);
      largest = MAX (largest, strlen (before[rank]));
      g_free (text);
    }
    plan.world = self->max_world;
    if (i % 2 == 0)
      plan.world = g_rand_int_range (rand, self->min_world, self->max_world);
    since = g_get_monotonic_time ();
    states = reshard ((const gchar *const *) before, plan.world);
    slowest = MAX (slowest, g_get_monotonic_time () - since);
    g_strfreev (before);
  }
  g_test_message ("%s: at most %" G_GSIZE_FORMAT " bytes a rank, %.1f ms",
      self->name, largest, slowest / 1e3);
  g_assert_cmpuint (largest, <=, MAX_SIZE);
}

/* 100 changes in an epoch of 100 million items, with ranks 10 % apart. */
static void
test_size (void)
{
  static const Changes changes[] = {
    { "15 and 16 ranks", 15, 16, 0, LARGE / N_CHANGES, LARGE / N_CHANGES },
    { "up to 16 ranks", 1, 16, 0, LARGE / N_CHANGES, LARGE / N_CHANGES },
    { "12 to 16 ranks, a tenth of which stalls", 12, 16, 10, LARGE / N_CHANGES,
        LARGE / N_CHANGES },
    { "up to 16 ranks, in the middle", 1, 16, 0, LARGE / 2, 1 << 14 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    check_size (&changes[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/reshard/empty-rank", test_empty_rank);
  g_test_add_func ("/reshard/all-sets", test_all_sets);
  g_test_add_func ("/reshard/two-tasks", test_two_tasks);
  g_test_add_func ("/reshard/random", test_random);
  g_test_add_func ("/reshard/size", test_size);
  return g_test_run ();
}
