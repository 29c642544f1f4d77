/* gst-spdl: delays events until late caps are known
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* An element whose caps are known only with its first result must not send
 * the segment before them. The gate keeps such events back, sends caps where
 * they change, and remembers them. Custom events need no caps: what announces a
 * source must not come behind events about its items. Under the pad's stream
 * lock.
 */

typedef struct {
  GstPad *srcpad; /* not owned */
  GstCaps *caps;
  GQueue early; /* sticky events that come behind the first caps */
} GstSpdlCapsGate;

SPDL_PRIVATE_API
void gst_spdl_caps_gate_init (GstSpdlCapsGate *self, GstPad *srcpad);

/* Forgets a segment that was kept back; what describes the stream stays, as it
 * does on pads. */
SPDL_PRIVATE_API
void gst_spdl_caps_gate_flush (GstSpdlCapsGate *self);

/* Forgets all, for a pad that was deactivated. */
SPDL_PRIVATE_API
void gst_spdl_caps_gate_clear (GstSpdlCapsGate *self);

/* @event: (transfer full): pushed now, or behind the caps. An EOS takes all
 * that was kept back with it. */
SPDL_PRIVATE_API
void gst_spdl_caps_gate_push_event (GstSpdlCapsGate *self, GstEvent *event);

/* Before a buffer of @caps (nullable: it has none) is pushed. */
SPDL_PRIVATE_API
void gst_spdl_caps_gate_open (GstSpdlCapsGate *self, GstCaps *caps);

/* Returns: (transfer full) (nullable): where the pad's peer refuses the caps
 * that were sent last, an error that says so, and what it takes instead */
SPDL_PRIVATE_API
GError *gst_spdl_caps_gate_explain (const GstSpdlCapsGate *self);

G_END_DECLS
