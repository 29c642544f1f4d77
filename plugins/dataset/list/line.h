/* gst-spdl: a line of a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_LINE_H__
#define __SPDL_LINE_H__

#include <glib.h>

#include "plugins/dataset/list/csv.h"
#include "plugins/dataset/list/flaw.h"

G_BEGIN_DECLS

/* The longest path that Linux takes is 4,096 bytes; a signed URL has less than
 * twice that. What is longer is no list of paths. */
#define SPDL_LINE_MAX 65536

/* What a line says. All text is the list's own. */
typedef struct {
  const gchar *next; /* the next line */
  SpdlCsvField path; /* or URI; its text is NULL if the line is no item */
  gint64 label;      /* -1: none, a text, or not read yet */
  SpdlCsvField name; /* the label as it is written; its text is NULL: none */
  SpdlFlawKind name_kind; /* whether that is an integer; see below */
  double weight;          /* if weights are wanted */
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
  self->name.text = NULL;
  self->name_kind = SPDL_FLAW_NONE;
  self->weight = 0;
  self->flaw.kind = SPDL_FLAW_NONE;
}

/* Parses a line of a `.txt` list: a path or URI, perhaps with a tab and a label
 * after it. Empty lines and comments are skipped. */
void spdl_line_parse (const gchar *text, const gchar *end, SpdlLine *line);

/* A decimal integer, with blanks around it if you like. Returns what is wrong
 * with it; @label is only set if nothing is. */
SpdlFlawKind
spdl_line_parse_label (const gchar *text, gsize length, gint64 *label);

/* Reads the label of a line that was parsed, which takes time that lines that
 * are skipped need not have. Blanks around it do not belong to it. An integer
 * becomes the line's label. What is wrong with it as an integer is noted in
 * name_kind, and is no flaw yet: it may be the name of a class. */
void spdl_line_read_label (SpdlLine *self);

/* A decimal number from 0 on, such as 2, 0.25 or 1e-3, likewise; rounded to
 * the nearest double. */
SpdlFlawKind
spdl_line_parse_weight (const gchar *text, gsize length, double *weight);

/* Whether a text is UTF-8 without NUL. */
gboolean spdl_line_is_utf8 (const gchar *text, gsize length);

G_END_DECLS

#endif /* __SPDL_LINE_H__ */
