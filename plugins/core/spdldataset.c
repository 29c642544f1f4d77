/* gst-spdl: the list of a dataset's items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdldataset.h"

#include <string.h>

#include "spdlarchiveset.h"
#include "spdlfingerprint.h"
#include "spdlfolder.h"
#include "spdllist.h"

typedef struct {
  guint64 offset; /* of the path in all paths */
  guint32 length;
  gint32 folder; /* number of the top-level folder; -1: none */
} Item;

struct _SpdlDataset {
  gchar *root; /* what relative paths are relative to */
  SpdlLabel label;
  SpdlList *list;         /* nullable */
  SpdlArchiveSet *shards; /* nullable */
  /* Of a folder. */
  GString *paths;
  GArray *items; /* Item */
  guint64 hash;
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
  g_clear_pointer (&self->list, spdl_list_free);
  g_clear_pointer (&self->shards, spdl_archive_set_free);
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
  self->hash = spdl_fingerprint_add (self->hash, path, item.length);
  return TRUE;
}

static SpdlDataset *
open_folder (const SpdlDatasetOptions *options,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data,
    GError **error)
{
  const gchar *location = options->location, *pattern = options->pattern;
  SpdlDataset *self = dataset_new (options->label);
  const SpdlFolderFuncs funcs = { add_file, warn, self, user_data };
  guint64 n_others = 0;

  self->root = g_canonicalize_filename (location, NULL);
  self->paths = g_string_new (NULL);
  if (!spdl_folder_walk (self->root, pattern, &funcs, &n_others, error)) {
    spdl_dataset_free (self);
    return NULL;
  }
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

static SpdlDataset *
open_list (const SpdlDatasetOptions *options, GError **error)
{
  SpdlDataset *self = dataset_new (options->label);
  g_autofree gchar *path = g_canonicalize_filename (options->location, NULL);
  const SpdlListOptions list = { options->label == SPDL_LABEL_MANIFEST,
    options->weights, options->sidecar };

  self->root = g_path_get_dirname (path);
  self->list = spdl_list_open (options->location, &list, error);
  if (self->list)
    return self;
  spdl_dataset_free (self);
  return NULL;
}

static SpdlDataset *
open_shards (const SpdlDatasetOptions *options,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data,
    GError **error)
{
  SpdlDataset *self = dataset_new (options->label);
  const SpdlArchiveSetOptions shards = { options->label == SPDL_LABEL_MANIFEST,
    options->extensions, options->sidecar, options->remote, warn, user_data };

  self->shards = spdl_archive_set_open (options->location, &shards, error);
  if (self->shards)
    return self;
  spdl_dataset_free (self);
  return NULL;
}

/* @kind: (nullable): what it is, if that has no columns */
static gboolean
may_have_weights (
    const SpdlDatasetOptions *options, const gchar *kind, GError **error)
{
  if (!options->weights || !kind)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "weights=%s names a column, but \"%s\" is %s: set location to a .csv "
      "list with such a column, or leave weights unset",
      options->weights, options->location, kind);
  return FALSE;
}

static gboolean
is_there (const gchar *location, GError **error)
{
  if (!g_file_test (location, G_FILE_TEST_EXISTS)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "There is no \"%s\": set location to a folder, to a .txt or .csv "
        "list of paths or URIs, or to .tar or .zip shards",
        location);
    return FALSE;
  }
  if (spdl_list_is_list (location))
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" is neither a folder nor a list nor a shard: the name of a list "
      "ends in .txt or .csv, that of a shard in .tar or .zip",
      location);
  return FALSE;
}

SpdlDataset *
spdl_dataset_open (const SpdlDatasetOptions *options,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data,
    GError **error)
{
  const gchar *location = options->location;

  if (g_file_test (location, G_FILE_TEST_IS_DIR))
    return may_have_weights (options, "a folder", error)
               ? open_folder (options, warn, user_data, error)
               : NULL;
  if (spdl_archive_set_is_set (location))
    return may_have_weights (options, "no list", error)
               ? open_shards (options, warn, user_data, error)
               : NULL;
  return is_there (location, error) &&
                 may_have_weights (options,
                     g_str_has_suffix (location, ".csv") ? NULL : "a .txt list",
                     error)
             ? open_list (options, error)
             : NULL;
}

guint64
spdl_dataset_get_size (const SpdlDataset *self)
{
  if (self->shards)
    return spdl_archive_set_get_size (self->shards);
  return self->list ? spdl_list_get_size (self->list) : self->items->len;
}

const gchar *
spdl_dataset_get_root (const SpdlDataset *self)
{
  return self->root;
}

guint64
spdl_dataset_get_hash (const SpdlDataset *self)
{
  if (self->shards)
    return spdl_archive_set_get_hash (self->shards);
  return self->list ? spdl_list_get_hash (self->list) : self->hash;
}

static gboolean
is_uri (const gchar *text)
{
  g_autofree gchar *scheme = g_uri_parse_scheme (text);

  return scheme && g_str_has_prefix (text + strlen (scheme), "://");
}

static gchar *
to_uri (const SpdlDataset *self, const gchar *path)
{
  g_autofree gchar *absolute = g_path_is_absolute (path)
                                   ? g_strdup (path)
                                   : g_build_filename (self->root, path, NULL);

  return g_filename_to_uri (absolute, NULL, NULL);
}

GArray *
spdl_dataset_steal_weights (SpdlDataset *self)
{
  return self->list ? spdl_list_steal_weights (self->list) : NULL;
}

static gchar *
get_listed (SpdlDataset *self, guint64 i, gint64 *label, GstStructure **extra,
    GError **error)
{
  g_autofree gchar *path =
      spdl_list_get_item (self->list, i, label, extra, error);

  if (!path)
    return NULL;
  if (self->label != SPDL_LABEL_MANIFEST)
    *label = -1;
  return is_uri (path) ? g_steal_pointer (&path) : to_uri (self, path);
}

gchar *
spdl_dataset_get_item (SpdlDataset *self, guint64 i, gint64 *label,
    GstStructure **extra, GError **error)
{
  if (self->list)
    return get_listed (self, i, label, extra, error);
  if (self->shards)
    return spdl_archive_set_get_item (self->shards, i, label, extra, error);

  const Item *item = &g_array_index (self->items, Item, i);
  g_autofree gchar *path =
      g_strndup (self->paths->str + item->offset, item->length);

  *label = self->label == SPDL_LABEL_FOLDER ? item->folder : -1;
  *extra = NULL;
  return to_uri (self, path);
}
