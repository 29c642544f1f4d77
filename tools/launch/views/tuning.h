/* gst-spdl-launch: what is said of automatic concurrency and the CPU budget
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/frame.h"

G_BEGIN_DECLS

/* Returns: (transfer full): a `spdl-tuning` structure in a line */
gchar *tuning_format (const GstStructure *decision);

/* Returns: (transfer full) (nullable): the numbers that automatic stages have
 * come to, as options: "--set fetch.concurrency=24 --set ..." */
gchar *tuning_format_settings (const Frame *frame);

G_END_DECLS
