/* gst-spdl-launch: terminal output during a run
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/views/screen.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/launch/run/process.h"
#include "tools/launch/views/table.h"

#define MAX_SHOWN 10 /* number of failures and warnings */

struct _Screen {
  FILE *out;
  Exporter *exporter; /* nullable */
  gboolean live;
  gboolean bold; /* supported by the terminal and not disabled */
  gchar *shown;  /* nullable: text on the terminal that will be overwritten */
  guint n_failures, n_warnings;
};

/* Changes of concurrency */

/* Formats a decision about the CPU budget. */
static gchar *
format_budget (const GstStructure *s)
{
  const gchar *stage = gst_structure_get_string (s, "stage");
  const double used = stats_get_double (s, "cpu-used") * 100;
  const double budget = stats_get_double (s, "cpu-budget") * 100;
  gboolean is_throttled = FALSE;

  gst_structure_get_boolean (s, "throttled", &is_throttled);
  if (!is_throttled)
    return g_strdup_printf (
        "budget: %s is no longer limited, loading used %.0f %% of the cores",
        stage, used);
  return g_strdup_printf ("budget: %s is limited to %u tasks at a time, "
                          "loading used %.0f %% of the cores and may use %.0f",
      stage, stats_get_uint (s, "to"), used, budget);
}

static gchar *
format_reason (const GstStructure *s)
{
  const gchar *reason = gst_structure_get_string (s, "reason");
  const double busy = stats_get_double (s, "busy") * 100;
  const double gain = stats_get_double (s, "gain");

  if (g_strcmp0 (reason, "limits") == 0)
    return g_strdup_printf ("its workers are busy %.0f %% of the time", busy);
  if (g_strcmp0 (reason, "follows") == 0)
    return g_strdup ("it would be the next limit");
  if (g_strcmp0 (reason, "idle") == 0)
    return g_strdup_printf (
        "its workers are idle %.0f %% of the time", 100 - busy);
  if (g_strcmp0 (reason, "spare") == 0)
    return g_strdup ("fewer may be enough");
  if (g_strcmp0 (reason, "no-gain") == 0)
    return g_strdup_printf ("reverted, no gain (%.2f times the rate)", gain);
  if (g_strcmp0 (reason, "loss") == 0)
    return g_strdup_printf ("reverted, a loss (%.2f times the rate)", gain);
  if (g_strcmp0 (reason, "held") == 0)
    return g_strdup ("reverted, the CPU budget is reached");
  if (g_strcmp0 (reason, "load") == 0)
    return g_strdup ("the load has changed");
  return g_strdup (reason);
}

gchar *
tuning_format (const GstStructure *decision)
{
  const gchar *stage = gst_structure_get_string (decision, "stage");
  const guint from = stats_get_uint (decision, "from");
  const guint to = stats_get_uint (decision, "to");
  const double rate = stats_get_double (decision, "throughput");

  if (g_strcmp0 (gst_structure_get_string (decision, "reason"), "budget") == 0)
    return format_budget (decision);

  g_autofree gchar *reason = format_reason (decision);
  GString *line = g_string_new (NULL);

  g_string_append_printf (line, "tuning: %s.concurrency ", stage);
  if (from != to)
    g_string_append_printf (line, "%u -> %u: %s", from, to, reason);
  else
    g_string_append_printf (line, "%u: %s", to, reason);
  if (rate > 0)
    g_string_append_printf (line, ", %.4g items/s", rate);
  return g_string_free (line, FALSE);
}

gchar *
tuning_format_settings (const Snapshot *snapshot)
{
  GString *settings = g_string_new (NULL);

  for (guint i = 0; i < snapshot->stages->len; i++) {
    const GstStructure *stats = g_ptr_array_index (snapshot->stages, i);
    gboolean automatic = FALSE;

    gst_structure_get_boolean (stats, "automatic", &automatic);
    if (automatic)
      g_string_append_printf (settings, "%s--set %s.concurrency=%u",
          settings->len > 0 ? " " : "", stats_get_name (stats),
          stats_get_uint (stats, "concurrency"));
  }
  return g_string_free (settings, settings->len == 0);
}

Screen *
screen_new (FILE *out, gboolean plain, Exporter *exporter)
{
  Screen *self = g_new0 (Screen, 1);
  const gchar *no_color = g_getenv ("NO_COLOR");

  self->out = out;
  self->exporter = exporter;
  self->live = !plain && isatty (fileno (out)) &&
               g_strcmp0 (g_getenv ("TERM"), "dumb") != 0;
  self->bold = self->live && (!no_color || *no_color == 0);
  /* Output a table with a single write. */
  if (self->live)
    setvbuf (out, NULL, _IOFBF, 1 << 16);
  return self;
}

void
screen_free (Screen *self)
{
  g_free (self->shown);
  g_free (self);
}

gboolean
screen_is_live (const Screen *self)
{
  return self->live;
}

static gboolean
get_size (FILE *out, guint *columns, guint *rows)
{
  struct winsize size;

  if (ioctl (fileno (out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return FALSE;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return TRUE;
}

guint
screen_get_width (FILE *out)
{
  const gchar *text = g_getenv ("COLUMNS");
  guint64 width;
  guint columns, rows;

  if (get_size (out, &columns, &rows))
    return columns;
  if (text && g_ascii_string_to_unsigned (text, 10, 20, 1000, &width, NULL))
    return width;
  return 80;
}

/* Returns the number of rows that can be overwritten, leaving one for the
 * cursor; 0: unlimited. */
static guint
get_height (const Screen *self)
{
  guint columns, rows;

  return self->live && get_size (self->out, &columns, &rows) && rows > 1
             ? rows - 1
             : 0;
}

/* Counts rows of the terminal. Lines wrap if it has become narrower. */
static guint
count_rows (const gchar *text, guint width)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint n = 0;

  for (guint i = 0; lines[i] && lines[i + 1]; i++)
    n += MAX ((g_utf8_strlen (lines[i], -1) + width - 1) / width, 1);
  return n;
}

/* Erases the last table and moves the cursor to its beginning. */
static void
erase_screen (Screen *self)
{
  if (self->shown)
    fprintf (self->out, "\033[%uA\r\033[J",
        count_rows (self->shown, screen_get_width (self->out)));
  g_clear_pointer (&self->shown, g_free);
}

/* Returns the line of the bottleneck in the table, or 0, the header, if there
 * is none. */
static guint
find_limit (const Snapshot *snapshot)
{
  const gchar *name = gst_spdl_diagnosis_get_element (snapshot->diagnosis);

  for (guint i = 0; name && i < snapshot->stages->len; i++)
    if (g_strcmp0 (stats_get_name (g_ptr_array_index (snapshot->stages, i)),
            name) == 0)
      return i + 1;
  return 0;
}

/* Prints the table with the bottleneck and the verdict in bold. Returns the
 * text. */
static gchar *
print_table (Screen *self, const Snapshot *snapshot, guint height)
{
  guint verdict;
  gchar *table =
      table_format (snapshot, screen_get_width (self->out), height, &verdict);
  g_auto (GStrv) lines = g_strsplit (table, "\n", -1);
  const guint limit = find_limit (snapshot);

  for (guint i = 0; lines[i] && lines[i + 1]; i++) {
    const gboolean bold = self->bold && ((i > 0 && i == limit) || i >= verdict);

    fprintf (self->out, "%s%s%s\n", bold ? "\033[1m" : "", lines[i],
        bold ? "\033[0m" : "");
  }
  return table;
}

static void
on_snapshot (Session *session, const Snapshot *snapshot, gpointer user_data)
{
  Screen *self = user_data;

  if (self->live) {
    erase_screen (self);
    self->shown = print_table (self, snapshot, get_height (self));
  } else {
    g_autofree gchar *line = table_format_line (snapshot);

    fprintf (self->out, "%s\n", line);
  }
  fflush (self->out);
  if (self->exporter) {
    Snapshot *totals = session_dup_totals (session, snapshot);

    exporter_set_text (self->exporter,
        prometheus_format (totals, process_get_rank (), g_get_host_name ()));
    snapshot_free (totals);
  }
}

/* Prepares to print a line above the table. Returns whether to print it. */
static gboolean
begin_line (Screen *self, guint *n, const gchar *what)
{
  if (++*n > MAX_SHOWN + 1)
    return FALSE;
  erase_screen (self);
  fflush (self->out);
  if (*n <= MAX_SHOWN)
    return TRUE;
  fprintf (stderr, "more %s; only the first %d are shown\n", what, MAX_SHOWN);
  return FALSE;
}

static void
on_failure (Session *session, const GstSpdlFailure *failure, gpointer user_data)
{
  Screen *self = user_data;
  g_autofree gchar *text = NULL;

  if (!begin_line (self, &self->n_failures, "items failed"))
    return;
  text = failure_format (failure);
  fprintf (stderr, "%s: %s\n", failure->stage, text);
}

static void
on_warning (Session *session, const gchar *element, const gchar *text,
    gpointer user_data)
{
  Screen *self = user_data;

  if (begin_line (self, &self->n_warnings, "warnings came"))
    fprintf (stderr, "warning: %s: %s\n", element, text);
}

/* Prints all decisions above the table; there are few of them. */
static void
on_tuning (Session *session, const GstStructure *decision, gpointer user_data)
{
  Screen *self = user_data;
  g_autofree gchar *line = tuning_format (decision);

  erase_screen (self);
  fprintf (self->out, "%s\n", line);
  fflush (self->out);
}

const SessionFuncs screen_funcs = { on_snapshot, on_failure, on_warning,
  on_tuning };

static void
print_summary (Screen *self, const Snapshot *result)
{
  g_autofree gchar *suggestion =
      gst_spdl_diagnosis_dup_suggestion (result->diagnosis);
  g_autofree gchar *found = tuning_format_settings (result);

  g_free (print_table (self, result, 0));
  if (suggestion)
    fprintf (self->out, "try: --set %s\n", suggestion);
  if (found)
    fprintf (self->out, "found: %s\n", found);
}

void
screen_finish (Screen *self, Session *session)
{
  static const gchar *ends[] = {
    [SESSION_RUNS] = "",
    [SESSION_ENDED] = "All epochs are complete.",
    [SESSION_LIMITED] = "Ended by --duration or --batches.",
    [SESSION_INTERRUPTED] = "Interrupted.",
    [SESSION_FAILED] = "Ended by an error.",
  };
  const Snapshot *result = session->result;
  const SessionEnd end = session->end;
  /* Failures come first: they are more important than throughput. */
  g_autofree gchar *failures = table_format_failures (
      result, session->failures, screen_get_width (self->out));

  erase_screen (self);
  if (failures)
    fprintf (self->out, "%s%s%s", self->bold ? "\033[1m" : "", failures,
        self->bold ? "\033[0m" : "");
  fprintf (self->out, "%s\n",
      failures && end == SESSION_ENDED ? "All other items arrived."
                                       : ends[end]);
  /* Without any items, statistics are meaningless. */
  if (end != SESSION_FAILED || result->items + result->failures > 0)
    print_summary (self, result);
  fflush (self->out);
}
