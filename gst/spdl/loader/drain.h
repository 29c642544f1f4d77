/* gst-spdl: end of a pipeline after an error
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/engine/sync.h"
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* After an error, brings a pipeline to its end, so that finished items and then
 * the end of the stream reach the sink. The sources and the elements after the
 * one that failed get the end of the stream. */
typedef struct {
  GstElement *pipeline; /* borrowed */
  void (*none) (gpointer user_data);
  gpointer user_data;

  SpdlMutex lock;
  /* Protected by the lock: */
  gboolean stopped;
  GSList *jobs;      /* threads that push the end of the stream */
  guint n_jobs;      /* number of running jobs */
  gboolean eos_sent; /* one of them has sent the end */
} GstSpdlDrain;

/* @none: called, maybe repeatedly, if no end of the stream will arrive */
SPDL_PRIVATE_API
void gst_spdl_drain_init (GstSpdlDrain *self, GstElement *pipeline,
    void (*none) (gpointer user_data), gpointer user_data);
SPDL_PRIVATE_API
void gst_spdl_drain_clear (GstSpdlDrain *self);

/* Begins to end the stream. Does not wait.
 *
 * @element: (nullable): the element that cannot push any more
 * @all: also ends the sources */
SPDL_PRIVATE_API
void
gst_spdl_drain_begin (GstSpdlDrain *self, GstElement *element, gboolean all);

/* Later calls of gst_spdl_drain_begin() begin nothing. */
void gst_spdl_drain_stop (GstSpdlDrain *self);
/* Stops, and joins the threads. The pipeline must be in the NULL state. */
SPDL_PRIVATE_API
void gst_spdl_drain_join (GstSpdlDrain *self);

G_END_DECLS
