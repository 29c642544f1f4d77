/* gst-spdl: harness that runs an element outside of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* Runs an element or a bin in PLAYING. The output of each buffer that is pushed
 * is returned in the same thread. Not thread-safe, except
 * gst_spdl_harness_interrupt(). */

typedef struct _GstSpdlHarness GstSpdlHarness;

typedef struct {
  /* Template of the last pad, whose caps restrict the output. */
  GstStaticPadTemplate *end;
  /* Receives caps of the output. Returns FALSE to refuse them. */
  gboolean (*caps) (gpointer user_data, GstCaps *caps);
  /* Receives a buffer of the output (transfer full). */
  GstFlowReturn (*buffer) (gpointer user_data, GstBuffer *buffer);
  /* Returns TRUE if the query was answered. Also called from other threads. */
  gboolean (*query) (gpointer user_data, GstQuery *query);
} GstSpdlHarnessFuncs;

/* Creates a harness, which is not started yet. Returns NULL if the pads cannot
 * be linked.
 *
 * @element: (transfer floating)
 * @first, @last: (transfer full) (nullable): pads of @element */
GstSpdlHarness *gst_spdl_harness_new (GstElement *element, GstPad *first,
    GstPad *last, const GstSpdlHarnessFuncs *funcs, gpointer user_data);
void gst_spdl_harness_free (GstSpdlHarness *self);

/* Starts the element. Returns FALSE if it does not start or refuses @caps.
 *
 * @caps: (nullable): caps of the first buffer, if they are known */
gboolean gst_spdl_harness_start (GstSpdlHarness *self, GstCaps *caps);

/* Stops and starts the element, which resets its state. */
gboolean gst_spdl_harness_restart (GstSpdlHarness *self);

/* Pushes @buffer (transfer full). @caps (nullable) must be the same object as
 * before unless they have changed. */
GstFlowReturn
gst_spdl_harness_push (GstSpdlHarness *self, GstBuffer *buffer, GstCaps *caps);

/* Sends the end of the stream, so that the element outputs what it holds back.
 * A flush must follow. */
void gst_spdl_harness_drain (GstSpdlHarness *self);

/* Flushes the element. Also ends an interruption. */
void gst_spdl_harness_flush (GstSpdlHarness *self);

/* Starts a flush, so that blocked threads return. Callable from any thread. */
void gst_spdl_harness_interrupt (GstSpdlHarness *self);

/* Makes the element negotiate the caps of its output again. */
void gst_spdl_harness_reconfigure (GstSpdlHarness *self);

/* Returns the first error that was posted since the last call, or NULL.
 *
 * @element: (out) (nullable): name of the element that posted it */
gchar *gst_spdl_harness_take_message (GstSpdlHarness *self, gchar **element);

/* Disables threads, which would delay frames, and tolerance for errors, which
 * would hide them, in all properties of @element for these purposes.
 *
 * @all: also override properties that were set explicitly */
void gst_spdl_harness_configure (GstElement *element, gboolean all);

SPDL_END_PRIVATE_API
G_END_DECLS
