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

#define SUMMARY                                                                \
  "Runs a pipeline, pulls batches from its last spdlsink like a trainer, and " \
  "names the bottleneck."

/* clang-format off */
#define DESCRIPTION \
  "PIPELINE is a description as for gst-launch-1.0; if it ends in an open pad, an\n" \
  "spdlsink is added. The output uses the names of elements (name=decode); an\n" \
  "unnamed spdldecode0 is shown as decode.\n" \
  "\n" \
  "On a terminal, a table has one row per stage: limit of tasks at the same\n" \
  "time, finished tasks, items per second, average and 99th percentile of task\n" \
  "times, CPU share of a task, failed items, and share of the time in which the\n" \
  "input queue was not empty. The line below names the bottleneck and suggests a\n" \
  "change.\n" \
  "\n" \
  "Ctrl-C ends the run with the summary; a second Ctrl-C ends it at once. The exit\n" \
  "status is 0 then and at the end of the stream, 1 after an error, and 2 for a\n" \
  "wrong command line.\n" \
  "\n" \
  "Examples:\n" \
  "  gst-spdl-launch-1.0 spdlsrc location=photos ! spdlfetch concurrency=4 \\\n" \
  "    ! spdldecode width=224 height=224 ! spdlbatch ! spdlsink\n" \
  "  gst-spdl-launch-1.0 --set decode.concurrency=4 --report run.html PIPELINE\n" \
  "  gst-spdl-launch-1.0 --sweep \"decode.concurrency=1,2,4\" PIPELINE\n" \
  "  gst-spdl-launch-1.0 --isolate decode PIPELINE\n" \
  "  gst-spdl-launch-1.0 --headspace --step 50 PIPELINE\n"
/* clang-format on */

static GOptionEntry *
make_entries (Options *self)
{
  const GOptionEntry entries[] = {
    { "set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &self->settings,
        "Set a property of an element, such as one that the verdict suggests; "
        "may be repeated",
        "ELEMENT.PROPERTY=VALUE" },
    { "duration", 'd', 0, G_OPTION_ARG_DOUBLE, &self->duration,
        "End after this time", "SECONDS" },
    { "batches", 'b', 0, G_OPTION_ARG_INT64, &self->max_batches,
        "End after this number of batches", "N" },
    { "max-failures", 'f', 0, G_OPTION_ARG_INT, &self->max_failures,
        "Number of failed items to tolerate in all stages; one more ends the "
        "run with an error",
        "N" },
    { "step", 0, 0, G_OPTION_ARG_DOUBLE, &self->step,
        "Wait this long after each batch, like a training step", "MS" },
    { "cpu-budget", 0, 0, G_OPTION_ARG_DOUBLE, &self->cpu_budget,
        "Share of all cores that the pipeline may use (0.4 leaves most to a "
        "trainer)",
        "SHARE" },
    { "json", 'j', 0, G_OPTION_ARG_FILENAME, &self->json,
        "Write the statistics as JSON (- = standard output)", "FILE" },
    { "report", 'r', 0, G_OPTION_ARG_FILENAME, &self->report,
        "Write a self-contained HTML report with charts", "FILE.html" },
    { "trace", 't', 0, G_OPTION_ARG_FILENAME, &self->trace,
        "Write each task, wait and push as trace events, which "
        "https://ui.perfetto.dev shows",
        "FILE.json" },
    { "digest", 0, 0, G_OPTION_ARG_NONE, &self->digest,
        "Print a hash over the contents of all items, which is equal for equal "
        "items in any order",
        NULL },
    { "prometheus", 'p', 0, G_OPTION_ARG_INT, &self->port,
        "Serve the statistics at http://127.0.0.1:PORT/metrics (0 = any port)",
        "PORT" },
    { "sweep", 0, 0, G_OPTION_ARG_STRING, &self->sweep,
        "Run all combinations of these values, 4 s each, and name the cheapest "
        "of the fastest",
        "\"decode.concurrency=1,2,4;fetch.concurrency=4,16\"" },
    { "isolate", 0, 0, G_OPTION_ARG_STRING, &self->isolate,
        "Run one stage alone, on items in memory, with several values of "
        "concurrency",
        "STAGE" },
    { "headspace", 0, 0, G_OPTION_ARG_NONE, &self->headspace,
        "Run the pipeline and a cache alternately, 3 s each, and report how "
        "much time perfect loading would save a trainer with steps of --step "
        "MS",
        NULL },
    { "rounds", 0, 0, G_OPTION_ARG_INT, &self->rounds,
        "Number of rounds of --headspace (default 3)", "N" },
    { "items", 0, 0, G_OPTION_ARG_INT, &self->items,
        "Number of items that --isolate records (default 200)", "N" },
    { "interval", 'i', 0, G_OPTION_ARG_DOUBLE, &self->interval,
        "Interval of updates (default 0.5, or 1 if the output is not a "
        "terminal)",
        "SECONDS" },
    { "plain", 0, 0, G_OPTION_ARG_NONE, &self->plain,
        "Print plain lines on a terminal, too", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &self->version, "Print the version",
        NULL },
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
    problem = "no pipeline given; see --help";
  else if ((self->sweep != NULL) + (self->isolate != NULL) + self->headspace >
           1)
    problem = "only one of --sweep, --isolate and --headspace can be used";
  else if ((self->trace || self->digest || self->port != OPTIONS_NO_PORT) &&
           (self->sweep || self->isolate || self->headspace))
    problem = "--trace, --digest and --prometheus cannot be combined with "
              "--sweep, --isolate or --headspace, which run several pipelines";
  else if (self->duration < 0 || self->interval < 0 || self->step < 0 ||
           self->max_batches < 0)
    problem = "durations and numbers must not be negative";
  else if (self->cpu_budget < 0 || self->cpu_budget > 1)
    problem = "--cpu-budget must be from 0 to 1, a share of all cores";
  else if (self->items < 1 || self->rounds < 1)
    problem = "--items and --rounds must be at least 1";
  else if (self->headspace && self->step == 0)
    problem = "--headspace needs --step MS, the duration of a training step";
  else if (self->headspace && self->max_batches > 0)
    problem = "--headspace cannot be combined with --batches: use --duration";
  else if (self->port != OPTIONS_NO_PORT &&
           (self->port < 0 || self->port > 65535))
    problem = "--prometheus must be a port from 0 to 65535";
  else if (output_is_stdout (self->json) && output_is_stdout (self->report))
    problem = "--json and --report cannot both use the standard output";
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
  g_free (self->trace);
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
    .max_failures = MAX (self->max_failures, -1),
    .step = self->step * GST_MSECOND,
    .cpu_budget = self->cpu_budget,
  };
}
