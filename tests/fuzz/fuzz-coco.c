/* gst-spdl: fuzz target of COCO annotations
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gst/spdl/common/masks.h"
#include "plugins/dataset/list/coco.h"
#include "plugins/dataset/list/sidecar.h"
#include "tests/fuzz/fuzz.h"

/* The input is the file, through the linker's --wrap. The list that is made of
 * it is compared with what Jansson reads. An array, which is no such file, is a
 * list of segmentations. */

static FuzzInput input;
static gchar *list; /* nullable */
static gsize list_size;

#pragma GCC visibility push(default)
gboolean __wrap_spdl_text_file_open (
    SpdlTextFile *self, const gchar *location, GError **error);
void __wrap_spdl_text_file_close (SpdlTextFile *self);
gboolean __wrap_spdl_text_file_check (const SpdlTextFile *self, GError **error);
gboolean __wrap_spdl_text_file_load (const SpdlTextFile *self,
    SpdlFileWindow *window, guint64 offset, gsize size, GError **error);
guint64 __wrap_spdl_text_file_hash_samples (const SpdlTextFile *self);
int __wrap_spdl_sidecar_file_store (const gchar *path, guint mode,
    SpdlSidecarFileFunc func, gconstpointer user_data);
#pragma GCC visibility pop

/* Lists that exist are not found. */
gboolean
__wrap_spdl_text_file_open (
    SpdlTextFile *self, const gchar *location, GError **error)
{
  *self = (SpdlTextFile){ .fd = -1 };
  if (!g_str_equal (location, "/dev/null"))
    return FALSE;
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

/* Loads at most 16 bytes more than asked for at a time, so that values lie
 * across the end of the window. */
gboolean
__wrap_spdl_text_file_load (const SpdlTextFile *self, SpdlFileWindow *window,
    guint64 offset, gsize size, GError **error)
{
  const gsize chunk = 1 << 20;

  g_assert_cmpuint (offset, <=, input.size);
  spdl_file_window_clear (window);
  if (size >= chunk)
    size = 16 * (size / chunk);
  size = MIN (size, input.size - offset);
  window->data = g_malloc (MAX (size, 1));
  if (size > 0)
    memcpy (window->data, input.data + offset, size);
  window->size = size;
  window->offset = offset;
  return TRUE;
}

guint64
__wrap_spdl_text_file_hash_samples (const SpdlTextFile *self)
{
  return 1;
}

int
__wrap_spdl_sidecar_file_store (const gchar *path, guint mode,
    SpdlSidecarFileFunc func, gconstpointer user_data)
{
  FILE *file = tmpfile ();
  const int fd = fileno (file);
  int failed = func (fd, user_data);

  if (failed == 0) {
    list_size = lseek (fd, 0, SEEK_END);
    list = g_malloc (list_size + 1);
    list[list_size] = '\0';
    g_assert_cmpint (pread (fd, list, list_size, 0), ==, (gssize) list_size);
  }
  fclose (file);
  return failed;
}

/* Returns the boxes of an image, in the order of the file. */
static json_t *
find_boxes (json_t *all, json_int_t image)
{
  json_t *boxes = json_array (), *annotation;
  size_t i;

  json_array_foreach (json_object_get (all, "annotations"), i, annotation)
  {
    json_t *box = json_object_get (annotation, "bbox");

    if (json_integer_value (json_object_get (annotation, "image_id")) == image)
      json_array_append_new (boxes, box ? json_incref (box) : json_null ());
  }
  return boxes;
}

/* Checks a line. Returns the image's id. */
static json_int_t
check_line (const gchar *line, json_t *all)
{
  json_t *item = json_loads (line, 0, NULL);
  json_t *boxes = json_object_get (item, "boxes"), *wanted;
  json_int_t id;

  g_assert_true (json_is_object (item));
  id = json_integer_value (json_object_get (item, "id"));
  wanted = find_boxes (all, id);
  if (boxes)
    g_assert_true (json_equal (boxes, wanted));
  json_decref (wanted);
  json_decref (item);
  return id;
}

static void
check_list (json_t *all)
{
  g_auto (GStrv) lines = g_strsplit (list, "\n", -1);
  const guint n = g_strv_length (lines);
  json_int_t last = G_MININT64;
  SpdlClasses *classes;
  guint64 n_items;

  g_assert_cmpuint (spdl_coco_read_header (list, list_size, &n_items, &classes),
      ==, strlen (lines[0]) + 1);
  g_clear_pointer (&classes, spdl_classes_free);
  g_assert_cmpuint (n, ==, n_items + 2);
  g_assert_cmpstr (lines[n - 1], ==, "");
  for (guint i = 1; i <= n_items; i++) {
    const json_int_t id = check_line (lines[i], all);

    g_assert_true (i == 1 || id > last);
    last = id;
  }
}

/* Segmentations */

#define WIDTH 40
#define HEIGHT 30

static void
check_equal (const SpdlMasks *a, const SpdlMasks *b, gboolean is_turned)
{
  guint8 plane[WIDTH * HEIGHT], other[WIDTH * HEIGHT];

  g_assert_cmpuint (a->ends->len, ==, b->ends->len);
  for (guint i = 0; i < a->ends->len; i++) {
    spdl_masks_write_plane (a, i, plane);
    spdl_masks_write_plane (b, i, other);
    for (guint k = 0; k < WIDTH * HEIGHT; k++) {
      const guint x = k % WIDTH, y = k / WIDTH;

      g_assert_cmpuint (plane[k], <=, 1);
      g_assert_cmpuint (
          plane[k], ==, other[is_turned ? (WIDTH - 1 - x) * HEIGHT + y : k]);
    }
  }
}

static void
check_masks (const SpdlMasks *masks)
{
  g_autoptr (GString) json = g_string_new (NULL);
  g_autoptr (GBytes) bytes = spdl_masks_to_bytes (masks);
  g_autoptr (SpdlMasks) read = NULL, sent = NULL, turned = NULL;
  guint columns[WIDTH], rows[HEIGHT];
  const SpdlMaskPick pick = { { HEIGHT, 0, HEIGHT, FALSE, rows },
    { WIDTH, 0, WIDTH, TRUE, columns }, TRUE };
  const double scale[2] = { 1, 1 };
  GValue value = G_VALUE_INIT;
  gchar *reason;

  for (guint i = 0; i < WIDTH; i++)
    columns[i] = i;
  for (guint i = 0; i < HEIGHT; i++)
    rows[i] = i;
  turned = spdl_masks_pick (masks, &pick);
  check_equal (masks, turned, TRUE);
  sent = spdl_masks_new_from_bytes (g_bytes_get_data (bytes, NULL),
      g_bytes_get_size (bytes), masks->ends->len, WIDTH, HEIGHT);
  check_equal (masks, sent, FALSE);
  spdl_masks_append_json (masks, json);
  g_value_init (&value, G_TYPE_STRING);
  g_value_take_string (&value, g_string_free (g_steal_pointer (&json), FALSE));
  read = spdl_masks_read (&value, WIDTH, HEIGHT, scale, &reason);
  check_equal (masks, read, FALSE);
  g_value_unset (&value);
}

static void
read_masks (const guint8 *data, gsize size)
{
  const double scale[2] = { 1, 1 };
  g_autofree gchar *reason = NULL;
  g_autoptr (SpdlMasks) masks = NULL;
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_take_string (&value, g_strndup ((const gchar *) data, size));
  masks = spdl_masks_read (&value, WIDTH, HEIGHT, scale, &reason);
  g_value_unset (&value);
  g_assert_true ((masks != NULL) == (reason == NULL));
  if (masks)
    check_masks (masks);
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
  const SpdlDatasetOptions options = { .location = "/dev/null",
    .require_annotations = size > 0 && data[size - 1] == ' ' };
  g_autoptr (GError) error = NULL;
  g_autofree gchar *path = NULL;
  json_t *all;

  if (size > 0 && data[0] == '[') {
    read_masks (data, size);
    return 0;
  }
  input = (FuzzInput){ data, size };
  path = spdl_coco_make_list (&options, &error);
  g_assert_true ((path != NULL) == (error == NULL));
  if (error)
    fuzz_check_text (error->message);
  all = path ? json_loadb ((const gchar *) data, size, 0, NULL) : NULL;
  /* Jansson refuses numbers that do not fit, which may be of no use. */
  if (all)
    check_list (all);
  json_decref (all);
  g_clear_pointer (&list, g_free);
  return 0;
}
