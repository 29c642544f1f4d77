/* gst-spdl-launch: measures one stage alone
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/modes/options.h"

G_BEGIN_DECLS

/* Records items in front of a stage, then runs it alone with them, from memory,
 * at several concurrencies. What it yields is dropped. Returns the exit
 * status. */
int isolate_run (const Options *options, GError **error);

G_END_DECLS
