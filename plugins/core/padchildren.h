/* gst-spdl: request pads as GstChildProxy children
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Makes an element's request pads, in the order in which they were added, the
 * children of its GstChildProxy, so that gst-launch-1.0 knows `sink_0::weight`:
 * for G_IMPLEMENT_INTERFACE. */
void spdl_padding_children_init (gpointer iface, gpointer data);

G_END_DECLS
