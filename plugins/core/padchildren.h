/* gst-spdl: request pads as GstChildProxy children
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Implements GstChildProxy for an element, with its request pads in the order
 * in which they were added as children. This makes `sink_0::weight` work in
 * gst-launch-1.0. Pass it to G_IMPLEMENT_INTERFACE(). */
void spdl_padding_children_init (gpointer iface, gpointer data);

G_END_DECLS
