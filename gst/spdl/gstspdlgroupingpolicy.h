/* gst-spdl: return values of spdlaggregate's signal accept
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_GROUPING_POLICY_H__
#define __GST_SPDL_GROUPING_POLICY_H__

#include <gst/spdl/spdl-prelude.h>

G_BEGIN_DECLS

/**
 * GstSpdlGroupingPolicy:
 * @GST_SPDL_GROUPING_POLICY_TAKE: add the item to the group
 * @GST_SPDL_GROUPING_POLICY_EMIT_BEFORE: send the group, and start the next one
 *     with the item
 * @GST_SPDL_GROUPING_POLICY_EMIT_AFTER: add the item to the group, and send it
 *
 * Return value of a handler of `spdlaggregate`'s signal `accept`.
 *
 * Since: 0.1
 */
typedef enum {
  GST_SPDL_GROUPING_POLICY_TAKE,
  GST_SPDL_GROUPING_POLICY_EMIT_BEFORE,
  GST_SPDL_GROUPING_POLICY_EMIT_AFTER,
} GstSpdlGroupingPolicy;

#define GST_TYPE_SPDL_GROUPING_POLICY (gst_spdl_grouping_policy_get_type ())
GST_SPDL_API
GType gst_spdl_grouping_policy_get_type (void);

G_END_DECLS

#endif /* __GST_SPDL_GROUPING_POLICY_H__ */
