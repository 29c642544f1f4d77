/* gst-spdl: the properties of spdldecode
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/result/decodeconfig.h"

G_BEGIN_DECLS

/* The defaults; and an end of what they hold. */
void spdl_decode_settings_init (SpdlDecodeSettings *self);
void spdl_decode_settings_clear (SpdlDecodeSettings *self);

/* Sets or reads the property of @id; FALSE for an id that is none. */
gboolean spdl_decode_settings_set (
    SpdlDecodeSettings *self, guint id, const GValue *value);
gboolean spdl_decode_settings_get (
    const SpdlDecodeSettings *self, guint id, GValue *value);

void spdl_decode_settings_install (GObjectClass *klass);

G_END_DECLS
