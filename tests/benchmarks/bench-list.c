/* gst-spdl: benchmark of very long lists
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Writes a long list to a temporary folder (by default 10^8 lines, 2.5 GB). It
 * prints the cost of indexing it, of opening it again with its index file, of
 * starting at a resume state in its middle and of drawing from it in a shuffled
 * order, and the peak of private memory. Times are CPU time of the thread
 * unless stated otherwise, since machines are shared.
 *
 *     meson devenv -C build tests/benchmarks/bench-list [--lines N] [--csv]
 *
 * With --turns N, it only indexes a .csv and a .jsonl of the same items in
 * turns, N times each, and prints the median speeds. */

#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "plugins/dataset/list/list.h"
#include "plugins/dataset/list/textfile.h"
#include "plugins/dataset/sampler/permutation.h"
#include "plugins/dataset/sampler/weightedsampler.h"

#define N_DRAWS 1000000
#define N_RESTORES 20

static gint64 n_lines = 100000000;
static gboolean csv = FALSE;
static gint n_turns = 0;
static gint caption = 0;
static guint64 sink; /* keeps results from being optimized out */

/* Peak of private memory, sampled by a thread. */

static gint watching; /* atomic */
static guint64 highest;

static guint64
read_private (void)
{
  g_autofree gchar *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint64 sum = 0;

  if (!g_file_get_contents ("/proc/self/smaps_rollup", &text, NULL, NULL))
    g_error ("no /proc/self/smaps_rollup");
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (g_str_has_prefix (lines[i], "Private_Clean:") ||
        g_str_has_prefix (lines[i], "Private_Dirty:"))
      sum += g_ascii_strtoull (
          strchr (lines[i], ':') + 1 + strspn (strchr (lines[i], ':') + 1, " "),
          NULL, 10);
  return sum * 1024;
}

static gpointer
watch (gpointer data)
{
  while (g_atomic_int_get (&watching)) {
    highest = MAX (highest, read_private ());
    g_usleep (5000);
  }
  return NULL;
}

static double
cpu_seconds (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &ts);
  return ts.tv_sec + ts.tv_nsec / 1e9;
}

typedef struct {
  double start;
  GThread *thread;
} Watch;

static Watch
watch_begin (void)
{
  highest = 0;
  g_atomic_int_set (&watching, TRUE);
  GThread *thread = g_thread_new ("watch", watch, NULL);

  return (Watch){ cpu_seconds (), thread };
}

/* Returns the CPU time in seconds since the start. */
static double
watch_end (Watch *self)
{
  const double seconds = cpu_seconds () - self->start;

  g_atomic_int_set (&watching, FALSE);
  g_thread_join (self->thread);
  highest = MAX (highest, read_private ());
  return seconds;
}

/* Lines of a list. `%` stands for the number of the item, `#` for its label and
 * `@` for its caption. */
typedef struct {
  const gchar *header;
  const gchar *line;
} Format;

static const Format formats[] = {
  { "", "train/%.jpg\t#\n" },
  { "uri,label\n", "train/%.jpg,#\n" },
  { "uri,label,caption\n", "train/%.jpg,#,\"@\"\n" },
  { "", "{\"uri\": \"train/%.jpg\", \"label\": #, \"caption\": \"@\"}\n" },
};

/* Writes a line of the length that is common in datasets. */
static gsize
write_line (gchar *to, const Format *format, guint64 i)
{
  gchar *at = to;

  for (const gchar *c = format->line; *c; c++)
    if (*c == '%') {
      for (guint64 k = G_GUINT64_CONSTANT (100000000000); k > 0; k /= 10)
        *at++ = '0' + i / k % 10;
    } else if (*c == '#') {
      *at++ = '0' + i % 10;
    } else if (*c == '@') {
      for (gint k = 0; k < caption; k++)
        *at++ = k % 6 == 5 ? ' ' : 'a' + (i + k) % 26;
    } else {
      *at++ = *c;
    }
  return at - to;
}

static void
make_list (const gchar *path, const Format *format)
{
  const struct timespec times[2] = { { 0, UTIME_OMIT }, { 1700000000, 0 } };
  const int fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  g_autofree gchar *buffer = g_malloc ((1 << 20) + 64 + caption);
  gsize used = g_strlcpy (buffer, format->header, 1 << 20);

  if (fd < 0)
    g_error ("\"%s\" cannot be written", path);
  for (guint64 i = 0; i < (guint64) n_lines; i++) {
    used += write_line (buffer + used, format, i);
    if (used < (1 << 20) - 128 && i + 1 < (guint64) n_lines)
      continue;
    if (write (fd, buffer, used) != (gssize) used)
      g_error ("\"%s\" cannot be written", path);
    used = 0;
  }
  /* Writeback would disturb the measurement. */
  fsync (fd);
  futimens (fd, times);
  close (fd);
}

static SpdlList *
open_list (const gchar *path, SpdlSidecarUse use)
{
  const SpdlDatasetOptions options = { { TRUE }, NULL, use };
  g_autoptr (GError) error = NULL;
  SpdlList *list = spdl_list_open (path, &options, &error);

  if (!list)
    g_error ("%s", error->message);
  return list;
}

static void
time_opening (const gchar *path, const gchar *what, SpdlSidecarUse use)
{
  Watch watch = watch_begin ();
  SpdlList *list = open_list (path, use);
  const double seconds = watch_end (&watch);

  printf ("%s: %.3f s, %.1f ns a line, private memory up to %.1f MB\n", what,
      seconds, seconds * 1e9 / n_lines, highest / 1e6);
  spdl_list_free (list);
}

static void
get_item (SpdlList *list, guint64 i)
{
  g_autoptr (GError) error = NULL;
  GstStructure *extra;
  gint64 label;
  gchar *path = spdl_list_get_item (list, i, &label, &extra, &error);

  if (!path)
    g_error ("%s", error->message);
  sink += path[8] + label;
  g_free (path);
}

static void
time_draws (const gchar *path)
{
  SpdlList *list = open_list (path, SPDL_SIDECAR_AUTO);
  SpdlPermutation p;

  spdl_permutation_init (&p, n_lines, 1, 2);
  for (guint shuffled = 0; shuffled < 2; shuffled++) {
    Watch watch = watch_begin ();
    double seconds;

    for (guint64 i = 0; i < N_DRAWS; i++)
      get_item (list,
          shuffled ? spdl_permutation_get_item (&p, i % n_lines) : i % n_lines);
    seconds = watch_end (&watch);
    printf ("%d items %s: %.0f ns each, private memory up to %.1f MB\n",
        N_DRAWS, shuffled ? "shuffled" : "in order", seconds * 1e9 / N_DRAWS,
        highest / 1e6);
  }
  spdl_list_free (list);
}

/* Measures spdlsrc itself. */

static GstElement *
parse (const gchar *description)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error);

  if (error)
    g_error ("%s", error->message);
  return pipeline;
}

static gchar *
read_start (const gchar *path)
{
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc name=src location=%s shuffle=true ! fakesink", path);
  g_autoptr (GstElement) pipeline = parse (description);
  g_autoptr (GstElement) src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (src, "src");
  GstEvent *event;
  gchar *state;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  event = gst_pad_get_sticky_event (pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  state = g_strdup (gst_structure_get_string (
      gst_event_get_structure (event), "resume-state"));
  gst_event_unref (event);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return state;
}

static double
time_restore (const gchar *path, const gchar *state, gboolean shuffle)
{
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc name=src location=%s shuffle=%d ! fakesink", path, shuffle);
  g_autoptr (GstElement) pipeline = parse (description);
  g_autoptr (GstElement) src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  gint64 start;

  g_object_set (src, "resume-state", state, NULL);
  start = g_get_monotonic_time ();
  /* Waits for the preroll, which is the first item. */
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  if (gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE) !=
      GST_STATE_CHANGE_SUCCESS)
    g_error ("no item came");
  start = g_get_monotonic_time () - start;
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return start / 1e3;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static void
time_restores (const gchar *path, gboolean shuffle)
{
  g_autofree gchar *start = read_start (path);
  g_auto (GStrv) parts = g_strsplit (start, "shuffle=1", 2);
  g_auto (GStrv) ends = g_strsplit (parts[1], "mark=0", 2);
  double times[2][N_RESTORES];

  for (guint i = 0; i < 2 * N_RESTORES; i++) {
    const gint64 mark = i % 2 == 0 ? 0 : n_lines / 2;
    g_autofree gchar *state =
        g_strdup_printf ("%sshuffle=%d%smark=%" G_GINT64_FORMAT "%s", parts[0],
            shuffle, ends[0], mark, ends[1]);

    times[i % 2][i / 2] = time_restore (path, state, shuffle);
  }
  for (guint i = 0; i < 2; i++)
    qsort (times[i], N_RESTORES, sizeof (double), compare);
  printf ("spdlsrc shuffle=%s, from NULL to the first item: %.2f ms at the "
          "start, %.2f ms in the middle, %.2f times (wall clock, medians of "
          "%d)\n",
      shuffle ? "true" : "false", times[0][N_RESTORES / 2],
      times[1][N_RESTORES / 2],
      times[1][N_RESTORES / 2] / times[0][N_RESTORES / 2], N_RESTORES);
}

static void
time_permutation (void)
{
  const guint64 size = G_GUINT64_CONSTANT (10000000000);
  double start;
  SpdlPermutation p;

  spdl_permutation_init (&p, size, 1, 2);
  start = cpu_seconds ();
  for (guint64 i = 0; i < 10 * N_DRAWS; i++)
    sink += spdl_permutation_get_item (&p, i * 997 % size);
  printf ("the permutation of 10^10 alone: %.1f ns an index\n",
      (cpu_seconds () - start) * 1e9 / (10 * N_DRAWS));
}

/* Measures weighted draws, of at most as many items as fit into memory. */
static void
time_weights (void)
{
  const guint n = MIN (n_lines, 10000000);
  g_autoptr (GArray) weights = g_array_new (FALSE, FALSE, sizeof (double));
  double start, made;
  SpdlWeightedSampler *weighted_sampler;
  SpdlDraws draws;

  for (guint i = 0; i < n; i++) {
    const double weight = 1 + i * 7919ull % 100;

    g_array_append_val (weights, weight);
  }
  start = cpu_seconds ();
  weighted_sampler = spdl_weighted_sampler_new (weights);
  made = cpu_seconds ();
  spdl_draws_init (&draws, 1, 2);
  for (guint64 i = 0; i < N_DRAWS; i++)
    sink += spdl_weighted_sampler_get_item (
        weighted_sampler, spdl_draws_get_number (&draws, i));
  printf ("%u weights: %.1f ns per item for the table, %.1f ns per draw\n", n,
      (made - start) * 1e9 / n, (cpu_seconds () - made) * 1e9 / N_DRAWS);
  spdl_weighted_sampler_free (weighted_sampler);
}

static void
time_look (const gchar *path)
{
  SpdlTextFile file;
  double start;

  if (!spdl_text_file_open (&file, path, NULL))
    return;
  start = cpu_seconds ();
  for (guint i = 0; i < N_DRAWS; i++)
    sink += spdl_text_file_check (&file, NULL);
  printf ("a look at whether the list has changed: %.0f ns\n",
      (cpu_seconds () - start) * 1e9 / N_DRAWS);
  spdl_text_file_close (&file);
}

static void
measure (const gchar *path)
{
  struct stat st;

  make_list (path, &formats[csv]);
  stat (path, &st);
  printf ("%" G_GINT64_FORMAT " lines, %.2f GB\n", n_lines, st.st_size / 1e9);
  time_opening (path, "indexed", SPDL_SIDECAR_NONE);
  time_opening (path, "indexed, and the index written", SPDL_SIDECAR_AUTO);
  for (guint i = 0; i < 3; i++)
    time_opening (path, "opened again", SPDL_SIDECAR_AUTO);
  time_look (path);
  time_draws (path);
  time_restores (path, FALSE);
  time_restores (path, TRUE);
  time_permutation ();
  time_weights ();
}

/* Compares the speeds of indexing a .csv and a .jsonl. */
static void
compare_formats (const gchar *folder)
{
  static const gchar *const names[] = { "list.csv", "list.jsonl" };
  double *times[2] = { g_new (double, n_turns), g_new (double, n_turns) };
  double speeds[2];

  for (gint i = -1; i < n_turns; i++)
    for (guint k = 0; k < 2; k++) {
      g_autofree gchar *path = g_build_filename (folder, names[k], NULL);
      double start;

      if (i < 0) {
        make_list (path, &formats[2 + k]);
        continue;
      }
      start = cpu_seconds ();
      spdl_list_free (open_list (path, SPDL_SIDECAR_NONE));
      times[k][i] = cpu_seconds () - start;
    }
  for (guint k = 0; k < 2; k++) {
    g_autofree gchar *path = g_build_filename (folder, names[k], NULL);
    struct stat st;

    stat (path, &st);
    qsort (times[k], n_turns, sizeof (double), compare);
    speeds[k] = st.st_size / times[k][n_turns / 2] / 1e6;
    printf ("%s: %.1f bytes and %.1f ns a line, %.0f MB/s\n", names[k],
        (double) st.st_size / n_lines, times[k][n_turns / 2] * 1e9 / n_lines,
        speeds[k]);
    g_free (times[k]);
    g_unlink (path);
  }
  printf ("speed of .jsonl by that of .csv: %.2f\n", speeds[1] / speeds[0]);
}

int
main (int argc, char **argv)
{
  static const GOptionEntry entries[] = {
    { "lines", 'n', 0, G_OPTION_ARG_INT64, &n_lines, "Of the list", "N" },
    { "csv", 0, 0, G_OPTION_ARG_NONE, &csv, "A .csv list", NULL },
    { "turns", 0, 0, G_OPTION_ARG_INT, &n_turns, "Compare .csv and .jsonl",
        "N" },
    { "caption", 0, 0, G_OPTION_ARG_INT, &caption,
        "Length of the captions that are compared", "BYTES" },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autofree gchar *folder = g_dir_make_tmp ("spdl-list-XXXXXX", NULL);
  g_autofree gchar *path = NULL, *sidecar = NULL;

  setvbuf (stdout, NULL, _IOLBF, 0);
  gst_init (&argc, &argv);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || n_lines < 2)
    g_error ("%s", error ? error->message : "too few lines");
  path = g_build_filename (folder, csv ? "list.csv" : "list.txt", NULL);
  sidecar = g_build_filename (
      folder, csv ? ".list.csv.spdl-index" : ".list.txt.spdl-index", NULL);
  if (n_turns > 0) {
    compare_formats (folder);
  } else {
    measure (path);
    g_unlink (path);
    g_unlink (sidecar);
  }
  g_rmdir (folder);
  return sink == 1;
}
