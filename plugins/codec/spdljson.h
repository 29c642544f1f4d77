/* gst-spdl: words of JSON, one after the other
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_JSON_H__
#define __SPDL_JSON_H__

#include <glib.h>

G_BEGIN_DECLS

/* For text of a known shape, which says what comes next: nothing is kept, and
 * nothing is nested deeper than that. Each passes over blanks in front, and
 * returns whether it is there; if not, the place is of no use any more. */

typedef struct {
  const gchar *at;
  const gchar *end;
  gboolean no_memory; /* for a string */
} SpdlJson;

/* One character that is no part of a word. */
gboolean spdl_json_take (SpdlJson *self, gchar mark);

/* Whether that one is next; it is left there. */
gboolean spdl_json_is_next (SpdlJson *self, gchar mark);

/* @string: (out) (transfer full) (nullable): UTF-8, if the text is, without
 * U+0000; NULL where it is not wanted */
gboolean spdl_json_take_string (SpdlJson *self, gchar **string);

/* An integer from 0 on. One of more than 64 bits is %G_MAXUINT64. */
gboolean spdl_json_take_number (SpdlJson *self, guint64 *number);

/* Whether nothing but blanks is left. */
gboolean spdl_json_is_end (SpdlJson *self);

G_END_DECLS

#endif /* __SPDL_JSON_H__ */
