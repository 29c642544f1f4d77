/* gst-spdl: which shards a location names
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/shardpattern.h"

#include <glob.h>
#include <gst/gst.h>
#include <string.h>

#include "plugins/dataset/archive/archiveopen.h"
#include "plugins/dataset/archive/braces.h"

static const gchar *const ends[] = { ".tar", ".zip", ".tar.gz", ".tgz",
  ".tar.bz2", ".tar.xz", ".tar.zst", ".tar.lz4" };

gboolean
spdl_archive_names_is_one (const gchar *location)
{
  const gsize length = spdl_archive_is_remote (location)
                           ? strcspn (location, "?#")
                           : strlen (location);
  g_autofree gchar *name = g_ascii_strdown (location, length);

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    if (g_str_has_suffix (name, ends[i]))
      return TRUE;
  return g_str_has_suffix (name, "}") &&
         (strstr (name, "tar") || strstr (name, "zip"));
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *) a, *(const gchar *const *) b);
}

/* Returns FALSE with @error set if there is none. */
static gboolean
add_matches (GPtrArray *names, const gchar *pattern, GError **error)
{
  const guint first = names->len;
  glob_t found;

  if (glob (pattern, GLOB_NOSORT, NULL, &found) == 0) {
    for (gsize i = 0; i < found.gl_pathc; i++)
      g_ptr_array_add (names, g_strdup (found.gl_pathv[i]));
    globfree (&found);
  }
  if (names->len > first) {
    /* glob() would sort as the locale does. */
    qsort (
        names->pdata + first, names->len - first, sizeof (gpointer), compare);
    return TRUE;
  }
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "There is no shard \"%s\": set location to what is there", pattern);
  return FALSE;
}

/* Takes @name. */
static gboolean
add_name (GPtrArray *names, gchar *name, GError **error)
{
  g_autofree gchar *owned = name;

  if (spdl_archive_is_remote (name) || !strpbrk (name, "*?[") ||
      g_file_test (name, G_FILE_TEST_EXISTS)) {
    g_ptr_array_add (names, g_steal_pointer (&owned));
    return TRUE;
  }
  return add_matches (names, name, error);
}

static gchar *
dup_path (const gchar *location)
{
  return g_str_has_prefix (location, "file://")
             ? g_filename_from_uri (location, NULL, NULL)
             : NULL;
}

GPtrArray *
spdl_archive_names_expand (const gchar *location, GError **error)
{
  g_autofree gchar *path = dup_path (location);
  const gchar *name = path ? path : location;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) expanded = NULL;

  if (!spdl_archive_is_remote (name) &&
      g_file_test (name, G_FILE_TEST_EXISTS)) {
    g_ptr_array_add (names, g_strdup (name));
    return g_steal_pointer (&names);
  }
  expanded = spdl_braces_expand (name, error);
  if (!expanded)
    return NULL;
  for (guint i = 0; i < expanded->len; i++)
    if (!add_name (names, g_strdup (g_ptr_array_index (expanded, i)), error))
      return NULL;
  return g_steal_pointer (&names);
}
