/* gst-spdl-launch: text tables of statistics
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/table.h"

#include <math.h>
#include <string.h>

#include "tools/launch/run/session.h"

#define MIN_NAME 8
#define MAX_NAME 40
#define MIN_BAR 4
#define MAX_BAR 24

/* A column. Columns with a higher rank are dropped first if the table is too
 * wide. */
typedef struct {
  const gchar *title;
  guint width;
  guint rank;
  const gchar *field;
  gboolean optional; /* shown only if a stage has the field */
  /* (nullable): formats something derived from the statistics with @field */
  gchar *(*derive) (const GstStructure *stats);
} Column;

static gchar *
format_computing (const GstStructure *stats)
{
  return format_percent (stats_get_computing (stats));
}

/* Formats the hit rate of the disk cache. */
static gchar *
format_hits (const GstStructure *stats)
{
  const guint64 hits = stats_get (stats, "cache-hits");
  const guint64 all = hits + stats_get (stats, "cache-misses");

  return g_strdup_printf (
      "%ld %%", all > 0 ? lround (100.0 * (double) hits / (double) all) : 0);
}

static const Column columns[] = {
  { "conc", 5, 1, "concurrency" },
  { "tasks", 9, 4, "num-tasks" },
  { "items/s", 8, 0, "qps" },
  { "average", 9, 2, "ave-time" },
  { "p99", 9, 5, "p99-time" },
  { "CPU", 6, 3, "num-tasks", FALSE, format_computing },
  { "failed", 7, 6, "num-failures" },
  { "cached", 8, 7, "cache-hits", TRUE, format_hits },
};

typedef struct {
  guint name;
  guint bar; /* without its number; 0: hidden */
  gboolean shown[G_N_ELEMENTS (columns)];
} Layout;

#define BAR_NUMBER 6 /* " 100 %" */

static guint
longest_name (const Snapshot *snapshot)
{
  guint longest = MIN_NAME;

  for (guint i = 0; i < snapshot->stages->len; i++) {
    const gchar *name =
        stats_get_name (g_ptr_array_index (snapshot->stages, i));

    longest = MAX (longest, g_utf8_strlen (name, -1));
  }
  return MIN (longest, MAX_NAME);
}

static guint
width_of_columns (const Layout *layout)
{
  guint sum = 0;

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    if (layout->shown[i])
      sum += columns[i].width;
  return sum;
}

static void
hide_rank (Layout *layout, guint rank)
{
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    if (columns[i].rank == rank)
      layout->shown[i] = FALSE;
}

static Layout
lay_out (const Snapshot *snapshot, guint width)
{
  const guint fixed = 2 + BAR_NUMBER;
  Layout layout = { .name = longest_name (snapshot) };
  guint used;

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    layout.shown[i] =
        !columns[i].optional || snapshot_has_field (snapshot, columns[i].field);
  for (guint rank = G_N_ELEMENTS (columns);
       rank > 0 &&
       width_of_columns (&layout) + MIN_NAME + fixed + MIN_BAR > width;
       rank--)
    hide_rank (&layout, rank - 1);
  used = width_of_columns (&layout) + fixed;
  if (used + MIN_NAME + MIN_BAR > width) {
    layout.name = MIN (layout.name, MAX (width, 1));
    return layout;
  }
  layout.name = MIN (layout.name, width - used - MIN_BAR);
  layout.bar = MIN (width - used - layout.name, MAX_BAR);
  return layout;
}

/* Appends @text, right-aligned. */
static void
append_right (GString *line, const gchar *text, guint width)
{
  for (guint n = g_utf8_strlen (text, -1); n < width; n++)
    g_string_append_c (line, ' ');
  g_string_append (line, text);
}

static void
append_queue (GString *line, const GstStructure *stats, guint width)
{
  const double share = stats_get_double (stats, "occupancy-rate");
  g_autofree gchar *bar = text_bar (share, width);

  if (!gst_structure_has_field (stats, "occupancy-rate"))
    return;
  g_string_append_printf (line, "  %s %3ld %%", bar, lround (share * 100));
}

static void
append_row (GString *text, const GstStructure *stats, const Layout *layout)
{
  GString *line = g_string_new (NULL);
  g_autofree gchar *name = text_fit (stats_get_name (stats), layout->name);

  g_string_append (line, name);
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++) {
    const Column *column = &columns[i];
    g_autofree gchar *cell =
        column->derive && gst_structure_has_field (stats, column->field)
            ? column->derive (stats)
            : stats_format (stats, column->field);

    if (layout->shown[i])
      append_right (line, cell, columns[i].width);
  }
  if (layout->bar > 0)
    append_queue (line, stats, layout->bar);
  g_strchomp (line->str);
  g_string_append_printf (text, "%s\n", line->str);
  g_string_free (line, TRUE);
}

static void
append_header (GString *text, const Layout *layout)
{
  g_autofree gchar *name = text_fit ("stage", layout->name);

  g_string_append (text, name);
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    if (layout->shown[i])
      append_right (text, columns[i].title, columns[i].width);
  g_string_append (text, layout->bar > 0 ? "  queue\n" : "\n");
}

/* Appends a text in lines of at most @width columns. */
static void G_GNUC_PRINTF (3, 4)
    append_text (GString *text, guint width, const gchar *format, ...)
{
  g_autofree gchar *line = NULL;
  g_autofree gchar *wrapped = NULL;
  va_list args;

  va_start (args, format);
  line = g_strdup_vprintf (format, args);
  va_end (args);
  wrapped = text_wrap (line, width);
  g_string_append_printf (text, "%s\n", wrapped);
}

static void
append_throughput (GString *text, const Snapshot *snapshot, guint width)
{
  g_autofree gchar *items = format_rate (snapshot->item_rate);
  g_autofree gchar *batches = format_rate (snapshot->batch_rate);
  g_autofree gchar *failed = NULL, *filtered = NULL;

  if (snapshot->failures > 0)
    failed =
        g_strdup_printf (", %" G_GUINT64_FORMAT " failed", snapshot->failures);
  if (snapshot->filtered > 0)
    filtered = g_strdup_printf (
        ", %" G_GUINT64_FORMAT " filtered", snapshot->filtered);
  append_text (text, width,
      "%s items/s, %s batches/s, %" G_GUINT64_FORMAT
      " items in %" G_GUINT64_FORMAT " batches%s%s",
      items, batches, snapshot->items, snapshot->batches, failed ? failed : "",
      filtered ? filtered : "");
}

static void
append_process (GString *text, const Snapshot *snapshot, guint width)
{
  g_autofree gchar *memory = format_bytes (snapshot->memory);

  append_text (text, width, "%.1f of %u cores busy, %s of memory%s",
      snapshot->cores, snapshot->num_cores, memory,
      snapshot->interval ? "" : " at most");
}

/* Appends the training step, if steps are measured. */
static void
append_trainer (GString *text, const Snapshot *snapshot, guint width)
{
  const GstStructure *stats = snapshot_get_trainer (snapshot);

  if (!stats)
    return;
  g_autofree gchar *p50 = stats_format (stats, "p50-step-time");
  g_autofree gchar *p99 = stats_format (stats, "p99-step-time");
  g_autofree gchar *wait = stats_format (stats, "ave-get-time");
  append_text (text, width,
      "the training step takes %s (p99 %s), the wait for a batch %s", p50, p99,
      wait);
}

/* Appends the maximum throughput on this machine, if it is known. */
static void
append_roofline (GString *text, const Snapshot *snapshot, guint width)
{
  const GstStructure *roofline =
      snapshot->overall ? gst_spdl_diagnosis_get_roofline (snapshot->overall)
                        : NULL;

  if (roofline)
    append_text (
        text, width, "%s", gst_structure_get_string (roofline, "sentence"));
}

static void
append_progress (GString *text, const Snapshot *snapshot, guint width)
{
  const double progress = snapshot->progress;
  g_autofree gchar *elapsed = format_clock (snapshot->time);
  g_autofree gchar *left = NULL, *bar = NULL, *words = NULL;

  if (progress > 0 && progress < 1 && snapshot->interval)
    left = format_clock (snapshot->time / progress - snapshot->time);
  words = progress >= 0
              ? g_strdup_printf (" %3ld %%, %s%s%s", lround (progress * 100),
                    elapsed, left ? ", left: " : "", left ? left : "")
              : g_strdup (elapsed);
  if (progress >= 0 && width > strlen (words) + MIN_BAR)
    bar = text_bar (progress, MIN (width - strlen (words), 2 * MAX_BAR));
  append_text (text, width, "%s%s", bar ? bar : "", words);
}

static guint
count_lines (const gchar *text)
{
  guint n = 0;

  for (; *text; text++)
    n += *text == '\n';
  return n;
}

/* Appends as many rows as fit, and the number of omitted ones. */
static void
append_rows (GString *text, const Snapshot *snapshot, const Layout *layout,
    guint width, guint n_lines)
{
  const guint n = snapshot->stages->len;
  const guint shown = n <= n_lines ? n : MAX (n_lines, 1) - 1;

  for (guint i = 0; i < shown; i++)
    append_row (text, g_ptr_array_index (snapshot->stages, i), layout);
  if (shown < n)
    append_text (text, width, "and %u more", n - shown);
}

gchar *
table_format (
    const Snapshot *snapshot, guint width, guint height, guint *verdict)
{
  GString *text = g_string_new (NULL);
  GString *tail = g_string_new ("\n");
  const Layout layout = lay_out (snapshot, width);
  guint n_above_verdict, n_lines;

  append_progress (tail, snapshot, width);
  append_throughput (tail, snapshot, width);
  append_process (tail, snapshot, width);
  append_trainer (tail, snapshot, width);
  append_roofline (tail, snapshot, width);
  n_above_verdict = count_lines (tail->str);
  append_text (
      tail, width, "%s", gst_spdl_diagnosis_get_sentence (snapshot->diagnosis));

  append_header (text, &layout);
  n_lines = 1 + count_lines (tail->str);
  n_lines = height == 0 ? G_MAXUINT : height - MIN (n_lines, height);
  append_rows (text, snapshot, &layout, width, n_lines);
  if (verdict)
    *verdict = count_lines (text->str) + n_above_verdict;
  g_string_append (text, tail->str);
  g_string_free (tail, TRUE);
  return g_string_free (text, FALSE);
}

/* Returns (transfer full) the first failure of @stage; NULL if it is not
 * known. */
static gchar *
format_first_failure (GPtrArray *failures, const gchar *stage)
{
  for (guint i = 0; i < failures->len; i++) {
    const GstSpdlFailure *failure = g_ptr_array_index (failures, i);

    if (g_strcmp0 (failure->stage, stage) == 0)
      return failure_format (failure);
  }
  return NULL;
}

gchar *
table_format_failures (
    const Snapshot *snapshot, GPtrArray *failures, guint width)
{
  GString *text;

  if (snapshot->failures == 0)
    return NULL;
  text = g_string_new (NULL);
  g_string_append_printf (text, "%" G_GUINT64_FORMAT " item%s failed:\n",
      snapshot->failures, snapshot->failures == 1 ? "" : "s");
  for (guint i = 0; i < snapshot->stages->len; i++) {
    const GstStructure *stats = g_ptr_array_index (snapshot->stages, i);
    const gchar *name = stats_get_name (stats);
    const guint64 n = stats_get (stats, "num-failures");
    g_autofree gchar *first = format_first_failure (failures, name);

    if (n > 0)
      append_text (text, width,
          "%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT "%s%s", name, n,
          stats_get (stats, "num-items"), first ? "; first: " : "",
          first ? first : "");
  }
  return g_string_free (text, FALSE);
}

gchar *
table_format_line (const Snapshot *snapshot)
{
  g_autofree gchar *clock = format_clock (snapshot->time);
  g_autofree gchar *rate = format_rate (snapshot->item_rate);
  g_autofree gchar *memory = format_bytes (snapshot->memory);
  GString *text = g_string_new (clock);

  if (snapshot->progress >= 0)
    g_string_append_printf (
        text, "  %ld %%", lround (snapshot->progress * 100));
  g_string_append_printf (
      text, "  %s items/s  %.1f cores  %s", rate, snapshot->cores, memory);
  for (guint i = 0; i < snapshot->stages->len; i++) {
    const GstStructure *stats = g_ptr_array_index (snapshot->stages, i);

    if (gst_structure_has_field (stats, "occupancy-rate"))
      g_string_append_printf (text, "  %s %ld %%", stats_get_name (stats),
          lround (stats_get_double (stats, "occupancy-rate") * 100));
  }
  if (snapshot->failures > 0)
    g_string_append_printf (
        text, "  %" G_GUINT64_FORMAT " failed", snapshot->failures);
  return g_string_free (text, FALSE);
}

static gboolean
is_utf8 (void)
{
  return g_get_charset (NULL);
}

gchar *
text_fit (const gchar *text, guint width)
{
  const guint length = g_utf8_strlen (text, -1);
  GString *fitted;

  if (length <= width) {
    fitted = g_string_new (text);
    for (guint i = length; i < width; i++)
      g_string_append_c (fitted, ' ');
  } else {
    g_autofree gchar *head = g_utf8_substring (text, 0, MAX (width, 1) - 1);

    fitted = g_string_new (head);
    g_string_append (fitted, is_utf8 () ? "\u2026" : "~");
  }
  return g_string_free (fitted, FALSE);
}

gchar *
text_wrap (const gchar *text, guint width)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  GString *lines = g_string_new (NULL);
  guint column = 0;

  for (guint i = 0; words[i]; i++) {
    const guint length = g_utf8_strlen (words[i], -1);

    if (column > 0 && column + 1 + length > width) {
      g_string_append_c (lines, '\n');
      column = 0;
    } else if (column > 0) {
      g_string_append_c (lines, ' ');
      column++;
    }
    if (length > width) {
      g_autofree gchar *fitted = text_fit (words[i], width);

      g_string_append (lines, fitted);
      column = width;
    } else {
      g_string_append (lines, words[i]);
      column += length;
    }
  }
  return g_string_free (lines, FALSE);
}

gchar *
text_bar (double share, guint width)
{
  /* U+2588 is a full block; the seven code points after it are narrower
   * blocks. */
  const gboolean fine = is_utf8 ();
  const guint steps = fine ? 8 : 1;
  const guint filled = (guint) lround (CLAMP (share, 0, 1) * width * steps);
  GString *bar = g_string_new (NULL);

  for (guint i = 0; i < width; i++) {
    if ((i + 1) * steps <= filled)
      g_string_append (bar, fine ? "\u2588" : "#");
    else if (i * steps < filled)
      g_string_append_unichar (bar, 0x2588 + steps - filled % steps);
    else
      g_string_append (bar, fine ? "\u00b7" : ".");
  }
  return g_string_free (bar, FALSE);
}
