/* gst-spdl: renumbering of a worker's sources
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Each worker numbers its sources from 0. If a pipeline has several workers or
 * other sources, these numbers would not be unique in items, events and states,
 * so a base is added to them, the number of spdlworkersrc (sourcenumber.h). The
 * base of the first worker is the number of spdlsrc elements in the pipeline,
 * usually 0; its states then equal those of a pipeline without a worker. */

void spdl_source_base_shift_buffer (GstBuffer *buffer, guint32 base);
void spdl_source_base_shift_event (GstEvent *event, guint32 base);
void spdl_source_base_shift_message (GstMessage *message, guint32 base);

/* Extracts the part of @state that belongs to the worker, with its own
 * numbering.
 * Returns: (transfer full) (nullable): NULL if there is none, and the worker
 * starts from the beginning. An invalid state is returned unchanged. */
gchar *spdl_source_base_take_state (const gchar *state, guint32 base);

G_END_DECLS
