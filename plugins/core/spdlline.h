/* gst-spdl: a line of a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_LINE_H__
#define __SPDL_LINE_H__

#include <glib.h>

#include "spdlcsv.h"
#include "spdlflaw.h"

G_BEGIN_DECLS

/* The longest path that Linux takes is 4,096 bytes; a signed URL has less than
 * twice that. What is longer is no list of paths. */
#define SPDL_LINE_MAX 65536

/* What a line says. All text is the list's own. */
typedef struct {
  const gchar *next; /* the next line */
  SpdlCsvField path; /* or URI; its text is NULL if the line is no item */
  gint64 label;      /* -1: none */
  double weight;     /* if weights are wanted */
  SpdlFlaw flaw;
} SpdlLine;

/* A line that is no item, and has no flaw. Field by field, since of a whole
 * structure's zeros compilers make an instruction that takes longer than the
 * rest of a line. */
static inline void
spdl_line_init (SpdlLine *self, const gchar *next)
{
  self->next = next;
  self->path = (SpdlCsvField){ 0 };
  self->label = -1;
  self->weight = 0;
  self->flaw.kind = SPDL_FLAW_NONE;
}

/* Parses a line of a `.txt` list: a path or URI, perhaps with a tab and an
 * integer behind it. Empty lines and comments are no items. */
void spdl_line_parse (const gchar *text, const gchar *end, SpdlLine *line);

/* A decimal integer, with blanks around it if you like. Returns what is wrong
 * with it; @label is only set if nothing is. */
SpdlFlawKind
spdl_line_parse_label (const gchar *text, gsize length, gint64 *label);

/* A decimal number from 0 on, such as 2, 0.25 or 1e-3, likewise; rounded to
 * the nearest double. */
SpdlFlawKind
spdl_line_parse_weight (const gchar *text, gsize length, double *weight);

/* Whether a text is UTF-8 without NUL. */
gboolean spdl_line_is_utf8 (const gchar *text, gsize length);

G_END_DECLS

#endif /* __SPDL_LINE_H__ */
