/* gst-spdl: threads of GStreamer's tasks
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

/* Creates a thread for the task that a stream status of type CREATE announces.
 * Other messages are ignored. GStreamer's threads later serve other pipelines,
 * so they cannot keep a policy; and a task for which GStreamer cannot create a
 * thread can never be stopped.
 *
 * Returns FALSE with @error set (%G_THREAD_ERROR) if there can be no thread.
 * GStreamer then starts the task as usual, but nothing runs; it can be stopped,
 * and the next start announces another one. */
gboolean spdl_task_thread_prepare (GstMessage *message, GError **error);

/* Returns TRUE if the task of @pad has no thread. */
gboolean spdl_task_thread_is_missing (GstPad *pad);

/* Completes a change of state of a source, of which the parent class @klass has
 * returned @ret: if the task of its @pad has no thread, the start fails. */
GstStateChangeReturn
spdl_task_thread_check_start (GstElementClass *klass, GstElement *element,
    GstPad *pad, GstStateChange transition, GstStateChangeReturn ret);

/* Implements GstElementClass.post_message() of @klass, an element with tasks:
 * prepares them, and posts an error of @element if that fails. */
gboolean spdl_task_thread_post_message (
    GstElementClass *klass, GstElement *element, GstMessage *message);

SPDL_END_PRIVATE_API
G_END_DECLS
