/* gst-spdl: CSV parser (RFC 4180)
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/list/field.h"

G_BEGIN_DECLS

/* Reads the fields of one record (RFC 4180) from a text without copying or
 * allocation. Quoted fields may contain commas, newlines and doubled quotes;
 * other fields may not contain quotes. Lines end in LF or CRLF, which is
 * optional at the end of the text. */

typedef struct {
  const gchar *at;       /* next field; after the last field, next record */
  const gchar *line_end; /* end of the line that contains @at */
  const gchar *end;      /* end of the text */
} SpdlCsv;

typedef enum {
  SPDL_CSV_FIELD,      /* more fields follow in the record */
  SPDL_CSV_LAST_FIELD, /* last field of the record */
  SPDL_CSV_UNCLOSED,   /* a quote without an end */
  SPDL_CSV_STRAY, /* a quote in an unquoted field, or text after a closing quote
                   */
} SpdlCsvResult;

/* Starts reading the record at @record. */
void spdl_csv_init (SpdlCsv *self, const gchar *record, const gchar *end);

/* Reads the next field. Call it again only after SPDL_CSV_FIELD. */
SpdlCsvResult spdl_csv_read (SpdlCsv *self, SpdlField *field);

G_END_DECLS
