/* gst-spdl: which items a process delivers, and in which order
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_DELIVERY_H__
#define __SPDL_DELIVERY_H__

#include "spdlsettings.h"

G_BEGIN_DECLS

/* A dataset, the order of its epochs, the part of each epoch that is this
 * process's, and a place in it that moves on. For one thread, but for
 * spdl_delivery_get_size(). */

typedef struct _SpdlDelivery SpdlDelivery;

/* Opens the dataset and goes to where it is to begin.
 *
 * @source: the number of the source
 * @warn: (nullable): as for spdl_dataset_open()
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlDelivery *spdl_delivery_open (const SpdlSettings *settings, guint32 source,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data,
    GError **error);

void spdl_delivery_free (SpdlDelivery *self);

/* How many items, or draws, each epoch has here: 0 is possible with
 * SPDL_SHARD_UNEVEN. */
guint64 spdl_delivery_get_size (const SpdlDelivery *self);

/* Where it begins, as a resume state (transfer full). What the state that it
 * began at says of other sources stays in it: these may announce themselves
 * later. */
gchar *spdl_delivery_get_start (const SpdlDelivery *self);

/* The epoch in which the place is. */
guint64 spdl_delivery_get_epoch (const SpdlDelivery *self);

/* Moves on by an item.
 *
 * @sequence: (out): its place in what is delivered of the epoch
 * @index: (out): its place in the dataset
 *
 * Returns FALSE if the epoch has no further item. */
gboolean
spdl_delivery_next (SpdlDelivery *self, guint64 *sequence, guint64 *index);

/* Goes to the beginning of the next epoch. */
void spdl_delivery_end_epoch (SpdlDelivery *self);

SpdlDataset *spdl_delivery_get_dataset (const SpdlDelivery *self);

G_END_DECLS

#endif /* __SPDL_DELIVERY_H__ */
