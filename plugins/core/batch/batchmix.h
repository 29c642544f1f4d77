/* gst-spdl: random erasing, Mixup and CutMix of a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/core/batch/batchbuilder.h"

G_BEGIN_DECLS

/* Definitions are those of torchvision.transforms.v2: the partner of each item
 * is the one before it, and that of the first is the last. Random values depend
 * only on the seed, the epoch, and the index of the item or of the first item
 * of the batch. */

/* Returns FALSE with @error set if the settings contradict each other.
 * @labels: whether the batch has labels */
gboolean spdl_mix_check_settings (
    const SpdlMixSettings *settings, gboolean labels, GError **error);

/* Returns FALSE with @error set if the settings change images, and the items
 * are something else than float32 images or clips. */
gboolean spdl_mix_check_items (const SpdlMixSettings *settings,
    const SpdlCollator *collator, GError **error);

/* Erases a random box in @row, of @item. */
void spdl_mix_erase (const SpdlMixSettings *settings,
    const SpdlCollator *collator, const GstSpdlItemMeta *item, float *row);

/* Mixes the images and the labels of a batch, of which all rows are written. */
void spdl_mix_batch (const SpdlMixSettings *settings, const SpdlBatchRows *rows,
    SpdlBatchWorkers *workers);

/* Writes a label as a row of numbers, one for each class. Returns FALSE with
 * @error set if it is missing or too large. */
gboolean spdl_mix_write_label (
    const SpdlMixSettings *settings, gint64 label, float *row, GError **error);

G_END_DECLS
