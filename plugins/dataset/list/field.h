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
} SpdlFieldEscapes;

typedef struct {
  const gchar *text; /* without surrounding quotes */
  gsize length;
  SpdlFieldEscapes escapes;
} SpdlField;

/* Returns the text without escapes (transfer full). */
gchar *spdl_field_dup (const SpdlField *self);

G_END_DECLS
