/* gst-spdl: the properties of spdlbatch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/core/batch/collator.h"

G_BEGIN_DECLS

/* Properties' ids; an element's own come behind SPDL_N_BATCH_SETTINGS. */
enum {
  SPDL_BATCH_SETTING_SIZE = 1,
  SPDL_BATCH_SETTING_DROP_LAST,
  SPDL_BATCH_SETTING_LABELS,
  SPDL_BATCH_SETTING_INDICES,
  SPDL_BATCH_SETTING_TYPE,
  SPDL_BATCH_SETTING_LAYOUT,
  SPDL_BATCH_SETTING_MEAN,
  SPDL_BATCH_SETTING_STD,
  SPDL_BATCH_SETTING_PART,
  SPDL_BATCH_SETTING_PAD,
  SPDL_BATCH_SETTING_ON_SHAPE_MISMATCH,
  SPDL_N_BATCH_SETTINGS,
};

typedef enum {
  SPDL_ON_SHAPE_MISMATCH_AUTO,
  SPDL_ON_SHAPE_MISMATCH_ERROR,
  SPDL_ON_SHAPE_MISMATCH_SKIP,
} SpdlOnShapeMismatch;

typedef struct {
  guint size;
  gboolean drop_last;
  gboolean labels;
  gboolean indices;
  SpdlCollateSettings stack; /* valid for the caps that come next */
  const gchar *part;         /* likewise; interned, NULL: the first */
  gboolean pad;              /* likewise */
  SpdlOnShapeMismatch on_shape_mismatch;
} SpdlBatchSettings;

/* Sets what properties are by default. */
void spdl_batch_settings_init (SpdlBatchSettings *self);

/* Return FALSE for an id that is none of these. */
gboolean spdl_batch_settings_set (
    SpdlBatchSettings *self, guint id, const GValue *value);
gboolean spdl_batch_settings_get (
    const SpdlBatchSettings *self, guint id, GValue *value);

void spdl_batch_settings_install (GObjectClass *klass);

G_END_DECLS
