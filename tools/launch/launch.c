/* gst-spdl-launch: runs a pipeline and says what holds it back
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "json.h"
#include "options.h"
#include "screen.h"

#include <gio/gio.h>
#include <locale.h>
#include <stdio.h>
#include <unistd.h>

enum {
  STATUS_OK,
  STATUS_ERROR,
  STATUS_USAGE,
};

static int
complain (const GError *error, int status)
{
  fprintf (stderr, "error: %s\n", error->message);
  return status;
}

/* What is asked for beside the table, also after an error. */
static gboolean
write_files (const Options *options, Session *session, const GError *failure,
    GError **error)
{
  if (options->json && !json_write (session, options->json, failure, error))
    return FALSE;
  return TRUE;
}

static int
run (const Options *options, Session *session)
{
  const gboolean live = !options->plain && isatty (STDOUT_FILENO);
  const SessionLimits limits = options_get_limits (options, live);
  Screen *screen = screen_new (live);
  g_autoptr (GError) failure = NULL;
  g_autoptr (GError) error = NULL;
  int status = STATUS_OK;

  session_run (session, &limits, &screen_funcs, screen, &failure);
  screen_finish (screen, session);
  screen_free (screen);
  if (failure)
    status = complain (failure, STATUS_ERROR);
  if (!write_files (options, session, failure, &error))
    status = complain (error, STATUS_ERROR);
  return status;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  Session *session;
  Options options;
  int status;

  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  if (!options_parse (&options, &argc, &argv, &error)) {
    status = complain (error, STATUS_USAGE);
  } else if (options.version) {
    puts ("gst-spdl-launch-1.0 " PACKAGE_VERSION);
    status = STATUS_OK;
  } else if (!(session = session_new (
                   options.pipeline, options.settings, &error))) {
    status = complain (error, STATUS_USAGE);
  } else {
    status = run (&options, session);
    session_free (session);
  }
  options_clear (&options);
  return status;
}
