/* gst-spdl: one line of a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "plugins/dataset/list/csv.h"

G_BEGIN_DECLS

typedef enum {
  SPDL_PARSE_ERROR_NONE,
  SPDL_PARSE_ERROR_TOO_LONG, /* number: the limit */
  SPDL_PARSE_ERROR_NOT_UTF8,
  SPDL_PARSE_ERROR_NO_URI,
  /* Of labels; text: the label, item: of which item. */
  SPDL_PARSE_ERROR_LABEL_NO_INTEGER, /* but others are */
  SPDL_PARSE_ERROR_LABEL_INTEGER,    /* but others are text */
  SPDL_PARSE_ERROR_LABEL_UNKNOWN,  /* number: of how many classes it is none */
  SPDL_PARSE_ERROR_LABEL_TOO_MANY, /* number: how many classes there may be */
  SPDL_PARSE_ERROR_LABEL_TOO_LARGE,
  SPDL_PARSE_ERROR_WEIGHT,   /* text: the weight */
  SPDL_PARSE_ERROR_N_FIELDS, /* number: how many there are, and should be */
  SPDL_PARSE_ERROR_QUOTE_UNCLOSED, /* number: within so many bytes; 0: at all */
  SPDL_PARSE_ERROR_QUOTE_STRAY,
} SpdlParseErrorKind;

/* A parse error of a line. Owns nothing: texts belong to the list. */
typedef struct {
  SpdlParseErrorKind kind;
  const gchar *text;
  gsize length;
  guint64 number;
  guint64 wanted;
  const gchar *item;
  gsize item_length;
} SpdlParseError;

/* How many lines are malformed, and which is the first: all that is kept, so
 * that a list of nothing but bad lines costs no more than a good one. */
typedef struct {
  SpdlParseError first;
  guint64 first_line; /* from 1 */
  guint64 n_flaws;
} SpdlParseErrors;

void spdl_parse_errors_add (
    SpdlParseErrors *self, const SpdlParseError *parse_error, guint64 line);

/* An error of the domain of GST_RESOURCE_ERROR that names the list, the first
 * malformed line and what is wrong with it.
 *
 * @n_lines: how many lines there are, comments and empty ones not counted; 0
 *     if that is not known and only the first one is to be spoken of */
GError *spdl_parse_errors_to_error (
    const SpdlParseErrors *self, const gchar *location, guint64 n_lines);

/* A piece of a list, in quotes, as a message can show it: short, UTF-8 and on
 * one line. */
gchar *spdl_parse_error_quote (const gchar *text, gsize length);

/* The longest path that Linux takes is 4,096 bytes; a signed URL has less than
 * twice that. What is longer is no list of paths. */
#define SPDL_LINE_MAX 65536

/* What a line says. All text is the list's own. */
typedef struct {
  const gchar *next; /* the next line */
  SpdlCsvField path; /* or URI; its text is NULL if the line is no item */
  gint64 label;      /* -1: none, a text, or not read yet */
  SpdlCsvField name; /* the label as it is written; its text is NULL: none */
  SpdlParseErrorKind name_kind; /* whether that is an integer; see below */
  double weight;                /* if weights are wanted */
  SpdlParseError parse_error;
} SpdlLine;

/* A line that is no item, and has no error. Field by field, since of a whole
 * structure's zeros compilers make an instruction that takes longer than the
 * rest of a line. */
static inline void
spdl_line_init (SpdlLine *self, const gchar *next)
{
  self->next = next;
  self->path = (SpdlCsvField){ 0 };
  self->label = -1;
  self->name.text = NULL;
  self->name_kind = SPDL_PARSE_ERROR_NONE;
  self->weight = 0;
  self->parse_error.kind = SPDL_PARSE_ERROR_NONE;
}

/* Parses a line of a `.txt` list: a path or URI, perhaps with a tab and a label
 * after it. Empty lines and comments are skipped. */
void spdl_line_parse (const gchar *text, const gchar *end, SpdlLine *line);

/* A decimal integer, with blanks around it if you like. Returns what is wrong
 * with it; @label is only set if nothing is. */
SpdlParseErrorKind
spdl_line_parse_label (const gchar *text, gsize length, gint64 *label);

/* Reads the label of a line that was parsed, which takes time that lines that
 * are skipped need not have. Blanks around it do not belong to it. An integer
 * becomes the line's label. What is wrong with it as an integer is noted in
 * name_kind, and is no error yet: it may be the name of a class. */
void spdl_line_read_label (SpdlLine *self);

/* A decimal number from 0 on, such as 2, 0.25 or 1e-3, likewise; rounded to
 * the nearest double. */
SpdlParseErrorKind
spdl_line_parse_weight (const gchar *text, gsize length, double *weight);

/* Whether a text is UTF-8 without NUL. */
gboolean spdl_line_is_utf8 (const gchar *text, gsize length);

G_END_DECLS
