/* gst-spdl: tests of the partition of epochs between ranks
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/sampler/rankpartition.h"

#include <gst/gst.h>

static const guint sizes[] = { 1, 2, 3, 6, 7, 63, 64, 65, 100, 1000 };
static const guint worlds[] = { 1, 2, 3, 7, 64 };

static const gchar *const variables[] = { "SLURM_PROCID", "SLURM_NTASKS",
  "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "JOB_COMPLETION_INDEX" };

static void
set_environment (const gchar *rank, const gchar *world_size)
{
  if (rank)
    g_setenv ("RANK", rank, TRUE);
  else
    g_unsetenv ("RANK");
  if (world_size)
    g_setenv ("WORLD_SIZE", world_size, TRUE);
  else
    g_unsetenv ("WORLD_SIZE");
}

/* Counts how often each place of an epoch occurs over all ranks. */
static void
check_world (SpdlShardMode mode, guint n, guint world)
{
  g_autofree guint *counts = g_new0 (guint, n);
  guint n_twice = 0, n_never = 0, largest = 0, smallest = G_MAXUINT;

  for (guint rank = 0; rank < world; rank++) {
    const SpdlPartition partition = { rank, world, 1, mode };
    const guint size = spdl_partition_get_size (&partition, n);

    largest = MAX (largest, size);
    smallest = MIN (smallest, size);
    for (guint i = 0; i < size; i++) {
      const guint64 place = spdl_partition_get_place (&partition, n, i);

      g_assert_cmpuint (place, <, n);
      g_assert_cmpuint (place, ==, (rank + i * world) % n);
      counts[place]++;
    }
  }
  for (guint i = 0; i < n; i++) {
    n_never += counts[i] == 0;
    n_twice += counts[i] > 0 ? counts[i] - 1 : 0;
    /* PAD repeats the first places, and DROP omits the last ones. */
    if (i > 0)
      g_assert_cmpuint (counts[i], <=, counts[i - 1]);
  }
  g_assert_cmpuint (
      n_twice, ==, mode == SPDL_SHARD_PAD ? (world - n % world) % world : 0);
  g_assert_cmpuint (n_never, ==, mode == SPDL_SHARD_DROP ? n % world : 0);
  g_assert_cmpuint (
      largest - smallest, ==, mode == SPDL_SHARD_UNEVEN && n % world ? 1 : 0);
}

static void
test_places (void)
{
  for (guint mode = SPDL_SHARD_PAD; mode <= SPDL_SHARD_UNEVEN; mode++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      for (guint w = 0; w < G_N_ELEMENTS (worlds); w++)
        check_world (mode, sizes[s], worlds[w]);
}

/* Ranks that take runs in turns give the places in order. */
static void
test_runs (void)
{
  for (guint run = 1; run <= 5; run++)
    for (guint world = 1; world <= 6; world++)
      for (guint n = 1; n <= 70; n++) {
        guint64 next = 0, offset = 0;

        for (guint turn = 0; next < n; turn++)
          for (guint rank = 0; rank < world; rank++) {
            const SpdlPartition partition = { rank, world, run,
              SPDL_SHARD_UNEVEN };
            const guint64 size = spdl_partition_get_size (&partition, n);

            for (guint i = turn * run; i < (turn + 1) * run && i < size; i++)
              g_assert_cmpuint (
                  spdl_partition_get_place (&partition, n, i), ==, next++);
          }
        g_assert_cmpuint (next, ==, n);
        for (guint rank = 0; rank < world; rank++) {
          const SpdlPartition partition = { rank, world, run,
            SPDL_SHARD_UNEVEN };
          const SpdlPartition equal[] = { { rank, world, run, SPDL_SHARD_PAD },
            { rank, world, run, SPDL_SHARD_DROP } };

          g_assert_cmpuint (
              spdl_partition_get_offset (&partition, n), ==, offset);
          offset += spdl_partition_get_size (&partition, n);
          g_assert_cmpuint (spdl_partition_get_size (&equal[0], n), >=,
              spdl_partition_get_size (&partition, n));
          g_assert_cmpuint (spdl_partition_get_size (&equal[1], n), <=,
              spdl_partition_get_size (&partition, n));
        }
      }
}

/* With a single run per rank, the ranks in their order give the places in
 * order. */
static void
test_single_runs (void)
{
  for (guint mode = SPDL_SHARD_PAD; mode <= SPDL_SHARD_UNEVEN; mode++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      for (guint w = 0; w < G_N_ELEMENTS (worlds); w++) {
        const guint n = sizes[s], world = worlds[w];
        guint64 next = 0;

        for (guint rank = 0; rank < world; rank++) {
          const SpdlPartition partition = { rank, world, 0, mode };
          const guint own = n / world + (rank < n % world);
          const guint wanted = mode == SPDL_SHARD_UNEVEN ? own
                               : mode == SPDL_SHARD_DROP
                                   ? n / world
                                   : (n + world - 1) / world;

          g_assert_cmpuint (
              spdl_partition_get_size (&partition, n), ==, wanted);
          for (guint i = 0; i < wanted; i++)
            g_assert_cmpuint (spdl_partition_get_place (&partition, n, i), ==,
                (next + i) % n);
          next += own;
        }
        g_assert_cmpuint (next, ==, n);
      }
}

static void
assert_shard (gint rank, gint world_size, guint wanted_rank, guint wanted_size)
{
  g_autoptr (GError) error = NULL;
  SpdlPartition partition;

  spdl_rank_partition_init (&partition, rank, world_size, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (partition.rank, ==, wanted_rank);
  g_assert_cmpuint (partition.world_size, ==, wanted_size);
}

static void
assert_refused (gint rank, gint world_size, const gchar *text)
{
  g_autoptr (GError) error = NULL;
  SpdlPartition partition;

  g_assert_false (
      spdl_rank_partition_init (&partition, rank, world_size, &error));
  g_assert_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS);
  if (!g_pattern_match_simple (text, error->message))
    g_error ("\"%s\" does not match \"%s\"", error->message, text);
}

static void
test_environment (void)
{
  set_environment (NULL, NULL);
  assert_shard (-1, -1, 0, 1);
  assert_shard (2, 3, 2, 3);
  set_environment ("5", "8");
  assert_shard (-1, -1, 5, 8);
  /* Each property takes precedence over its environment variable. */
  assert_shard (2, 3, 2, 3);
  assert_shard (0, -1, 0, 8);
  assert_shard (-1, 6, 5, 6);
  /* Variables that are not needed are not validated. */
  set_environment ("x", "");
  assert_shard (1, 2, 1, 2);
  set_environment (NULL, NULL);
}

/* Tests the precedence of launchers. Rank and world size never come from two of
 * them. */
static void
test_systems (void)
{
  set_environment (NULL, NULL);
  g_setenv ("JOB_COMPLETION_INDEX", "3", TRUE);
  assert_refused (
      -1, -1, "*JOB_COMPLETION_INDEX*3*world-size*world-size*WORLD_SIZE*");
  assert_shard (-1, 9, 3, 9);
  set_environment (NULL, "8");
  assert_shard (-1, -1, 3, 8);
  g_setenv ("OMPI_COMM_WORLD_RANK", "4", TRUE);
  assert_shard (-1, -1, 3, 8);
  assert_shard (-1, 9, 4, 9);
  g_setenv ("OMPI_COMM_WORLD_SIZE", "6", TRUE);
  assert_shard (-1, -1, 4, 6);
  assert_shard (-1, 7, 4, 7);
  assert_shard (2, -1, 2, 8);
  g_setenv ("SLURM_NTASKS", "16", TRUE);
  assert_shard (-1, -1, 4, 6);
  g_setenv ("SLURM_PROCID", "11", TRUE);
  assert_shard (-1, -1, 11, 16);
  set_environment ("1", NULL);
  assert_shard (-1, -1, 11, 16);
  set_environment ("1", "2");
  assert_shard (-1, -1, 1, 2);
  /* The variables that take precedence are set, but invalid. */
  set_environment (NULL, NULL);
  g_setenv ("SLURM_PROCID", "16", TRUE);
  assert_refused (-1, -1, "*SLURM_PROCID*16*SLURM_NTASKS*16*0*");
  g_setenv ("SLURM_NTASKS", "4(x2)", TRUE);
  assert_refused (-1, -1, "*SLURM_NTASKS*\"4(x2)\"*0*2147483647*world-size*");
  assert_shard (0, 1, 0, 1);
  for (guint i = 0; i < G_N_ELEMENTS (variables); i++)
    g_unsetenv (variables[i]);
}

static void
test_refused (void)
{
  set_environment (NULL, NULL);
  assert_refused (3, -1, "*rank*3*world-size*world-size*WORLD_SIZE*");
  assert_refused (-1, 4, "*world-size*4*rank*rank*RANK*");
  assert_refused (4, 4, "*rank*4*world-size*4*0*");
  assert_refused (0, 0, "*rank*0*world-size*0*0*");
  set_environment ("7", NULL);
  assert_refused (-1, -1, "*RANK*7*world-size*world-size*WORLD_SIZE*");
  assert_refused (-1, 3, "*RANK*7*world-size*3*0*");
  set_environment (NULL, "2");
  assert_refused (-1, -1, "*WORLD_SIZE*2*rank*rank*RANK*");
  set_environment ("two", "4");
  assert_refused (-1, -1, "*RANK*\"two\"*0*2147483647*rank*");
  set_environment ("1", "-4");
  assert_refused (-1, -1, "*WORLD_SIZE*\"-4\"*0*2147483647*world-size*");
  set_environment ("", "4294967296");
  assert_refused (-1, -1, "*RANK*\"\"*0*2147483647*rank*");
  set_environment (NULL, NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  /* Variables of the scheduler that runs the tests are not meant for them. */
  for (guint i = 0; i < G_N_ELEMENTS (variables); i++)
    g_unsetenv (variables[i]);
  g_test_add_func ("/shard/runs", test_runs);
  g_test_add_func ("/shard/single-runs", test_single_runs);
  g_test_add_func ("/shard/places", test_places);
  g_test_add_func ("/shard/environment", test_environment);
  g_test_add_func ("/shard/systems", test_systems);
  g_test_add_func ("/shard/refused", test_refused);
  return g_test_run ();
}
