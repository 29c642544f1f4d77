/* gst-spdl: tests of warnings about failed items per epoch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <glib/gstdio.h>
#include <unistd.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"

#define assert_losses(rig, expected)                   \
  G_STMT_START                                         \
  {                                                    \
    g_autofree gchar *losses_ = rig_list_losses (rig); \
    fail_unless_equals_string (losses_, expected);     \
  }                                                    \
  G_STMT_END

/* Starts a rig in which items with odd numbers fail. */
static Rig *
start_rig (double max_rate)
{
  Rig *rig =
      rig_new ("spdlteststage", "output-order", GST_SPDL_OUTPUT_ORDER_INPUT,
          "fail-every", 2, "max-failure-rate", max_rate, NULL);

  rig_start (rig, NULL);
  return rig;
}

static GstBuffer *
make_item (guint64 number, guint64 epoch)
{
  GstBuffer *buffer = rig_make_item (number, 16);

  gst_spdl_buffer_get_item_meta (buffer)->epoch = epoch;
  return buffer;
}

/* Pushes items that all fail, or none of which fails. */
static GstFlowReturn
push_items (Rig *rig, gboolean fail, guint n, guint64 epoch)
{
  GstFlowReturn ret = GST_FLOW_OK;

  for (guint i = 0; i < n && ret == GST_FLOW_OK; i++)
    ret = gst_pad_push (rig->src, make_item (2 * i + fail, epoch));
  return ret;
}

static void
push_epoch (Rig *rig, guint64 epoch)
{
  gst_pad_push_event (rig->src, gst_spdl_event_new_epoch (0, epoch, 0));
}

/* Returns the first warning that is, or is not, a summary. */
static GError *
find_warning (Rig *rig, gboolean summary)
{
  GError *error = NULL;

  g_mutex_lock (&rig->lock);
  for (guint i = 0; i < rig->losses->len && !error; i++) {
    GstMessage *message = g_ptr_array_index (rig->losses, i);
    const GstStructure *details = NULL;
    gboolean is_summary;

    gst_message_parse_warning_details (message, &details);
    gst_structure_get_boolean (details, "summary", &is_summary);
    if (is_summary == summary)
      gst_message_parse_warning (message, &error, NULL);
  }
  g_mutex_unlock (&rig->lock);
  fail_unless (error != NULL);
  return error;
}

/* Three warnings per epoch, then at powers of ten, and a summary of each
 * epoch. */
GST_START_TEST (test_warnings)
{
  Rig *rig = start_rig (1.0);

  push_items (rig, FALSE, 5, 0);
  push_items (rig, TRUE, 120, 0);
  push_epoch (rig, 0);
  push_items (rig, TRUE, 2, 1);
  push_epoch (rig, 1);
  push_items (rig, FALSE, 7, 2);
  push_epoch (rig, 2);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  assert_losses (rig,
      "1@0 test:1, 2@0 test:3, 3@0 test:5, 10@0 test:19, 100@0 test:199, "
      "120/125@0 test:239, 1@1 test:1, 2@1 test:3, 2/2@1 test:3");
  fail_unless_equals_int (rig_get_stat (rig->element, "num-failures"), 122);
  rig_free (rig);
}

GST_END_TEST;

/* A warning has the error domain and code of the item's error. */
GST_START_TEST (test_domain)
{
  Rig *rig = rig_new ("spdlfetch", NULL, NULL);
  GError *error;

  rig_start (rig, "text/uri-list");
  gst_pad_push (
      rig->src, gst_buffer_new_wrapped (g_strdup ("file:///no/such/file"), 20));
  rig_push_eos (rig);
  rig_wait_eos (rig);
  error = find_warning (rig, FALSE);
  fail_unless (
      g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND),
      "%s", error->message);
  g_error_free (error);
  error = find_warning (rig, TRUE);
  fail_unless (
      g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED));
  g_error_free (error);
  rig_free (rig);
}

GST_END_TEST;

/* A stream that ends within an epoch gets a summary, and flushed items do not
 * count. */
GST_START_TEST (test_end_and_flush)
{
  Rig *rig = start_rig (1.0);
  GstSegment segment;

  push_items (rig, TRUE, 2, 0);
  push_epoch (rig, 0);
  push_items (rig, TRUE, 1, 1);
  gst_pad_push_event (rig->src, gst_event_new_flush_start ());
  gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
  push_items (rig, FALSE, 3, 4);
  push_items (rig, TRUE, 1, 4);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  g_autofree gchar *losses = rig_list_losses (rig);
  fail_unless (
      g_str_has_suffix (losses, "1@4 test:1, 1/4@4 test:1"), "%s", losses);
  rig_free (rig);
}

GST_END_TEST;

/* Items of a group count individually, also if they are processed
 * concurrently. */
GST_START_TEST (test_groups)
{
  Rig *rig = start_rig (1.0);
  GstBufferList *list;
  gchar *good;
  const gint file = g_file_open_tmp (NULL, &good, NULL);

  fail_unless (file >= 0 && close (file) == 0);
  rig_push_group (rig, 0, 5);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  assert_losses (rig, "1@0 test:1, 2@0 test:3, 3@0 test:5, 3/6@0 test:5");
  rig_free (rig);

  rig = rig_new ("spdlfetch", NULL, NULL);
  rig_start (rig, "text/uri-list");
  list = gst_buffer_list_new ();
  for (guint i = 0; i < 4; i++) {
    g_autofree gchar *uri =
        g_strdup_printf ("file://%s%s", good, i == 3 ? "" : "-none");
    GstBuffer *buffer = rig_make_item (i, strlen (uri));

    gst_buffer_fill (buffer, 0, uri, strlen (uri));
    gst_buffer_list_add (list, buffer);
  }
  gst_pad_push_list (rig->src, list);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  assert_losses (rig, "1@0 test:0, 2@0 test:1, 3@0 test:2, 3/4@0 test:2");
  rig_free (rig);
  g_unlink (good);
  g_free (good);
}

GST_END_TEST;

/* 99 of the first 99 items fail. The rate is judged at the 100th item, which is
 * valid. */
GST_START_TEST (test_rate_at_good_item)
{
  Rig *rig = start_rig (0.1);

  push_items (rig, TRUE, 99, 0);
  fail_unless_equals_int (push_items (rig, FALSE, 101, 0), GST_FLOW_EOS);
  rig_wait_eos (rig);
  fail_unless (rig_get_error (rig) != NULL);
  fail_unless (errors_text_has (rig_get_error (rig), "max-failure-rate=0.1"));
  fail_unless (
      errors_text_has (rig_get_error (rig), "[stream-error failed]|99|100"));
  fail_unless (errors_text_has (rig_get_error (rig), "test:197"));
  /* Items in progress count as well. */
  g_autofree gchar *losses = rig_list_losses (rig);
  fail_unless (strstr (losses, " 99/10"), "%s", losses);
  fail_unless (g_str_has_suffix (losses, "@0 test:197"), "%s", losses);
  rig_free (rig);

  /* The failure rate is exactly the allowed one. */
  rig = start_rig (0.5);
  push_items (rig, TRUE, 50, 0);
  fail_unless_equals_int (push_items (rig, FALSE, 50, 0), GST_FLOW_OK);
  fail_unless_equals_int (push_items (rig, TRUE, 1, 0), GST_FLOW_OK);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (
      errors_text_has (rig_get_error (rig), "[stream-error failed]|51|101"));
  rig_free (rig);
}

GST_END_TEST;

/* Each epoch is judged separately. */
GST_START_TEST (test_rate_by_epoch)
{
  Rig *rig = start_rig (0.2);

  for (guint64 epoch = 0; epoch < 3; epoch++) {
    push_items (rig, TRUE, 99, epoch);
    push_epoch (rig, epoch);
  }
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (rig_get_error (rig) == NULL, "%s", rig_get_error (rig));
  rig_free (rig);

  /* Valid epochs do not compensate for a bad one, which does not end
   * regularly. */
  rig = start_rig (0.2);
  push_items (rig, FALSE, 400, 0);
  push_epoch (rig, 0);
  push_items (rig, FALSE, 79, 1);
  push_items (rig, TRUE, 21, 1);
  push_epoch (rig, 1);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (
      errors_text_has (rig_get_error (rig), "[stream-error failed]|21|100"));
  fail_unless_equals_int (rig_count_items (rig), 479);
  g_autofree gchar *log = rig_take_log (rig);
  fail_unless (
      strstr (log, "0") && !strstr (log, "[stream-error failed]|1"), "%s", log);
  fail_unless (g_str_has_suffix (log, " error eos"), "%s", log);
  rig_free (rig);
}

GST_END_TEST;

/* The rate is judged within a group: at its end, it would be allowed. */
GST_START_TEST (test_rate_in_group)
{
  Rig *rig = start_rig (0.5);
  GstBufferList *list = gst_buffer_list_new ();

  for (guint64 i = 0; i < 200; i++)
    gst_buffer_list_add (list, make_item (2 * i + (i < 60), 0));
  gst_pad_push_list (rig->src, list);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  fail_unless (rig_get_error (rig) != NULL);
  fail_unless (
      errors_text_has (rig_get_error (rig), "[stream-error failed]|60|100"),
      "%s", rig_get_error (rig));
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_defaults)
{
  static const struct {
    const gchar *element;
    double rate;
  } elements[] = {
    { "spdlfetch", 0.5 },
    { "spdldecode", 0.5 },
    { "spdlpipe", 0.5 },
    { "spdlteststage", 0.5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    GstElement *element = gst_element_factory_make (elements[i].element, NULL);
    double rate;

    g_object_get (element, "max-failure-rate", &rate, NULL);
    fail_unless_equals_float (rate, elements[i].rate);
    gst_object_unref (element);
  }
}

GST_END_TEST;

/* spdlbatch is not a stage, but reports failures in the same way. */
GST_START_TEST (test_batch)
{
  Rig *rig = rig_new ("spdlbatch", "batch-size", 4, NULL);

  rig_start (rig, "video/x-raw,format=GRAY8,width=4,height=4,framerate=0/1");
  for (guint64 epoch = 0; epoch < 2; epoch++) {
    for (guint i = 0; i < 6; i++) {
      GstBuffer *buffer = rig_make_item (i, i == 2 || i == 4 ? 3 : 16);

      gst_spdl_buffer_get_item_meta (buffer)->epoch = epoch;
      gst_pad_push (rig->src, buffer);
    }
    if (epoch == 0)
      push_epoch (rig, epoch);
  }
  rig_push_eos (rig);
  assert_losses (rig, "1@0 test:2, 2@0 test:4, 2/6@0 test:4, "
                      "1@1 test:2, 2@1 test:4, 2/6@1 test:4");
  rig_free (rig);
}

GST_END_TEST;

CHECK_SUITE (losses, TIMEOUT (120), TEST (test_warnings), TEST (test_domain),
    TEST (test_end_and_flush), TEST (test_groups),
    TEST (test_rate_at_good_item), TEST (test_rate_by_epoch),
    TEST (test_rate_in_group), TEST (test_defaults), TEST (test_batch))
