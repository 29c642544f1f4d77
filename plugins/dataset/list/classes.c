/* gst-spdl: class names and their numbers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/classes.h"

#include <gst/gst.h>
#include <string.h>

#include "plugins/common/fail.h"
#include "plugins/common/fingerprint.h"

/* A class name, or a text to look up. */
typedef struct {
  const gchar *text; /* class names: owned by the array of names */
  gsize length;
  guint number;
} Entry;

struct _SpdlClasses {
  GPtrArray *names; /* gchar, terminated by NULL */
  GHashTable *entries;
  gsize size;
  gboolean has_integers; /* TRUE if a name is an integer */
};

static guint
hash_entry (gconstpointer key)
{
  const Entry *entry = key;
  guint hash = 5381;

  for (gsize i = 0; i < entry->length; i++)
    hash = hash * 33 + (guchar) entry->text[i];
  return hash;
}

static gboolean
equal_entries (gconstpointer a, gconstpointer b)
{
  const Entry *one = a, *other = b;

  return one->length == other->length &&
         memcmp (one->text, other->text, one->length) == 0;
}

SpdlClasses *
spdl_classes_new (void)
{
  SpdlClasses *self = g_new0 (SpdlClasses, 1);

  self->names = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->names, NULL);
  self->entries =
      g_hash_table_new_full (hash_entry, equal_entries, g_free, NULL);
  return self;
}

void
spdl_classes_free (SpdlClasses *self)
{
  g_hash_table_unref (self->entries);
  g_ptr_array_unref (self->names);
  g_free (self);
}

static gboolean
is_integer (const gchar *text, gsize length)
{
  gint64 value;

  return spdl_line_parse_label (text, length, &value) == SPDL_PARSE_ERROR_NONE;
}

static const Entry *
find_entry (const SpdlClasses *self, const gchar *name, gsize length)
{
  const Entry key = { name, length, 0 };

  return g_hash_table_lookup (self->entries, &key);
}

gboolean
spdl_classes_add (SpdlClasses *self, const gchar *name, gsize length)
{
  const guint n = spdl_classes_get_size (self);
  Entry *entry;

  if (G_LIKELY (find_entry (self, name, length)))
    return TRUE;
  if (n == SPDL_CLASSES_MAX || length >= SPDL_CLASSES_MAX_SIZE - self->size)
    return FALSE;
  self->size += length + 1;
  self->has_integers |= is_integer (name, length);
  entry = g_new (Entry, 1);
  *entry = (Entry){ g_strndup (name, length), length, n };
  g_hash_table_add (self->entries, entry);
  g_ptr_array_index (self->names, n) = (gchar *) entry->text;
  g_ptr_array_add (self->names, NULL);
  return TRUE;
}

static gboolean
check_name (const SpdlClasses *self, const gchar *name, guint i, GError **error)
{
  const gchar *problem = NULL;

  if (!*name)
    problem = "is empty";
  else if (g_ascii_isspace (*name) || g_ascii_isspace (name[strlen (name) - 1]))
    problem = "begins or ends with a blank, which is removed from labels";
  else if (!g_utf8_validate (name, -1, NULL))
    problem = "is not UTF-8";
  else if (find_entry (self, name, strlen (name)))
    problem = "appears twice";
  if (!problem)
    return TRUE;
  g_autofree gchar *quoted = spdl_parse_error_quote (name, strlen (name));
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "Class %u of classes, %s, %s: give each class one name", i, quoted,
      problem);
}

SpdlClasses *
spdl_classes_new_from_names (const gchar *const *names, GError **error)
{
  g_autoptr (SpdlClasses) self = NULL;

  if (!names || !*names)
    return NULL;
  self = spdl_classes_new ();
  for (guint i = 0; names[i]; i++) {
    if (!check_name (self, names[i], i, error))
      return NULL;
    if (!spdl_classes_add (self, names[i], strlen (names[i]))) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
          "classes exceeds the limit of %u names or %u bytes: use numbers as "
          "labels",
          SPDL_CLASSES_MAX, SPDL_CLASSES_MAX_SIZE);
      return NULL;
    }
  }
  return g_steal_pointer (&self);
}

SpdlParseErrorKind
spdl_classes_collect (
    SpdlClasses **found, gboolean *has_numbers, const SpdlLine *line)
{
  g_autofree gchar *copy = NULL;
  const gchar *name = line->name.text;
  gsize length = line->name.length;

  if (G_UNLIKELY (line->name.escapes)) {
    name = copy = spdl_line_dup_label (line);
    length = strlen (name);
  }
  if (line->name_kind != SPDL_PARSE_ERROR_LABEL_NO_INTEGER) {
    if (line->name_kind == SPDL_PARSE_ERROR_NONE && line->label == -1)
      return SPDL_PARSE_ERROR_NONE;
    if (*found)
      return SPDL_PARSE_ERROR_LABEL_INTEGER;
    *has_numbers = TRUE;
    return line->name_kind;
  }
  if (*has_numbers)
    return SPDL_PARSE_ERROR_LABEL_NO_INTEGER;
  if (!*found)
    *found = spdl_classes_new ();
  return spdl_classes_add (*found, name, length)
             ? SPDL_PARSE_ERROR_NONE
             : SPDL_PARSE_ERROR_LABEL_TOO_MANY;
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *) a, *(const gchar *const *) b);
}

void
spdl_classes_sort (SpdlClasses *self)
{
  const guint n = spdl_classes_get_size (self);

  qsort (self->names->pdata, n, sizeof (gpointer), compare_names);
  for (guint i = 0; i < n; i++) {
    const gchar *name = g_ptr_array_index (self->names, i);

    ((Entry *) find_entry (self, name, strlen (name)))->number = i;
  }
}

guint
spdl_classes_get_size (const SpdlClasses *self)
{
  return self->names->len - 1;
}

const gchar *const *
spdl_classes_get_names (const SpdlClasses *self)
{
  return (const gchar *const *) self->names->pdata;
}

guint64
spdl_classes_get_hash (const SpdlClasses *self)
{
  guint64 hash = 1;

  if (!self)
    return 0;
  /* The hash includes the terminating 0, so that names cannot be confused with
   * their concatenation. */
  for (guint i = 0; i < spdl_classes_get_size (self); i++) {
    const gchar *name = g_ptr_array_index (self->names, i);

    hash = spdl_fingerprint_add (hash, name, strlen (name) + 1);
  }
  return MAX (hash, 1);
}

gint64
spdl_classes_find (const SpdlClasses *self, const gchar *name, gsize length)
{
  const Entry *entry = find_entry (self, name, length);

  return entry ? (gint64) entry->number : -1;
}

gboolean
spdl_classes_number (const SpdlClasses *self, const gchar *text, gsize length,
    gboolean is_integer, gint64 value, gint64 *number)
{
  gchar digits[24];

  *number = text ? spdl_classes_find (self, text, length) : -1;
  /* `3.0` is the class "3". */
  if (*number < 0 && is_integer && self->has_integers) {
    length = g_snprintf (digits, sizeof digits, "%" G_GINT64_FORMAT, value);
    *number = spdl_classes_find (self, digits, length);
  }
  if (*number >= 0)
    return TRUE;
  if (!is_integer)
    return FALSE;
  *number = value;
  return value == -1 || (!self->has_integers && value >= 0 &&
                            value < (gint64) spdl_classes_get_size (self));
}

gboolean
spdl_classes_number_line (const SpdlClasses *self, SpdlLine *line)
{
  g_autofree gchar *name = NULL;
  gboolean is_integer;

  spdl_line_read_label (line);
  is_integer = line->name_kind == SPDL_PARSE_ERROR_NONE;
  if (!line->name.text)
    return TRUE;
  if (!self)
    return is_integer;
  if (G_UNLIKELY (line->name.escapes))
    name = spdl_line_dup_label (line);
  if (G_UNLIKELY (name))
    return spdl_classes_number (
        self, name, strlen (name), is_integer, line->label, &line->label);
  return spdl_classes_number (self, line->name.text, line->name.length,
      is_integer, line->label, &line->label);
}

/* Targets */

gboolean
spdl_targets_has (const gchar *targets, const gchar *name)
{
  g_auto (GStrv) names = targets ? g_strsplit (targets, ",", -1) : NULL;

  return names && g_strv_contains ((const gchar *const *) names, name);
}

gboolean
spdl_targets_check (const gchar *targets,
    gboolean (*has) (const gchar *name, gconstpointer user_data),
    gconstpointer user_data, const gchar *fields, const gchar *location,
    GError **error)
{
  g_auto (GStrv) names = targets ? g_strsplit (targets, ",", -1) : NULL;

  for (guint i = 0; names && names[i]; i++)
    if (!has (names[i], user_data))
      return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
          "target-columns has \"%s\", but \"%s\" has no such column of "
          "numbers: it has the %s",
          names[i], location, fields);
  return TRUE;
}
