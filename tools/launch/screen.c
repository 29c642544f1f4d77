/* gst-spdl-launch: what the user sees while it runs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "screen.h"

#include "table.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MAX_FAILURES_SHOWN 10

struct _Screen {
  gboolean live;
  gchar *shown; /* nullable: on the terminal, to be drawn over */
  guint n_failures;
};

Screen *
screen_new (gboolean live)
{
  Screen *self = g_new0 (Screen, 1);

  self->live = live;
  /* A table goes out in one piece. */
  if (live)
    setvbuf (stdout, NULL, _IOFBF, 1 << 16);
  return self;
}

void
screen_free (Screen *self)
{
  g_free (self->shown);
  g_free (self);
}

guint
screen_get_width (void)
{
  const gchar *text = g_getenv ("COLUMNS");
  struct winsize size;
  guint64 width;

  if (ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  if (text && g_ascii_string_to_unsigned (text, 10, 20, 1000, &width, NULL))
    return width;
  return 80;
}

/* A terminal that was made narrower has broken the lines. */
static guint
count_rows (const gchar *text, guint width)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint n = 0;

  for (guint i = 0; lines[i] && lines[i + 1]; i++)
    n += MAX ((g_utf8_strlen (lines[i], -1) + width - 1) / width, 1);
  return n;
}

/* Goes to where the last table began. */
static void
erase (Screen *self)
{
  if (self->shown)
    printf ("\033[%uA\r\033[J", count_rows (self->shown, screen_get_width ()));
  g_clear_pointer (&self->shown, g_free);
}

static void
on_frame (Session *session, const Frame *frame, gpointer user_data)
{
  Screen *self = user_data;

  if (self->live) {
    erase (self);
    self->shown = table_format (frame, screen_get_width ());
    fputs (self->shown, stdout);
  } else {
    g_autofree gchar *line = table_format_line (frame);

    puts (line);
  }
  fflush (stdout);
}

static void
on_failure (Session *session, const GstStructure *failure, gpointer user_data)
{
  Screen *self = user_data;
  const gchar *uri = gst_structure_get_string (failure, "uri");
  GError *error = NULL;

  if (++self->n_failures > MAX_FAILURES_SHOWN + 1)
    return;
  erase (self);
  fflush (stdout);
  gst_structure_get (failure, "error", G_TYPE_ERROR, &error, NULL);
  if (self->n_failures > MAX_FAILURES_SHOWN)
    fprintf (
        stderr, "more items failed; only %d are shown\n", MAX_FAILURES_SHOWN);
  else
    fprintf (stderr, "%s: %s%s%s\n",
        gst_structure_get_string (failure, "stage"), uri ? uri : "",
        uri ? ": " : "", error ? error->message : "failed");
  g_clear_error (&error);
}

const SessionFuncs screen_funcs = { on_frame, on_failure };

void
screen_finish (Screen *self, Session *session)
{
  static const gchar *ends[] = {
    [SESSION_RUNS] = "",
    [SESSION_ENDED] = "All came.",
    [SESSION_LIMITED] = "Ended as asked for.",
    [SESSION_INTERRUPTED] = "Interrupted.",
    [SESSION_FAILED] = "Ended by an error.",
  };
  const Frame *result = session_get_result (session);
  g_autofree gchar *table = table_format (result, screen_get_width ());
  g_autofree gchar *suggestion =
      gst_spdl_diagnosis_dup_suggestion (result->diagnosis);

  erase (self);
  printf ("%s\n%s", ends[session_get_end (session)], table);
  if (suggestion)
    printf ("try: --set %s\n", suggestion);
  fflush (stdout);
}
