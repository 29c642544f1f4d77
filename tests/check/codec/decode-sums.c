/* gst-spdl: checksums of decoded images
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Decodes every file below a folder with several sets of properties and prints
 * one line for each result:
 *
 *     decode-sums FOLDER
 *
 * A line holds the SHA-256 of the caps and pixels, the path of the file in the
 * folder and the properties. tools/test-arm64 compares the lines of two
 * machines. */

#include <stdlib.h>
#include <gst/check/gstharness.h>
#include <gst/spdl/spdl.h>
#include <gst/video/video.h>

/* Whole images converted row by row, resized planes with each kind of kernel,
 * and crops of both that are decoded at a reduced size. */
static const gchar *const ways[] = {
  "resize=none",
  "resize=none format=BGR",
  "width=224 height=224",
  "width=224 height=224 format=GRAY8 interpolation=lanczos",
  "width=97 height=61 resize=cover interpolation=bicubic fast-scale=true",
  "width=224 height=224 augment=random-resized-crop flip=0.5 fast-scale=true",
  "width=112 height=112 augment=random-resized-crop interpolation=nearest "
  "fast-scale=true",
};

/* Adds the paths below @folder to @paths, relative to @top. */
static void
find_files (GPtrArray *paths, const gchar *top, const gchar *folder)
{
  g_autofree gchar *full = g_build_filename (top, folder, NULL);
  g_autoptr (GDir) dir = g_dir_open (full, 0, NULL);
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    g_autofree gchar *file = g_build_filename (top, path, NULL);

    if (name[0] == '.')
      continue;
    if (g_file_test (file, G_FILE_TEST_IS_DIR))
      find_files (paths, top, path);
    else
      g_ptr_array_add (paths, g_steal_pointer (&path));
  }
}

static gint
compare_paths (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(const gchar *const *) a, *(const gchar *const *) b);
}

static GstBuffer *
read_item (const gchar *path, guint number)
{
  GstSpdlItemMeta *item;
  GstBuffer *buffer;
  gchar *data;
  gsize size;

  if (!g_file_get_contents (path, &data, &size, NULL))
    g_error ("%s cannot be read", path);
  buffer = gst_buffer_new_wrapped (data, size);
  item = gst_spdl_buffer_add_item_meta (buffer);
  item->index = item->sequence = number;
  item->uri = g_ref_string_new (path);
  return buffer;
}

/* Leaves out the padding of rows, of which the contents are undefined. */
static gchar *
make_sum (GstBuffer *buffer, GstCaps *caps)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree gchar *text = gst_caps_to_string (caps);
  GstVideoFrame frame;
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps) ||
      !gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ))
    g_error ("no image: %s", text);
  g_checksum_update (sum, (const guchar *) text, -1);
  for (gint y = 0; y < info.height; y++)
    g_checksum_update (sum,
        (const guchar *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
            (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        info.width * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0));
  gst_video_frame_unmap (&frame);
  return g_strdup (g_checksum_get_string (sum));
}

static void
print_sums (const gchar *folder, const GPtrArray *paths, const gchar *way)
{
  g_autofree gchar *launch =
      g_strconcat ("spdldecode on-corrupt=keep ", way, NULL);
  GstHarness *harness = gst_harness_new_parse (launch);

  gst_harness_set_src_caps_str (harness, "application/octet-stream");
  for (guint i = 0; i < paths->len; i++) {
    const gchar *name = g_ptr_array_index (paths, i);
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    g_autofree gchar *sum = NULL;
    g_autoptr (GstCaps) caps = NULL;
    GstBuffer *buffer =
        gst_harness_push_and_pull (harness, read_item (path, i));

    if (!buffer)
      g_error ("%s cannot be decoded", path);
    caps = gst_pad_get_current_caps (harness->sinkpad);
    sum = make_sum (buffer, caps);
    g_print ("%s  %s  %s\n", sum, name, way);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);

  gst_init (&argc, &argv);
  if (argc != 2) {
    g_printerr ("usage: decode-sums FOLDER\n");
    return 2;
  }
  find_files (paths, argv[1], "");
  if (paths->len == 0) {
    g_printerr ("no files below %s\n", argv[1]);
    return 1;
  }
  g_ptr_array_sort (paths, compare_paths);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    print_sums (argv[1], paths, ways[i]);
  return 0;
}
