/* gst-spdl: columns of a .csv list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/list/line.h"

G_BEGIN_DECLS

/* Maximum length of a record in bytes. A record may contain a caption but not a
 * file. Limits the search for the end of an unclosed quote. */
#define SPDL_COLUMNS_MAX_RECORD (1 << 20)

/* Maximum length in bytes of the name of a field. Names become quarks, which
 * are never freed. */
#define SPDL_COLUMNS_MAX_NAME 255

/* Columns of a `.csv` list according to its header. One of them is the path or
 * URI, one may be the label, and the other columns are strings in the item's
 * `extra`. Immutable after spdl_columns_set_weights(). */
typedef struct _SpdlColumns SpdlColumns;

/* Parses the header.
 *
 * @uri: name of the column with the path or URI
 * @label: name of the column with the label
 * @labels: whether labels are read; FALSE: the column is ignored
 * @next: (out): the first record
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlColumns *spdl_columns_new (const gchar *header, const gchar *end,
    const gchar *uri, const gchar *label, gboolean labels,
    const gchar *location, const gchar **next, GError **error);

void spdl_columns_free (SpdlColumns *self);

/* Sets the column with the weights. Returns FALSE with @error set if the column
 * does not exist. */
gboolean spdl_columns_set_weights (SpdlColumns *self, const gchar *name,
    const gchar *location, GError **error);

/* Returns the names for a message (transfer full): `columns "a", "b"`. */
gchar *spdl_columns_describe (const SpdlColumns *self);

/* Returns the columns that are not fields, because they have no name or that of
 * a column before them, for a message (transfer full); NULL: none. */
gchar *spdl_columns_describe_left_out (const SpdlColumns *self);

/* Returns TRUE if a column with this name is a field of the extra. */
gboolean spdl_columns_has_field (const SpdlColumns *self, const gchar *name);

/* Returns TRUE if @name is usable as the name of a field: not empty, UTF-8,
 * short and without control characters. GStreamer can hold such a field, but
 * may not be able to parse it from text. */
gboolean spdl_columns_is_field_name (const gchar *name);

/* Parses a record into @line, like spdl_line_parse().
 *
 * @extra: (out) (optional): fields of the other columns; NULL if all are
 *     empty */
void spdl_columns_parse (const SpdlColumns *self, const gchar *record,
    const gchar *end, SpdlLine *line, GstStructure **extra);

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
