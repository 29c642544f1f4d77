/* gst-spdl: runs an element outside of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* An element, or a bin, that plays from the first buffer to the last. What is
 * pushed into it comes out in the same thread. One thread at a time, but for
 * gst_spdl_harness_interrupt(). */

typedef struct _GstSpdlHarness GstSpdlHarness;

typedef struct {
  /* Of the pad in which all ends, whose caps say what may come out. */
  GstStaticPadTemplate *end;
  /* What comes out from here on; FALSE refuses it. */
  gboolean (*caps) (gpointer user_data, GstCaps *caps);
  /* @buffer: (transfer full): what comes out. */
  GstFlowReturn (*buffer) (gpointer user_data, GstBuffer *buffer);
  /* Whether it answered. Also from other threads. */
  gboolean (*query) (gpointer user_data, GstQuery *query);
} GstSpdlHarnessFuncs;

/* @element: (transfer floating); @first, @last: (transfer full) (nullable): its
 * pads. NULL if they cannot be linked. It does not play yet. */
SPDL_PRIVATE_API
GstSpdlHarness *gst_spdl_harness_new (GstElement *element, GstPad *first,
    GstPad *last, const GstSpdlHarnessFuncs *funcs, gpointer user_data);
SPDL_PRIVATE_API
void gst_spdl_harness_free (GstSpdlHarness *self);

/* @caps: (nullable): of the first buffer, where they are known. FALSE: it does
 * not start, or refuses them. */
SPDL_PRIVATE_API
gboolean gst_spdl_harness_start (GstSpdlHarness *self, GstCaps *caps);

/* Stops it and starts it again: it has forgotten all. */
SPDL_PRIVATE_API
gboolean gst_spdl_harness_restart (GstSpdlHarness *self);

/* @buffer: (transfer full); @caps: (nullable): its caps, the same ones as long
 * as nothing changes. */
SPDL_PRIVATE_API
GstFlowReturn
gst_spdl_harness_push (GstSpdlHarness *self, GstBuffer *buffer, GstCaps *caps);

/* Says that nothing more comes, so that what was held back comes out. A flush
 * must follow. */
SPDL_PRIVATE_API
void gst_spdl_harness_drain (GstSpdlHarness *self);

/* Lets it forget what it holds; ends an interruption, too. */
SPDL_PRIVATE_API
void gst_spdl_harness_flush (GstSpdlHarness *self);

/* Begins a flush, which ends what waits inside. From any thread. */
SPDL_PRIVATE_API
void gst_spdl_harness_interrupt (GstSpdlHarness *self);

/* What comes out may be of other caps than before: it shall ask again. */
SPDL_PRIVATE_API
void gst_spdl_harness_reconfigure (GstSpdlHarness *self);

/* The first error that was posted since the last call, or NULL.
 * @element: (out) (nullable): who posted it. */
SPDL_PRIVATE_API
gchar *gst_spdl_harness_take_message (GstSpdlHarness *self, gchar **element);

/* Without threads of its own, which would give a frame later, and without
 * tolerance for errors, which would tell nobody: sets what @element has of such
 * properties. @all: also those that somebody has set. */
SPDL_PRIVATE_API
void gst_spdl_harness_configure (GstElement *element, gboolean all);

G_END_DECLS
