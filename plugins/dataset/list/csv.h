/* gst-spdl: reader of comma-separated values
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Reads the fields of one record of RFC 4180 out of a text, without copying or
 * allocating: fields in quotes may hold commas, newlines and doubled quotes;
 * lines end in LF or CRLF, the last one may lack it. Fields outside of quotes
 * may hold no quotes. */

typedef struct {
  const gchar *at;       /* the next field; after the last, the next record */
  const gchar *line_end; /* of the line that @at is in */
  const gchar *end;      /* of the text */
} SpdlCsv;

typedef struct {
  const gchar *text; /* without the quotes around it */
  gsize length;
  gboolean has_quotes; /* doubled ones, which are still to be undone */
} SpdlCsvField;

typedef enum {
  SPDL_CSV_FIELD,      /* there are more in this record */
  SPDL_CSV_LAST_FIELD, /* there are none */
  SPDL_CSV_UNCLOSED,   /* a quote that the text's end leaves open */
  SPDL_CSV_STRAY, /* a quote within a field, or text behind a closing one */
} SpdlCsvResult;

/* Begins the record at @record. */
void spdl_csv_init (SpdlCsv *self, const gchar *record, const gchar *end);

/* The next field. Not to be called again after any result but SPDL_CSV_FIELD.
 */
SpdlCsvResult spdl_csv_read (SpdlCsv *self, SpdlCsvField *field);

gchar *spdl_csv_field_dup (const SpdlCsvField *field);

G_END_DECLS
