/* gst-spdl: the properties of spdlworkersrc
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/ipc/wire/workerconfig.h"

G_BEGIN_DECLS

enum {
  SPDL_WORKER_SETTING_PIPELINE = 1,
  SPDL_WORKER_SETTING_NICE,
  SPDL_WORKER_SETTING_CPU_AFFINITY,
  SPDL_WORKER_SETTING_RESTARTS,
  SPDL_WORKER_SETTING_SLABS,
  SPDL_WORKER_SETTING_EPOCHS,
  SPDL_WORKER_SETTING_RANK,
  SPDL_WORKER_SETTING_WORLD_SIZE,
  SPDL_WORKER_SETTING_RESUME_STATE,
  SPDL_WORKER_SETTING_CPU_BUDGET,
  SPDL_WORKER_SETTING_CLASSES,
  SPDL_N_WORKER_SETTINGS,
};

typedef struct {
  SpdlWorkerConfig config;
  guint restarts;
  gint rank;
  gint world_size;
} SpdlWorkerSettings;

void spdl_worker_settings_init (SpdlWorkerSettings *self);
void spdl_worker_settings_copy (
    SpdlWorkerSettings *self, const SpdlWorkerSettings *other);
void spdl_worker_settings_clear (SpdlWorkerSettings *self);

/* FALSE: there is no such property. */
gboolean spdl_worker_settings_set (
    SpdlWorkerSettings *self, guint id, const GValue *value);
gboolean spdl_worker_settings_get (
    const SpdlWorkerSettings *self, guint id, GValue *value);

/* Whether they make sense, before anything is started. */
gboolean
spdl_worker_settings_check (const SpdlWorkerSettings *self, GError **error);

void spdl_worker_settings_install (GObjectClass *klass);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (
    SpdlWorkerSettings, spdl_worker_settings_clear)

G_END_DECLS
