/* gst-spdl: resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_STATE_H__
#define __GST_SPDL_STATE_H__

#include <gst/gst.h>
#include <gst/spdl/spdl-prelude.h>

G_BEGIN_DECLS

GST_SPDL_API
gboolean gst_spdl_state_is_done (
    const gchar *state, guint source, guint64 epoch, guint64 sequence);

GST_SPDL_API
gboolean gst_spdl_state_get_epoch (
    const gchar *state, guint64 *epoch, gboolean *is_beginning);

GST_SPDL_API
gchar *gst_spdl_state_dup_at_epoch (const gchar *state, guint64 epoch);

GST_SPDL_API
gchar *gst_spdl_state_merge (const gchar *const *states, GError **error);

GST_SPDL_API
gchar **gst_spdl_state_reshard (
    const gchar *const *states, guint world_size, GError **error);

G_END_DECLS

#endif /* __GST_SPDL_STATE_H__ */
