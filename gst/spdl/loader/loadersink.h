/* gst-spdl: interface between a loader and its sink
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* What spdlsink offers a loader in place of appsink's API, where no end of an
 * epoch can be waited for, and which keeps the last buffer: one wait for
 * whatever comes first. */

#define GST_TYPE_SPDL_LOADER_SINK (gst_spdl_loader_sink_get_type ())
#define GST_IS_SPDL_LOADER_SINK(obj) \
  (G_TYPE_CHECK_INSTANCE_TYPE ((obj), GST_TYPE_SPDL_LOADER_SINK))

typedef struct _GstSpdlLoaderSink GstSpdlLoaderSink;

typedef enum {
  GST_SPDL_PULL_BUFFER,
  GST_SPDL_PULL_EPOCH, /* an epoch has ended */
  GST_SPDL_PULL_EOS,
  GST_SPDL_PULL_TIMEOUT,
  GST_SPDL_PULL_WOKEN,
} GstSpdlPullStatus;

typedef struct {
  GstBuffer *buffer;  /* the caller's */
  GstCaps *caps;      /* the caller's, nullable */
  gboolean exclusive; /* nobody else has a hold on the buffer */
  guint64 epoch;      /* that has ended */
  guint wakes;        /* in and out: how many wake() calls were seen */
} GstSpdlPull;

/* The sources that have announced themselves. */
typedef struct {
  guint n;
  gboolean in_step; /* all of them began in the same epoch */
  guint64 epoch;    /* which is this one */
} GstSpdlSources;

typedef struct {
  GTypeInterface parent;

  /* Whether all that comes is for pull(), and nothing for appsink's API. Before
   * the sink starts, and after it stopped. */
  void (*set_open) (GstSpdlLoaderSink *self, gboolean open);
  /* Waits until a pull() with as many @wakes would not wait, @timeout ns at
   * most; whether that is so. From the thread that pulls. */
  gboolean (*wait) (GstSpdlLoaderSink *self, GstClockTime timeout, guint wakes);
  /* In the order of the stream; waits for @timeout ns at most. From one thread
   * at a time. */
  GstSpdlPullStatus (*pull) (
      GstSpdlLoaderSink *self, GstClockTime timeout, GstSpdlPull *pull);
  /* Ends a wait() or pull() that waits, or the next one that would wait. From
   * any thread. */
  void (*wake) (GstSpdlLoaderSink *self);
  /* Returns the sources' places, also after a stop; from any thread. */
  void (*get_sources) (GstSpdlLoaderSink *self, GstSpdlSources *sources);
  /* Returns (transfer full): where all of them begin that epoch; NULL if there
   * is none. From any thread. */
  gchar *(*dup_epoch_state) (GstSpdlLoaderSink *self, guint64 epoch);
} GstSpdlLoaderSinkInterface;

SPDL_PRIVATE_API
GType gst_spdl_loader_sink_get_type (void);

SPDL_PRIVATE_API
void gst_spdl_loader_sink_set_open (GstSpdlLoaderSink *self, gboolean open);

SPDL_PRIVATE_API
gboolean gst_spdl_loader_sink_wait (
    GstSpdlLoaderSink *self, GstClockTime timeout, guint wakes);

SPDL_PRIVATE_API
GstSpdlPullStatus gst_spdl_loader_sink_pull (
    GstSpdlLoaderSink *self, GstClockTime timeout, GstSpdlPull *pull);

SPDL_PRIVATE_API
void gst_spdl_loader_sink_wake (GstSpdlLoaderSink *self);

SPDL_PRIVATE_API
void gst_spdl_loader_sink_get_sources (
    GstSpdlLoaderSink *self, GstSpdlSources *sources);

SPDL_PRIVATE_API
gchar *
gst_spdl_loader_sink_dup_epoch_state (GstSpdlLoaderSink *self, guint64 epoch);

G_END_DECLS
