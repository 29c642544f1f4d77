/* gst-spdl: reasons why caps are refused
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* GStreamer refuses caps that a sink pad does not accept before it calls the
 * pad's event function, so an element cannot say why. This passes such caps to
 * the event function of @sinkpad, which must fail with a reason, or forward
 * them to an element that does. Queries get the same answers as without it.
 * Call it after the pad's query function is set. */
SPDL_PRIVATE_API
void gst_spdl_pad_take_all_caps_events (GstPad *sinkpad);

/* If another element, such as queue, has refused the caps on behalf of an
 * element of this project, the reason is found by a query. */

/* @taken: what the peer of @srcpad accepts
 * Returns: (transfer full) (nullable): why an element after @srcpad refuses
 * @caps; NULL if none gives a reason */
SPDL_PRIVATE_API
GError *
gst_spdl_pad_ask_refusal (GstPad *srcpad, GstCaps *caps, GstCaps *taken);

/* Returns: (transfer none) (nullable): caps that may be refused; NULL if @query
 * is another query */
SPDL_PRIVATE_API
GstCaps *gst_spdl_query_parse_refusal (GstQuery *query);

/* Answers with the reason, @error, for which @pad refuses the caps. */
SPDL_PRIVATE_API
void
gst_spdl_query_set_refusal (GstQuery *query, GstPad *pad, const GError *error);

G_END_DECLS
