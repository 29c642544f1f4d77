/* gst-spdl: return values of spdlaggregate's signal accept
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/gstspdlgroupingpolicy.h"

G_DEFINE_ENUM_TYPE (GstSpdlGroupingPolicy, gst_spdl_grouping_policy,
    { GST_SPDL_GROUPING_POLICY_TAKE, "Add the item to the group", "take" },
    { GST_SPDL_GROUPING_POLICY_EMIT_BEFORE,
        "Continue the group without the item", "emit-before" },
    { GST_SPDL_GROUPING_POLICY_EMIT_AFTER, "Continue the group with the item",
        "emit-after" })
