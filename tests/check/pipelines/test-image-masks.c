/* gst-spdl: tests of pairs of images and masks in whole pipelines
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/server.h"
#include "tests/check/support/suite.h"

#define SIDE 24
#define N_ITEMS 14
#define AUGMENT                                                        \
  "augment=random-resized-crop flip=0.5 seed=7 interpolation=nearest " \
  "width=24 "                                                          \
  "height=24"

static guint8
class_of (guint x, guint y, guint i)
{
  return (x * 7 + y * 13 + i) % 21;
}

/* Writes an image whose pixels encode their positions, or a mask of its
 * classes. */
static void
write_image (const gchar *folder, const gchar *name, guint i, gboolean mask)
{
  const guint width = 40 + i, height = 52 - i;
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autofree gchar *header =
      g_strdup_printf ("P%u\n%u %u\n255\n", mask ? 5 : 6, width, height);

  g_byte_array_append (file, (const guint8 *) header, strlen (header));
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++) {
      const guint8 pixel[] = { x, y, i }, class = class_of (x, y, i);

      g_byte_array_append (file, mask ? &class : pixel, mask ? 1 : 3);
    }
  files_write (folder, name, file->data, file->len);
}

/* Returns a folder with a list of N_ITEMS pairs, with the masks below @base. */
static gchar *
make_pairs (const gchar *base)
{
  gchar *folder = files_make_folder ();
  g_autoptr (GString) list = g_string_new ("uri,label,mask,caption,text\n");
  g_autoptr (GString) masks = g_string_new ("uri\n");

  for (guint i = 0; i < N_ITEMS; i++) {
    g_autofree gchar *image = g_strdup_printf ("i %u.ppm", i);
    g_autofree gchar *mask = g_strdup_printf ("masks/%u.pgm", i);
    g_autofree gchar *text = g_strdup_printf ("texts/%u.txt", i);

    write_image (folder, image, i, FALSE);
    write_image (folder, mask, i, TRUE);
    files_write_text (folder, text, &"a picture of nothing"[i]);
    g_string_append_printf (
        list, "%s,%u,%s%s,\"picture, %u\",%s\n", image, i, base, mask, i, text);
    g_string_append_printf (masks, "%s\n", mask);
  }
  files_write (folder, "list.csv", list->str, list->len);
  files_write (folder, "masks.csv", masks->str, masks->len);
  return folder;
}

/* Appends a line to the list. */
static void
add_line (const gchar *folder, const gchar *line)
{
  g_autofree gchar *path = g_build_filename (folder, "list.csv", NULL);
  g_autofree gchar *old = NULL, *text = NULL;

  fail_unless (g_file_get_contents (path, &old, NULL, NULL));
  text = g_strconcat (old, line, "\n", NULL);
  files_write_text (folder, "list.csv", text);
}

/* Checks that each pixel of the mask belongs to that of the image: both have
 * the same crop box, and the mask's classes are unchanged. */
static void
check_pair (const guint8 *image, const guint8 *mask, guint i)
{
  for (guint k = 0; k < SIDE * SIDE; k++) {
    const guint8 *pixel = image + 3 * k;

    fail_unless_equals_int (pixel[2], i);
    fail_unless_equals_int (mask[k], class_of (pixel[0], pixel[1], i));
  }
}

/* Decodes the masks as a separate stream, into an array by epoch and
 * index. */
static void
decode_masks (const gchar *folder, GBytes *masks[2][N_ITEMS])
{
  Run *run = run_pipeline ("spdlsrc location=\"%s/masks.csv\" epochs=2 ! "
                           "spdlfetch ! spdldecode format=GRAY8 " AUGMENT
                           " ! fakesink name=sink",
      folder);

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 2 * N_ITEMS);
  for (guint k = 0; k < run->buffers->len; k++) {
    const GstSpdlItemMeta *item = run_item (run, k);
    GstMapInfo map;

    gst_buffer_map (g_ptr_array_index (run->buffers, k), &map, GST_MAP_READ);
    masks[item->epoch][item->index] = g_bytes_new (map.data, SIDE * SIDE);
    gst_buffer_unmap (g_ptr_array_index (run->buffers, k), &map);
  }
  run_free (run);
}

static gboolean
is_same_draw (const GstSpdlItemMeta *item)
{
  static const gchar *fields[] = { "crop-x", "crop-y", "crop-width",
    "crop-height", "flip" };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    g_autofree gchar *data = g_strconcat ("data.", fields[i], NULL);
    g_autofree gchar *mask = g_strconcat ("mask.", fields[i], NULL);
    const GValue *a = gst_structure_get_value (item->extra, data);
    const GValue *b = gst_structure_get_value (item->extra, mask);

    if (!a || !b || gst_value_compare (a, b) != GST_VALUE_EQUAL)
      return FALSE;
  }
  return TRUE;
}

/* Checks each pair and returns their number. */
static guint
check_pairs (Run *run, GBytes *masks[2][N_ITEMS])
{
  guint n = 0;

  for (guint k = 0; k < run->buffers->len; k++) {
    GstBuffer *buffer = g_ptr_array_index (run->buffers, k);
    GstSpdlBatchMeta *batch = run_batch (run, k);
    g_autoptr (GBytes) data = run_get_tensor (buffer, "data");
    g_autoptr (GBytes) mask = run_get_tensor (buffer, "mask");
    const guint8 *image = g_bytes_get_data (data, NULL);
    const guint8 *classes = g_bytes_get_data (mask, NULL);

    for (guint b = 0; b < batch->num_items; b++, n++) {
      const GstSpdlItemMeta *item = gst_spdl_batch_meta_get_item (batch, b);
      const guint8 *alone =
          g_bytes_get_data (masks[item->epoch][item->index], NULL);

      check_pair (
          image + b * SIDE * SIDE * 3, classes + b * SIDE * SIDE, item->index);
      fail_unless (memcmp (alone, classes + b * SIDE * SIDE, SIDE * SIDE) == 0);
      fail_unless (is_same_draw (item));
    }
  }
  return n;
}

static void
check_run (const gchar *folder, guint concurrency, const gchar *order,
    const gchar *between, GBytes *masks[2][N_ITEMS])
{
  Run *run = run_pipeline (
      "spdlsrc location=\"%s/list.csv\" epochs=2 ! %s "
      "spdlfetch parts=mask concurrency=%u output-order=%s ! %s "
      "spdldecode part=data concurrency=%u output-order=%s " AUGMENT " ! %s "
      "spdldecode part=mask format=GRAY8 concurrency=%u "
      "output-order=%s " AUGMENT
      " ! spdlbatch batch-size=4 labels=true ! fakesink name=sink",
      folder, between, concurrency, order, between, concurrency, order, between,
      concurrency, order);

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->failures->len, 0);
  fail_unless_equals_int (run->n_epochs, 2);
  fail_unless_equals_int (check_pairs (run, masks), 2 * N_ITEMS);
  run_free (run);
}

GST_START_TEST (test_pairs)
{
  /* Elements between the stages, which pass samples unchanged. */
  static const gchar *between[] = { "", "spdlaggregate size=3 !",
    "spdlaggregate size=3 ! queue ! spdldisaggregate !",
    "identity ! tee ! queue !", "spdlpipe chain=identity !" };
  gchar *folder = make_pairs ("");
  GBytes *masks[2][N_ITEMS];

  decode_masks (folder, masks);
  for (guint i = 0; i < G_N_ELEMENTS (between); i++) {
    check_run (folder, 1, "input", between[i], masks);
    check_run (folder, 4, i % 2 ? "input" : "completion", between[i], masks);
  }
  for (guint i = 0; i < 2 * N_ITEMS; i++)
    g_bytes_unref (masks[i / N_ITEMS][i % N_ITEMS]);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests masks from a server with images from the disk. */
GST_START_TEST (test_server)
{
  Server *server = server_new (FALSE);
  g_autofree gchar *base =
      g_strconcat (server_get_base (server), "/file/0/0/", NULL);
  gchar *folder = make_pairs (base);
  g_autofree gchar *masks = g_build_filename (folder, "masks", NULL);
  ServerCounts counts;
  Run *run;

  server_set_root (server, masks);
  run = run_pipeline (
      "spdlsrc location=\"%s/list.csv\" ! spdlfetch parts=mask concurrency=4 ! "
      "spdldecode part=mask format=GRAY8 interpolation=nearest width=24 "
      "height=24 ! spdldecode part=data interpolation=nearest width=24 "
      "height=24 ! spdlbatch batch-size=7 ! fakesink name=sink",
      folder);
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 2);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = g_ptr_array_index (run->buffers, i);
    g_autoptr (GBytes) data = run_get_tensor (buffer, "data");
    g_autoptr (GBytes) mask = run_get_tensor (buffer, "mask");

    for (guint b = 0; b < 7; b++)
      check_pair ((guint8 *) g_bytes_get_data (data, NULL) + b * 1728,
          (guint8 *) g_bytes_get_data (mask, NULL) + b * 576,
          gst_spdl_batch_meta_get_item (run_batch (run, i), b)->index);
  }
  server_get_counts (server, &counts);
  fail_unless_equals_int (counts.requests, N_ITEMS);
  run_free (run);
  server_free (server);
  files_remove_folder (folder);
}

GST_END_TEST;

/* The parts that fail and a part of each error message. */
static const struct {
  const gchar *line;
  const gchar *stage;
  const gchar *reason;
} flaws[] = {
  { "bad.ppm,0,masks/0.pgm,,", "image", "[stream-error decode]|\"data\"" },
  { "i 0.ppm,1,bad.pgm,,", "mask", "\"mask\"" },
  { "i 1.ppm,2,masks/none.pgm,,", "fetch",
      "[resource-error not-found]|/masks/none.pgm" },
  { "i 2.ppm,3,,,", "fetch", "\"mask\"|part" },
  { "none.ppm,4,masks/3.pgm,,", "fetch", "[resource-error not-found]" },
  { "i 4.ppm,5,http://127.0.0.1:1/x.pgm,,", "fetch",
      "[resource-error open-read]|\"mask\"|http://127.0.0.1:1/x.pgm" },
  { "i 5.ppm,6,text:nothing,,", "fetch",
      "[resource-error not-found]|/text:nothing" },
  { "i 6.ppm,7,file://%s/masks/6.pgm#bytes=0-10,,", "mask", "\"mask\"" },
};

static void
check_flaw (Run *run, guint i)
{
  const GstStructure *failure = g_ptr_array_index (run->failures, i);
  guint64 index;

  fail_unless (gst_structure_get_uint64 (failure, "index", &index));
  fail_unless (index >= N_ITEMS && index < N_ITEMS + G_N_ELEMENTS (flaws));
  index -= N_ITEMS;
  fail_unless_equals_string (
      gst_structure_get_string (failure, "stage"), flaws[index].stage);
  fail_unless (errors_text_has (run_failure_text (run, i), flaws[index].reason),
      "%s", run_failure_text (run, i));
}

/* Tests that a part that fails drops its item and no other. */
GST_START_TEST (test_flaws)
{
  static const gchar *orders[] = { "input", "completion" };
  gchar *folder = make_pairs ("");

  files_write_text (folder, "bad.ppm", "P6\n40 40\n255\nno pixels");
  files_write_text (folder, "bad.pgm", "");
  for (guint i = 0; i < G_N_ELEMENTS (flaws); i++) {
    g_auto (GStrv) pieces = g_strsplit (flaws[i].line, "%s", 2);
    g_autofree gchar *line = g_strjoinv (folder, pieces);

    add_line (folder, line);
  }
  for (guint k = 0; k < 4; k++) {
    Run *run = run_pipeline (
        "spdlsrc location=\"%s/list.csv\" ! %s spdlfetch name=fetch "
        "parts=mask concurrency=4 retries=0 output-order=%s ! "
        "spdldecode name=image part=data concurrency=2 width=24 height=24 ! "
        "spdldecode name=mask part=mask concurrency=2 format=GRAY8 width=24 "
        "height=24 ! spdlbatch batch-size=7 ! fakesink name=sink",
        folder, k / 2 ? "spdlaggregate size=5 !" : "", orders[k % 2]);

    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless_equals_int (run->failures->len, G_N_ELEMENTS (flaws));
    fail_unless_equals_int (run->n_dropped, G_N_ELEMENTS (flaws));
    for (guint i = 0; i < run->failures->len; i++)
      check_flaw (run, i);
    fail_unless_equals_int (run->buffers->len, 2);
    fail_unless_equals_int (run_batch (run, 0)->num_items, 7);
    fail_unless_equals_int (run_batch (run, 1)->num_items, 7);
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that text from a column is in GstSpdlItemMeta.extra, and that text from
 * a file is a part. */
GST_START_TEST (test_text)
{
  gchar *folder = make_pairs ("");
  Run *run = run_pipeline (
      "spdlsrc location=\"%s/list.csv\" ! spdlfetch parts=\"mask, text\" ! "
      "spdldecode part=mask format=GRAY8 width=8 height=8 ! "
      "spdldecode part=data width=8 height=6 ! "
      "spdlbatch batch-size=14 pad-to-longest=true ! fakesink name=sink",
      folder);
  g_autoptr (GBytes) text = NULL, lengths = NULL;

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 1);
  text = run_get_tensor (g_ptr_array_index (run->buffers, 0), "text");
  lengths =
      run_get_tensor (g_ptr_array_index (run->buffers, 0), "text_lengths");
  for (guint i = 0; i < N_ITEMS; i++) {
    const GstSpdlItemMeta *item =
        gst_spdl_batch_meta_get_item (run_batch (run, 0), i);
    const gchar *row = (const gchar *) g_bytes_get_data (text, NULL) + i * 20;
    const gchar *wanted = &"a picture of nothing"[item->index];
    g_autofree gchar *caption =
        g_strdup_printf ("picture, %u", (guint) item->index);

    fail_unless_equals_string (
        gst_structure_get_string (item->extra, "caption"), caption);
    fail_unless (strncmp (row, wanted, 20) == 0, "%.20s", row);
    fail_unless_equals_int64 (
        ((const gint64 *) g_bytes_get_data (lengths, NULL))[i],
        strlen (wanted));
  }
  run_free (run);
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that chains process one part, and that they recognize the type of plain
 * bytes. */
GST_START_TEST (test_chain)
{
  static const gchar *orders[] = { "input", "completion" };
  gchar *folder = make_pairs ("");

  for (guint i = 0; i < 2; i++) {
    Run *run = run_pipeline (
        "spdlsrc location=\"%s/list.csv\" ! %s spdlfetch parts=mask ! "
        "spdlpipe part=mask concurrency=4 output-order=%s "
        "chain=\"image/x-portable-graymap ! avdec_pgm ! "
        "video/x-raw,format=GRAY8\" ! "
        "spdldecode part=data ! spdlpipe part=data chain=\"videoconvert ! "
        "video/x-raw,format=BGRx\" ! spdlpipe part=mask chain=\"videocrop "
        "right=3 ! identity\" ! spdlbatch batch-size=1 ! fakesink name=sink",
        folder, i ? "spdlaggregate size=4 !" : "", orders[i]);

    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless_equals_int (run->failures->len, 0);
    fail_unless_equals_int (run->buffers->len, N_ITEMS);
    for (guint k = 0; k < N_ITEMS; k++) {
      GstBuffer *buffer = g_ptr_array_index (run->buffers, k);
      g_autoptr (GBytes) data = run_get_tensor (buffer, "data");
      g_autoptr (GBytes) mask = run_get_tensor (buffer, "mask");
      const guint8 *pixels = g_bytes_get_data (data, NULL);
      const guint8 *classes = g_bytes_get_data (mask, NULL);
      const guint index = run_batch (run, k)->items[0].index;
      const guint width = 40 + index, height = 52 - index;

      fail_unless_equals_int (g_bytes_get_size (data), 4 * width * height);
      fail_unless_equals_int (g_bytes_get_size (mask), (width - 3) * height);
      for (guint y = 0; y < height; y++)
        for (guint x = 0; x < width - 3; x++) {
          const guint8 *pixel = pixels + 4 * (y * width + x);

          fail_unless (pixel[2] == x && pixel[1] == y && pixel[0] == index);
          fail_unless_equals_int (
              classes[y * (width - 3) + x], class_of (x, y, index));
        }
    }
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests chains that fail, drop items or produce several buffers. */
GST_START_TEST (test_chain_failures)
{
  static const struct {
    const gchar *chain;
    guint n_failures;
    const gchar *reason;
  } lines[] = {
    { "part=no chain=identity", N_ITEMS, "[stream-error format]|\"no\"|part" },
    { "part=mask chain=\"identity drop-probability=1\"", 0, NULL },
    { "part=mask chain=\"identity error-after=1\"", N_ITEMS, NULL },
    { "part=text chain=\"rndbuffersize min=1 max=1\"", N_ITEMS,
        "[stream-error failed]|20|\"text\"|part" },
  };
  gchar *folder = make_pairs ("");

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Run *run = run_pipeline (
        "spdlsrc location=\"%s/list.csv\" ! spdlfetch parts=\"mask,text\" ! "
        "spdlpipe %s ! fakesink name=sink",
        folder, lines[i].chain);

    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless (run->failures->len == lines[i].n_failures, "%s: %u",
        lines[i].chain, run->failures->len);
    fail_unless_equals_int (run->buffers->len + run->n_dropped, N_ITEMS);
    if (lines[i].reason)
      fail_unless (errors_text_has (run_failure_text (run, 0), lines[i].reason),
          "%s", run_failure_text (run, 0));
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

/* Tests that incompatible settings give an error that names the property to
 * set. */
GST_START_TEST (test_refused)
{
  static const gchar *lines[][2] = {
    { "spdlfetch parts=mask ! spdldecode", "[stream-error format]|part" },
    { "spdlfetch ! spdldecode part=data", "[stream-error format]|parts" },
    { "spdlfetch parts=mask ! spdldecode part=data ! video/x-raw",
        "[stream-error format]" },
    { "spdlfetch parts=mask ! avdec_mjpeg",
        "[stream-error type-not-found]|parts" },
    { "spdlfetch parts=mask ! spdlpipe chain=jpegdec",
        "[stream-error type-not-found]|parts|part=NAME" },
    { "spdlfetch ! spdlpipe part=mask chain=identity",
        "[stream-error type-not-found]|parts" },
    { "spdlfetch caps=image/jpeg ! spdlpipe part=mask chain=identity",
        "[stream-error format]|part=mask|image/jpeg" },
    { "spdlfetch parts=mask ! spdldecode part=nothing max-failures=0",
        "[stream-error failed]|\"nothing\"|part" },
    { "spdlfetch parts=\"mask,data\"", "[library-error settings]|\"data\"" },
    { "spdlfetch parts=\"mask,text,mask\"",
        "[library-error settings]|\"mask\"" },
    { "spdlfetch parts=\",\"", "[library-error settings]|\"\"" },
    { "spdlfetch parts=\"a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p\"",
        "[library-error settings]|16|1|15|parts" },
  };
  gchar *folder = make_pairs ("");

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Run *run = run_pipeline (
        "spdlsrc location=\"%s/list.csv\" ! %s ! fakesink name=sink", folder,
        lines[i][0]);

    fail_unless (run->error != NULL, "%s", lines[i][0]);
    fail_unless (errors_text_has (run->error, lines[i][1]), "%s", run->error);
    run_free (run);
  }
  files_remove_folder (folder);
}

GST_END_TEST;

CHECK_SUITE (image_masks, TEST (test_pairs), TEST (test_server),
    TEST (test_flaws), TEST (test_text), TEST (test_chain),
    TEST (test_chain_failures), TEST (test_refused))
