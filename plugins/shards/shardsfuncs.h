/* gst-spdl: all that reads shards through
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_SHARDS_FUNCS_H__
#define __SPDL_SHARDS_FUNCS_H__

#include "plugins/dataset/archive/indexer.h"

G_BEGIN_DECLS

extern const SpdlIndexerFuncs spdl_shards_funcs;

G_END_DECLS

#endif /* __SPDL_SHARDS_FUNCS_H__ */
