/* gst-spdl: runner of a fuzz target on given inputs, without a fuzzer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/fuzz/fuzz.h"

/* Runs the given files and those of the given folders in order. */

static guint n_inputs;

static void
replay_file (const gchar *path)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *content = NULL;
  g_autofree guint8 *input = NULL;
  gsize size;

  if (!g_file_get_contents (path, &content, &size, &error))
    g_error ("%s", error->message);
  g_info ("%s", path);
  /* The copy omits the zero byte that GLib appends, so that a read past the end
   * is found. */
  input = g_memdup2 (content, size);
  LLVMFuzzerTestOneInput (input, size);
  n_inputs++;
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(gchar *const *) a, *(gchar *const *) b);
}

static void
replay_folder (const gchar *path, GDir *folder)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const gchar *name;

  while ((name = g_dir_read_name (folder)))
    g_ptr_array_add (names, g_build_filename (path, name, NULL));
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i++)
    replay_file (g_ptr_array_index (names, i));
}

int
main (int argc, char **argv)
{
  LLVMFuzzerInitialize (&argc, &argv);
  for (int i = 1; i < argc; i++) {
    g_autoptr (GDir) folder = g_dir_open (argv[i], 0, NULL);

    if (folder)
      replay_folder (argv[i], folder);
    else
      replay_file (argv[i]);
  }
  g_print (
      "1..1\n%s 1 - %u inputs\n", n_inputs > 0 ? "ok" : "not ok", n_inputs);
  return n_inputs > 0 ? 0 : 1;
}
