/* gst-spdl: the list of a dataset's items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdldataset.h"

#include <gst/gst.h>

#include <string.h>

#include "spdlfolder.h"

typedef struct {
  guint64 offset; /* of the path in the text */
  guint32 length;
  gint32 folder; /* number of the top-level folder; -1: none */
} Item;

struct _SpdlDataset {
  gchar *root;       /* what relative paths are relative to */
  GMappedFile *file; /* of a list */
  GString *paths;    /* of a folder */
  const gchar *text;
  SpdlLabel label;
  GArray *items; /* Item */
};

static SpdlDataset *
dataset_new (SpdlLabel label)
{
  SpdlDataset *self = g_new0 (SpdlDataset, 1);

  self->label = label;
  self->items = g_array_new (FALSE, FALSE, sizeof (Item));
  return self;
}

void
spdl_dataset_free (SpdlDataset *self)
{
  g_free (self->root);
  g_clear_pointer (&self->file, g_mapped_file_unref);
  if (self->paths)
    g_string_free (self->paths, TRUE);
  g_array_unref (self->items);
  g_free (self);
}

static gboolean
add_file (const gchar *path, gint folder, gpointer user_data)
{
  SpdlDataset *self = user_data;
  const Item item = { self->paths->len, strlen (path), folder };

  g_string_append_len (self->paths, path, item.length);
  g_array_append_val (self->items, item);
  return TRUE;
}

static SpdlDataset *
open_folder (const gchar *location, const gchar *pattern, SpdlLabel label,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data,
    GError **error)
{
  SpdlDataset *self = dataset_new (label);
  const SpdlFolderFuncs funcs = { add_file, warn, self, user_data };
  guint64 n_others = 0;

  self->root = g_canonicalize_filename (location, NULL);
  self->paths = g_string_new (NULL);
  if (!spdl_folder_walk (self->root, pattern, &funcs, &n_others, error)) {
    spdl_dataset_free (self);
    return NULL;
  }
  self->text = self->paths->str;
  if (self->items->len > 0)
    return self;

  if (n_others > 0)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "None of the %" G_GUINT64_FORMAT " files in \"%s\" has a name that "
        "matches \"%s\": set pattern to one that does, such as "
        "\"*.@(jpg|jpeg)\"",
        n_others, location, pattern);
  else
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "There is no file in \"%s\": set location to a folder that holds the "
        "dataset, or to a list of its files",
        location);
  spdl_dataset_free (self);
  return NULL;
}

/* An empty line is no item, nor is a comment. */
static void
add_line (SpdlDataset *self, const gchar *line, gsize length)
{
  while (length > 0 && g_ascii_isspace (line[length - 1]))
    length--;
  if (length == 0 || line[0] == '#')
    return;

  const Item item = { line - self->text, MIN (length, G_MAXUINT32), -1 };
  g_array_append_val (self->items, item);
}

static SpdlDataset *
open_list (const gchar *location, SpdlLabel label, GError **error)
{
  SpdlDataset *self = dataset_new (label);
  g_autoptr (GError) reason = NULL;
  g_autofree gchar *path = g_canonicalize_filename (location, NULL);

  self->root = g_path_get_dirname (path);
  self->file = g_mapped_file_new (path, FALSE, &reason);
  if (!self->file) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
        "The list \"%s\" cannot be read: %s", location, reason->message);
    spdl_dataset_free (self);
    return NULL;
  }

  self->text = g_mapped_file_get_contents (self->file);
  const gchar *end = self->text + g_mapped_file_get_length (self->file);
  for (const gchar *line = self->text, *next; line < end; line = next) {
    const gchar *newline = memchr (line, '\n', end - line);

    next = newline ? newline + 1 : end;
    add_line (self, line, (newline ? newline : end) - line);
  }
  if (self->items->len > 0)
    return self;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "The list \"%s\" has no item: write a path or a URI on each line, if you "
      "like with a tab and a label behind it",
      location);
  spdl_dataset_free (self);
  return NULL;
}

SpdlDataset *
spdl_dataset_open (const gchar *location, const gchar *pattern, SpdlLabel label,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data,
    GError **error)
{
  if (g_file_test (location, G_FILE_TEST_IS_DIR))
    return open_folder (location, pattern, label, warn, user_data, error);
  if (!g_file_test (location, G_FILE_TEST_EXISTS)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "There is no \"%s\": set location to a folder, or to a .txt list of "
        "paths or URIs",
        location);
    return NULL;
  }
  if (g_str_has_suffix (location, ".txt"))
    return open_list (location, label, error);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" is neither a folder nor a list: the name of a list ends in .txt",
      location);
  return NULL;
}

guint64
spdl_dataset_get_size (const SpdlDataset *self)
{
  return self->items->len;
}

/* Splits an integer behind a tab off the end of a line. */
static gint64
split_label (const gchar *line, gsize *length)
{
  const gchar *tab = memrchr (line, '\t', *length);
  gchar digits[24];
  gchar *end;
  gint64 label;
  gsize n;

  if (!tab)
    return -1;
  n = line + *length - tab - 1;
  if (n == 0 || n >= sizeof digits)
    return -1;
  memcpy (digits, tab + 1, n);
  digits[n] = '\0';
  label = g_ascii_strtoll (digits, &end, 10);
  if (*end != '\0')
    return -1;
  *length = tab - line;
  return label;
}

static gboolean
is_uri (const gchar *text)
{
  g_autofree gchar *scheme = g_uri_parse_scheme (text);

  return scheme && g_str_has_prefix (text + strlen (scheme), "://");
}

gchar *
spdl_dataset_get_item (const SpdlDataset *self, guint64 i, gint64 *label)
{
  const Item *item = &g_array_index (self->items, Item, i);
  const gchar *text = self->text + item->offset;
  gsize length = item->length;
  gint64 listed = -1;

  if (self->file)
    listed = split_label (text, &length);
  *label = self->label == SPDL_LABEL_MANIFEST ? listed
           : self->label == SPDL_LABEL_FOLDER ? item->folder
                                              : -1;

  g_autofree gchar *path = g_strndup (text, length);
  if (self->file && is_uri (path))
    return g_steal_pointer (&path);
  g_autofree gchar *absolute = g_path_is_absolute (path)
                                   ? g_strdup (path)
                                   : g_build_filename (self->root, path, NULL);
  return g_filename_to_uri (absolute, NULL, NULL);
}
