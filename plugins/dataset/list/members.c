/* gst-spdl: members of the objects of a .jsonl list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/members.h"

#include <jansson.h>
#include <string.h>

#include "plugins/common/fail.h"
#include "plugins/dataset/list/columns.h"
#include "plugins/dataset/list/jsonreader.h"

typedef struct {
  SpdlField text; /* owned by the table */
  guint next;     /* the name that followed the last time */
  guint64 line;   /* the last line with this name */
  gboolean is_field;
} Name;

struct _SpdlMembers {
  GHashTable *numbers; /* gchar, number of the name */
  GArray *names;       /* Name */
  guint uri;
  guint label;
  guint weight; /* G_MAXUINT: none */
  gboolean labels;
  guint64 line; /* number of lines that were parsed */
  guint last;   /* the last name that was found */
};

static guint
add_name (SpdlMembers *self, const gchar *text)
{
  const Name name = { { g_strdup (text), strlen (text), SPDL_FIELD_PLAIN },
    .is_field = spdl_columns_is_field_name (text) };

  g_hash_table_insert (self->numbers, (gpointer) name.text.text,
      GUINT_TO_POINTER (self->names->len));
  g_array_append_val (self->names, name);
  return self->names->len - 1;
}

static gboolean
look_up (const SpdlMembers *self, const gchar *text, guint *number)
{
  gpointer value;

  if (!g_hash_table_lookup_extended (self->numbers, text, NULL, &value))
    return FALSE;
  *number = GPOINTER_TO_UINT (value);
  return TRUE;
}

static guint
find_or_add (SpdlMembers *self, const gchar *text)
{
  guint number;

  return look_up (self, text, &number) ? number : add_name (self, text);
}

/* Checks a name that the user set. */
static gboolean
check_name (const gchar *property, const gchar *name, GError **error)
{
  g_autofree gchar *quoted = NULL;

  if (spdl_columns_is_field_name (name))
    return TRUE;
  quoted = spdl_parse_error_quote (name, strlen (name));
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "%s is %s, which cannot be the name of a member: use at most %d bytes "
      "without control characters",
      property, quoted, SPDL_COLUMNS_MAX_NAME);
}

SpdlMembers *
spdl_members_new (const gchar *uri, const gchar *label, const gchar *weights,
    gboolean labels, const gchar *location, GError **error)
{
  SpdlMembers *self;

  if (!check_name ("uri-column", uri, error) ||
      (weights && !check_name ("weight-column", weights, error)))
    return NULL;
  self = g_new0 (SpdlMembers, 1);
  self->numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->names = g_array_new (FALSE, FALSE, sizeof (Name));
  self->labels = labels;
  self->uri = add_name (self, uri);
  self->label = find_or_add (self, label);
  self->weight = weights ? find_or_add (self, weights) : G_MAXUINT;
  if (self->weight != self->uri)
    return self;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "The member \"%s\" of the list \"%s\" cannot be the URI and the weight: "
      "set weight-column to the name of another member",
      uri, location);
  spdl_members_free (self);
  return NULL;
}

void
spdl_members_free (SpdlMembers *self)
{
  g_array_unref (self->names);
  g_hash_table_unref (self->numbers);
  g_free (self);
}

/* Lists the names of the lines that are or are not fields. Those that the user
 * named may be missing. Returns NULL without any. */
static gchar *
list_names (const SpdlMembers *self, gboolean fields)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < self->names->len; i++) {
    const Name *name = &g_array_index (self->names, Name, i);
    g_autofree gchar *quoted =
        spdl_parse_error_quote (name->text.text, name->text.length);

    if (name->line > 0 && name->is_field == fields)
      g_string_append_printf (
          text, "%s%s", text->len > 0 ? ", " : "members ", quoted);
  }
  return text->len > 0 ? g_strdup (text->str) : NULL;
}

gchar *
spdl_members_describe (const SpdlMembers *self)
{
  return list_names (self, TRUE);
}

gchar *
spdl_members_describe_left_out (const SpdlMembers *self)
{
  return list_names (self, FALSE);
}

static const gchar *
find_end (const gchar *at, const gchar *end)
{
  const gchar *newline = memchr (at, '\n', end - at);

  return newline ? newline : end;
}

/* Parse errors. These functions return FALSE. */

static gboolean
set_error (SpdlLine *line, SpdlParseErrorKind kind, const SpdlField *text)
{
  line->parse_error.kind = kind;
  line->parse_error.text = text->text;
  line->parse_error.length = text->length;
  line->parse_error.item = NULL;
  return FALSE;
}

/* Sets what is wrong at @at, which is not at a member. */
static gboolean
set_syntax_error (SpdlLine *line, SpdlJsonResult result, const gchar *begin,
    const gchar *at, const gchar *end)
{
  const SpdlField rest = { at, end - at, SPDL_FIELD_PLAIN };

  if (result != SPDL_JSON_INVALID) {
    line->parse_error.number = SPDL_JSON_MAX_DEPTH;
    return set_error (line, SPDL_PARSE_ERROR_JSON_DEPTH, &rest);
  }
  line->parse_error.number = at - begin;
  if (at == end)
    return set_error (line, SPDL_PARSE_ERROR_JSON_CUT_OFF, &rest);
  line->parse_error.number++;
  return set_error (line, SPDL_PARSE_ERROR_JSON, &rest);
}

/* @name: of a member that is missing, or that has a value of another kind
 * @value: (nullable) */
static gboolean
set_member_error (SpdlLine *line, SpdlParseErrorKind kind, const Name *name,
    const SpdlField *value)
{
  set_error (line, kind, &name->text);
  if (value) {
    line->parse_error.item = value->text;
    line->parse_error.item_length = value->length;
  }
  return FALSE;
}

/* Members */

/* Adds a name that was not in the lines before. */
static gboolean
learn_name (
    SpdlMembers *self, const SpdlField *name, SpdlLine *line, guint *number)
{
  g_autofree gchar *text = spdl_field_dup (name);

  if (look_up (self, text, number))
    return TRUE;
  line->parse_error.number = SPDL_COLUMNS_MAX_NAME;
  if (strlen (text) > SPDL_COLUMNS_MAX_NAME)
    return set_error (line, SPDL_PARSE_ERROR_MEMBER_NAME, name);
  line->parse_error.number = SPDL_MEMBERS_MAX_NAMES;
  if (self->names->len >= SPDL_MEMBERS_MAX_NAMES)
    return set_error (line, SPDL_PARSE_ERROR_MEMBER_TOO_MANY, name);
  *number = add_name (self, text);
  return TRUE;
}

/* Returns the name that probably comes next, because lines usually have the
 * same members in the same order. */
static guint
guess_next (const SpdlMembers *self)
{
  return g_array_index (self->names, Name, self->last).next;
}

static gboolean
find_name (SpdlMembers *self, const SpdlJsonMember *member, SpdlLine *line,
    guint *number)
{
  const SpdlField *name = &member->name;
  Name *found;

  *number = guess_next (self);
  if (G_UNLIKELY (!member->is_guess)) {
    if (!learn_name (self, name, line, number))
      return FALSE;
    g_array_index (self->names, Name, self->last).next = *number;
  }
  self->last = *number;
  found = &g_array_index (self->names, Name, *number);
  if (found->line == self->line)
    return set_error (line, SPDL_PARSE_ERROR_MEMBER_TWICE, name);
  found->line = self->line;
  return TRUE;
}

static gboolean
is_fraction (const SpdlField *number)
{
  return memchr (number->text, '.', number->length) ||
         memchr (number->text, 'e', number->length) ||
         memchr (number->text, 'E', number->length);
}

/* Returns FALSE if the number does not fit into 64 bits. */
static gboolean
read_number (const SpdlField *text, GValue *value)
{
  json_t *number = json_loadb (text->text, text->length, JSON_DECODE_ANY, NULL);

  if (json_is_integer (number)) {
    g_value_init (value, G_TYPE_INT64);
    g_value_set_int64 (value, json_integer_value (number));
  } else if (number) {
    g_value_init (value, G_TYPE_DOUBLE);
    g_value_set_double (value, json_real_value (number));
  }
  json_decref (number);
  return number != NULL;
}

/* Adds the value to @extra, or only validates it if that is NULL. */
static gboolean
take_extra (const Name *name, const SpdlJsonMember *member, SpdlLine *line,
    GstStructure **extra)
{
  const SpdlField *text = &member->value;
  GValue value = G_VALUE_INIT;

  if (member->kind == SPDL_JSON_NULL || !name->is_field)
    return TRUE;
  if (member->kind == SPDL_JSON_NUMBER) {
    /* Up to 18 characters fit. */
    if (!extra && text->length <= 18 && !is_fraction (text))
      return TRUE;
    if (!read_number (text, &value))
      return set_member_error (line, SPDL_PARSE_ERROR_MEMBER_RANGE, name, text);
  } else if (extra && member->kind == SPDL_JSON_BOOLEAN) {
    g_value_init (&value, G_TYPE_BOOLEAN);
    g_value_set_boolean (&value, *text->text == 't');
  } else if (extra) {
    g_value_init (&value, G_TYPE_STRING);
    g_value_take_string (&value, spdl_field_dup (text));
  }
  if (!extra)
    return TRUE;
  if (!*extra)
    *extra = gst_structure_new_empty ("extra");
  gst_structure_take_value (*extra, name->text.text, &value);
  return TRUE;
}

static gboolean
take_uri (const Name *name, const SpdlJsonMember *member, SpdlLine *line)
{
  if (member->kind != SPDL_JSON_STRING && member->kind != SPDL_JSON_NULL)
    return set_member_error (
        line, SPDL_PARSE_ERROR_MEMBER_URI, name, &member->value);
  if (member->kind == SPDL_JSON_NULL || member->value.length == 0)
    return set_error (line, SPDL_PARSE_ERROR_NO_URI, &member->value);
  line->path = member->value;
  return TRUE;
}

static gboolean
take_label (const Name *name, const SpdlJsonMember *member, SpdlLine *line)
{
  if (member->kind == SPDL_JSON_NULL)
    return TRUE;
  if (member->kind != SPDL_JSON_STRING && member->kind != SPDL_JSON_NUMBER)
    return set_member_error (
        line, SPDL_PARSE_ERROR_MEMBER_LABEL, name, &member->value);
  line->name = member->value;
  return TRUE;
}

static gboolean
take_weight (const SpdlJsonMember *member, SpdlLine *line)
{
  const SpdlField *text = &member->value;

  if (member->kind == SPDL_JSON_NUMBER &&
      spdl_line_parse_weight (text->text, text->length, &line->weight) ==
          SPDL_PARSE_ERROR_NONE)
    return TRUE;
  return set_error (line, SPDL_PARSE_ERROR_WEIGHT, text);
}

static gboolean
take_member (SpdlMembers *self, const SpdlJsonMember *member, SpdlLine *line,
    GstStructure **extra)
{
  const Name *name;
  guint number;

  if (!find_name (self, member, line, &number))
    return FALSE;
  name = &g_array_index (self->names, Name, number);
  if (number == self->weight && !take_weight (member, line))
    return FALSE;
  if (number == self->uri)
    return take_uri (name, member, line);
  if (number == self->label)
    return !self->labels || take_label (name, member, line);
  return take_extra (name, member, line, extra);
}

/* Checks that the line has the members that it needs. */
static gboolean
check_members (const SpdlMembers *self, SpdlLine *line)
{
  const Name *uri = &g_array_index (self->names, Name, self->uri);
  const Name *weight = self->weight == G_MAXUINT
                           ? uri
                           : &g_array_index (self->names, Name, self->weight);

  if (uri->line != self->line)
    return set_member_error (line, SPDL_PARSE_ERROR_MEMBER_NO_URI, uri, NULL);
  if (weight->line != self->line)
    return set_member_error (
        line, SPDL_PARSE_ERROR_MEMBER_NO_WEIGHT, weight, NULL);
  return TRUE;
}

/* Reads the object from the line at @text.
 *
 * @at: (out): end of the line on success */
static gboolean
read_object (SpdlMembers *self, const gchar *text, const gchar *end,
    SpdlLine *line, GstStructure **extra, const gchar **at)
{
  SpdlJsonReader reader;
  SpdlJsonMember member;
  SpdlJsonResult result;

  self->line++;
  spdl_json_reader_init (&reader, text, end);
  while ((result = spdl_json_reader_next (&reader,
              &g_array_index (self->names, Name, guess_next (self)).text,
              &member)) == SPDL_JSON_MEMBER)
    if (!take_member (self, &member, line, extra))
      return FALSE;
  if (result != SPDL_JSON_END)
    return set_syntax_error (
        line, result, text, reader.at, find_end (reader.at, end));
  *at = reader.at;
  line->is_ascii = reader.is_ascii;
  return check_members (self, line);
}

static gboolean
is_empty (const gchar *text, const gchar *end)
{
  while (text < end && *text != '\n' && g_ascii_isspace (*text))
    text++;
  return text == end || *text == '\n';
}

void
spdl_members_parse (SpdlMembers *self, const gchar *text, const gchar *end,
    SpdlLine *line, GstStructure **extra)
{
  const gchar *const limit =
      end - text > SPDL_MEMBERS_MAX_LINE ? text + SPDL_MEMBERS_MAX_LINE : end;
  const gchar *at = text;
  gboolean is_item;

  if (extra)
    *extra = NULL;
  spdl_line_init (line, NULL);
  is_item = !is_empty (text, limit) &&
            read_object (self, text, limit, line, extra, &at);
  /* A valid object ends at the end of its line. */
  if (!is_item)
    at = find_end (text, end);
  if (at > limit || (at < end && *at != '\n')) {
    is_item = FALSE;
    at = find_end (at, end);
    line->parse_error.kind = SPDL_PARSE_ERROR_TOO_LONG;
    line->parse_error.number = SPDL_MEMBERS_MAX_LINE;
  }
  if (!is_item) {
    line->path.text = line->name.text = NULL;
    if (extra)
      g_clear_pointer (extra, gst_structure_free);
  }
  line->next = MIN (at + 1, end);
}
