/* gst-spdl: an element between two pads of a test
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/check/gstcheck.h>
#include <gst/spdl/spdl.h>

G_BEGIN_DECLS

/* A rig pushes into one element and writes down, in one log, what comes out of
 * it and what it posts, in words that a test can compare:
 *
 *     "3"             the item of index 3
 *     "[3 4]"         a group of two
 *     "caps", "segment", "stream-start", "eos", "epoch 0"
 *     "gone failed 3 4"
 *     "error", "failed 3"    messages
 *
 * Its sink can be held, as by a consumer that stops. */

typedef struct {
  GstElement *element;
  GstBus *bus;
  GstPad *src;
  GstPad *sink;

  GMutex lock;
  GCond cond;
  GPtrArray *log;      /* gchar */
  GPtrArray *buffers;  /* GstBuffer, as they came */
  GPtrArray *messages; /* GstMessage, element messages and errors */
  GPtrArray *losses;   /* GstMessage, warnings of failed items */
  guint n_items;
  gboolean eos;
  gboolean held;
  gboolean flushing;
  GstFlowReturn answer; /* what the sink returns */
} Rig;

Rig *rig_new (const gchar *element, const gchar *first_property,
    ...) G_GNUC_NULL_TERMINATED;
Rig *rig_new_for (GstElement *element);
/* Sets the element to NULL and frees all. */
void rig_free (Rig *rig);

/* Starts the element and pushes stream-start, caps (nullable) and segment. */
void rig_start (Rig *rig, const gchar *caps);

/* A new item, of the given number, with @size bytes of content. */
GstBuffer *rig_make_item (guint64 number, gsize size);

GstFlowReturn rig_push (Rig *rig, guint64 number);
/* Items @first to @last. Stops when one is refused. */
GstFlowReturn rig_push_range (Rig *rig, guint64 first, guint64 last);
GstFlowReturn rig_push_group (Rig *rig, guint64 first, guint64 last);
void rig_push_eos (Rig *rig);
/* Items 0 to 999 and the end: what a thread does, with a Rig. */
gpointer rig_push_many (gpointer rig);

void rig_hold (Rig *rig, gboolean held);
/* Waits for the end, 60 s at most. */
void rig_wait_eos (Rig *rig);
void rig_wait_items (Rig *rig, guint n);
guint rig_count_items (Rig *rig);

/* The log since the last call, but for stream-start, caps, segment and
 * statistics, with a blank between entries. */
gchar *rig_take_log (Rig *rig);
#define rig_assert_log(rig, expected)            \
  G_STMT_START                                   \
  {                                              \
    g_autofree gchar *log_ = rig_take_log (rig); \
    fail_unless_equals_string (log_, expected);  \
  }                                              \
  G_STMT_END

/* The warnings of failed items so far, each by its details: "NUMBER@EPOCH URI"
 * of one item, "FAILED/TRIED@EPOCH URI" of what sums up an epoch. They are not
 * in the log. */
gchar *rig_list_losses (Rig *rig);

/* The last message of that name, or NULL. */
const GstStructure *rig_find_message (Rig *rig, const gchar *name);
const gchar *rig_get_error (Rig *rig);

/* A figure that the element has in `stage-stats`, as it must. */
guint64 rig_get_stat (GstElement *element, const gchar *field);

G_END_DECLS
