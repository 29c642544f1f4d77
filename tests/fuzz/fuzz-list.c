/* gst-spdl: fuzz target of lists of items
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>

#include "plugins/dataset/list/columns.h"
#include "plugins/dataset/list/list.h"
#include "plugins/dataset/list/sidecar.h"
#include "tests/fuzz/fuzz.h"

/* The input is the list file, through the linker's --wrap, so that the
 * sanitizer finds reads past its end. The index may belong to another list. */

static FuzzInput input;
static gsize offsets[3];

#pragma GCC visibility push(default)
gboolean __wrap_spdl_text_file_open (
    SpdlTextFile *self, const gchar *location, GError **error);
void __wrap_spdl_text_file_close (SpdlTextFile *self);
gboolean __wrap_spdl_text_file_check (const SpdlTextFile *self, GError **error);
void __wrap_spdl_text_file_expect (const SpdlTextFile *self, gboolean in_order);
gboolean __wrap_spdl_text_file_load (const SpdlTextFile *self,
    SpdlFileWindow *window, guint64 offset, gsize size, GError **error);
SpdlIndex *__wrap_spdl_sidecar_load (const SpdlTextFile *file, gboolean labels,
    guint64 classes, guint64 uri, guint64 *hash);
#pragma GCC visibility pop

gboolean
__wrap_spdl_text_file_open (
    SpdlTextFile *self, const gchar *location, GError **error)
{
  self->location = g_strdup (location);
  self->stamp.size = input.size;
  return TRUE;
}

void
__wrap_spdl_text_file_close (SpdlTextFile *self)
{
  g_clear_pointer (&self->location, g_free);
}

gboolean
__wrap_spdl_text_file_check (const SpdlTextFile *self, GError **error)
{
  return TRUE;
}

void
__wrap_spdl_text_file_expect (const SpdlTextFile *self, gboolean in_order)
{
}

gboolean
__wrap_spdl_text_file_load (const SpdlTextFile *self, SpdlFileWindow *window,
    guint64 offset, gsize size, GError **error)
{
  g_assert_cmpuint (offset, <=, input.size);
  spdl_file_window_clear (window);
  size = MIN (size, input.size - offset);
  window->data = g_malloc (MAX (size, 1));
  if (size > 0)
    memcpy (window->data, input.data + offset, size);
  window->size = size;
  window->offset = offset;
  return TRUE;
}

SpdlIndex *
__wrap_spdl_sidecar_load (const SpdlTextFile *file, gboolean labels,
    guint64 classes, guint64 uri, guint64 *hash)
{
  guint64 *memory;

  if (offsets[2] >= input.size)
    return NULL;
  memory = g_new (guint64, G_N_ELEMENTS (offsets));
  for (guint i = 0; i < G_N_ELEMENTS (offsets); i++)
    memory[i] = offsets[i];
  *hash = 0;
  return spdl_index_new_from_memory (memory, memory, 40, 4);
}

/* Checks the names and texts of @extra. */
static void
check_extra (GstStructure *extra)
{
  for (gint i = 0; extra && i < gst_structure_n_fields (extra); i++) {
    const gchar *name = gst_structure_nth_field_name (extra, i);
    const gchar *text = gst_structure_get_string (extra, name);

    g_assert_true (spdl_columns_is_field_name (name));
    g_assert_true (!text || g_utf8_validate (text, -1, NULL));
  }
  g_clear_pointer (&extra, gst_structure_free);
}

/* Checks all items. Only an index of another list may make one fail. */
static void
check_items (SpdlList *list, gboolean foreign)
{
  const SpdlClasses *classes = spdl_list_get_classes (list);

  g_assert_cmpuint (spdl_list_get_size (list), >, 0);
  for (guint64 i = 0; i < MIN (spdl_list_get_size (list), 50); i++) {
    g_autoptr (GError) error = NULL;
    GstStructure *extra;
    gint64 label;
    /* Not in order, so that some are found through the index. */
    g_autofree gchar *path = spdl_list_get_item (
        list, i * 7 % spdl_list_get_size (list), &label, &extra, &error);

    if (!path) {
      g_assert_true (foreign);
      g_assert_null (extra);
      fuzz_check_error (error);
      continue;
    }
    g_assert_cmpuint (strlen (path), >, 0);
    g_assert_true (
        !classes || label == SPDL_NO_LABEL ||
        (label >= -1 && label < (gint64) spdl_classes_get_size (classes)));
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
  static const gchar *const names[] = { "cat", "1", "a \"b\"", NULL };
  g_autoptr (SpdlClasses) classes = NULL;
  guint8 settings;
  SpdlList *list;

  input = (FuzzInput){ data, size };
  settings = fuzz_take (&input);
  const gboolean foreign = settings >> 2 & 1;
  if (settings >> 4 & 1)
    classes = spdl_classes_new_from_names (names, NULL);
  const gboolean jsonl = settings >> 5 & 1;
  const SpdlDatasetOptions options = {
    { settings >> 1 & 1, .classes = classes }, settings >> 3 & 1 ? "w" : NULL,
    foreign ? SPDL_SIDECAR_ALWAYS : SPDL_SIDECAR_NONE,
    settings >> 6 & 1 ? "image" : NULL
  };

  for (guint i = 0; i < G_N_ELEMENTS (offsets) && foreign; i++)
    offsets[i] = (i > 0 ? offsets[i - 1] + 1 : 0) + fuzz_take (&input);
  list = spdl_list_open (jsonl          ? "a.jsonl"
                         : settings & 1 ? "a.csv"
                                        : "a.txt",
      &options, &error);
  if (list) {
    check_items (list, foreign);
    spdl_list_free (list);
  } else {
    fuzz_check_error (error);
  }
  return 0;
}
