/* gst-spdl: spdltestfilter, a filter with configurable faults, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

gboolean test_filter_register (GstPlugin *plugin);

G_END_DECLS
