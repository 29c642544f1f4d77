/* gst-spdl: fuzz target of indexes of tokens
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/dataset/tokens/tokenindex.h"
#include "tests/fuzz/fuzz.h"

#define HEADER_SIZE 34

static gchar *folder, *index_path, *tokens_path;

static void
remove_files (void)
{
  g_unlink (index_path);
  g_unlink (tokens_path);
  g_rmdir (folder);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  folder = g_dir_make_tmp ("fuzz-XXXXXX", NULL);
  index_path = g_build_filename (folder, "a.idx", NULL);
  tokens_path = g_build_filename (folder, "a.bin", NULL);
  return atexit (remove_files);
}

static void
write_file (const gchar *path, gconstpointer data, gsize size)
{
  FILE *file = fopen (path, "wb");

  g_assert_nonnull (file);
  g_assert_cmpuint (fwrite (data, 1, size, file), ==, size);
  fclose (file);
}

/* Makes the numbers of sequences and documents fit to the size. */
static void
put_counts_right (guint8 *data, gsize size)
{
  const guint64 all = size - HEADER_SIZE;
  const guint64 n_documents = MIN (data[26], all / 8);
  const guint64 n = GUINT64_TO_LE ((all - 8 * n_documents) / 12);

  memcpy (data, "MMIDIDX\0\0\1\0\0\0\0\0\0\0", 17);
  memcpy (data + 18, &n, sizeof n);
  memset (data + 26, 0, 8);
  data[26] = n_documents;
}

/* Checks that the bytes of a document lie in the .bin. */
static void
check_item (const gchar *uri, const GstStructure *extra, guint64 size)
{
  const gchar *range = strstr (uri, "#bytes=");
  guint64 first, last;

  g_assert_nonnull (gst_structure_get_string (extra, "token-type"));
  if (!range) {
    g_assert_true (g_str_has_prefix (uri, "empty://"));
    return;
  }
  g_assert_cmpint (
      sscanf (range, "#bytes=%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, &first,
          &last),
      ==, 2);
  g_assert_true (first <= last && last < size);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  const guint8 settings = fuzz_take (&input);
  const guint64 n_bytes = fuzz_take (&input);
  guint8 *copy = g_malloc (MAX (input.size, 1));
  static const guint8 zeros[G_MAXUINT8 + 1];
  GError *error = NULL;
  SpdlTokenIndex *index;

  memcpy (copy, input.data, input.size);
  if (input.size >= HEADER_SIZE && settings & 1)
    put_counts_right (copy, input.size);
  write_file (index_path, copy, input.size);
  write_file (tokens_path, zeros, n_bytes);
  g_free (copy);
  index =
      spdl_token_index_open (settings & 2 ? tokens_path : index_path, &error);
  g_assert_true ((index == NULL) == (error != NULL));
  for (guint64 i = 0; index && i < spdl_token_index_get_size (index); i++) {
    GstStructure *extra;
    GstSpdlCarried *carried;
    gchar *uri = spdl_token_index_get_item (
        index, i, &extra, &carried, error ? NULL : &error);

    if (uri)
      check_item (uri, extra, n_bytes);
    g_clear_pointer (&extra, gst_structure_free);
    g_clear_pointer (&carried, gst_spdl_carried_unref);
    g_free (uri);
  }
  g_clear_pointer (&index, spdl_token_index_free);
  if (error)
    fuzz_check_error (error);
  g_clear_error (&error);
  return 0;
}
