/* gst-spdl: label and metadata fields of a sample in a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/archivenotes.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "gst/spdl/common/logline.h"
#include "gst/spdl/common/redact.h"
#include "plugins/dataset/archive/archiveopen.h"
#include "plugins/dataset/list/columns.h"
#include "plugins/dataset/list/jsonreader.h"

#define GST_CAT_DEFAULT spdl_archive_get_category ()

/* JSON members may have arbitrary names, which become quarks in many places and
 * are never freed. */
#define MAX_NAMES 4096

/* Since GStreamer 1.26 a field does not make its name a quark.
 *
 * @losses: (inout) (optional) */
static gboolean
is_name (const gchar *name, SpdlArchiveLosses *losses)
{
  static gint n_names = 0; /* atomic */

  if (spdl_columns_is_field_name (name)) {
    if (g_quark_try_string (name) != 0)
      return TRUE;
    if (g_atomic_int_get (&n_names) < MAX_NAMES &&
        g_atomic_int_add (&n_names, 1) < MAX_NAMES)
      return g_quark_from_string (name) != 0;
  }
  if (losses && !losses->name)
    losses->name = g_strdup (name);
  return FALSE;
}

/* Takes ownership of @text. If the field exists already, the first value is
 * kept. */
static void
add_string (GstStructure *to, const gchar *name, gchar *text)
{
  GValue value = G_VALUE_INIT;

  if (gst_structure_has_field (to, name)) {
    g_free (text);
    return;
  }
  g_value_init (&value, G_TYPE_STRING);
  g_value_take_string (&value, text);
  gst_structure_take_value (to, name, &value);
}

/* Returns FALSE for an array, an object, null, or a string with U+0000. */
static gboolean
set_value (GValue *value, const json_t *json)
{
  switch (json_typeof (json)) {
    case JSON_STRING:
      if (strlen (json_string_value (json)) < json_string_length (json))
        return FALSE;
      g_value_init (value, G_TYPE_STRING);
      g_value_set_string (value, json_string_value (json));
      return TRUE;
    case JSON_INTEGER:
      g_value_init (value, G_TYPE_INT64);
      g_value_set_int64 (value, json_integer_value (json));
      return TRUE;
    case JSON_REAL:
      g_value_init (value, G_TYPE_DOUBLE);
      g_value_set_double (value, json_real_value (json));
      return TRUE;
    case JSON_TRUE:
    case JSON_FALSE:
      g_value_init (value, G_TYPE_BOOLEAN);
      g_value_set_boolean (value, json_is_true (json));
      return TRUE;
    default:
      return FALSE;
  }
}

/* Returns TRUE for a number that JSON, or a field, cannot contain. */
static gboolean
is_lost_number (const gchar *word)
{
  const gboolean is_integer = !strpbrk (word, ".eE");

  if (g_str_equal (word, "NaN") || g_str_equal (word, "Infinity") ||
      g_str_equal (word, "-Infinity"))
    return TRUE;
  if (*word != '-' && !g_ascii_isdigit (*word))
    return FALSE;
  if (!is_integer)
    return isinf (g_ascii_strtod (word, NULL));
  errno = 0;
  g_ascii_strtoll (word, NULL, 10);
  return errno == ERANGE;
}

/* Returns the length of the string at @text, including its quotes. */
static gsize
measure_string (const gchar *text)
{
  const gchar *at = text + 1;

  while (*at && *at != '"')
    at += *at == '\\' && at[1] ? 2 : 1;
  return at - text + (*at == '"');
}

/* Returns (transfer full) JSON in which null replaces such numbers, which
 * Python's module json writes. */
static gchar *
remove_lost_numbers (const gchar *text)
{
  GString *to = g_string_new (NULL);

  while (*text) {
    gsize n = *text == '"' ? measure_string (text) : 0;
    g_autofree gchar *word = NULL;

    if (n == 0)
      while (g_ascii_isalnum (text[n]) || (text[n] && strchr ("+-.", text[n])))
        n++;
    word = g_strndup (text, MAX (n, 1));
    g_string_append (to, is_lost_number (word) ? "null" : word);
    text += MAX (n, 1);
  }
  return g_string_free (to, FALSE);
}

static void
note_json (SpdlArchiveLosses *losses, const gchar *key)
{
  if (losses && !losses->json)
    losses->json = g_strdup (key);
}

/* @text: (inout): is replaced by JSON if it is not */
static json_t *
read_json (
    gchar **text, const gchar *uri, const gchar *key, SpdlArchiveLosses *losses)
{
  const size_t flags =
      JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY;
  json_error_t error;
  json_t *root = json_loads (*text, flags, &error);

  if (!root) {
    gchar *other = remove_lost_numbers (*text);

    g_free (*text);
    *text = other;
    root = json_loads (other, flags, &error);
    note_json (losses, key);
  }
  if (!root) {
    g_autofree gchar *shown = spdl_redact_dup_uri (uri);

    SPDL_WARNING (
        "the sample \"%s\" of \"%s\" gets no fields from its JSON file: %s",
        key, shown, error.text);
  }
  return root;
}

/* Adds the arrays and objects in a JSON object as their text, which Jansson
 * does not keep. */
static void
add_nested (GstStructure *to, const gchar *text, SpdlArchiveLosses *losses)
{
  SpdlJsonReader reader;
  SpdlJsonMember member;
  SpdlJsonResult result;

  spdl_json_reader_init_part (&reader, text, text + strlen (text));
  while ((result = spdl_json_reader_next (&reader, NULL, &member)) ==
         SPDL_JSON_MEMBER) {
    g_autofree gchar *name = NULL;

    if (member.kind != SPDL_JSON_NESTED)
      continue;
    name = spdl_field_dup (&member.name);
    if (!g_str_equal (name, "cls") && is_name (name, losses))
      add_string (to, name, spdl_field_dup (&member.value));
  }
  /* The reader refuses U+0000. */
  if (result != SPDL_JSON_END)
    note_json (losses, gst_structure_get_string (to, "key"));
}

/* Adds the members of a JSON object as fields. If the text is not a JSON
 * object, no field is added. A member "cls" is left out: only a file is the
 * label. */
static void
add_members (
    GstStructure *to, gchar **text, const gchar *uri, SpdlArchiveLosses *losses)
{
  const gchar *key = gst_structure_get_string (to, "key");
  json_t *root = read_json (text, uri, key, losses);
  gboolean has_nested = FALSE;
  json_t *member;
  const gchar *name;

  json_object_foreach (root, name, member)
  {
    GValue value = G_VALUE_INIT;

    has_nested |= json_is_array (member) || json_is_object (member);
    if (g_str_equal (name, "cls") || !is_name (name, losses) ||
        gst_structure_has_field (to, name))
      continue;
    if (set_value (&value, member))
      gst_structure_take_value (to, name, &value);
    else if (json_is_string (member))
      note_json (losses, key);
  }
  if (has_nested)
    add_nested (to, *text, losses);
  json_decref (root);
}

gchar *
spdl_archive_notes_make_uri (const gchar *uri, const SpdlArchiveFile *file)
{
  const guint64 last = file->first + spdl_archive_file_get_length (file) - 1;

  if (!file->packed)
    return g_strdup_printf ("%s#bytes=%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT,
        uri, file->first, last);
  return g_strdup_printf ("%s#bytes=%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT
                          "&inflate=%" G_GUINT64_FORMAT "&crc32=%08x",
      uri, file->first, last, file->size, file->packing.checksum);
}

/* Adds the text of a file as a field named by the file's extension, if that is
 * a valid name. Takes ownership of @text. */
static void
add_file (GstStructure *to, const SpdlArchiveFile *file, gchar *text,
    SpdlArchiveLosses *losses)
{
  g_autofree gchar *name = g_strndup (file->extension, file->extension_length);

  if (is_name (name, losses))
    add_string (to, name, text);
  else
    g_free (text);
}

void
spdl_archive_losses_clear (SpdlArchiveLosses *self)
{
  g_free (self->name);
  g_free (self->text);
  g_free (self->json);
}

void
spdl_archive_losses_warn (SpdlArchiveLosses *self,
    const SpdlDatasetOptions *options, const gchar *location)
{
  g_autofree gchar *quoted = NULL;

  if (self->text && !self->told_text)
    spdl_dataset_warn (options,
        "The text \"%s\" in \"%s\" is not UTF-8, or contains a NUL character: "
        "U+FFFD replaces the invalid bytes, also in further texts. Convert "
        "the texts to UTF-8",
        self->text, location);
  if (self->json && !self->told_json)
    spdl_dataset_warn (options,
        "The JSON of the sample \"%s\" in \"%s\" is invalid, or has values "
        "that fields cannot have: NaN, Infinity, integers beyond 64 bits or "
        "strings with U+0000. Such values are left out, also in further "
        "samples: the text is in the field \"json\"",
        self->json, location);
  if (self->name && !self->told_name) {
    quoted = spdl_parse_error_quote (self->name, strlen (self->name));
    spdl_dataset_warn (options,
        "The field %s of a sample in \"%s\" is left out, as are others of its "
        "kind, because its name is empty, longer than %d bytes or has control "
        "characters, or because there are more than %d names: rename it",
        quoted, location, SPDL_COLUMNS_MAX_NAME, MAX_NAMES);
  }
  self->told_text = self->text != NULL;
  self->told_json = self->json != NULL;
  self->told_name = self->name != NULL;
}

void
spdl_archive_notes_warn_long (
    const SpdlDatasetOptions *options, guint64 n, const gchar *location)
{
  if (n > 0)
    spdl_dataset_warn (options,
        "%" G_GUINT64_FORMAT " texts in \"%s\" were skipped, because they "
        "exceed the limit of 16 MiB",
        n, location);
}

gint64
spdl_archive_notes_get_label (
    const SpdlLabelOptions *options, const SpdlArchiveSample *sample)
{
  SpdlArchiveSample reading = *sample;
  SpdlArchiveFile file;

  if (!options->read || options->column)
    return SPDL_NO_LABEL;
  if (sample->label != -1)
    return sample->label;
  /* A sample without a label has the same number as one whose label is -1. */
  while (spdl_archive_sample_next (&reading, &file))
    if (file.kind == SPDL_ARCHIVE_LABEL)
      return -1;
  return SPDL_NO_LABEL;
}

gchar *
spdl_archive_notes_describe (const SpdlArchiveSample *sample, const gchar *uri)
{
  static const SpdlArchiveFile none = { .extension = "" };
  g_autoptr (GstStructure) extra =
      spdl_archive_notes_new (sample, uri, &none, NULL);

  return spdl_labels_describe_fields (extra);
}

/* Returns the text of a file as UTF-8 (transfer full). */
static gchar *
dup_text (const SpdlArchiveSample *sample, const SpdlArchiveFile *file,
    SpdlArchiveLosses *losses)
{
  if (g_utf8_validate (file->text, file->text_length, NULL))
    return g_strndup (file->text, file->text_length);
  if (losses && !losses->text)
    losses->text = g_strdup_printf ("%.*s.%.*s", (gint) sample->key_length,
        sample->key, (gint) file->extension_length, file->extension);
  return g_utf8_make_valid (file->text, file->text_length);
}

GstStructure *
spdl_archive_notes_new (const SpdlArchiveSample *sample, const gchar *uri,
    const SpdlArchiveFile *payload, SpdlArchiveLosses *losses)
{
  GstStructure *to = gst_structure_new_empty ("extra");
  SpdlArchiveSample reading = *sample;
  g_autofree gchar *json = NULL;
  SpdlArchiveFile file;

  add_string (to, "key", g_strndup (sample->key, sample->key_length));
  while (spdl_archive_sample_next (&reading, &file)) {
    if (file.text)
      add_file (to, &file, dup_text (sample, &file, losses), losses);
    else if (!spdl_archive_kind_is_note (file.kind) && file.size > 0 &&
             file.extension != payload->extension)
      add_file (to, &file, spdl_archive_notes_make_uri (uri, &file), losses);
    if (file.text && file.kind == SPDL_ARCHIVE_JSON && !json)
      json = g_utf8_make_valid (file.text, file.text_length);
  }
  if (json)
    add_members (to, &json, uri, losses);
  return to;
}

/* Roles of files */

/* Extensions of further ones are not compared. */
#define MAX_EXTENSIONS 256
/* Longer extensions are not compared. */
#define MAX_LENGTH 64

typedef struct {
  gchar *key; /* (nullable): of the first sample whose payload it is */
  gboolean is_further;
} Roles;

static void
free_roles (gpointer data)
{
  Roles *roles = data;

  g_free (roles->key);
  g_free (roles);
}

static Roles *
get_roles (SpdlArchiveRoles *self, const SpdlArchiveFile *file,
    const gchar **extension)
{
  gchar name[MAX_LENGTH];
  gpointer known, roles = NULL;

  if (file->extension_length >= MAX_LENGTH)
    return NULL;
  memcpy (name, file->extension, file->extension_length);
  name[file->extension_length] = '\0';
  if (!g_hash_table_lookup_extended (self->extensions, name, &known, &roles) &&
      g_hash_table_size (self->extensions) < MAX_EXTENSIONS) {
    known = g_strdup (name);
    roles = g_new0 (Roles, 1);
    g_hash_table_insert (self->extensions, known, roles);
  }
  *extension = roles ? known : NULL;
  return roles;
}

gboolean
spdl_archive_roles_add (SpdlArchiveRoles *self, const SpdlArchiveSample *sample)
{
  SpdlArchiveSample reading = *sample;
  SpdlArchiveFile payload, file;

  if (self->extension ||
      !spdl_archive_sample_get_payload (sample, NULL, &payload))
    return FALSE;
  if (!self->extensions)
    self->extensions =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_roles);
  while (!self->extension && spdl_archive_sample_next (&reading, &file)) {
    const gchar *extension;
    Roles *roles;

    if (file.size == 0 || spdl_archive_kind_is_note (file.kind))
      continue;
    roles = get_roles (self, &file, &extension);
    if (!roles)
      continue;
    if (file.extension != payload.extension)
      roles->is_further = TRUE;
    else if (!roles->key)
      roles->key = g_strndup (sample->key, sample->key_length);
    if (roles->is_further && roles->key) {
      self->extension = extension;
      self->key = roles->key;
    }
  }
  return self->extension != NULL;
}

void
spdl_archive_roles_warn (const SpdlArchiveRoles *self,
    const SpdlDatasetOptions *options, const gchar *location)
{
  spdl_dataset_warn (options,
      "The item \"%s\" in \"%s\" is its file \"%s\", which is not the item in "
      "other samples, so a file is missing in this sample or in similar ones: "
      "set extensions to those of the items, to skip samples without such a "
      "file",
      self->key, location, self->extension);
}

void
spdl_archive_roles_clear (SpdlArchiveRoles *self)
{
  g_clear_pointer (&self->extensions, g_hash_table_unref);
  *self = (SpdlArchiveRoles){ NULL };
}
