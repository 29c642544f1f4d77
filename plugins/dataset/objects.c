/* gst-spdl: listing of a folder in an object store
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/objects.h"

#include <string.h>

#include "gst/spdl/engine/compat.h"

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
is_ambiguous (const gchar *uri, const SpdlFolderFuncs *funcs)
{
  g_autofree gchar *text = NULL;

  if (!strstr (uri, "#bytes="))
    return FALSE;
  text = g_strdup_printf (
      "\"%s\" was skipped: its key contains \"#bytes=\", which means a byte "
      "range in a URI; rename the object",
      uri);
  if (funcs->warn)
    funcs->warn (text, funcs->warn_data);
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

gboolean
spdl_objects_walk (const gchar *root, const gchar *pattern,
    SpdlIndexer *indexer, const SpdlFolderFuncs *funcs, guint64 *n_others,
    GError **error)
{
  g_autoptr (GPtrArray) uris = g_ptr_array_new_with_free_func (g_free);
  TopFolder top = { NULL, 0, -1 };

  *n_others = 0;
  if (!spdl_indexer_list (indexer, root, add_uri, uris, error))
    return FALSE;
  g_ptr_array_sort (uris, compare_paths);
  for (guint i = 0; i < uris->len; i++) {
    const gchar *uri = g_ptr_array_index (uris, i);
    const gchar *path = uri + strlen (root);
    const gchar *name = strrchr (uri, '/') + 1;
    gint folder;

    if (!*name || is_hidden (path) || is_ambiguous (uri, funcs))
      continue;
    folder = enter_folder (&top, path, funcs);
    if (!spdl_compat_match_glob (pattern, name))
      ++*n_others;
    else if (!funcs->add (path, folder, funcs->user_data))
      break;
  }
  return TRUE;
}
