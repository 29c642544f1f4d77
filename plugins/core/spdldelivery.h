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

/* A dataset, the order of its epochs, and the part of each epoch that is this
 * process's. For one thread, but for spdl_delivery_get_size(). */

typedef struct _SpdlDelivery SpdlDelivery;

/* @warn: (nullable): as for spdl_dataset_open()
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlDelivery *spdl_delivery_open (const SpdlSettings *settings,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data,
    GError **error);

void spdl_delivery_free (SpdlDelivery *self);

/* How many items each epoch has here: 0 is possible with SPDL_SHARD_UNEVEN. */
guint64 spdl_delivery_get_size (const SpdlDelivery *self);

/* Must come before the epoch's first item, in any order of epochs. */
void spdl_delivery_begin_epoch (SpdlDelivery *self, guint64 epoch);

/* The place in the dataset of this epoch's item @i. */
guint64 spdl_delivery_get_index (const SpdlDelivery *self, guint64 i);

const SpdlDataset *spdl_delivery_get_dataset (const SpdlDelivery *self);

G_END_DECLS

#endif /* __SPDL_DELIVERY_H__ */
