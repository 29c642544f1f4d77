/* gst-spdl-launch: command line options
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/modes/options.h"

#include "gst/spdl/common/init.h"

#include "tools/launch/views/output.h"

#include <gio/gio.h>

#define SUMMARY                                                            \
  "Runs a pipeline, pulls from its last spdlsink as a trainer would, and " \
  "says which stage\nholds it back."

#define DESCRIPTION                                                           \
  "PIPELINE is what gst-launch-1.0 takes; where it ends in an open pad, an "  \
  "spdlsink is added.\nElements are called as they are named (name=decode); " \
  "without a name, spdldecode0 is called\ndecode.\n"                          \
  "\n"                                                                        \
  "On a terminal there is a table, a row a stage: how many tasks run at a "   \
  "time, how many\nended, items a second, a task's average time and 99th "    \
  "percentile, the share of it that\nwas spent on a CPU, how much of the "    \
  "time something waited in front of the stage, and\nfailed items. Below it " \
  "stands what limits the throughput and what to change.\n"                   \
  "\n"                                                                        \
  "Ctrl-C ends the run with the summary, a second one at once. The exit "     \
  "status is 0 then and\nat the end of the stream, 1 after an error, 2 if "   \
  "the command line is wrong.\n"                                              \
  "\n"                                                                        \
  "Examples:\n"                                                               \
  "  gst-spdl-launch-1.0 spdlsrc location=photos ! spdlfetch concurrency=4 "  \
  "\\\n    ! spdldecode width=224 height=224 ! spdlbatch ! spdlsink\n"        \
  "  gst-spdl-launch-1.0 --set decode.concurrency=4 --report run.html "       \
  "PIPELINE\n"                                                                \
  "  gst-spdl-launch-1.0 --sweep \"decode.concurrency=1,2,4\" PIPELINE\n"     \
  "  gst-spdl-launch-1.0 --isolate decode PIPELINE\n"                         \
  "  gst-spdl-launch-1.0 --headspace --step 50 PIPELINE\n"

static GOptionEntry *
make_entries (Options *self)
{
  const GOptionEntry entries[] = {
    { "set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &self->settings,
        "Set an element's property, as the verdict suggests; may be repeated",
        "ELEMENT.PROPERTY=VALUE" },
    { "duration", 'd', 0, G_OPTION_ARG_DOUBLE, &self->duration,
        "End after so many seconds", "SECONDS" },
    { "batches", 'b', 0, G_OPTION_ARG_INT64, &self->max_batches,
        "End after so many batches", "N" },
    { "max-failures", 'f', 0, G_OPTION_ARG_INT64, &self->max_failures,
        "End with an error when more items than these failed, in all stages",
        "N" },
    { "step", 0, 0, G_OPTION_ARG_DOUBLE, &self->step,
        "Wait so long after each batch, as a trainer's step takes", "MS" },
    { "cpu-budget", 0, 0, G_OPTION_ARG_DOUBLE, &self->cpu_budget,
        "Use no more than this share of all cores (0.4 leaves most to a "
        "trainer)",
        "SHARE" },
    { "json", 'j', 0, G_OPTION_ARG_FILENAME, &self->json,
        "Write all figures as JSON (- = the standard output)", "FILE" },
    { "report", 'r', 0, G_OPTION_ARG_FILENAME, &self->report,
        "Write a page with the figures drawn, which needs nothing else",
        "FILE.html" },
    { "prometheus", 'p', 0, G_OPTION_ARG_INT, &self->port,
        "Serve the figures at http://127.0.0.1:PORT/metrics (0 = any port)",
        "PORT" },
    { "sweep", 0, 0, G_OPTION_ARG_STRING, &self->sweep,
        "Run with all of these values, 4 s each, and name the cheapest that is "
        "as fast",
        "\"dec.concurrency=1,2,4;fetch.concurrency=4,16\"" },
    { "isolate", 0, 0, G_OPTION_ARG_STRING, &self->isolate,
        "Run one stage alone, from memory, at several concurrencies", "STAGE" },
    { "headspace", 0, 0, G_OPTION_ARG_NONE, &self->headspace,
        "Run the pipeline and a cache in turn, 3 s each, and say what perfect "
        "loading would bring to a trainer of --step MS",
        NULL },
    { "rounds", 0, 0, G_OPTION_ARG_INT, &self->rounds,
        "How often --headspace runs both (3)", "N" },
    { "items", 0, 0, G_OPTION_ARG_INT, &self->items,
        "How many items --isolate records (200)", "N" },
    { "interval", 'i', 0, G_OPTION_ARG_DOUBLE, &self->interval,
        "Time between two intervals (0.5, or 1 where the output is no "
        "terminal)",
        "SECONDS" },
    { "plain", 0, 0, G_OPTION_ARG_NONE, &self->plain,
        "Plain lines on a terminal too", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &self->version,
        "Say which version this is", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &self->pipeline,
        NULL, "PIPELINE" },
    { NULL },
  };

  return g_memdup2 (entries, sizeof entries);
}

static gboolean
check_options (const Options *self, GError **error)
{
  const gchar *problem = NULL;

  if (!self->pipeline && !self->version)
    problem = "there is no pipeline; see --help";
  else if ((self->sweep != NULL) + (self->isolate != NULL) + self->headspace >
           1)
    problem = "--sweep, --isolate and --headspace exclude each other";
  else if (self->duration < 0 || self->interval < 0 || self->step < 0 ||
           self->max_batches < 0)
    problem = "durations and numbers cannot be negative";
  else if (self->cpu_budget < 0 || self->cpu_budget > 1)
    problem = "--cpu-budget is a share of all cores, from 0 to 1";
  else if (self->items < 1 || self->rounds < 1)
    problem = "--items and --rounds must be at least 1";
  else if (self->headspace && self->step == 0)
    problem = "--headspace needs --step MS, the time that a trainer's step "
              "takes";
  else if (self->headspace && self->max_batches > 0)
    problem = "--headspace runs for a --duration, not for --batches";
  else if (self->port != OPTIONS_NO_PORT &&
           (self->port < 0 || self->port > 65535))
    problem = "there is no such port";
  else if (output_is_stdout (self->json) && output_is_stdout (self->report))
    problem = "--json and --report cannot both go to the standard output";
  if (problem)
    g_set_error_literal (
        error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, problem);
  return problem == NULL && (!self->json || output_check (self->json, error)) &&
         (!self->report || output_check (self->report, error));
}

gboolean
options_parse (Options *self, int *argc, char ***argv, GError **error)
{
  GOptionContext *context = g_option_context_new ("");
  GOptionEntry *entries;
  gboolean ok;

  *self = (Options){
    .max_failures = -1, .items = 200, .rounds = 3, .port = OPTIONS_NO_PORT
  };
  entries = make_entries (self);
  g_option_context_set_summary (context, SUMMARY);
  g_option_context_set_description (context, DESCRIPTION);
  g_option_context_add_main_entries (context, entries, NULL);
  ok = gst_spdl_init_with_options (context, argc, argv, error) &&
       check_options (self, error);
  g_option_context_free (context);
  g_free (entries);
  return ok;
}

void
options_clear (Options *self)
{
  g_strfreev (self->pipeline);
  g_strfreev (self->settings);
  g_free (self->json);
  g_free (self->report);
  g_free (self->sweep);
  g_free (self->isolate);
}

FILE *
options_get_out (const Options *self)
{
  return output_is_stdout (self->json) || output_is_stdout (self->report)
             ? stderr
             : stdout;
}

SessionLimits
options_get_limits (const Options *self, gboolean live)
{
  const double interval = self->interval > 0 ? MAX (self->interval, 0.01)
                          : live             ? 0.5
                                             : 1;

  return (SessionLimits){
    .interval = interval * GST_SECOND,
    .duration = self->duration * GST_SECOND,
    .max_batches = self->max_batches,
    .max_failures = self->max_failures,
    .step = self->step * GST_MSECOND,
    .cpu_budget = self->cpu_budget,
  };
}
