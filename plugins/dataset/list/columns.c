/* gst-spdl: columns of a .csv list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/columns.h"

#include <string.h>

#include "plugins/common/fail.h"

struct _SpdlColumns {
  GPtrArray *names;  /* gchar */
  GPtrArray *fields; /* gchar: names that are fields of the extra; not owned;
                        NULL: the column is left out */
  guint uri;
  guint label;  /* G_MAXUINT: none */
  guint weight; /* G_MAXUINT: none */
  gboolean labels;
};

typedef void (*FieldFunc) (guint i, const SpdlField *field, gpointer user_data);

void
spdl_columns_free (SpdlColumns *self)
{
  g_ptr_array_unref (self->names);
  g_ptr_array_unref (self->fields);
  g_free (self);
}

/* Calls @func with each field of a record, and sets the start of the next
 * record and the parse error of @line. After a malformed record, parsing
 * continues at the next line. Returns the number of fields. */
static guint
read_record (const gchar *record, const gchar *end, SpdlLine *line,
    FieldFunc func, gpointer user_data)
{
  const gchar *limit = end - record > SPDL_COLUMNS_MAX_RECORD
                           ? record + SPDL_COLUMNS_MAX_RECORD
                           : end;
  SpdlCsvResult result;
  SpdlField field;
  SpdlCsv csv;
  guint n = 0;

  spdl_line_init (line, NULL);
  spdl_csv_init (&csv, record, limit);
  do {
    result = spdl_csv_read (&csv, &field);
    if (result == SPDL_CSV_FIELD || result == SPDL_CSV_LAST_FIELD)
      func (n++, &field, user_data);
  } while (result == SPDL_CSV_FIELD);

  line->next = csv.at;
  if (result == SPDL_CSV_STRAY) {
    line->parse_error.kind = SPDL_PARSE_ERROR_QUOTE_STRAY;
  } else if (result == SPDL_CSV_UNCLOSED) {
    line->parse_error.kind = limit < end ? SPDL_PARSE_ERROR_QUOTE_LONG
                                         : SPDL_PARSE_ERROR_QUOTE_UNCLOSED;
    line->parse_error.number = SPDL_COLUMNS_MAX_RECORD;
  } else if (csv.at == limit && limit < end && limit[-1] != '\n') {
    line->parse_error.kind = SPDL_PARSE_ERROR_TOO_LONG;
    line->parse_error.number = SPDL_COLUMNS_MAX_RECORD;
  } else {
    return n;
  }
  const gchar *newline = memchr (record, '\n', end - record);
  line->next = newline ? newline + 1 : end;
  return n;
}

static void
add_name (guint i, const SpdlField *field, gpointer user_data)
{
  g_ptr_array_add (user_data, spdl_field_dup (field));
}

gboolean
spdl_columns_is_field_name (const gchar *name)
{
  guchar all = 0;
  gsize length = 0;

  for (; name[length]; length++) {
    if (g_ascii_iscntrl (name[length]))
      return FALSE;
    all |= name[length];
  }
  return length > 0 && length <= SPDL_COLUMNS_MAX_NAME &&
         (all < 0x80 || g_utf8_validate (name, length, NULL));
}

static gboolean
is_used (const SpdlColumns *self, guint i)
{
  return i == self->uri || (i == self->label && self->labels);
}

static gboolean
find_columns (SpdlColumns *self, const gchar *uri, const gchar *label,
    const gchar *location, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  guint first;

  if (!g_ptr_array_find_with_equal_func (
          self->names, uri, g_str_equal, &self->uri))
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "\"%s\" line 1: column \"%s\" is missing: name the columns in the "
        "first line, such as uri,label, or set uri-column to the column that "
        "holds the path or URI",
        location, uri);
  if (!g_ptr_array_find_with_equal_func (
          self->names, label, g_str_equal, &self->label))
    self->label = G_MAXUINT;

  for (guint i = 0; i < self->names->len; i++) {
    gchar *name = g_ptr_array_index (self->names, i);
    const gboolean is_first = g_hash_table_add (seen, name);

    g_ptr_array_add (self->fields,
        is_first && spdl_columns_is_field_name (name) ? name : NULL);
    if (is_first ||
        !g_ptr_array_find_with_equal_func (
            self->names, name, g_str_equal, &first) ||
        !is_used (self, first))
      continue;
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "\"%s\" line 1: column %u is named \"%s\", like another column: give "
        "each column a different name",
        location, i + 1, name);
  }
  return TRUE;
}

SpdlColumns *
spdl_columns_new (const gchar *header, const gchar *end, const gchar *uri,
    const gchar *label, gboolean labels, const gchar *location,
    const gchar **next, GError **error)
{
  SpdlColumns *self = g_new0 (SpdlColumns, 1);
  SpdlParseErrors parse_errors = { 0 };
  SpdlLine line;

  self->labels = labels;
  self->weight = G_MAXUINT;
  self->names = g_ptr_array_new_with_free_func (g_free);
  self->fields = g_ptr_array_new ();
  read_record (header, end, &line, add_name, self->names);
  *next = line.next;
  if (line.parse_error.kind == SPDL_PARSE_ERROR_NONE &&
      !spdl_line_is_utf8 (header, line.next - header))
    line.parse_error.kind = SPDL_PARSE_ERROR_NOT_UTF8;
  if (line.parse_error.kind != SPDL_PARSE_ERROR_NONE) {
    spdl_parse_errors_add (&parse_errors, &line.parse_error, 1);
    g_propagate_error (
        error, spdl_parse_errors_to_error (&parse_errors, location, 0));
    spdl_parse_errors_clear (&parse_errors);
  } else if (find_columns (self, uri, label, location, error)) {
    return self;
  }
  spdl_columns_free (self);
  return NULL;
}

gchar *
spdl_columns_describe (const SpdlColumns *self)
{
  GString *text = g_string_new ("columns ");

  for (guint i = 0; i < self->names->len; i++) {
    const gchar *name = g_ptr_array_index (self->names, i);
    g_autofree gchar *quoted = spdl_parse_error_quote (name, strlen (name));

    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", quoted);
  }
  return g_string_free (text, FALSE);
}

gchar *
spdl_columns_describe_left_out (const SpdlColumns *self)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < self->names->len; i++) {
    const gchar *name = g_ptr_array_index (self->names, i);
    g_autofree gchar *quoted = spdl_parse_error_quote (name, strlen (name));

    if (!g_ptr_array_index (self->fields, i) && !is_used (self, i))
      g_string_append_printf (
          text, "%s%u %s", text->len > 0 ? ", " : "", i + 1, quoted);
  }
  return text->len > 0 ? g_strconcat ("columns ", text->str, NULL) : NULL;
}

gboolean
spdl_columns_has_field (const SpdlColumns *self, const gchar *name)
{
  guint i;

  return g_ptr_array_find_with_equal_func (
             self->names, name, g_str_equal, &i) &&
         i != self->uri && i != self->label &&
         g_ptr_array_index (self->fields, i);
}

gboolean
spdl_columns_set_weights (
    SpdlColumns *self, const gchar *name, const gchar *location, GError **error)
{
  if (g_ptr_array_find_with_equal_func (
          self->names, name, g_str_equal, &self->weight) &&
      self->weight != self->uri)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" has no column \"%s\" with weights: set weight-column to the name "
      "of one of its columns",
      location, name);
}

typedef struct {
  const SpdlColumns *columns;
  SpdlField path;
  SpdlField label;
  SpdlField weight;
  GstStructure **extra;
} Record;

static void
add_extra (const Record *self, guint i, const SpdlField *field)
{
  GValue value = G_VALUE_INIT;

  if (!*self->extra)
    *self->extra = gst_structure_new_empty ("extra");
  g_value_init (&value, G_TYPE_STRING);
  g_value_take_string (&value, spdl_field_dup (field));
  gst_structure_take_value (
      *self->extra, g_ptr_array_index (self->columns->fields, i), &value);
}

static void
take_field (guint i, const SpdlField *field, gpointer user_data)
{
  Record *self = user_data;

  if (i == self->columns->weight)
    self->weight = *field;
  if (i == self->columns->uri)
    self->path = *field;
  else if (i == self->columns->label)
    self->label = *field;
  else if (self->extra && i < self->columns->names->len && field->length > 0 &&
           g_ptr_array_index (self->columns->fields, i))
    add_extra (self, i, field);
}

static void
check_weight (const SpdlField *weight, SpdlLine *line)
{
  line->parse_error.kind =
      spdl_line_parse_weight (weight->text, weight->length, &line->weight);
  line->parse_error.text = weight->text;
  line->parse_error.length = weight->length;
}

static void
check_fields (const SpdlColumns *self, const Record *fields, guint n_fields,
    SpdlLine *line)
{
  if (n_fields != self->names->len) {
    line->parse_error.kind = SPDL_PARSE_ERROR_N_FIELDS;
    line->parse_error.number = n_fields;
    line->parse_error.wanted = self->names->len;
  } else if (fields->path.length == 0) {
    line->parse_error.kind = SPDL_PARSE_ERROR_NO_URI;
  } else if (self->labels) {
    line->name = fields->label;
  }
  if (self->weight != G_MAXUINT &&
      line->parse_error.kind == SPDL_PARSE_ERROR_NONE)
    check_weight (&fields->weight, line);
}

void
spdl_columns_parse (const SpdlColumns *self, const gchar *record,
    const gchar *end, SpdlLine *line, GstStructure **extra)
{
  Record fields = { .columns = self, .extra = extra };
  guint n;

  if (extra)
    *extra = NULL;
  n = read_record (record, end, line, take_field, &fields);
  if (line->parse_error.kind != SPDL_PARSE_ERROR_NONE ||
      (n == 1 && spdl_line_is_blank (record, line->next - record)))
    return;
  line->path = fields.path;
  check_fields (self, &fields, n, line);
}

/* Fields of a record */

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
