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

/* Interface of spdlsink for a loader, which replaces appsink's API. With
 * appsink, a thread cannot wait for the end of an epoch, and the last buffer is
 * kept. Here one call waits for whatever comes first. */

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
  GstBuffer *buffer;  /* owned by the caller */
  GstCaps *caps;      /* owned by the caller, nullable */
  gboolean exclusive; /* no other references exist */
  guint64 epoch;      /* epoch that has ended */
  guint wakes;        /* (inout): number of wake() calls that were seen */
} GstSpdlPull;

/* Sources that have announced themselves. */
typedef struct {
  guint n;
  gboolean in_step; /* all of them started in the same epoch */
  guint64 epoch;    /* that epoch */
} GstSpdlSources;

typedef struct {
  GTypeInterface parent;

  /* Sets whether buffers are delivered to pull() instead of appsink's API.
   * Called before the sink starts and after it has stopped. */
  void (*set_open) (GstSpdlLoaderSink *self, gboolean open);
  /* Waits at most @timeout ns until pull() with the same @wakes would not
   * block. Returns TRUE if it would not. Called by the thread that pulls. */
  gboolean (*wait) (GstSpdlLoaderSink *self, GstClockTime timeout, guint wakes);
  /* Returns the next buffer or event of the stream. Waits at most @timeout ns.
   * Called by one thread at a time. */
  GstSpdlPullStatus (*pull) (
      GstSpdlLoaderSink *self, GstClockTime timeout, GstSpdlPull *pull);
  /* Interrupts a blocked wait() or pull(), or the next one that would block.
   * Callable from any thread. */
  void (*wake) (GstSpdlLoaderSink *self);
  /* Returns the positions of the sources, also after a stop. Callable from any
   * thread. */
  void (*get_sources) (GstSpdlLoaderSink *self, GstSpdlSources *sources);
  /* Returns (transfer full) (nullable) the state at the start of @epoch of all
   * sources. Callable from any thread. */
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
