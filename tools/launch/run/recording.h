/* gst-spdl-launch: items that were recorded in front of an element
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __RECORDING_H__
#define __RECORDING_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Plays @pipeline until @n items or groups have come to @element, and keeps
 * copies. (element-type GstSample) */
GPtrArray *recording_make (
    GstElement *pipeline, GstElement *element, guint n, GError **error);

/* Pushes a recording into an appsrc, over and over, in a thread of its own. */
typedef struct _Feeder Feeder;

Feeder *feeder_new (GstElement *appsrc, GPtrArray *samples);
/* After the pipeline was stopped. */
void feeder_free (Feeder *self);

G_END_DECLS

#endif /* __RECORDING_H__ */
