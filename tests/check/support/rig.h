/* gst-spdl: test harness for one element
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* A rig pushes data into an element and logs its output and messages as words
 * that a test can compare:
 *
 *     "3"             the item with index 3
 *     "[3 4]"         a group of two items
 *     "caps", "segment", "stream-start", "eos", "epoch 0"
 *     "gone failed 3 4", "gone filtered 5/2" for one of two parts of item 5
 *     "error", "failed 3"    messages
 *
 * Its sink can block like a consumer that stops. */

typedef struct {
  GstElement *element;
  GstBus *bus;
  GstPad *src;
  GstPad *sink;

  GMutex lock;
  GCond cond;
  GPtrArray *log;      /* of gchar */
  GPtrArray *buffers;  /* of GstBuffer, in order of arrival */
  GPtrArray *messages; /* of GstMessage: element messages and errors */
  GPtrArray *losses;   /* of GstMessage: warnings about failed items */
  guint n_items;
  gboolean eos;
  gboolean held;
  gboolean flushing;
  GstFlowReturn answer; /* flow return of the sink */
} Rig;

Rig *rig_new (const gchar *element, const gchar *first_property,
    ...) G_GNUC_NULL_TERMINATED;
Rig *rig_new_for (GstElement *element);
/* Sets the element to NULL and frees the rig. */
void rig_free (Rig *rig);

/* Starts the element and pushes stream-start, caps (nullable) and segment. */
void rig_start (Rig *rig, const gchar *caps);

/* Makes an item with the given index and @size bytes. */
GstBuffer *rig_make_item (guint64 number, gsize size);

/* Makes an item whose content is the URI @base followed by @path. */
GstBuffer *
rig_make_uri_item (guint64 number, const gchar *base, const gchar *path);

GstFlowReturn rig_push (Rig *rig, guint64 number);
/* Pushes items @first to @last, until one is rejected. */
GstFlowReturn rig_push_range (Rig *rig, guint64 first, guint64 last);
GstFlowReturn rig_push_group (Rig *rig, guint64 first, guint64 last);
void rig_push_eos (Rig *rig);
/* Thread function: pushes items 0 to 999 and EOS. @rig: a Rig. */
gpointer rig_push_many (gpointer rig);

void rig_hold (Rig *rig, gboolean held);
/* Waits up to 60 s for EOS. */
void rig_wait_eos (Rig *rig);
void rig_wait_items (Rig *rig, guint n);
guint rig_count_items (Rig *rig);

/* Returns the log since the last call, separated by blanks, without
 * stream-start, caps, segment and statistics. */
gchar *rig_take_log (Rig *rig);
#define rig_assert_log(rig, expected)            \
  G_STMT_START                                   \
  {                                              \
    g_autofree gchar *log_ = rig_take_log (rig); \
    fail_unless_equals_string (log_, expected);  \
  }                                              \
  G_STMT_END

/* Lists the warnings about failed items by their details: "NUMBER@EPOCH URI"
 * for an item, "FAILED/TRIED@EPOCH URI" for the summary of an epoch. They are
 * not in the log. */
gchar *rig_list_losses (Rig *rig);

/* Returns the last message with that name, or NULL. */
const GstStructure *rig_find_message (Rig *rig, const gchar *name);
const gchar *rig_get_error (Rig *rig);

/* Returns a field of `stage-stats`, which must exist. */
guint64 rig_get_stat (GstElement *element, const gchar *field);

G_END_DECLS
