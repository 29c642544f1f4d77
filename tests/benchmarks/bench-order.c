/* gst-spdl: benchmark of the permutation per index and of the tally per item
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Prints the minimum CPU time in ns over some rounds, of an index of the
 * permutation (independent calls, and calls that depend on each other), of an
 * item of a tally (in order, and shuffled within a window), and of the state of
 * a batch, by the number of gaps.
 *
 *     bench-order [ROUNDS] */

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gst/spdl/engine/random.h"
#include "gst/spdl/progress/tally.h"
#include "plugins/dataset/sampler/permutation.h"

#define N_CALLS 1000000
#define START                                                        \
  "spdl1;source=0,count=9999999999,hash=0123456789abcdef,shuffle=1," \
  "seed=42,rank=0,world-size=1,shard-mode=pad,epoch=0,mark=0,done=;"

static guint n_rounds = 10;
static guint64 sink; /* keeps results from being optimized out */

static double
now (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &ts);
  return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void
get_items (const SpdlPermutation *p)
{
  for (guint64 i = 0; i < N_CALLS; i++)
    sink += spdl_permutation_get_item (p, i * 7919 % p->size);
}

static void
get_chained (const SpdlPermutation *p)
{
  guint64 x = 0;

  for (guint i = 0; i < N_CALLS; i++)
    x = spdl_permutation_get_item (p, x);
  sink += x;
}

static void
begin_epochs (const SpdlPermutation *p)
{
  SpdlPermutation other;

  for (guint i = 0; i < N_CALLS; i++) {
    spdl_permutation_init (&other, p->size, 1, i);
    sink += other.size;
  }
}

static double
time_permutation (
    void (*func) (const SpdlPermutation *), const SpdlPermutation *p)
{
  double best = G_MAXDOUBLE;

  for (guint round = 0; round < n_rounds; round++) {
    const double before = now ();

    func (p);
    best = MIN (best, now () - before);
  }
  return best / N_CALLS;
}

static void
print_permutations (void)
{
  static const guint64 sizes[] = { 256, 1000, 1000000, 10000000000,
    G_GUINT64_CONSTANT (1) << 63 };

  printf ("%-22s %8s %8s %8s\n", "permutation of", "item", "chained", "epoch");
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    SpdlPermutation p;

    spdl_permutation_init (&p, sizes[i], 1, 2);
    printf ("%-22" G_GUINT64_FORMAT " %8.1f %8.1f %8.1f\n", sizes[i],
        time_permutation (get_items, &p), time_permutation (get_chained, &p),
        time_permutation (begin_epochs, &p));
  }
}

/* Returns sequence numbers that are at most @window away from their places. */
static guint64 *
make_sequences (guint window)
{
  guint64 *sequences = g_new (guint64, N_CALLS);
  SpdlRandom random = { { 1, 2, 3, 4 } };

  for (guint i = 0; i < N_CALLS; i++)
    sequences[i] = i;
  for (guint i = 0; i + window <= N_CALLS; i++) {
    const guint k = i + spdl_random_below (&random, window);
    const guint64 sequence = sequences[k];

    sequences[k] = sequences[i];
    sequences[i] = sequence;
  }
  return sequences;
}

static SpdlTally *
new_tally (void)
{
  gchar *flaw = NULL;

  return spdl_tally_new (0, START, G_MAXUINT64, &flaw);
}

static double
time_tally (guint window)
{
  g_autofree guint64 *sequences = make_sequences (window);
  double best = G_MAXDOUBLE;

  for (guint round = 0; round < n_rounds; round++) {
    SpdlTally *tally = new_tally ();
    const double before = now ();

    for (guint i = 0; i < N_CALLS; i++)
      spdl_tally_deliver (tally, 0, sequences[i], 1);
    best = MIN (best, now () - before);
    spdl_tally_free (tally);
  }
  return best / N_CALLS;
}

static double
time_state (guint n_gaps, gsize *length)
{
  SpdlTally *tally = new_tally ();
  GString *text = g_string_new (NULL);
  double best = G_MAXDOUBLE;

  for (guint i = 1; i <= n_gaps; i++)
    spdl_tally_deliver (tally, 0, 2 * i, 1);
  for (guint round = 0; round < n_rounds; round++) {
    const double before = now ();

    for (guint i = 0; i < 1000; i++) {
      g_string_truncate (text, 0);
      spdl_state_begin (text);
      spdl_tally_write (tally, text);
    }
    best = MIN (best, now () - before);
  }
  *length = text->len;
  g_string_free (text, TRUE);
  spdl_tally_free (tally);
  return best / 1000;
}

int
main (int argc, char **argv)
{
  static const guint windows[] = { 1, 16, 256, 4096 };
  static const guint gaps[] = { 0, 64, 1000 };

  if (argc > 1)
    n_rounds = MAX (1, atoi (argv[1]));
  print_permutations ();
  for (guint i = 0; i < G_N_ELEMENTS (windows); i++)
    printf ("tally of an item, within %u: %.1f\n", windows[i],
        time_tally (windows[i]));
  for (guint i = 0; i < G_N_ELEMENTS (gaps); i++) {
    gsize length;
    const double ns = time_state (gaps[i], &length);

    printf ("state with %u gaps, of %" G_GSIZE_FORMAT " bytes: %.0f\n", gaps[i],
        length, ns);
  }
  return sink == 1;
}
