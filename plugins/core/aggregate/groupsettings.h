/* gst-spdl: the properties of spdlaggregate
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_GROUP_SETTINGS_H__
#define __SPDL_GROUP_SETTINGS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  guint size;        /* 0: no limit */
  guint64 max_bytes; /* 0: no limit */
  gboolean drop_last;
  guint max_keys;
  gchar *key; /* nullable */
} SpdlGroupSettings;

/* Sets what properties are by default. */
void spdl_group_settings_init (SpdlGroupSettings *self);
void spdl_group_settings_clear (SpdlGroupSettings *self);

/* Return FALSE for an id that is none of these. */
gboolean spdl_group_settings_set (
    SpdlGroupSettings *self, guint id, const GValue *value);
gboolean spdl_group_settings_get (
    const SpdlGroupSettings *self, guint id, GValue *value);

void spdl_group_settings_install (GObjectClass *klass);

G_END_DECLS

#endif /* __SPDL_GROUP_SETTINGS_H__ */
