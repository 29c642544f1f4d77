/* gst-spdl: short numbers in resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* A number is written in digits of five bits, lowest first, as characters of
 * base64url. 32 is added to each digit but the last, so that no separator is
 * needed. */

SPDL_PRIVATE_API
void spdl_digits_write (GString *text, guint64 number);

/* Parses a number. Returns its end, or NULL if it is malformed. */
SPDL_PRIVATE_API
const gchar *spdl_digits_read (const gchar *text, guint64 *number);

/* Returns TRUE if a number may begin with this character. */
SPDL_PRIVATE_API
gboolean spdl_digits_is_digit (gchar c);

G_END_DECLS
