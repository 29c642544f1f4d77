/* gst-spdl: fuzzes lists of items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>

#include "fuzz.h"
#include "spdllist.h"

/* A list's file is the input itself, by the linker's --wrap: whoever looks
 * beyond its end is seen. (Libraries keep calling the originals, but the linker
 * takes these for theirs.) */

static FuzzInput text;

#pragma GCC visibility push(default)
GMappedFile *
__wrap_g_mapped_file_new (const gchar *path, gboolean writable, GError **error);
gchar *__wrap_g_mapped_file_get_contents (GMappedFile *file);
gsize __wrap_g_mapped_file_get_length (GMappedFile *file);
void __wrap_g_mapped_file_unref (GMappedFile *file);
#pragma GCC visibility pop

GMappedFile *
__wrap_g_mapped_file_new (const gchar *path, gboolean writable, GError **error)
{
  return (GMappedFile *) &text;
}

/* GLib's has none where the file is empty. */
gchar *
__wrap_g_mapped_file_get_contents (GMappedFile *file)
{
  return text.size > 0 ? (gchar *) text.data : NULL;
}

gsize
__wrap_g_mapped_file_get_length (GMappedFile *file)
{
  return text.size;
}

void
__wrap_g_mapped_file_unref (GMappedFile *file)
{
}

/* It can be told on, and comes back the same. */
static void
check_extra (GstStructure *extra)
{
  g_autofree gchar *told = NULL;
  GstStructure *back;

  if (!extra)
    return;
  told = gst_structure_to_string (extra);
  back = gst_structure_from_string (told, NULL);
  g_assert_nonnull (back);
  g_assert_true (gst_structure_is_equal (extra, back));
  gst_structure_free (back);
  gst_structure_free (extra);
}

static void
check_items (const SpdlList *list)
{
  g_assert_cmpuint (spdl_list_get_size (list), >, 0);
  for (guint64 i = 0; i < MIN (spdl_list_get_size (list), 50); i++) {
    GstStructure *extra;
    gint64 label;
    g_autofree gchar *path = spdl_list_get_item (list, i, &label, &extra);

    g_assert_cmpuint (strlen (path), >, 0);
    g_assert_true (g_utf8_validate (path, -1, NULL));
    check_extra (extra);
  }
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  guint8 settings;
  SpdlList *list;

  text = (FuzzInput){ data, size };
  settings = fuzz_take (&text);
  list = spdl_list_open (
      settings & 1 ? "a.csv" : "a.txt", settings >> 1 & 1, &error);
  if (list) {
    check_items (list);
    spdl_list_free (list);
  } else {
    fuzz_check_error (error);
  }
  return 0;
}
