/* gst-spdl: the properties of spdlcudanormalize
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/cuda/normalizer.h"

G_BEGIN_DECLS

typedef enum {
  SPDL_NORMALIZE_TYPE_FLOAT32,
  SPDL_NORMALIZE_TYPE_FLOAT16,
} SpdlNormalizeType;

typedef struct {
  SpdlNormalizeType type;
  double mean[SPDL_NORMALIZE_MAX_CHANNELS];
  guint n_mean; /* 0: none */
  double std[SPDL_NORMALIZE_MAX_CHANNELS];
  guint n_std;
  gdouble flip;
  guint64 seed;
} SpdlNormalizeSettings;

void spdl_normalize_settings_init (SpdlNormalizeSettings *self);

/* Return FALSE for a property that is none of these. */
gboolean spdl_normalize_settings_set (
    SpdlNormalizeSettings *self, guint id, const GValue *value);
gboolean spdl_normalize_settings_get (
    const SpdlNormalizeSettings *self, guint id, GValue *value);

void spdl_normalize_settings_install (GObjectClass *klass);

G_END_DECLS
