/* gst-spdl: tests of resuming mixes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/slow.h"
#include "tests/check/support/suite.h"

#define N_SOURCES 3
#define N_EPOCHS 2
#define MAX_ITEMS 61

static const guint sizes[N_SOURCES] = { 61, 23, 9 };

#define FAIL_EVERY 11
#define FILTER_EVERY 7

static gchar *
make_folders (void)
{
  gchar *folder = files_make_folder ();

  for (guint s = 0; s < N_SOURCES; s++)
    for (guint i = 0; i < sizes[s]; i++) {
      g_autofree gchar *name = g_strdup_printf ("%u/%03u.bin", s, i);

      files_write (folder, name, &i, sizeof i);
    }
  return folder;
}

/* Output: how often each item of each source and epoch was used, and the order
 * of the sources. */
typedef struct {
  guint counts[N_SOURCES][N_EPOCHS + 20][MAX_ITEMS];
  GString *order;
  guint n_used;
} Log;

static void
use (Log *log, GstSpdlBatch *batch)
{
  for (guint i = 0; i < gst_spdl_batch_get_n_items (batch); i++) {
    const GstSpdlItemMeta *item = gst_spdl_batch_get_item (batch, i);

    fail_unless (item->source < N_SOURCES);
    fail_unless (item->index < sizes[item->source]);
    fail_unless (item->epoch < N_EPOCHS + 20);
    log->counts[item->source][item->epoch][item->index]++;
    g_string_append_c (log->order, '0' + item->source);
    log->n_used++;
  }
}

/* Pipeline settings. Concurrency varies between runs. */
typedef struct {
  const gchar *folder;
  const gchar *order; /* output order of the stages */
  const gchar *mix;   /* properties of the mix */
  const gchar *epochs[N_SOURCES];
  const gchar *before; /* stages before and after the mix */
  const gchar *behind;
  guint batch;
} Plan;

#define FETCH                                                   \
  "spdlfetch caps=\"other/tensors,format=static,num_tensors=1," \
  "types=(string)uint8,dimensions=(string)4,framerate=0/1\" "

static GstSpdlLoader *
make_loader (const Plan *plan, GRand *rand)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autofree gchar *description = NULL;
  GstSpdlLoader *loader;

  for (guint s = 0; s < N_SOURCES; s++)
    g_string_append_printf (text,
        "spdlsrc location=%s/%u shuffle=true seed=3 epochs=%s "
        "! " FETCH "concurrency=%d output-order=%s ! %s m.sink_%u ",
        plan->folder, s, plan->epochs[s], g_rand_int_range (rand, 1, 5),
        plan->order, plan->before, s);
  g_string_append_printf (text,
      "spdlmix name=m sink_0::weight=0.7 sink_1::weight=0.2 "
      "sink_2::weight=0.1 %s "
      "! spdlteststage concurrency=%d output-order=%s %s "
      "! spdlbatch batch-size=%u ! spdlsink",
      plan->mix, g_rand_int_range (rand, 1, 5), plan->order, plan->behind,
      plan->batch);
  description = g_string_free (text, FALSE);
  loader = gst_spdl_loader_new (description, &error);
  fail_unless (
      loader != NULL, "%s: %s", description, error ? error->message : "");
  return loader;
}

/* Resumes from *@state, uses @n batches, pulls some that are not used, and
 * stops. Returns whether the stream has ended. */
static gboolean
run_for (const Plan *plan, GRand *rand, guint n, gchar **state, Log *log)
{
  GstSpdlLoader *loader = make_loader (plan, rand);
  g_autoptr (GError) error = NULL;
  gboolean finished = FALSE;

  if (*state)
    fail_unless (gst_spdl_loader_restore_state (loader, *state, &error), "%s",
        error ? error->message : "");
  fail_unless (gst_spdl_loader_start (loader, &error), "%s",
      error ? error->message : "");
  while (n > 0 && !finished) {
    GstSpdlBatch *batch =
        gst_spdl_loader_next (loader, GST_CLOCK_TIME_NONE, &error);

    fail_unless (error == NULL, "%s", error ? error->message : "");
    if (batch) {
      use (log, batch);
      g_free (*state);
      *state = g_strdup (gst_spdl_batch_get_state (batch));
      fail_unless (*state != NULL);
      gst_spdl_batch_unref (batch);
      n--;
    }
    finished = !batch && gst_spdl_loader_is_finished (loader);
  }
  for (guint i = g_rand_int_range (rand, 0, 3); i > 0 && !finished; i--) {
    GstSpdlBatch *batch =
        gst_spdl_loader_next (loader, GST_CLOCK_TIME_NONE, NULL);

    if (batch)
      gst_spdl_batch_unref (batch);
    else if (gst_spdl_loader_is_finished (loader))
      break;
  }
  gst_spdl_loader_stop (loader);
  g_object_unref (loader);
  return finished;
}

static void
log_init (Log *log)
{
  memset (log, 0, sizeof *log);
  log->order = g_string_new (NULL);
}

static void
log_clear (Log *log)
{
  g_string_free (log->order, TRUE);
}

static gboolean
is_good (const Plan *plan, guint index)
{
  if (strstr (plan->behind, "fail-every") &&
      index % FAIL_EVERY == FAIL_EVERY - 1)
    return FALSE;
  return !strstr (plan->before, "filter-every") ||
         index % FILTER_EVERY != FILTER_EVERY - 1;
}

/* Checks that each item of each epoch was used once. */
static void
check_all (const Plan *plan, const Log *log)
{
  for (guint s = 0; s < N_SOURCES; s++)
    for (guint e = 0; e < N_EPOCHS; e++)
      for (guint i = 0; i < sizes[s]; i++)
        fail_unless ((gint) log->counts[s][e][i] == is_good (plan, i),
            "item %u of epoch %u of source %u came %u times", i, e, s,
            log->counts[s][e][i]);
}

static const gchar *const orders[] = { "completion", "input" };

#define TWICE     \
  {               \
    "2", "2", "2" \
  }
#define FILTER \
  "spdlteststage jitter=200000 filter-every=7 concurrency=3 output-order=%s !"

/* Runs are stopped repeatedly, with items that fail or are filtered. */
GST_START_TEST (test_again_and_again)
{
  static const gchar *const mixes[] = { "", "order=arrival" };
  gchar *folder = make_folders ();
  const gchar *order = orders[__i__];
  g_autofree gchar *filter = g_strdup_printf (FILTER, order);
  GRand *rand = g_rand_new_with_seed (__i__);

  for (guint i = 0; i < 6; i += spdl_test_slow_or (1, 3)) {
    const Plan plan = { folder, order, mixes[i % 2], TWICE, i < 4 ? filter : "",
      "jitter=200000 fail-every=11", i < 3 ? 4 : 7 };
    gchar *state = NULL;
    Log log;

    log_init (&log);
    while (!run_for (&plan, rand, g_rand_int_range (rand, 1, 12), &state, &log))
      ;
    check_all (&plan, &log);
    log_clear (&log);
    g_free (state);
  }
  g_rand_free (rand);
  files_remove_folder (folder);
}

GST_END_TEST;

/* In order, a resumed run gives the same sequence of sources as an
 * uninterrupted one, for each stopping strategy, with items that were filtered
 * before the mix. */
GST_START_TEST (test_as_if_never_stopped)
{
  static const Plan plans[] = {
    { NULL, "input", "seed=8", TWICE, "", "", 4 },
    { NULL, "input", "seed=8", TWICE,
        "spdlteststage filter-every=7 output-order=input !", "", 4 },
    { NULL, "input", "stopping-strategy=first-exhausted", TWICE, "", "", 4 },
    { NULL, "input", "stopping-strategy=all-exhausted seed=2",
        { "2", "-1", "-1" }, "", "", 4 },
    { NULL, "input", "stopping-strategy=all-exhausted", { "2", "-1", "-1" },
        "spdlteststage filter-every=7 output-order=input !", "", 5 },
  };
  gchar *folder = make_folders ();
  GRand *rand = g_rand_new_with_seed (7);
  Plan plan = plans[__i__];
  gchar *state = NULL;
  Log whole;

  plan.folder = folder;
  log_init (&whole);
  fail_unless (run_for (&plan, rand, G_MAXUINT, &state, &whole));
  g_clear_pointer (&state, g_free);
  for (guint k = spdl_test_slow_or (1, 3); k < 12;
       k += spdl_test_slow_or (2, 4)) {
    Log log;
    gboolean finished = FALSE;

    log_init (&log);
    while (!finished)
      finished = run_for (&plan, rand, k * 2, &state, &log);
    fail_unless_equals_string (log.order->str, whole.order->str);
    fail_unless (memcmp (log.counts, whole.counts, sizeof log.counts) == 0);
    log_clear (&log);
    g_clear_pointer (&state, g_free);
  }
  log_clear (&whole);
  g_rand_free (rand);
  files_remove_folder (folder);
}

GST_END_TEST;

/* A state of three sources has a part for each, and is rejected if one of them
 * differs. */
GST_START_TEST (test_state)
{
  gchar *folder = make_folders ();
  GRand *rand = g_rand_new_with_seed (1);
  Plan plan = { folder, "input", "", TWICE,
    "spdlteststage filter-every=7 output-order=input !", "", 8 };
  g_autoptr (GError) error = NULL;
  GstSpdlLoader *loader;
  gchar *state = NULL;
  Log log;

  log_init (&log);
  fail_if (run_for (&plan, rand, 3, &state, &log));
  for (guint s = 0; s < N_SOURCES; s++) {
    g_autofree gchar *part =
        g_strdup_printf ("source=%u,count=%u,", s, sizes[s]);

    fail_unless (strstr (state, part) != NULL, "%s", state);
  }
  fail_unless (strstr (state, ",dropped-upstream=") != NULL, "%s", state);
  files_write_text (folder, "2/extra.bin", "more");
  loader = make_loader (&plan, rand);
  fail_unless (gst_spdl_loader_restore_state (loader, state, NULL));
  fail_if (gst_spdl_loader_start (loader, &error));
  fail_unless (
      errors_has (error, "[resource-error settings]|9"), "%s", error->message);
  g_object_unref (loader);
  log_clear (&log);
  g_free (state);
  g_rand_free (rand);
  files_remove_folder (folder);
}

GST_END_TEST;

/* The same holds after a route whose paths overtake each other. */
GST_START_TEST (test_routed)
{
  gchar *folder = make_folders ();
  GRand *rand = g_rand_new_with_seed (__i__);
  Plan plan = { folder, orders[__i__], "", TWICE, "",
    "! spdlroute name=r src_0::condition=\"uri=*/0?[0-4].bin\" "
    "r.src_0 ! spdlteststage jitter=1000000 concurrency=3 fail-every=11 ! j. "
    "r.src_1 ! spdlteststage concurrency=2 fail-every=11 ! j. "
    "spdlmix name=j order=arrival ",
    4 };
  gchar *state = NULL;
  Log log;

  log_init (&log);
  while (!run_for (&plan, rand, g_rand_int_range (rand, 1, 12), &state, &log))
    ;
  check_all (&plan, &log);
  log_clear (&log);
  g_free (state);
  g_rand_free (rand);
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (mix_resume, LOOP (test_again_and_again, 2),
    LOOP (test_as_if_never_stopped, 5), TEST (test_state),
    LOOP (test_routed, 2))
