/* gst-spdl: shard patterns: brace expansion and globs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/shardpattern.h"

#include <fnmatch.h>
#include <glob.h>
#include <gst/gst.h>
#include <string.h>

#include "gst/spdl/common/storeuri.h"
#include "plugins/common/fail.h"
#include "plugins/dataset/archive/archiveopen.h"

/* Brace expansion */

static gboolean
set_too_many (const gchar *text, GError **error)
{
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" expands to more names than the limit of %d", text,
      SPDL_BRACES_MAX);
}

/* Parses `FIRST..LAST`; the range may be descending. */
static gboolean
parse_range (const gchar *inner, guint64 *first, guint64 *last, gint *width)
{
  const gchar *dots = strstr (inner, "..");
  g_autofree gchar *low = dots ? g_strndup (inner, dots - inner) : NULL;
  const gchar *high = dots ? dots + 2 : NULL;

  if (!dots ||
      !g_ascii_string_to_unsigned (low, 10, 0, G_MAXINT64, first, NULL) ||
      !g_ascii_string_to_unsigned (high, 10, 0, G_MAXINT64, last, NULL))
    return FALSE;
  *width = 0;
  if ((low[0] == '0' && low[1]) || (high[0] == '0' && high[1]))
    *width = MAX (strlen (low), strlen (high));
  return TRUE;
}

static gboolean
add_range (GPtrArray *words, guint64 first, guint64 last, gint width)
{
  const guint64 n = MAX (first, last) - MIN (first, last);

  if (n >= SPDL_BRACES_MAX)
    return FALSE;
  for (guint64 i = 0; i <= n; i++)
    g_ptr_array_add (words, g_strdup_printf ("%0*" G_GUINT64_FORMAT, width,
                                first <= last ? first + i : first - i));
  return TRUE;
}

/* Adds the alternatives of a brace expression whose content is @inner. Adds
 * none if the braces are literal. */
static gboolean
read_words (const gchar *inner, GPtrArray *words)
{
  guint64 first, last;
  gint width;

  if (parse_range (inner, &first, &last, &width))
    return add_range (words, first, last, width);
  if (!strchr (inner, ','))
    return TRUE;
  g_auto (GStrv) parts = g_strsplit (inner, ",", -1);
  for (guint i = 0; parts[i]; i++)
    g_ptr_array_add (words, g_strdup (parts[i]));
  return TRUE;
}

/* Returns each of @texts concatenated with each of @words. Frees @texts. */
static GPtrArray *
multiply_names (GPtrArray *texts, const GPtrArray *words)
{
  GPtrArray *products = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < texts->len; i++)
    for (guint j = 0; j < words->len; j++)
      g_ptr_array_add (
          products, g_strconcat (g_ptr_array_index (texts, i),
                        (gchar *) g_ptr_array_index (words, j), NULL));
  g_ptr_array_unref (texts);
  return products;
}

/* Reads the next piece, a literal text or a brace expression, and adds its
 * alternatives to @words. Returns the end of the piece.
 *
 * @fits: (out): FALSE if there are too many alternatives */
static const gchar *
read_piece (const gchar *at, GPtrArray *words, gboolean *fits)
{
  const gsize plain = strcspn (at, "{");
  const gchar *open = at + plain;
  const gchar *end = *open ? open + 1 + strcspn (open + 1, "{}") : open;

  *fits = TRUE;
  if (plain > 0) {
    g_ptr_array_add (words, g_strndup (at, plain));
    return open;
  }
  if (*end == '}') {
    g_autofree gchar *inner = g_strndup (open + 1, end - open - 1);

    *fits = read_words (inner, words);
    end++;
  }
  if (words->len == 0)
    g_ptr_array_add (words, g_strndup (at, end - at));
  return end;
}

GPtrArray *
spdl_braces_expand (const gchar *text, GError **error)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);

  g_ptr_array_add (texts, g_strdup (""));
  for (const gchar *at = text; *at;) {
    g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
    gboolean fits;

    at = read_piece (at, words, &fits);
    if (!fits || (guint64) texts->len * words->len > SPDL_BRACES_MAX) {
      g_ptr_array_unref (texts);
      set_too_many (text, error);
      return NULL;
    }
    texts = multiply_names (texts, words);
  }
  return texts;
}

static const gchar *const ends[] = { ".tar", ".zip", ".tar.gz", ".tgz",
  ".tar.bz2", ".tar.xz", ".tar.zst", ".tar.lz4" };

gboolean
spdl_archive_names_is_one (const gchar *location)
{
  const gsize length = spdl_uri_measure_name (location);
  g_autofree gchar *name = g_ascii_strdown (location, length);

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    if (g_str_has_suffix (name, ends[i]))
      return TRUE;
  return g_str_has_suffix (name, "}") &&
         (strstr (name, "tar") || strstr (name, "zip"));
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *) a, *(const gchar *const *) b);
}

/* Returns FALSE with @error set if no file matches. */
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
    /* glob() sorts by locale; the order must be the same on each machine. */
    qsort (names->pdata + first, names->len - first, sizeof (gpointer),
        compare_names);
    return TRUE;
  }
  return spdl_fail (error, GST_RESOURCE_ERROR_NOT_FOUND,
      "Shard \"%s\" not found: set location to existing shards", pattern);
}

/* A pattern, and the keys that match it. */
typedef struct {
  GPtrArray *names;
  const gchar *pattern;
} Search;

static void
add_key (const gchar *uri, gpointer user_data)
{
  const Search *search = user_data;

  if (fnmatch (search->pattern, uri, FNM_PATHNAME | FNM_PERIOD) == 0 ||
      g_str_equal (search->pattern, uri))
    g_ptr_array_add (search->names, g_strdup (uri));
}

/* Lists the objects with the fixed beginning of @pattern, and adds those that
 * match it. */
static gboolean
add_objects (GPtrArray *names, const gchar *pattern, SpdlIndexer *indexer,
    GError **error)
{
  const Search search = { names, pattern };
  const guint first = names->len;
  g_autofree gchar *begin = g_strndup (pattern, strcspn (pattern, "*?["));

  /* The Hugging Face Hub can only list folders. */
  if (g_ascii_strncasecmp (pattern, "hf:", 3) == 0)
    *(strrchr (begin, '/') + 1) = '\0';
  if (!spdl_indexer_list (indexer, begin, add_key, (gpointer) &search, error))
    return FALSE;
  if (names->len == first)
    return spdl_fail (error, GST_RESOURCE_ERROR_NOT_FOUND,
        "Shard \"%s\" not found: set location to existing shards", pattern);
  qsort (names->pdata + first, names->len - first, sizeof (gpointer),
      compare_names);
  return TRUE;
}

/* Takes ownership of @name. */
static gboolean
add_name (GPtrArray *names, gchar *name, SpdlIndexer *indexer, GError **error)
{
  g_autofree gchar *owned = name;

  if (spdl_store_is_uri (name) && strpbrk (name, "*?["))
    return add_objects (names, name, indexer, error);
  if (spdl_store_is_remote (name) || !strpbrk (name, "*?[") ||
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
spdl_archive_names_expand (
    const gchar *location, SpdlIndexer *indexer, GError **error)
{
  g_autofree gchar *path = dup_path (location);
  const gchar *name = path ? path : location;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) expanded = NULL;

  if (!spdl_store_is_remote (name) && g_file_test (name, G_FILE_TEST_EXISTS)) {
    g_ptr_array_add (names, g_strdup (name));
    return g_steal_pointer (&names);
  }
  expanded = spdl_braces_expand (name, error);
  if (!expanded)
    return NULL;
  for (guint i = 0; i < expanded->len; i++)
    if (!add_name (
            names, g_strdup (g_ptr_array_index (expanded, i)), indexer, error))
      return NULL;
  return g_steal_pointer (&names);
}
