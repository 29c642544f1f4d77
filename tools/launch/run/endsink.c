/* gst-spdl-launch: end of a pipeline without spdlsink
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tools/launch/run/endsink.h"

typedef struct {
  GstElement parent;
  GCond cond; /* with the object lock */
  guint n_wakes;
  gboolean ended;
} EndSink;

typedef GstElementClass EndSinkClass;

static GType end_sink_get_type (void);
static void end_sink_init_interface (GstSpdlLoaderSinkInterface *iface);

G_DEFINE_TYPE_WITH_CODE (EndSink, end_sink, GST_TYPE_ELEMENT,
    G_IMPLEMENT_INTERFACE (GST_TYPE_SPDL_LOADER_SINK, end_sink_init_interface))

static void
end_sink_set_open (GstSpdlLoaderSink *sink, gboolean open)
{
}

/* Without a timeout of its own: the loader asks with none or with 0. */
static GstSpdlPullStatus
end_sink_pull (GstSpdlLoaderSink *sink, GstClockTime timeout, GstSpdlPull *pull)
{
  EndSink *self = (EndSink *) sink;
  GstSpdlPullStatus status = GST_SPDL_PULL_EOS;

  GST_OBJECT_LOCK (self);
  while (timeout > 0 && !self->ended && self->n_wakes == pull->wakes)
    g_cond_wait (&self->cond, GST_OBJECT_GET_LOCK (self));
  if (!self->ended)
    status = self->n_wakes != pull->wakes ? GST_SPDL_PULL_WOKEN
                                          : GST_SPDL_PULL_TIMEOUT;
  pull->wakes = self->n_wakes;
  GST_OBJECT_UNLOCK (self);
  return status;
}

static void
end_sink_wake (GstSpdlLoaderSink *sink)
{
  EndSink *self = (EndSink *) sink;

  GST_OBJECT_LOCK (self);
  self->n_wakes++;
  g_cond_broadcast (&self->cond);
  GST_OBJECT_UNLOCK (self);
}

void
end_sink_end (GstSpdlLoaderSink *sink)
{
  EndSink *self = (EndSink *) sink;

  GST_OBJECT_LOCK (self);
  self->ended = TRUE;
  g_cond_broadcast (&self->cond);
  GST_OBJECT_UNLOCK (self);
}

static void
end_sink_init_interface (GstSpdlLoaderSinkInterface *iface)
{
  iface->set_open = end_sink_set_open;
  iface->pull = end_sink_pull;
  iface->wake = end_sink_wake;
}

static void
end_sink_finalize (GObject *object)
{
  g_cond_clear (&((EndSink *) object)->cond);
  G_OBJECT_CLASS (end_sink_parent_class)->finalize (object);
}

static void
end_sink_class_init (EndSinkClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = end_sink_finalize;
}

static void
end_sink_init (EndSink *self)
{
  g_cond_init (&self->cond);
}

GstSpdlLoaderSink *
end_sink_new (void)
{
  return g_object_new (end_sink_get_type (), NULL);
}
