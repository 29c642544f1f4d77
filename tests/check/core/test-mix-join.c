/* gst-spdl: tests of spdlmix that joins the branches of a route
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/suite.h"

#define N_PADS 3

/* A mix whose sink pads the test feeds, and what it sends: the source number
 * for an item, `e` and the source number for the end of an epoch, or `E` if it
 * ends the epoch of the mix, `[` and `]` for a flush. */
typedef struct {
  GstElement *mix;
  GstPad *pads[N_PADS];
  GstPad *end;
  GString *log;
} Join;

static GstFlowReturn
log_item (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Join *self = gst_pad_get_element_private (pad);

  g_string_append_printf (
      self->log, "%u", gst_spdl_buffer_get_item_meta (buffer)->source);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static gboolean
log_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  Join *self = gst_pad_get_element_private (pad);
  gboolean partial = FALSE;
  guint32 source;

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START) {
    g_string_append_c (self->log, '[');
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    g_string_append_c (self->log, ']');
  } else if (gst_spdl_event_parse_epoch (event, &source, NULL, NULL)) {
    gst_structure_get_boolean (
        gst_event_get_structure (event), "partial", &partial);
    g_string_append_printf (self->log, "%c%u", partial ? 'e' : 'E', source);
  }
  return gst_pad_event_default (pad, parent, event);
}

static void
begin_stream (GstPad *pad)
{
  GstSegment segment;

  gst_pad_push_event (pad, gst_event_new_stream_start (GST_PAD_NAME (pad)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
}

static Join *
join_new (void)
{
  Join *self = g_new0 (Join, 1);
  g_autoptr (GstPad) out = NULL;

  self->log = g_string_new (NULL);
  self->mix = gst_object_ref_sink (gst_element_factory_make ("spdlmix", NULL));
  gst_util_set_object_arg (G_OBJECT (self->mix), "order", "arrival");
  self->end = gst_object_ref_sink (gst_pad_new ("end", GST_PAD_SINK));
  gst_pad_set_element_private (self->end, self);
  gst_pad_set_chain_function (self->end, log_item);
  gst_pad_set_event_function (self->end, log_event);
  gst_pad_set_active (self->end, TRUE);
  out = gst_element_get_static_pad (self->mix, "src");
  gst_pad_link (out, self->end);
  for (guint i = 0; i < N_PADS; i++) {
    g_autofree gchar *name = g_strdup_printf ("out_%u", i);
    g_autoptr (GstPad) sink =
        gst_element_request_pad_simple (self->mix, "sink_%u");

    self->pads[i] = gst_object_ref_sink (gst_pad_new (name, GST_PAD_SRC));
    gst_pad_link (self->pads[i], sink);
  }
  gst_element_set_state (self->mix, GST_STATE_PLAYING);
  for (guint i = 0; i < N_PADS; i++) {
    gst_pad_set_active (self->pads[i], TRUE);
    begin_stream (self->pads[i]);
  }
  return self;
}

static void
join_free (Join *self)
{
  gst_pad_set_active (self->end, FALSE);
  gst_element_set_state (self->mix, GST_STATE_NULL);
  for (guint i = 0; i < N_PADS; i++) {
    gst_pad_set_active (self->pads[i], FALSE);
    gst_object_unref (self->pads[i]);
  }
  gst_object_unref (self->end);
  gst_object_unref (self->mix);
  g_string_free (self->log, TRUE);
  g_free (self);
}

/* Announces two sources on the first @n pads, as spdlroute does. */
static void
announce (Join *self, guint n)
{
  for (guint source = 0; source < 2; source++) {
    g_autoptr (GstEvent) event = gst_spdl_event_new_source (source, 10, "");

    for (guint i = 0; i < n; i++)
      gst_pad_push_event (self->pads[i], gst_event_ref (event));
  }
}

static void
push_item (Join *self, guint pad, guint32 source, guint64 epoch)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstSpdlItemMeta *item = gst_spdl_buffer_add_item_meta (buffer);

  item->source = source;
  item->epoch = epoch;
  fail_unless_equals_int (gst_pad_push (self->pads[pad], buffer), GST_FLOW_OK);
}

static void
push_end (
    Join *self, guint pad, guint32 source, guint64 epoch, gboolean partial)
{
  GstEvent *event = gst_spdl_event_new_epoch (source, epoch, 10);

  if (partial)
    gst_structure_set (gst_event_writable_structure (event), "partial",
        G_TYPE_BOOLEAN, TRUE, NULL);
  gst_pad_push_event (self->pads[pad], event);
}

/* The ends of two sources arrive on all branches, and leave once, after the
 * items of all branches. */
GST_START_TEST (test_two_sources)
{
  Join *self = join_new ();

  announce (self, N_PADS);
  for (guint epoch = 0; epoch < 3; epoch++) {
    g_string_truncate (self->log, 0);
    push_end (self, 0, 0, epoch, TRUE);
    push_item (self, 1, 0, epoch);
    push_end (self, 1, 0, epoch, TRUE);
    push_item (self, 2, 1, epoch);
    push_end (self, 2, 0, epoch, TRUE);
    fail_unless_equals_string (self->log->str, "01e0");
    push_end (self, 2, 1, epoch, FALSE);
    push_end (self, 0, 1, epoch, FALSE);
    push_item (self, 1, 1, epoch);
    fail_unless_equals_string (self->log->str, "01e01");
    push_end (self, 1, 1, epoch, FALSE);
    fail_unless_equals_string (self->log->str, "01e01E1");
  }
  join_free (self);
}

GST_END_TEST;

/* One source is epochs ahead, as after a mix with all-exhausted: the end of the
 * other one waits for the slower branch. */
GST_START_TEST (test_source_ahead)
{
  Join *self = join_new ();

  announce (self, N_PADS);
  for (guint i = 0; i < N_PADS; i++)
    push_item (self, i, 0, 7);
  push_end (self, 0, 1, 0, FALSE);
  push_item (self, 1, 1, 0);
  push_end (self, 1, 1, 0, FALSE);
  push_item (self, 2, 1, 0);
  fail_unless_equals_string (self->log->str, "00011");
  push_end (self, 2, 1, 0, FALSE);
  fail_unless_equals_string (self->log->str, "00011E1");
  join_free (self);
}

GST_END_TEST;

/* An end of the branches also waits for a pad with another source, but a
 * partial one does not. */
GST_START_TEST (test_other_source)
{
  Join *self = join_new ();

  announce (self, 2);
  gst_pad_push_event (self->pads[2], gst_spdl_event_new_source (5, 10, ""));
  push_end (self, 0, 0, 0, TRUE);
  push_end (self, 1, 0, 0, TRUE);
  push_end (self, 0, 1, 0, FALSE);
  push_end (self, 1, 1, 0, FALSE);
  push_item (self, 2, 5, 0);
  fail_unless_equals_string (self->log->str, "e05");
  push_end (self, 2, 5, 0, FALSE);
  fail_unless_equals_string (self->log->str, "e05e1E5");
  join_free (self);
}

GST_END_TEST;

static void
announce_one (Join *self, guint pad, guint32 source)
{
  gst_pad_push_event (
      self->pads[pad], gst_spdl_event_new_source (source, 10, ""));
}

/* Replaces a pad of the mix while it plays. */
static void
renew_pad (Join *self, guint i)
{
  g_autoptr (GstPad) old = gst_pad_get_peer (self->pads[i]);
  GstPad *new;

  gst_pad_unlink (self->pads[i], old);
  gst_element_release_request_pad (self->mix, old);
  new = gst_element_request_pad_simple (self->mix, "sink_%u");
  fail_unless (new != NULL);
  fail_unless (gst_pad_link (self->pads[i], new) == GST_PAD_LINK_OK);
  begin_stream (self->pads[i]);
  gst_object_unref (new);
}

/* A source that joins in its first epoch, while the mix is in a later one,
 * does not stop the others, and does not end the epochs of the mix. When it is
 * alone with other such sources, the first one ends them. */
GST_START_TEST (test_late)
{
  Join *self = join_new ();

  for (guint i = 0; i < N_PADS; i++)
    announce_one (self, i, i);
  for (guint epoch = 0; epoch < 2; epoch++)
    for (guint i = 0; i < N_PADS; i++)
      push_end (self, i, i, epoch, FALSE);
  fail_unless_equals_string (self->log->str, "e0e1E2e0e1E2");

  g_string_truncate (self->log, 0);
  renew_pad (self, 2);
  announce_one (self, 2, 3);
  push_item (self, 2, 3, 0);
  push_end (self, 0, 0, 2, FALSE);
  push_end (self, 1, 1, 2, FALSE);
  push_end (self, 2, 3, 0, FALSE);
  push_item (self, 2, 3, 1);
  fail_unless_equals_string (self->log->str, "3e0E1e33");

  g_string_truncate (self->log, 0);
  renew_pad (self, 1);
  announce_one (self, 1, 4);
  gst_pad_push_event (self->pads[0], gst_event_new_eos ());
  push_end (self, 2, 3, 1, FALSE);
  push_end (self, 1, 4, 0, FALSE);
  push_end (self, 2, 3, 2, FALSE);
  push_end (self, 1, 4, 1, FALSE);
  fail_unless_equals_string (self->log->str, "E3e4E3e4");
  join_free (self);
}

GST_END_TEST;

/* The release of the last pad that has not ended ends the stream, also for pads
 * that come later. */
GST_START_TEST (test_end_by_release)
{
  Join *self = join_new ();

  gst_pad_push_event (self->pads[0], gst_event_new_eos ());
  gst_pad_push_event (self->pads[1], gst_event_new_eos ());
  fail_if (GST_PAD_IS_EOS (self->end));
  renew_pad (self, 2);
  fail_unless (GST_PAD_IS_EOS (self->end));
  fail_unless_equals_int (
      gst_pad_push (self->pads[2], gst_buffer_new ()), GST_FLOW_EOS);
  join_free (self);
}

GST_END_TEST;

/* A source that joins in the epoch of the mix ends it with the others. */
GST_START_TEST (test_join_in_time)
{
  Join *self = join_new ();

  for (guint i = 0; i < N_PADS; i++)
    announce_one (self, i, i);
  renew_pad (self, 2);
  announce_one (self, 2, 3);
  push_end (self, 0, 0, 0, FALSE);
  push_end (self, 1, 1, 0, FALSE);
  push_item (self, 2, 3, 0);
  push_end (self, 2, 3, 0, FALSE);
  fail_unless_equals_string (self->log->str, "3e0e1E3");
  join_free (self);
}

GST_END_TEST;

/* A branch that has ended, or with the ends in another order, stops nobody. */
GST_START_TEST (test_no_standstill)
{
  Join *self = join_new ();

  announce (self, N_PADS);
  gst_pad_push_event (self->pads[2], gst_event_new_eos ());
  push_end (self, 0, 0, 0, FALSE);
  push_end (self, 1, 1, 0, FALSE);
  fail_unless_equals_string (self->log->str, "e0E1");
  push_item (self, 0, 0, 1);
  push_item (self, 1, 1, 1);
  fail_unless_equals_string (self->log->str, "e0E101");
  join_free (self);
}

GST_END_TEST;

/* A flush of all pads leaves as one, and what a pad sends after its own flush
 * waits for the end of the others. */
GST_START_TEST (test_flush)
{
  Join *self = join_new ();

  for (guint i = 0; i < N_PADS; i++)
    push_item (self, i, i, 0);
  for (guint i = 0; i < N_PADS; i++)
    gst_pad_push_event (self->pads[i], gst_event_new_flush_start ());
  for (guint i = 0; i < N_PADS; i++)
    gst_pad_push_event (self->pads[i], gst_event_new_flush_stop (TRUE));
  for (guint i = 0; i < N_PADS; i++) {
    begin_stream (self->pads[i]);
    push_item (self, i, i, 0);
  }
  fail_unless_equals_string (self->log->str, "012[]012");
  join_free (self);
}

GST_END_TEST;

/* After a flush, the ends of all branches are waited for again. */
GST_START_TEST (test_ends_after_a_flush)
{
  Join *self = join_new ();

  announce (self, N_PADS);
  for (guint i = 0; i < N_PADS; i++)
    push_end (self, i, 0, 0, FALSE);
  for (guint i = 0; i < N_PADS; i++)
    gst_pad_push_event (self->pads[i], gst_event_new_flush_start ());
  for (guint i = 0; i < N_PADS; i++)
    gst_pad_push_event (self->pads[i], gst_event_new_flush_stop (TRUE));
  for (guint i = 0; i < N_PADS; i++)
    begin_stream (self->pads[i]);
  push_end (self, 0, 0, 0, FALSE);
  push_item (self, 1, 0, 0);
  push_end (self, 1, 0, 0, FALSE);
  push_end (self, 2, 0, 0, FALSE);
  fail_unless_equals_string (self->log->str, "E0[]0E0");
  join_free (self);
}

GST_END_TEST;

/* Pipeline of a mix, a route and a second mix, whose branches differ in
 * speed. */
GST_START_TEST (test_pipeline)
{
  gchar *folder = files_make_folder ();
  GString *list = g_string_new (NULL);
  Run *run;
  guint n_ends = 0;

  for (guint i = 0; i < 20; i++)
    g_string_append_printf (list, "%u\t0\n", i);
  files_write_text (folder, "list.txt", list->str);
  run = run_pipeline (
      "spdlsrc location=%s/list.txt epochs=20 ! m. "
      "spdlsrc location=%s/list.txt epochs=20 ! m. "
      "spdlmix name=m ! spdlroute name=r src_0::condition=\"uri=*[0-4]\" "
      "r.src_0 ! spdlteststage jitter=200000 concurrency=3 ! j. "
      "r.src_1 ! spdlteststage ! j. "
      "spdlmix name=j order=arrival ! fakesink name=sink",
      folder, folder);
  n_ends = run->n_epochs;
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 2 * 20 * 20);
  /* One of each source. */
  fail_unless_equals_int (n_ends, 2 * 20);
  run_free (run);
  g_string_free (list, TRUE);
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (mix_join, TEST (test_two_sources), TEST (test_source_ahead),
    TEST (test_other_source), TEST (test_late), TEST (test_join_in_time),
    TEST (test_end_by_release), TEST (test_no_standstill), TEST (test_flush),
    TEST (test_ends_after_a_flush), TEST (test_pipeline))
