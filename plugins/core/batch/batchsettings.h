/* gst-spdl: properties of spdlbatch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/common/propertytable.h"
#include "plugins/core/batch/collator.h"

G_BEGIN_DECLS

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
  SpdlCollateSettings stack; /* applied at the next caps event */
  const gchar
      *part;    /* interned, NULL: the first; applied at the next caps event */
  gboolean pad; /* applied at the next caps event */
  SpdlOnShapeMismatch on_shape_mismatch;
} SpdlBatchSettings;

extern const SpdlProperty spdl_batch_properties[];

G_END_DECLS
