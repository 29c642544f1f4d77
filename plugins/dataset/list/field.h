/* gst-spdl: field of a list: a text in the list, and its escapes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  SPDL_FIELD_PLAIN,
  SPDL_FIELD_QUOTES, /* doubled quotes, as in CSV */
  SPDL_FIELD_JSON,   /* backslashes, as in JSON */
} SpdlFieldEscapes;

typedef struct {
  const gchar *text; /* without surrounding quotes */
  gsize length;
  SpdlFieldEscapes escapes;
} SpdlField;

/* Returns the text without escapes (transfer full). A text with escapes of JSON
 * must be valid. */
gchar *spdl_field_dup (const SpdlField *self);

G_END_DECLS
