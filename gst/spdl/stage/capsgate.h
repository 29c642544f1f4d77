/* gst-spdl: caps: events that wait for them, and their refusal
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

/* Holds back events of an element whose caps are known only with its first
 * result, because the segment and what comes after it must follow the caps. The
 * gate sends caps when they change and remembers them. The events of gst-spdl
 * need no caps and pass, so that a source is announced before events about its
 * items. Called with the pad's stream lock held. */

typedef struct {
  GstPad *srcpad; /* not owned */
  GstCaps *caps;
  GQueue early; /* events to send after the first caps */
} GstSpdlCapsGate;

void gst_spdl_caps_gate_init (GstSpdlCapsGate *self, GstPad *srcpad);

/* Drops a segment, gaps and custom events that were held back. Events that
 * describe the stream stay, as on pads. */
void gst_spdl_caps_gate_flush (GstSpdlCapsGate *self);

/* Drops all events, when the pad is deactivated. */
void gst_spdl_caps_gate_clear (GstSpdlCapsGate *self);

/* Pushes @event (transfer full) now or after the caps. An EOS releases all
 * events that were held back. */
void gst_spdl_caps_gate_push_event (GstSpdlCapsGate *self, GstEvent *event);

/* Pushes new caps and the events that were held back. */
void gst_spdl_caps_gate_send (GstSpdlCapsGate *self, GstCaps *caps);

/* Prepares for a buffer with @caps (nullable: without caps): pushes caps and
 * events that were held back. */
static inline void
gst_spdl_caps_gate_open (GstSpdlCapsGate *self, GstCaps *caps)
{
  if (G_UNLIKELY ((caps && caps != self->caps) || self->early.head))
    gst_spdl_caps_gate_send (self, caps);
}

/* Returns: (transfer full) (nullable): an error that names the last caps and
 * the caps that the pad's peer accepts; NULL if it accepts the last caps */
GError *gst_spdl_caps_gate_explain (const GstSpdlCapsGate *self);

/* GStreamer refuses caps that a sink pad does not accept before it calls the
 * pad's event function, so an element cannot say why. This passes such caps to
 * the event function of @sinkpad, which must fail with a reason, or forward
 * them to an element that does. Queries get the same answers as without it.
 * Call it after the pad's query function is set. */
void gst_spdl_pad_take_all_caps_events (GstPad *sinkpad);

/* If another element, such as queue, has refused the caps on behalf of an
 * element of this project, the reason is found by a query. */

/* @taken: what the peer of @srcpad accepts
 * Returns: (transfer full) (nullable): why an element after @srcpad refuses
 * @caps; NULL if none gives a reason */
GError *
gst_spdl_pad_ask_refusal (GstPad *srcpad, GstCaps *caps, GstCaps *taken);

/* Returns: (transfer none) (nullable): caps that may be refused; NULL if @query
 * is another query */
GstCaps *gst_spdl_query_parse_refusal (GstQuery *query);

/* Answers with the reason, @error, for which @pad refuses the caps. */
void
gst_spdl_query_set_refusal (GstQuery *query, GstPad *pad, const GError *error);

SPDL_END_PRIVATE_API
G_END_DECLS
