/* gst-spdl: CSV parser (RFC 4180)
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/csv.h"

#include <string.h>

static const gchar *
find_line_end (const gchar *at, const gchar *end)
{
  const gchar *newline = memchr (at, '\n', end - at);

  return newline ? newline : end;
}

void
spdl_csv_init (SpdlCsv *self, const gchar *record, const gchar *end)
{
  self->at = record;
  self->end = end;
  self->line_end = find_line_end (record, end);
}

/* Moves to the next field, or to the next record at the end of the line.
 *
 * @at: end of the current field */
static SpdlCsvResult
pass_separator (SpdlCsv *self, const gchar *at)
{
  if (at < self->line_end && *at == ',') {
    self->at = at + 1;
    return SPDL_CSV_FIELD;
  }
  self->at = MIN (self->line_end + 1, self->end);
  return SPDL_CSV_LAST_FIELD;
}

/* Returns the end of the line without a carriage return. */
static const gchar *
find_text_end (const SpdlCsv *self)
{
  const gchar *end = self->line_end;

  return end > self->at && end[-1] == '\r' ? end - 1 : end;
}

static SpdlCsvResult
read_quoted (SpdlCsv *self, SpdlField *field)
{
  const gchar *at = self->at + 1;
  const gchar *quote;

  field->text = at;
  while ((quote = memchr (at, '"', self->end - at)) && quote + 1 < self->end &&
         quote[1] == '"') {
    field->escapes = SPDL_FIELD_QUOTES;
    at = quote + 2;
  }
  if (!quote)
    return SPDL_CSV_UNCLOSED;
  field->length = quote - field->text;
  self->at = quote + 1;
  if (quote > self->line_end)
    self->line_end = find_line_end (self->at, self->end);
  if (self->at < find_text_end (self) && *self->at != ',')
    return SPDL_CSV_STRAY;
  return pass_separator (self, self->at);
}

SpdlCsvResult
spdl_csv_read (SpdlCsv *self, SpdlField *field)
{
  const gchar *end;

  field->escapes = SPDL_FIELD_PLAIN;
  if (self->at < self->end && *self->at == '"')
    return read_quoted (self, field);
  end = find_text_end (self);
  field->text = self->at;
  field->length = end - field->text;
  end = memchr (field->text, ',', field->length);
  if (end)
    field->length = end - field->text;
  if (memchr (field->text, '"', field->length))
    return SPDL_CSV_STRAY;
  return pass_separator (self, field->text + field->length);
}
