/* gst-spdl: what a resume state counts as done
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/gstspdlstate.h"

#include "gst/spdl/progress/state.h"

/**
 * gst_spdl_state_is_done:
 * @state: (nullable): a batch's or a loader's state; %NULL: of a beginning
 * @source: which source, as #GstSpdlItemMeta counts them
 * @epoch: an item's epoch
 * @sequence: its place in what is delivered of that epoch
 *
 * Whether a run that begins at @state leaves out that item: because it was
 * delivered before, or because it was known that it will not come. So who keeps
 * a record of the items that failed, beside a state, can keep it as exactly as
 * that of the items that came: with each state those which it counts, and the
 * state before did not.
 *
 * Returns: whether the item is done; %FALSE too if @state is malformed
 *
 * Since: 0.1
 */
gboolean
gst_spdl_state_is_done (
    const gchar *state, guint source, guint64 epoch, guint64 sequence)
{
  g_auto (SpdlState) self = { 0 };
  g_autofree gchar *problem = NULL;

  if (!state)
    return FALSE;
  spdl_state_init (&self);
  return spdl_state_read (&self, state, source, &problem) &&
         spdl_progress_has (&self.progress, epoch, sequence);
}
