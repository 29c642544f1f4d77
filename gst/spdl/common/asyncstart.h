/* gst-spdl: asynchronous start of a source
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

/* A source that waits for a server or a process when it starts must not block
 * the thread that changes the state. It waits in its streaming thread, in
 * create(), which GstBaseSrc interrupts when the element goes down, and the
 * change from READY to PAUSED is asynchronous.
 *
 * A loader waits itself. The change is then done at once, like that of a sink
 * without preroll: after an error of any element, GstBin would not continue an
 * asynchronous change, and items that were finished before would not arrive. */

/* Begins a start, in change_state() before it chains up. Returns its result if
 * chaining up succeeds. */
GstStateChangeReturn spdl_async_start_begin (GstElement *element);

/* Announces in create() that end() will be called. Without it, the start ends
 * with the stream of the pad "src". */
void spdl_async_start_open (GstElement *element);

/* Ends the start in the streaming thread. The element is then in PAUSED, or in
 * the higher state that it was set to. It is so also after a failure: a program
 * that waits for the state would hang otherwise. Does nothing if the element
 * goes down, or has started.
 *
 * @ok: FALSE: it failed, and an error was posted */
void spdl_async_start_end (GstElement *element, gboolean ok);

/* Forgets a start when the element is in READY again. */
void spdl_async_start_clear (GstElement *element);

typedef enum {
  SPDL_ASYNC_START_DONE, /* or there was none */
  SPDL_ASYNC_START_ACTIVE,
  SPDL_ASYNC_START_FAILED,
} SpdlAsyncStart;

/* Returns the state of the last start. */
SpdlAsyncStart spdl_async_start_get (GstElement *element);

/* Sets a function that end() calls in the streaming thread, while the element
 * is in READY. The change is then done at once.
 *
 * @func: (nullable): NULL: none */
void spdl_async_start_set_func (
    GstElement *element, void (*func) (gpointer user_data), gpointer user_data);

SPDL_END_PRIVATE_API
G_END_DECLS
