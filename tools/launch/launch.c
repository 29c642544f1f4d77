/* gst-spdl-launch: main program
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/showntext.h"
#include "gst/spdl/engine/trace.h"
#include "tools/launch/modes/modes.h"
#include "tools/launch/modes/options.h"
#include "tools/launch/run/itemdigest.h"
#include "tools/launch/views/json.h"
#include "tools/launch/views/report.h"
#include "tools/launch/views/screen.h"

#include <gio/gio.h>
#include <locale.h>
#include <stdio.h>

enum {
  STATUS_OK,
  STATUS_ERROR,
  STATUS_USAGE,
};

static int
print_error (const GError *error, int status)
{
  g_autofree gchar *text = spdl_show_text (error->message);

  fprintf (stderr, "error: %s\n", text);
  return status;
}

static Exporter *
make_exporter (const Options *options, GError **error)
{
  Exporter *exporter = exporter_new (options->port, error);

  if (exporter)
    fprintf (stderr, "serving statistics at http://127.0.0.1:%u/metrics\n",
        exporter_get_port (exporter));
  return exporter;
}

/* Writes the JSON and HTML files, also after an error. */
static gboolean
write_files (const Options *options, Session *session, const GError *failure,
    GError **error)
{
  if (options->json && !json_write (session, options->json, failure, error))
    return FALSE;
  return !options->report ||
         report_write (session, options->report, failure, error);
}

static int
print_digest (const Options *options, const Digest *digest)
{
  g_autofree gchar *text = digest_to_string (digest);

  if (digest->error)
    return print_error (digest->error, STATUS_ERROR);
  fprintf (options_get_out (options),
      "digest %s of %" G_GUINT64_FORMAT " items\n", text, digest->n_items);
  return STATUS_OK;
}

static int
run_mode (const Options *options, Session *session, Digest *digest)
{
  Exporter *exporter = NULL;
  Screen *screen;
  SessionLimits limits;
  g_autoptr (GError) failure = NULL;
  g_autoptr (GError) error = NULL;
  int status = STATUS_OK;

  if (options->port != OPTIONS_NO_PORT &&
      !(exporter = make_exporter (options, &error)))
    return print_error (error, STATUS_ERROR);
  screen = screen_new (options_get_out (options), options->plain, exporter);
  limits = options_get_limits (options, screen_is_live (screen));
  limits.digest = digest;
  session_run (session, &limits, &screen_funcs, screen, &failure);
  screen_finish (screen, session);
  screen_free (screen);
  g_clear_pointer (&exporter, exporter_free);
  if (digest)
    status = print_digest (options, digest);
  if (failure)
    status = print_error (failure, STATUS_ERROR);
  if (!write_files (options, session, failure, &error))
    status = print_error (error, STATUS_ERROR);
  return status;
}

static int
run_one (const Options *options, GError **error)
{
  SessionLimits limits = options_get_limits (options, FALSE);
  Session *session =
      session_new (options->pipeline, options->settings, 0, error);
  Digest digest = { 0 };
  int status;

  if (!session)
    return STATUS_USAGE;
  limits.digest = options->digest ? &digest : NULL;
  status = session_check_limits (session, &limits, error)
               ? run_mode (options, session, limits.digest)
               : STATUS_USAGE;
  digest_clear (&digest);
  session_free (session);
  return status;
}

static int
run_traced (const Options *options, GError **error)
{
  g_autoptr (GError) problem = NULL;
  guint64 n_dropped;
  int status;

  if (options->trace && !spdl_trace_start (options->trace, error))
    return STATUS_ERROR;
  status = run_one (options, error);
  if (!spdl_trace_stop (&n_dropped, &problem))
    return print_error (problem, STATUS_ERROR);
  if (n_dropped > 0)
    fprintf (stderr,
        "warning: the trace lacks %" G_GUINT64_FORMAT
        " events, because they came faster than they could be written\n",
        n_dropped);
  return status;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  Options options;
  int status;

  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  if (!options_parse (&options, &argc, &argv, &error)) {
    status = print_error (error, STATUS_USAGE);
  } else if (options.version) {
    puts ("gst-spdl-launch-1.0 " PACKAGE_VERSION);
    status = STATUS_OK;
  } else {
    status = options.sweep       ? sweep_run (&options, &error)
             : options.isolate   ? isolate_run (&options, &error)
             : options.headspace ? headspace_run (&options, &error)
                                 : run_traced (&options, &error);
    if (error)
      print_error (error, status);
  }
  options_clear (&options);
  return status;
}
