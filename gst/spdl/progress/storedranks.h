/* gst-spdl: stored states of all ranks, some of which have not begun
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/progress/ranks.h"

G_BEGIN_DECLS

/* Parses the states that all ranks have stored, like spdl_ranks_read(). A rank
 * that resumed from the states of all ranks, and has not begun, stores these
 * states; they then stand for its part of them. There must be as many of them
 * as ranks without another state, so that a missing state is noticed. */
SPDL_PRIVATE_API
GPtrArray *spdl_stored_ranks_read (const gchar *const *states, gchar **problem);

G_END_DECLS
