/* gst-spdl: tests of automatic concurrency and of the CPU budget
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include "gst/spdl/autotune/pipelinegovernor.h"
#include "gst/spdl/engine/cpus.h"
#include "tests/check/support/files.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/wait.h"

#define PATIENCE (100 * GST_SECOND)

typedef struct {
  GstElement *pipeline;
  GstElement *stage;
  GstBus *bus;
} Line;

static void
line_init (Line *self, const gchar *description)
{
  g_autoptr (GError) error = NULL;

  self->pipeline = gst_parse_launch (description, &error);
  fail_unless (error == NULL, "%s", error ? error->message : "");
  self->stage = gst_bin_get_by_name (GST_BIN (self->pipeline), "stage");
  self->bus = gst_element_get_bus (self->pipeline);
}

static void
line_clear (Line *self)
{
  gst_element_set_state (self->pipeline, GST_STATE_NULL);
  gst_object_unref (self->bus);
  gst_object_unref (self->stage);
  gst_object_unref (self->pipeline);
}

static void
line_play (Line *self)
{
  fail_if (gst_element_set_state (self->pipeline, GST_STATE_PLAYING) ==
           GST_STATE_CHANGE_FAILURE);
}

/* Waits for the next decision with that reason; nullable: with any reason. */
static GstStructure *
wait_for_decision (Line *self, const gchar *reason)
{
  GstStructure *found = NULL;

  while (!found) {
    GstMessage *message = gst_bus_timed_pop_filtered (
        self->bus, PATIENCE, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);

    fail_unless (message != NULL, "nothing was decided");
    fail_unless (GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR);
    const GstStructure *s = gst_message_get_structure (message);
    if (gst_structure_has_name (s, "spdl-tuning") &&
        (!reason ||
            g_str_equal (gst_structure_get_string (s, "reason"), reason)))
      found = gst_structure_copy (s);
    gst_message_unref (message);
  }
  return found;
}

/* Waits for a budget decision about @stage and skips other ones. */
static GstStructure *
wait_for_hold (Line *self, const gchar *stage, gboolean throttled)
{
  GstStructure *found = NULL;
  gboolean held;

  while (!found) {
    found = wait_for_decision (self, "budget");
    fail_unless (gst_structure_get_boolean (found, "throttled", &held));
    if (held != throttled ||
        !g_str_equal (gst_structure_get_string (found, "stage"), stage))
      g_clear_pointer (&found, gst_structure_free);
  }
  return found;
}

static guint
get_number (GstElement *element, const gchar *property)
{
  guint value;

  g_object_get (element, property, &value, NULL);
  return value;
}

static guint
get_field (const GstStructure *s, const gchar *field)
{
  guint value = G_MAXUINT;

  fail_unless (gst_structure_get_uint (s, field, &value), "no %s", field);
  return value;
}

static gboolean
has_flag (GstElement *stage, const gchar *field)
{
  GstStructure *stats;
  gboolean flag = FALSE;

  g_object_get (stage, "stage-stats", &stats, NULL);
  gst_structure_get_boolean (stats, field, &flag);
  gst_structure_free (stats);
  return flag;
}

/* The property keeps the configured value; the tuned value is another
 * property. */
GST_START_TEST (test_properties)
{
  GstElement *stage = gst_element_factory_make ("spdlteststage", NULL);
  GstStructure *stats;

  gst_object_ref_sink (stage);
  fail_unless_equals_int (get_number (stage, "concurrency"), 1);
  fail_unless_equals_int (get_number (stage, "current-concurrency"), 1);
  fail_if (has_flag (stage, "automatic"));
  g_object_set (stage, "concurrency", 5, NULL);
  fail_unless_equals_int (get_number (stage, "current-concurrency"), 5);
  g_object_set (stage, "concurrency", 0, NULL);
  fail_unless_equals_int (get_number (stage, "concurrency"), 0);
  fail_unless_equals_int (
      get_number (stage, "current-concurrency"), gst_spdl_get_num_cores ());
  fail_unless (has_flag (stage, "automatic"));
  g_object_get (stage, "stage-stats", &stats, NULL);
  fail_unless_equals_int (
      get_field (stats, "concurrency"), gst_spdl_get_num_cores ());
  gst_structure_free (stats);
  gst_object_unref (stage);
}

GST_END_TEST;

/* A stage with sleeping tasks gets more workers, reports it, and settles.
 * Setting a number then ends automatic tuning. */
GST_START_TEST (test_settles)
{
  Line line;
  GstStructure *s;
  double value;

  line_init (&line, "fakesrc ! spdlteststage name=stage concurrency=0 "
                    "sleep=3000000 ! fakesink");
  line_play (&line);
  s = wait_for_decision (&line, NULL);
  fail_unless_equals_string (gst_structure_get_string (s, "stage"), "stage");
  fail_unless_equals_string (gst_structure_get_string (s, "reason"), "limits");
  fail_unless_equals_int (get_field (s, "from"), gst_spdl_get_num_cores ());
  fail_unless (get_field (s, "to") > get_field (s, "from"));
  fail_unless (gst_structure_get_double (s, "throughput", &value) && value > 0);
  fail_unless (gst_structure_get_double (s, "occupancy", &value));
  fail_unless (value > 0 && value <= 1);
  fail_unless (gst_structure_get_double (s, "busy", &value));
  fail_unless (value > 0 && value <= 1);
  gst_structure_free (s);

  s = wait_for_decision (&line, "settled");
  fail_unless (get_field (s, "to") > gst_spdl_get_num_cores ());
  fail_unless_equals_int (
      get_field (s, "to"), get_number (line.stage, "current-concurrency"));
  fail_unless_equals_int (get_number (line.stage, "concurrency"), 0);
  gst_structure_free (s);

  g_object_set (line.stage, "concurrency", 3, NULL);
  fail_unless_equals_int (get_number (line.stage, "current-concurrency"), 3);
  fail_if (has_flag (line.stage, "automatic"));
  line_clear (&line);
}

GST_END_TEST;

/* Stages of a pipeline are tuned together, and stages of another one
 * separately. A stage with a fixed number keeps it. */
GST_START_TEST (test_several)
{
  Line line, other;
  GstElement *fixed;
  GstStructure *s;

  line_init (&line,
      "fakesrc ! spdlteststage name=stage concurrency=0 sleep=2000000 "
      "! spdlteststage name=fixed concurrency=7 sleep=10000000 "
      "! spdlteststage name=second concurrency=0 sleep=1000000 ! fakesink");
  line_init (&other,
      "fakesrc ! spdlteststage name=stage concurrency=0 sleep=2000000 "
      "! fakesink");
  fixed = gst_bin_get_by_name (GST_BIN (line.pipeline), "fixed");
  line_play (&line);
  line_play (&other);
  gst_structure_free (wait_for_decision (&other, NULL));
  line_clear (&other);
  gst_structure_free (wait_for_decision (&line, "settled"));
  s = wait_for_decision (&line, NULL);
  fail_unless_equals_string (gst_structure_get_string (s, "reason"), "settled");
  gst_structure_free (s);
  fail_unless_equals_int (get_number (fixed, "current-concurrency"), 7);
  gst_object_unref (fixed);
  line_clear (&line);
}

GST_END_TEST;

/* A stage with automatic concurrency can be started and stopped at any time. */
GST_START_TEST (test_restart)
{
  Line line;

  line_init (&line, "fakesrc ! spdlteststage name=stage concurrency=0 "
                    "! spdlteststage concurrency=0 ! fakesink");
  for (guint i = 0; i < 30; i++) {
    line_play (&line);
    g_usleep (g_random_int_range (0, 5000));
    if (i % 3 == 1)
      g_object_set (line.stage, "concurrency", 2, NULL);
    if (i % 3 == 2)
      g_object_set (line.stage, "concurrency", 0, NULL);
    gst_element_set_state (line.pipeline, GST_STATE_NULL);
  }
  line_play (&line);
  gst_structure_free (wait_for_decision (&line, NULL));
  line_clear (&line);
}

GST_END_TEST;

typedef struct {
  GMutex lock;
  GCond cond;
  gboolean set;
} Answer;

/* Called in the tuner's thread. */
static GstBusSyncReply
set_in_handler (GstBus *bus, GstMessage *message, gpointer user_data)
{
  Answer *answer = user_data;

  if (gst_message_has_name (message, "spdl-tuning")) {
    g_object_set (GST_MESSAGE_SRC (message), "concurrency", 2, NULL);
    g_mutex_lock (&answer->lock);
    answer->set = TRUE;
    g_cond_signal (&answer->cond);
    g_mutex_unlock (&answer->lock);
  }
  return GST_BUS_PASS;
}

/* A message handler may set the concurrency, which ends tuning. */
GST_START_TEST (test_set_in_handler)
{
  Answer answer = { .set = FALSE };
  Line line;

  g_mutex_init (&answer.lock);
  g_cond_init (&answer.cond);
  line_init (&line, "fakesrc ! spdlteststage name=stage concurrency=0 "
                    "sleep=1000000 ! fakesink");
  gst_bus_set_sync_handler (line.bus, set_in_handler, &answer, NULL);
  line_play (&line);
  g_mutex_lock (&answer.lock);
  while (!answer.set)
    g_cond_wait (&answer.cond, &answer.lock);
  g_mutex_unlock (&answer.lock);
  fail_unless_equals_int (get_number (line.stage, "current-concurrency"), 2);
  gst_bus_set_sync_handler (line.bus, NULL, NULL, NULL);
  line_clear (&line);
  g_mutex_clear (&answer.lock);
  g_cond_clear (&answer.cond);
}

GST_END_TEST;

static GstSpdlThreadTimes threads;

static GstBusSyncReply
count_threads (GstBus *bus, GstMessage *message, gpointer user_data)
{
  gst_spdl_thread_times_take_message (&threads, message);
  return GST_BUS_PASS;
}

/* Limits the pipeline to a twentieth of a core, independent of the machine and
 * its load. */
static GstSpdlGovernor *
govern (Line *line)
{
  GstSpdlGovernor *governor = gst_spdl_governor_new (
      GST_BIN (line->pipeline), 0.05 / gst_spdl_get_num_cores ());

  gst_spdl_thread_times_init (&threads);
  gst_spdl_governor_set_threads (governor, &threads);
  gst_bus_set_sync_handler (line->bus, count_threads, NULL, NULL);
  gst_spdl_governor_start (governor, NULL);
  line_play (line);
  return governor;
}

static void
stop_governed (Line *line, GstSpdlGovernor *governor)
{
  gst_element_set_state (line->pipeline, GST_STATE_NULL);
  gst_bus_set_sync_handler (line->bus, NULL, NULL, NULL);
  gst_spdl_governor_free (governor);
  gst_spdl_thread_times_clear (&threads);
}

static guint64
count_tasks (GstElement *stage)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 n = 0;

  g_object_get (stage, "stage-stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "num-tasks", &n);
  return n;
}

/* Removes the budget and waits until 100 tasks have ended without. */
static void
end_governed (Line *line, GstSpdlGovernor *governor)
{
  guint64 before;

  gst_spdl_governor_stop (governor);
  fail_if (has_flag (line->stage, "throttled"));
  before = count_tasks (line->stage);
  wait_until (count_tasks (line->stage) >= before + 100);
  stop_governed (line, governor);
}

/* A computing stage is throttled, and released when the budget is raised. */
GST_START_TEST (test_budget)
{
  Line line;
  GstSpdlGovernor *governor;
  GstStructure *s;
  double value;

  line_init (&line, "fakesrc ! spdlteststage sleep=100000 "
                    "! spdlteststage name=stage concurrency=2 spin=1000000 "
                    "! fakesink");
  governor = govern (&line);
  /* Another stage may be throttled before the first task of this one has
   * finished. */
  s = wait_for_hold (&line, "stage", TRUE);
  fail_unless_equals_int (get_field (s, "from"), 2);
  fail_unless (gst_structure_get_double (s, "cpu-used", &value) && value > 0);
  fail_unless (gst_structure_get_double (s, "cpu-budget", &value));
  fail_unless (value * gst_spdl_get_num_cores () > 0.049);
  gst_structure_free (s);
  wait_until (has_flag (line.stage, "throttled"));
  gst_spdl_governor_set_budget (governor, 0);
  wait_until (!has_flag (line.stage, "throttled"));
  gst_spdl_governor_set_budget (governor, 0.05 / gst_spdl_get_num_cores ());
  wait_until (has_flag (line.stage, "throttled"));
  end_governed (&line, governor);
  line_clear (&line);
}

GST_END_TEST;

/* The budget and CPU usage are relative to the cores that a quota leaves.
 * Usage exceeds 1 with a quota of a thousandth of a core, even on a loaded
 * machine. */
GST_START_TEST (test_budget_of_quota)
{
  gchar *root = files_make_folder ();
  Line line;
  GstSpdlGovernor *governor;
  GstStructure *s;
  double value;

  files_write_text (root, "proc/self/cgroup", "0::/\n");
  files_write_text (root, "sys/fs/cgroup/cpu.max", "100 100000\n");
  spdl_cpus_pretend (root, 0);
  line_init (&line, "fakesrc ! spdlteststage name=stage concurrency=2 "
                    "spin=1000000 ! fakesink");
  governor = govern (&line);
  gst_spdl_governor_set_budget (governor, 0.5);
  s = wait_for_hold (&line, "stage", TRUE);
  fail_unless (gst_structure_get_double (s, "cpu-used", &value));
  /* Far more than the quota of 0.001 cores, and less than a busy machine may
   * give two threads. */
  fail_unless (value > 0.1, "%f", value);
  gst_structure_free (s);
  end_governed (&line, governor);
  line_clear (&line);
  spdl_cpus_pretend (NULL, 0);
  files_remove_folder (root);
}

GST_END_TEST;

/* If another stage becomes the one with the highest usage, both are
 * reported. */
GST_START_TEST (test_budget_moves)
{
  Line line;
  GstSpdlGovernor *governor;

  line_init (&line, "fakesrc ! spdlteststage name=first spin=5000000 "
                    "! spdlteststage name=stage concurrency=2 sleep=300000000 "
                    "spin=200000000 ! fakesink");
  governor = govern (&line);
  gst_structure_free (wait_for_hold (&line, "first", TRUE));
  gst_structure_free (wait_for_hold (&line, "first", FALSE));
  gst_structure_free (wait_for_hold (&line, "stage", TRUE));
  stop_governed (&line, governor);
  line_clear (&line);
}

GST_END_TEST;

/* CPU time of streaming threads counts: here that of the source, which fills
 * buffers. */
GST_START_TEST (test_streaming_threads)
{
  Line line;
  GstSpdlGovernor *governor;

  line_init (&line, "fakesrc sizetype=fixed sizemax=4000000 filltype=pattern "
                    "! spdlteststage name=stage ! fakesink");
  governor = govern (&line);
  gst_structure_free (wait_for_decision (&line, "budget"));
  end_governed (&line, governor);
  line_clear (&line);
}

GST_END_TEST;

/* A loader with a small budget delivers all items. */
GST_START_TEST (test_loader)
{
  gchar *folder = files_make_dataset (40);
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=%s epochs=3 ! spdlfetch concurrency=0 "
      "! spdldecode concurrency=0 ! spdlbatch batch-size=1 ! spdlsink",
      folder);
  GstSpdlLoader *loader = gst_spdl_loader_new (description, NULL);
  guint n = 0;
  double value;

  g_object_set (loader, "cpu-budget", 0.05, NULL);
  fail_unless (gst_spdl_loader_start (loader, NULL));
  while (!gst_spdl_loader_is_finished (loader)) {
    g_autoptr (GError) error = NULL;
    GstSpdlBatch *batch =
        gst_spdl_loader_next (loader, GST_CLOCK_TIME_NONE, &error);

    fail_unless (error == NULL, "%s", error ? error->message : "");
    if (!batch)
      continue;
    gst_spdl_batch_unref (batch);
    if (++n == 20)
      g_object_set (loader, "cpu-budget", 0.1, NULL);
  }
  fail_unless_equals_int (n, 120);
  g_object_get (loader, "cpu-budget", &value, NULL);
  fail_unless (value == 0.1);
  gst_spdl_loader_stop (loader);
  g_object_set (loader, "cpu-budget", 0.0, NULL);
  fail_unless (gst_spdl_loader_start (loader, NULL));
  g_object_unref (loader);
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (tuning, TIMEOUT (240), TEST (test_properties), TEST (test_settles),
    TEST (test_several), TEST (test_restart), TEST (test_set_in_handler),
    TEST (test_budget), TEST (test_budget_of_quota), TEST (test_budget_moves),
    TEST (test_streaming_threads), TEST (test_loader))
