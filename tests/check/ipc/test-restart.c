/* gst-spdl: tests of failures that several worker processes report
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

#include "plugins/ipc/element/restart.h"
#include "tests/check/support/suite.h"

#define N_ITEMS 100000
#define STATE                                                                \
  "spdl1;source=0,count=100000,hash=0123456789abcdef,shuffle=0,seed=0,rank=" \
  "0,world-size=1,shard-mode=pad,epoch=0,mark=0,done=;"

static void
begin (SpdlRestart *restart)
{
  GstEvent *event = gst_spdl_event_new_source (0, N_ITEMS, STATE);

  spdl_restart_init (restart);
  fail_unless (spdl_restart_add_event (restart, event));
  gst_event_unref (event);
}

/* Returns whether the report is new. */
static gboolean
report (SpdlRestart *restart, guint source, guint64 epoch, guint64 sequence)
{
  GstMessage *message = gst_message_new_element (
      NULL, gst_structure_new ("spdl-item-failed", "source", G_TYPE_UINT,
                source, "epoch", G_TYPE_UINT64, epoch, "sequence",
                G_TYPE_UINT64, sequence, NULL));
  const gboolean is_new = spdl_restart_add_message (restart, message);

  gst_message_unref (message);
  return is_new;
}

static void
drop (SpdlRestart *restart, guint64 sequence)
{
  GstEvent *event = gst_spdl_event_new_items_dropped (
      0, 0, &sequence, 1, GST_SPDL_DROP_REASON_FAILED);

  fail_unless (spdl_restart_add_event (restart, event));
  gst_event_unref (event);
}

/* Tests that an item is known by source, epoch and sequence number. */
GST_START_TEST (test_repeated)
{
  SpdlRestart restart;

  begin (&restart);
  fail_unless (report (&restart, 0, 0, 5));
  fail_unless (report (&restart, 0, 1, 5));
  fail_unless (report (&restart, 1, 0, 5));
  for (guint i = 0; i < 3; i++) {
    spdl_restart_end_process (&restart);
    fail_if (report (&restart, 0, 0, 5));
    fail_if (report (&restart, 0, 1, 5));
    fail_if (report (&restart, 1, 0, 5));
    fail_unless (report (&restart, 0, 0, 6 + i));
  }
  spdl_restart_reset (&restart);
  fail_unless (report (&restart, 0, 0, 5));
  spdl_restart_clear (&restart);
}

GST_END_TEST;

/* Tests that each part of an item counts, also if the process ended between
 * the failures of two parts. */
GST_START_TEST (test_parts)
{
  SpdlRestart restart;

  begin (&restart);
  fail_unless (report (&restart, 0, 0, 5));
  fail_unless (report (&restart, 0, 0, 5));
  spdl_restart_end_process (&restart);
  fail_if (report (&restart, 0, 0, 5));
  spdl_restart_end_process (&restart);
  fail_if (report (&restart, 0, 0, 5));
  fail_if (report (&restart, 0, 0, 5));
  fail_unless (report (&restart, 0, 0, 5));
  spdl_restart_clear (&restart);
}

GST_END_TEST;

/* Tests that messages without numbers, and others, are never repeated. */
GST_START_TEST (test_other_messages)
{
  SpdlRestart restart;
  GstMessage *messages[] = { gst_message_new_eos (NULL),
    gst_message_new_element (NULL, gst_structure_new_empty ("other")),
    gst_message_new_element (
        NULL, gst_structure_new_empty ("spdl-item-failed")) };

  begin (&restart);
  for (guint i = 0; i < 3; i++) {
    for (guint j = 0; j < G_N_ELEMENTS (messages); j++)
      fail_unless (spdl_restart_add_message (&restart, messages[j]));
    spdl_restart_end_process (&restart);
  }
  for (guint i = 0; i < G_N_ELEMENTS (messages); i++)
    gst_message_unref (messages[i]);
  spdl_restart_clear (&restart);
}

GST_END_TEST;

/* Tests that finished items take no memory, and that those which are not
 * finished are not forgotten. */
GST_START_TEST (test_many)
{
  SpdlRestart restart;

  begin (&restart);
  for (guint i = 0; i < N_ITEMS - 1; i++) {
    fail_unless (report (&restart, 0, 0, i));
    if (i < 10)
      fail_unless (report (&restart, 0, 7, i));
    if (i % 10000 != 1)
      drop (&restart, i);
  }
  fail_unless (g_hash_table_size (restart.failures) < 2000);
  spdl_restart_end_process (&restart);
  for (guint i = 1; i < N_ITEMS; i += 10000)
    fail_if (report (&restart, 0, 0, i));
  for (guint i = 0; i < 10; i++)
    fail_if (report (&restart, 0, 7, i));
  spdl_restart_clear (&restart);
}

GST_END_TEST;

CHECK_SUITE (restart, TEST (test_repeated), TEST (test_parts),
    TEST (test_other_messages), TEST (test_many))
