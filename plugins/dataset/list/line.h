/* gst-spdl: parser of a line of a list
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

typedef enum {
  SPDL_PARSE_ERROR_NONE,
  SPDL_PARSE_ERROR_TOO_LONG, /* number: the limit in bytes */
  SPDL_PARSE_ERROR_NOT_UTF8,
  SPDL_PARSE_ERROR_NO_URI,
  /* Errors of labels; text: the label, item: its item. */
  SPDL_PARSE_ERROR_LABEL_NO_INTEGER, /* other labels are integers */
  SPDL_PARSE_ERROR_LABEL_INTEGER,    /* other labels are text */
  SPDL_PARSE_ERROR_LABEL_FRACTION,
  SPDL_PARSE_ERROR_LABEL_UNKNOWN,  /* number: number of classes */
  SPDL_PARSE_ERROR_LABEL_TOO_MANY, /* number: maximum number of classes */
  SPDL_PARSE_ERROR_LABEL_TOO_LARGE,
  SPDL_PARSE_ERROR_WEIGHT,   /* text: the weight */
  SPDL_PARSE_ERROR_N_FIELDS, /* number: number of fields, wanted: expected
                                number */
  SPDL_PARSE_ERROR_QUOTE_UNCLOSED,
  SPDL_PARSE_ERROR_QUOTE_LONG, /* number: limit in bytes */
  SPDL_PARSE_ERROR_QUOTE_STRAY,
  /* Errors of JSON lines; text: the name of the member, item: its value. */
  SPDL_PARSE_ERROR_JSON, /* number: position in the line from 1, text: the
                            rest of the line */
  SPDL_PARSE_ERROR_JSON_CUT_OFF,    /* number: length of the line */
  SPDL_PARSE_ERROR_JSON_DEPTH,      /* number: maximum depth */
  SPDL_PARSE_ERROR_MEMBER_NAME,     /* number: maximum length */
  SPDL_PARSE_ERROR_MEMBER_TOO_MANY, /* number: maximum number of names */
  SPDL_PARSE_ERROR_MEMBER_TWICE,
  SPDL_PARSE_ERROR_MEMBER_RANGE,
  SPDL_PARSE_ERROR_MEMBER_URI,   /* not a string */
  SPDL_PARSE_ERROR_MEMBER_LABEL, /* neither a string nor an integer */
  SPDL_PARSE_ERROR_MEMBER_NO_URI,
  SPDL_PARSE_ERROR_MEMBER_NO_WEIGHT,
} SpdlParseErrorKind;

/* Parse error of a line. The texts point into the line. */
typedef struct {
  SpdlParseErrorKind kind;
  const gchar *text;
  gsize length;
  guint64 number;
  guint64 wanted;
  const gchar *item;
  gsize item_length;
} SpdlParseError;

/* Number of malformed lines, and what is wrong with the first one. Nothing else
 * is kept, so that a list of malformed lines needs no more memory than a valid
 * one. */
typedef struct {
  gchar *first;       /* (nullable): description of the first one */
  guint64 first_line; /* starts at 1 */
  guint64 n_flaws;
} SpdlParseErrors;

/* @parse_error: is described at once, so its texts need not stay valid */
void spdl_parse_errors_add (
    SpdlParseErrors *self, const SpdlParseError *parse_error, guint64 line);
void spdl_parse_errors_clear (SpdlParseErrors *self);

/* Creates an error in the domain of GST_RESOURCE_ERROR that names the list, the
 * first malformed line and its parse error.
 *
 * @n_lines: number of lines without comments and empty lines; 0 if it is
 *     unknown, so that the message describes the first malformed line only */
GError *spdl_parse_errors_to_error (
    const SpdlParseErrors *self, const gchar *location, guint64 n_lines);

/* Returns an excerpt of a list for messages: quoted, short, UTF-8, on one
 * line. */
gchar *spdl_parse_error_quote (const gchar *text, gsize length);

/* Maximum length of a line in bytes. Paths on Linux have at most 4,096 bytes,
 * and signed URLs at most twice as many. */
#define SPDL_LINE_MAX 65536

/* Value in place of a label for an item without one. No label has it. */
#define SPDL_NO_LABEL G_MININT64

/* A parsed line. The texts point into the text that was parsed. */
typedef struct {
  const gchar *next; /* the next line */
  SpdlField path;    /* path or URI; text is NULL if the line is not an item */
  gint64 label;      /* SPDL_NO_LABEL: none, text, or not parsed yet */
  SpdlField name;    /* label as written; text is NULL if there is none */
  SpdlParseErrorKind name_kind; /* parse error of @name as an integer */
  double weight;                /* valid if weights are read */
  gboolean is_ascii;            /* so it need not be validated as UTF-8 */
  SpdlParseError parse_error;
} SpdlLine;

/* Initializes a line that is not an item and has no error. The fields are set
 * one by one because compilers clear a whole structure with an instruction that
 * takes longer than parsing the rest of a line. */
static inline void
spdl_line_init (SpdlLine *self, const gchar *next)
{
  self->next = next;
  self->path = (SpdlField){ 0 };
  self->label = SPDL_NO_LABEL;
  self->name.text = NULL;
  self->name_kind = SPDL_PARSE_ERROR_NONE;
  self->weight = 0;
  self->is_ascii = FALSE;
  self->parse_error.kind = SPDL_PARSE_ERROR_NONE;
}

/* Returns TRUE if the text has no other characters than blanks. */
gboolean spdl_line_is_blank (const gchar *text, gsize length);

/* Parses a line of a `.txt` list: a path or URI, optionally followed by a tab
 * and a label. Empty lines and comments are not items. */
void spdl_line_parse (const gchar *text, const gchar *end, SpdlLine *line);

/* Parses a decimal integer, which blanks may surround, or a real number whose
 * value is an integer, since pandas writes 3 as 3.0 if another label of the
 * column is missing. Returns the parse error; @label is set only on success. */
SpdlParseErrorKind
spdl_line_parse_label (const gchar *text, gsize length, gint64 *label);

/* Converts a real number like spdl_line_parse_label(). */
SpdlParseErrorKind spdl_line_convert_label (double number, gint64 *label);

/* Parses the label of a parsed line. This is a separate step because skipped
 * lines do not need it. Surrounding blanks are removed; a label
 * of blanks is none. An integer becomes the line's label. If the text is not an
 * integer, name_kind is set, which is not an error yet because the text may be
 * a class name. */
void spdl_line_read_label (SpdlLine *self);

/* Returns the text of the label without escapes and surrounding blanks
 * (transfer full). */
gchar *spdl_line_dup_label (const SpdlLine *self);

/* Parses a non-negative decimal number such as 2, 0.25 or 1e-3, which blanks
 * may surround, and rounds it to the nearest double. Returns the parse
 * error. */
SpdlParseErrorKind
spdl_line_parse_weight (const gchar *text, gsize length, double *weight);

/* Returns TRUE if the text is UTF-8 and contains no NUL. */
gboolean spdl_line_is_utf8 (const gchar *text, gsize length);

G_END_DECLS
