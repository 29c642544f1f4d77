/* gst-spdl: the properties of spdlsrc that are read when it starts
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/dataset.h"
#include "plugins/dataset/sampler/rankpartition.h"

G_BEGIN_DECLS

typedef struct {
  gchar *location; /* nullable */
  gchar *pattern;
  SpdlLabel label;
  gboolean shuffle;
  guint64 seed;
  gint rank;       /* -1: from the environment */
  gint world_size; /* -1: from the environment */
  SpdlShardMode shard_mode;
  gchar *weights;          /* nullable */
  guint64 items_per_epoch; /* 0: as many as items */
  SpdlSidecarUse sidecar;
  gchar *extensions;   /* nullable */
  gchar *resume_state; /* nullable */
  guint shuffle_buffer;
  GStrv classes; /* nullable: none are given */
  SpdlRemoteSettings remote;
} SpdlSettings;

/* The ids of their properties. */
enum {
  SPDL_SETTING_LOCATION = 1,
  SPDL_SETTING_PATTERN,
  SPDL_SETTING_LABEL,
  SPDL_SETTING_SHUFFLE,
  SPDL_SETTING_SEED,
  SPDL_SETTING_RANK,
  SPDL_SETTING_WORLD_SIZE,
  SPDL_SETTING_SHARD_MODE,
  SPDL_SETTING_RESUME_STATE,
  SPDL_SETTING_WEIGHTS,
  SPDL_SETTING_NUM_DRAWS,
  SPDL_SETTING_INDEX,
  SPDL_SETTING_EXTENSIONS,
  SPDL_SETTING_SHUFFLE_BUFFER,
  SPDL_SETTING_CLASSES,
  SPDL_SETTING_REMOTE, /* the first of these */
  SPDL_SETTING_REMOTE_LAST = SPDL_SETTING_REMOTE + SPDL_REMOTE_N_SETTINGS - 1,
  SPDL_N_SETTINGS,
};

void spdl_settings_install (GObjectClass *klass);

/* The defaults. */
void spdl_settings_init (SpdlSettings *self);
void spdl_settings_copy (SpdlSettings *self, const SpdlSettings *other);
void spdl_settings_clear (SpdlSettings *self);

/* FALSE: @id is none of them. */
gboolean spdl_settings_set (SpdlSettings *self, guint id, const GValue *value);
gboolean spdl_settings_get (const SpdlSettings *self, guint id, GValue *value);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlSettings, spdl_settings_clear)

G_END_DECLS
