/* gst-spdl: dataset: items of a folder, a list, shards or a table
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/dataset.h"

#include <string.h>

#include "gst/spdl/common/shapes.h"
#include "gst/spdl/common/storeuri.h"
#include "gst/spdl/engine/compat.h"
#include "plugins/common/fail.h"
#include "plugins/common/fingerprint.h"
#include "plugins/dataset/archive/archiveset.h"
#include "plugins/dataset/archive/indexer.h"
#include "plugins/dataset/list/coco.h"
#include "plugins/dataset/folder/folder.h"
#include "plugins/dataset/list/list.h"
#include "plugins/dataset/tokens/tokenindex.h"

#define NO_FOLDER -1

typedef struct {
  guint64 offset; /* offset in the concatenated paths */
  guint32 length;
  gint32 label; /* class of the top-level folder; NO_FOLDER: none */
} Item;

struct _SpdlDataset {
  gchar *root; /* base of relative paths */
  SpdlDatasetOptions options;
  SpdlList *list;         /* nullable */
  SpdlCocoMasks *masks;   /* (nullable): of a list that is made of COCO */
  SpdlArchiveSet *shards; /* nullable */
  SpdlTokenIndex *tokens; /* nullable */
  SpdlArrowTable *table;  /* (nullable): not owned */
  GCancellable *reading;  /* of rows of a table */
  guint64 size;           /* number of items */
  guint64 hash;
  const SpdlClasses *classes; /* nullable */
  /* Only used for a folder. */
  gboolean is_stored; /* in an object store */
  GString *paths;
  GArray *items;      /* Item */
  GPtrArray *folders; /* gchar: names of the top-level folders */
  SpdlClasses *found; /* (nullable): classes named by the top-level folders */
  gchar *unknown;     /* (nullable): first file that belongs to no class */
  gsize n_bare;       /* files that are in no folder */
  gchar *first_bare;  /* (nullable): the first of them */
  gsize n_parquet;    /* Parquet files */
};

void
spdl_dataset_free (SpdlDataset *self)
{
  g_free (self->root);
  g_clear_pointer (&self->list, spdl_list_free);
  g_clear_pointer (&self->masks, spdl_coco_masks_free);
  g_clear_pointer (&self->shards, spdl_archive_set_free);
  g_clear_pointer (&self->tokens, spdl_token_index_free);
  if (self->table)
    spdl_arrow_table_close (self->table);
  if (self->paths)
    g_string_free (self->paths, TRUE);
  g_array_unref (self->items);
  g_object_unref (self->reading);
  g_clear_pointer (&self->folders, g_ptr_array_unref);
  g_clear_pointer (&self->found, spdl_classes_free);
  g_free (self->unknown);
  g_free (self->first_bare);
  g_free (self);
}

/* Adds a top-level folder. Bytes that are not UTF-8 are escaped as in a URI, so
 * that the class name can be displayed. */
static void
add_folder (const gchar *name, gpointer user_data)
{
  SpdlDataset *self = user_data;

  g_ptr_array_add (self->folders, g_utf8_validate (name, -1, NULL)
                                      ? g_strdup (name)
                                      : g_uri_escape_string (name, " ", TRUE));
}

static gint32
number_folder (SpdlDataset *self, const gchar *path, gint folder)
{
  const gchar *name;
  gint64 label;

  if (self->options.label != SPDL_LABEL_FOLDER)
    return NO_FOLDER;
  if (folder < 0) {
    if (self->n_bare++ == 0)
      self->first_bare = g_strdup (path);
    return NO_FOLDER;
  }
  if (!self->options.labels.classes)
    return folder;
  name = g_ptr_array_index (self->folders, folder);
  label = spdl_classes_find (self->options.labels.classes, name, strlen (name));
  if (label < 0 && !self->unknown)
    self->unknown = g_strdup (path);
  return label;
}

static gboolean
add_file (const gchar *path, gint folder, gpointer user_data)
{
  SpdlDataset *self = user_data;
  const Item item = { self->paths->len, strlen (path),
    number_folder (self, path, folder) };

  g_string_append_len (self->paths, path, item.length);
  g_array_append_val (self->items, item);
  self->hash = spdl_fingerprint_add (self->hash, path, item.length);
  self->n_parquet += g_str_has_suffix (path, ".parquet");
  return TRUE;
}

/* Creates a class for each top-level folder. */
static gboolean
number_folders (SpdlDataset *self, GError **error)
{
  self->found = spdl_classes_new ();
  for (guint i = 0; i < self->folders->len; i++) {
    const gchar *name = g_ptr_array_index (self->folders, i);

    if (spdl_classes_add (self->found, name, strlen (name)) &&
        spdl_classes_get_size (self->found) == i + 1)
      continue;
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "The folder \"%s\" in \"%s\" cannot be a class: %s", name, self->root,
        i >= SPDL_CLASSES_MAX
            ? "the limit of classes is reached"
            : "another folder has the same printed name; rename one of them");
  }
  return TRUE;
}

/* Checks that each file belongs to one of the given classes. */
static gboolean
check_folders (const SpdlDataset *self, GError **error)
{
  g_autofree gchar *path = NULL, *file = NULL, *folder = NULL;

  if (!self->unknown)
    return TRUE;
  path = g_build_filename (self->root, self->unknown, NULL);
  folder = g_strndup (self->unknown, strcspn (self->unknown, "/"));
  file = g_filename_display_name (path);
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "The folder \"%s\" of the item \"%s\" is not among the %u classes: add "
      "it to classes, move it elsewhere, or leave classes unset",
      folder, file, spdl_classes_get_size (self->options.labels.classes));
}

/* Reports the files that are in no folder. */
static gboolean
check_bare (const SpdlDataset *self, GError **error)
{
  const gboolean all = self->n_bare == self->items->len;
  g_autofree gchar *text = NULL, *first = NULL;

  if (self->n_bare == 0 ||
      self->options.labels.missing == SPDL_LABEL_MISSING_KEEP)
    return TRUE;
  first = g_filename_display_name (self->first_bare);
  text = g_strdup_printf (
      "%s%" G_GSIZE_FORMAT
      " items of \"%s\" %s no label, because they are not in a subfolder; the "
      "first is \"%s\": move each to the folder of its class, or set %s",
      all ? "All " : "", self->n_bare, self->root,
      self->n_bare == 1 ? "has" : "have", first,
      all ? "label=none" : "label-missing=keep to load them with the label -1");
  if (all || self->options.labels.missing == SPDL_LABEL_MISSING_FAIL)
    return spdl_fail (error,
        all ? GST_RESOURCE_ERROR_SETTINGS : GST_RESOURCE_ERROR_READ, "%s",
        text);
  spdl_dataset_warn (&self->options, "%s", text);
  return TRUE;
}

static gboolean
take_folders (SpdlDataset *self, GError **error)
{
  if (self->options.label != SPDL_LABEL_FOLDER)
    return TRUE;
  if (!check_bare (self, error))
    return FALSE;
  return self->options.labels.classes ? check_folders (self, error)
                                      : number_folders (self, error);
}

static void
add_uri (const gchar *uri, gpointer user_data)
{
  g_ptr_array_add (user_data, g_strdup (uri));
}

/* Compares in the order of a walk through folders: "a/b" comes before "a-b". */
static gint
compare_paths (gconstpointer a, gconstpointer b)
{
  const guchar *one = *(guchar *const *) a, *other = *(guchar *const *) b;

  while (*one && *one == *other) {
    one++;
    other++;
  }
  return (*one == '/' ? 1
             : *one   ? *one + 2
                      : 0) -
         (*other == '/' ? 1
             : *other   ? *other + 2
                        : 0);
}

static gboolean
is_hidden (const gchar *path)
{
  return *path == '.' || strstr (path, "/.") != NULL;
}

/* Checks whether the key would be parsed as a byte range of another key. The
 * warning names the key. */
static gboolean
is_ambiguous (const gchar *uri, const SpdlDatasetOptions *options)
{
  if (!strstr (uri, "#bytes="))
    return FALSE;
  spdl_dataset_warn (options,
      "\"%s\" was skipped: its key contains \"#bytes=\", which means a byte "
      "range in a URI; rename the object",
      uri);
  return TRUE;
}

/* The top-level folder that the walk is in. */
typedef struct {
  const gchar *name; /* (nullable): its beginning, up to a slash */
  gsize length;
  gint number; /* -1: there was none yet */
} TopFolder;

/* Returns the number of the top-level folder of @path; -1: it is in none. */
static gint
enter_folder (TopFolder *self, const gchar *path, const SpdlFolderFuncs *funcs)
{
  const gchar *slash = strchr (path, '/');
  const gsize length = slash ? slash - path : 0;
  g_autofree gchar *name = NULL;

  if (!slash)
    return -1;
  if (self->name && length == self->length &&
      strncmp (self->name, path, length) == 0)
    return self->number;
  *self = (TopFolder){ path, length, self->number + 1 };
  name = g_strndup (path, length);
  if (funcs->add_folder)
    funcs->add_folder (name, funcs->user_data);
  return self->number;
}

/* Like spdl_folder_walk(), for the keys below the root, such as
 * s3://bucket/train/, in the same order. Keys that end in a slash, which some
 * tools create for folders, are skipped. */
static gboolean
walk_objects (const SpdlDataset *self, const SpdlDatasetOptions *options,
    const SpdlFolderFuncs *funcs, guint64 *n_others, GError **error)
{
  SpdlIndexer *indexer = spdl_indexer_new (NULL, options->remote);
  g_autoptr (GPtrArray) uris = g_ptr_array_new_with_free_func (g_free);
  const gboolean ok =
      spdl_indexer_list (indexer, self->root, add_uri, uris, error);
  TopFolder top = { NULL, 0, -1 };

  spdl_indexer_free (indexer);
  if (!ok)
    return FALSE;
  g_ptr_array_sort (uris, compare_paths);
  for (guint i = 0; i < uris->len; i++) {
    const gchar *uri = g_ptr_array_index (uris, i);
    const gchar *path = uri + strlen (self->root);
    const gchar *name = strrchr (uri, '/') + 1;
    gint folder;

    if (!*name || is_hidden (path) || is_ambiguous (uri, options))
      continue;
    folder = enter_folder (&top, path, funcs);
    if (!spdl_compat_match_glob (options->pattern, name))
      ++*n_others;
    else if (!funcs->add (path, folder, funcs->user_data))
      break;
  }
  return TRUE;
}

/* Checks that the files of a folder can be items. */
static gboolean
has_items (const SpdlDataset *self, const gchar *location, GError **error)
{
  if (self->items->len == 0 || self->n_parquet < self->items->len)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" has only Parquet files, which only Python can read: set "
      "pattern=*.parquet, and pass the pipeline to gstspdl.Loader()",
      location);
}

static gboolean
open_folder (SpdlDataset *self, GError **error)
{
  const gchar *location = self->options.location;
  const gchar *pattern = self->options.pattern;
  const SpdlFolderFuncs funcs = { add_file, add_folder, &self->options, self };
  guint64 n_others = 0;

  self->is_stored = spdl_store_is_uri (location);
  self->root = self->is_stored
                   ? g_strconcat (location,
                         g_str_has_suffix (location, "/") ? "" : "/", NULL)
                   : spdl_folder_dup_absolute (location);
  self->paths = g_string_new (NULL);
  self->folders = g_ptr_array_new_with_free_func (g_free);
  if (!(self->is_stored
              ? walk_objects (self, &self->options, &funcs, &n_others, error)
              : spdl_folder_walk (
                    self->root, pattern, &funcs, &n_others, error)) ||
      !has_items (self, location, error))
    return FALSE;
  self->size = self->items->len;
  if (self->size > 0) {
    if (!take_folders (self, error))
      return FALSE;
    if (self->found)
      self->classes = self->found;
    return TRUE;
  }
  if (n_others > 0)
    return spdl_fail (error, GST_RESOURCE_ERROR_NOT_FOUND,
        "None of the %" G_GUINT64_FORMAT
        " files in \"%s\" matches the pattern \"%s\": set pattern to one that "
        "matches, such as \"*.@(jpg|jpeg)\"",
        n_others, location, pattern);
  return spdl_fail (error, GST_RESOURCE_ERROR_NOT_FOUND,
      "No file found in \"%s\": set location to a folder that holds the "
      "dataset, or to a list of its files",
      location);
}

/* Sets the base of the paths in a list. */
static gboolean
find_root (SpdlDataset *self, GError **error)
{
  const gchar *root = self->options.root;
  g_autofree gchar *path = spdl_folder_dup_absolute (self->options.location);

  if (root && !g_file_test (root, G_FILE_TEST_IS_DIR))
    return spdl_fail (error, GST_RESOURCE_ERROR_NOT_FOUND,
        "The root \"%s\" is not a local folder: set root to the folder that "
        "the "
        "paths of \"%s\" start from, or write URIs in the list",
        root, self->options.location);
  self->root =
      root ? spdl_folder_dup_absolute (root) : g_path_get_dirname (path);
  return TRUE;
}

/* Uses the categories of COCO annotations as classes. */
static gboolean
take_categories (SpdlDataset *self, GError **error)
{
  const SpdlClasses *categories = spdl_list_get_categories (self->list);

  if (self->classes && spdl_classes_get_hash (self->classes) !=
                           spdl_classes_get_hash (categories))
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "The classes are not the categories of \"%s\" in the order of their "
        "ids: leave classes unset",
        self->options.location);
  self->classes = categories;
  return TRUE;
}

/* Opens the segmentations, if they are wanted. */
static gboolean
open_masks (SpdlDataset *self, GError **error)
{
  const GQuark *lists = self->options.labels.lists;

  if (!lists || g_strcmp0 (g_quark_to_string (lists[SPDL_SHAPES_MASKS]),
                    SPDL_COCO_MASKS) != 0)
    return TRUE;
  self->masks = spdl_coco_masks_open (self->options.location, error);
  return self->masks != NULL;
}

static gboolean
open_list (SpdlDataset *self, GError **error)
{
  const gboolean is_coco = spdl_coco_is_coco (self->options.location);
  g_autofree gchar *location = NULL;

  if (find_root (self, error))
    location = is_coco ? spdl_coco_make_list (&self->options, error)
                       : g_strdup (self->options.location);
  if (location)
    self->list = spdl_list_open (location, &self->options, error);
  if (!self->list)
    return FALSE;
  self->size = spdl_list_get_size (self->list);
  self->hash = spdl_list_get_hash (self->list);
  if (is_coco)
    return take_categories (self, error) && open_masks (self, error);
  if (self->options.labels.read)
    self->classes = spdl_list_get_classes (self->list);
  return TRUE;
}

static gboolean
open_shards (SpdlDataset *self, GError **error)
{
  self->shards =
      spdl_archive_set_open (self->options.location, &self->options, error);
  if (!self->shards)
    return FALSE;
  self->size = spdl_archive_set_get_size (self->shards);
  self->hash = spdl_archive_set_get_hash (self->shards);
  return TRUE;
}

static gboolean
open_tokens (SpdlDataset *self, GError **error)
{
  const SpdlLabelOptions *labels = &self->options.labels;

  if (labels->wanted && labels->missing != SPDL_LABEL_MISSING_KEEP)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "The documents of \"%s\" have no labels: set label=none",
        self->options.location);
  self->tokens = spdl_token_index_open (self->options.location, error);
  if (!self->tokens)
    return FALSE;
  self->size = spdl_token_index_get_size (self->tokens);
  self->hash = spdl_token_index_get_hash (self->tokens);
  return TRUE;
}

static gboolean
open_table (SpdlDataset *self, GError **error)
{
  self->table = self->options.table;
  if (!spdl_arrow_table_open (self->table, &self->options, error))
    return FALSE;
  self->size = spdl_arrow_table_get_size (self->table);
  self->hash = spdl_arrow_table_get_hash (self->table);
  self->classes = spdl_arrow_table_get_classes (self->table);
  return TRUE;
}

/* Checks that no column is set for a location without columns.
 *
 * @is_sample: whether the JSON of samples has members for labels and targets
 * @kind: description of the location */
static gboolean
has_no_columns (const SpdlDatasetOptions *options, gboolean is_sample,
    const gchar *kind, GError **error)
{
  const SpdlLabelOptions *labels = &options->labels;
  const gchar *property = options->weights ? "weight-column"
                          : options->uri   ? "uri-column"
                          : is_sample      ? NULL
                          : labels->column ? "label-column"
                                           : "target-columns";
  const gchar *column = options->weights ? options->weights
                        : options->uri   ? options->uri
                        : is_sample      ? NULL
                        : labels->column ? labels->column
                                         : labels->targets;

  if (!column)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "%s=%s needs a list, but \"%s\" is %s: set location to a .csv or .jsonl "
      "list with such a column, or leave %s unset",
      property, column, options->location, kind, property);
}

/* Tables have no reader in C. */
static gboolean
is_no_table (const gchar *location, GError **error)
{
  static const gchar *const endings[] = { ".parquet", ".arrow", ".feather" };

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    if (!g_str_has_suffix (location, endings[i]))
      continue;
    if (i == 0)
      return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
          "Only Python can read \"%s\": pass the pipeline to gstspdl.Loader(), "
          "without process=True, and install pyarrow",
          location);
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "spdlsrc does not read \"%s\": read the table in Python, with "
        "pyarrow or datasets, and pass it to the loader: "
        "gstspdl.Loader(\"spdlsrc ! ...\", source=table)",
        location);
  }
  return TRUE;
}

static gboolean
is_there (const gchar *location, GError **error)
{
  if (!is_no_table (location, error))
    return FALSE;
  if (spdl_store_is_uri (location))
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "The list \"%s\" is in an object store, but a list must be a local "
        "file: download it, and set location to the copy; its URIs may be of "
        "an object store",
        location);
  if (!g_file_test (location, G_FILE_TEST_EXISTS))
    return spdl_fail (error, GST_RESOURCE_ERROR_NOT_FOUND,
        "\"%s\" not found: set location to a folder, to a .txt, .csv or .jsonl "
        "list of paths or URIs, to COCO annotations (.json), to token ids "
        "(.idx), or to .tar or .zip shards%s",
        location,
        strchr (location, '*') ? "; for some files of a folder, set pattern"
                               : "");
  if (spdl_list_is_list (location))
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" is not a folder, a list or a shard: its name must end in .txt, "
      ".csv, .jsonl or .ndjson for a list, .json for COCO annotations, .idx "
      "for token ids, or .tar or .zip for a shard",
      location);
}

/* Returns TRUE for a folder. In an object store, all but shards and lists are
 * folders. */
static gboolean
is_folder (const gchar *location)
{
  if (!spdl_store_is_uri (location))
    return g_file_test (location, G_FILE_TEST_IS_DIR);
  return g_str_has_suffix (location, "/") ||
         (!spdl_archive_set_is_set (location) && !spdl_list_is_list (location));
}

/* Checks that the dataset can have labels of the kind that was asked for. */
static gboolean
can_have_labels (
    const SpdlDatasetOptions *options, gboolean folder, GError **error)
{
  if (folder ? options->label == SPDL_LABEL_FOLDER || !options->labels.wanted ||
                   options->labels.missing == SPDL_LABEL_MISSING_KEEP
             : options->label != SPDL_LABEL_FOLDER)
    return TRUE;
  if (folder)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "The files of the folder \"%s\" have no labels: set label=folder if "
        "its folders are the classes, or set label=none",
        options->location);
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "label=folder needs a folder, but \"%s\" is not a folder: set "
      "label=manifest "
      "for the labels of a list, a shard or a table",
      options->location);
}

/* Opens what the location is. */
static gboolean
open_location (SpdlDataset *self, GError **error)
{
  const SpdlDatasetOptions *options = &self->options;
  const gchar *location = options->location;
  const gboolean folder = !options->table && is_folder (location);

  if ((folder && !has_no_columns (options, FALSE, "a folder", error)) ||
      !can_have_labels (options, folder, error))
    return FALSE;
  if (options->table)
    return open_table (self, error);
  if (folder)
    return open_folder (self, error);
  if (spdl_archive_set_is_set (location))
    return has_no_columns (options, TRUE, "not a list", error) &&
           open_shards (self, error);
  if (spdl_token_index_is_index (location) && !spdl_store_is_uri (location))
    return has_no_columns (options, FALSE, "an index of tokens", error) &&
           open_tokens (self, error);
  return is_there (location, error) &&
         (spdl_list_has_columns (location) ||
             has_no_columns (options, FALSE, "a .txt list", error)) &&
         open_list (self, error);
}

SpdlDataset *
spdl_dataset_open (const SpdlDatasetOptions *options, GError **error)
{
  SpdlDataset *self = g_new0 (SpdlDataset, 1);

  self->options = *options;
  self->classes = options->labels.classes;
  self->items = g_array_new (FALSE, FALSE, sizeof (Item));
  self->reading = g_cancellable_new ();
  if (open_location (self, error))
    return self;
  spdl_dataset_free (self);
  return NULL;
}

gboolean
spdl_dataset_has_checked_labels (const SpdlDataset *self)
{
  guint n;

  if (self->table)
    return !spdl_arrow_table_is_streamed (self->table) &&
           !spdl_arrow_table_get_parts (self->table, &n);
  return !self->shards || !self->options.labels.column;
}

gboolean
spdl_dataset_is_streamed (const SpdlDataset *self)
{
  return self->table && spdl_arrow_table_is_streamed (self->table);
}

const GstSpdlArrowPart *
spdl_dataset_get_parts (const SpdlDataset *self, guint *n_parts)
{
  return self->table ? spdl_arrow_table_get_parts (self->table, n_parts) : NULL;
}

void
spdl_dataset_plan (SpdlDataset *self, const SpdlReadPlan *plan)
{
  spdl_arrow_table_plan (self->table, plan);
}

void
spdl_dataset_begin_epoch (SpdlDataset *self)
{
  if (self->table)
    spdl_arrow_table_begin_epoch (self->table);
}

void
spdl_dataset_set_flushing (SpdlDataset *self, gboolean flushing)
{
  if (flushing)
    g_cancellable_cancel (self->reading);
  else
    g_cancellable_reset (self->reading);
}

guint64
spdl_dataset_get_size (const SpdlDataset *self)
{
  return self->size;
}

const gchar *
spdl_dataset_get_root (const SpdlDataset *self)
{
  return self->is_stored ? NULL : self->root;
}

guint64
spdl_dataset_get_hash (const SpdlDataset *self)
{
  return self->hash;
}

const SpdlClasses *
spdl_dataset_get_classes (const SpdlDataset *self)
{
  return self->classes;
}

static gchar *
to_uri (const SpdlDataset *self, const gchar *path)
{
  if (self->is_stored)
    return g_strconcat (self->root, path, NULL);

  g_autofree gchar *absolute = g_path_is_absolute (path)
                                   ? g_strdup (path)
                                   : g_build_filename (self->root, path, NULL);

  return g_filename_to_uri (absolute, NULL, NULL);
}

GArray *
spdl_dataset_steal_weights (SpdlDataset *self)
{
  if (self->table)
    return spdl_arrow_table_steal_weights (self->table);
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
  if (self->masks && !spdl_coco_masks_load (self->masks, *extra, error)) {
    g_clear_pointer (extra, gst_structure_free);
    return NULL;
  }
  return spdl_uri_has_scheme (path) ? g_steal_pointer (&path)
                                    : to_uri (self, path);
}

gchar *
spdl_dataset_get_item (SpdlDataset *self, guint64 i, gint64 *label,
    GstStructure **extra, GstSpdlCarried **carried, GError **error)
{
  *carried = NULL;
  if (self->table)
    return spdl_arrow_table_get_item (
        self->table, i, label, extra, carried, self->reading, error);
  if (self->list)
    return get_listed (self, i, label, extra, error);
  if (self->shards)
    return spdl_archive_set_get_item (self->shards, i, label, extra, error);
  if (self->tokens) {
    *label = SPDL_NO_LABEL;
    return spdl_token_index_get_item (self->tokens, i, extra, carried, error);
  }

  const Item *item = &g_array_index (self->items, Item, i);
  g_autofree gchar *path =
      g_strndup (self->paths->str + item->offset, item->length);

  *label = item->label == NO_FOLDER ? SPDL_NO_LABEL : item->label;
  *extra = NULL;
  return to_uri (self, path);
}
