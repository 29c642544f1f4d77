/* gst-spdl: finished items of a source over several epochs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/progress/state.h"

G_BEGIN_DECLS
SPDL_BEGIN_PRIVATE_API

/* Records the finished items of a source: those that were delivered and those
 * that will not come, by epoch and sequence number, in any order. From that it
 * determines at any time where the source must resume, so that each remaining
 * item is sent exactly once. Only the position in the first incomplete epoch is
 * stored, since earlier epochs are complete, and no item of a later epoch has
 * been delivered.
 *
 * There is no lock. After a warm-up, no memory is allocated per item. */

typedef struct _SpdlTally SpdlTally;

/* Creates a tally that starts at a state.
 *
 * @state: state of the source, as text
 * @n_items: number of sequence numbers per epoch; G_MAXUINT64: unknown
 * @problem: (out) (transfer full): why @state is invalid, if NULL is
 *     returned */
SpdlTally *spdl_tally_new (
    guint32 source, const gchar *state, guint64 n_items, gchar **problem);
void spdl_tally_free (SpdlTally *self);

guint32 spdl_tally_get_source (const SpdlTally *self);

/* Returns TRUE if both are of the same dataset. */
gboolean spdl_tally_is_same_dataset (const SpdlTally *a, const SpdlTally *b);

/* Records a delivered item, or a part of it. This starts its epoch, and ends
 * the previous epochs; their items that have not arrived are lost.
 *
 * @parts: as in the metadata of the buffer, which is one of @parts equal shares
 *     of the item. The item is finished when all shares were delivered or
 *     dropped */
void spdl_tally_deliver (
    SpdlTally *self, guint64 epoch, guint64 sequence, guint parts);

/* Records an item like spdl_tally_deliver(), and the number of its tokens,
 * which count when its last part was delivered. */
void spdl_tally_deliver_tokens (SpdlTally *self, guint64 epoch,
    guint64 sequence, guint parts, guint64 n_tokens);

/* Records that the tokens from @first_token to @end_token of a document were
 * delivered as a part of it, after spdl_tally_deliver(). The state names the
 * document until @is_last, the last part, was delivered, so that the next run
 * continues after these tokens.
 *
 * @index: place of the document in the dataset */
void spdl_tally_cut (SpdlTally *self, guint64 epoch, guint64 index,
    guint64 first_token, guint64 end_token, gboolean is_last);

/* Records an item that will not come, or a part of it. */
void
spdl_tally_drop (SpdlTally *self, guint64 epoch, guint64 sequence, guint parts);

/* Records an item that will not come, or a part of it, that was lost before
 * spdlmix, which has not counted it. */
void spdl_tally_pass_by (
    SpdlTally *self, guint64 epoch, guint64 sequence, guint parts);

/* Records that no further items of @epoch will come. The epoch had @n_items
 * items. Returns the number of lost items. */
guint64 spdl_tally_end_epoch (SpdlTally *self, guint64 epoch, guint64 n_items);

/* Returns to an earlier state. Returns FALSE if the state does not contain the
 * source. */
gboolean spdl_tally_restore (SpdlTally *self, const gchar *state);

/* Appends the state of the source. */
void spdl_tally_write (const SpdlTally *self, GString *text);

/* Appends the state at the start of @epoch.
 *
 * @mixed: whether there are other sources, whose proportions start again at
 *     that epoch */
void spdl_tally_write_epoch (
    const SpdlTally *self, guint64 epoch, gboolean mixed, GString *text);

const SpdlProgress *spdl_tally_get_progress (const SpdlTally *self);

SPDL_END_PRIVATE_API
G_END_DECLS
