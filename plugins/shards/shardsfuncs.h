/* gst-spdl: functions of the shards plugin
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/archive/indexer.h"

G_BEGIN_DECLS

extern const SpdlIndexerFuncs spdl_shards_funcs;

G_END_DECLS
