/* gst-spdl: counts items of a source that are done
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/progress/state.h"

G_BEGIN_DECLS

/* What a sink keeps of each source: the items that were delivered or will not
 * come, each by its epoch and sequence, in any order; and from that at any time
 * where the source would have to begin so that each of the others comes, and
 * none twice. It says only where the first epoch stands that is not complete:
 * those before it are, and of those behind it no item was delivered.
 *
 * It has no lock. Once warm, it allocates nothing for an item. */

typedef struct _SpdlTally SpdlTally;

/* A source that begins at a state.
 *
 * @state: the source's, as a text
 * @n_items: how many sequences each epoch has; G_MAXUINT64: as many as come
 * @problem: (out) (transfer full): why @state is none, if NULL is returned */
SPDL_PRIVATE_API
SpdlTally *spdl_tally_new (
    guint32 source, const gchar *state, guint64 n_items, gchar **problem);
SPDL_PRIVATE_API
void spdl_tally_free (SpdlTally *self);

SPDL_PRIVATE_API
guint32 spdl_tally_get_source (const SpdlTally *self);

/* An item was delivered. Its epoch has then begun, and those before it are
 * over: whatever of them has not come is lost.
 *
 * @parts: into how many buffers the item was divided, of which this is one; it
 *     is done with the last */
SPDL_PRIVATE_API
void spdl_tally_deliver (
    SpdlTally *self, guint64 epoch, guint64 sequence, guint parts);

/* An item will not come. */
SPDL_PRIVATE_API
void spdl_tally_drop (SpdlTally *self, guint64 epoch, guint64 sequence);

/* An item will not come, and went missing before spdlmix, which has not counted
 * it. */
SPDL_PRIVATE_API
void spdl_tally_pass_by (SpdlTally *self, guint64 epoch, guint64 sequence);

/* No further item of @epoch will come, which had @n_items. Returns how many
 * were lost. */
SPDL_PRIVATE_API
guint64 spdl_tally_end_epoch (SpdlTally *self, guint64 epoch, guint64 n_items);

/* Goes back to a state of before. FALSE: it knows nothing of the source. */
SPDL_PRIVATE_API
gboolean spdl_tally_restore (SpdlTally *self, const gchar *state);

/* Appends the source's part of a state. */
SPDL_PRIVATE_API
void spdl_tally_write (const SpdlTally *self, GString *text);

/* Appends it as it is at the beginning of @epoch.
 *
 * @mixed: with others, whose proportions begin there, too */
SPDL_PRIVATE_API
void spdl_tally_write_epoch (
    const SpdlTally *self, guint64 epoch, gboolean mixed, GString *text);

SPDL_PRIVATE_API
const SpdlProgress *spdl_tally_get_progress (const SpdlTally *self);

G_END_DECLS
