/* gst-spdl: tests of ZIPs with deflated members
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <zlib.h>

#include "tests/check/support/arrays.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/served.h"
#include "tests/check/support/suite.h"

#define N 12

/* Returns the contents of file @i: compressible, and longer for each. */
static GBytes *
make_content (guint i)
{
  const gsize size = 1000 + 5000 * i;
  guint8 *data = g_malloc (size);

  for (gsize j = 0; j < size; j++)
    data[j] = (j / 7) * (i + 1) + (j % 13 == 0 ? j * j >> 5 : 0);
  return g_bytes_new_take (data, size);
}

static void
put_16 (GByteArray *to, guint16 number)
{
  const guint8 bytes[] = { number, number >> 8 };

  g_byte_array_append (to, bytes, sizeof bytes);
}

static void
put_32 (GByteArray *to, guint32 number)
{
  put_16 (to, number);
  put_16 (to, number >> 16);
}

/* Writes the fields that both headers of a member have. */
static void
put_member (GByteArray *to, const gchar *name, GBytes *content, guint32 packed,
    guint32 checksum, guint method)
{
  put_16 (to, 20);
  put_16 (to, 0);
  put_16 (to, method);
  put_32 (to, 0);
  put_32 (to, checksum);
  put_32 (to, packed);
  put_32 (to, g_bytes_get_size (content));
  put_16 (to, strlen (name));
  put_16 (to, 0);
}

static void
add_member (GByteArray *zip, GByteArray *directory, const gchar *name,
    GBytes *content, gboolean stored, guint wrong)
{
  const guint32 offset = zip->len;
  g_autoptr (GByteArray) packed =
      stored ? g_bytes_unref_to_array (g_bytes_ref (content))
             : arrays_deflate (content);
  const guint32 checksum =
      crc32 (0, g_bytes_get_data (content, NULL), g_bytes_get_size (content)) ^
      wrong;

  g_byte_array_append (zip, (const guint8 *) "PK\3\4", 4);
  put_member (
      zip, name, content, packed->len, checksum, stored ? 0 : Z_DEFLATED);
  g_byte_array_append (zip, (const guint8 *) name, strlen (name));
  g_byte_array_append (zip, packed->data, packed->len);
  g_byte_array_append (directory, (const guint8 *) "PK\1\2", 4);
  put_16 (directory, 20);
  put_member (
      directory, name, content, packed->len, checksum, stored ? 0 : Z_DEFLATED);
  put_16 (directory, 0);
  put_16 (directory, 0);
  put_16 (directory, 0);
  put_32 (directory, 0);
  put_32 (directory, offset);
  g_byte_array_append (directory, (const guint8 *) name, strlen (name));
}

/* Writes samples with an image, which is stored in every third sample, a mask
 * and a label. The checksum of image @wrong is wrong. */
static void
write_zip (guint wrong)
{
  g_autoptr (GByteArray) zip = g_byte_array_new ();
  g_autoptr (GByteArray) directory = g_byte_array_new ();
  guint32 offset;

  for (guint i = 0; i < N; i++) {
    g_autoptr (GBytes) content = make_content (i);
    g_autoptr (GBytes) mask = make_content (N + i);
    g_autofree gchar *image_name = g_strdup_printf ("%03u.jpg", i);
    g_autofree gchar *mask_name = g_strdup_printf ("%03u.seg.png", i);
    g_autofree gchar *label_name = g_strdup_printf ("%03u.cls", i);
    gchar *text = g_strdup_printf ("%u", i);
    g_autoptr (GBytes) label = g_bytes_new_take (text, strlen (text));

    add_member (zip, directory, image_name, content, i % 3 == 2, i == wrong);
    add_member (zip, directory, mask_name, mask, FALSE, 0);
    add_member (zip, directory, label_name, label, FALSE, 0);
  }
  offset = zip->len;
  g_byte_array_append (zip, directory->data, directory->len);
  g_byte_array_append (zip, (const guint8 *) "PK\5\6\0\0\0\0", 8);
  put_16 (zip, 3 * N);
  put_16 (zip, 3 * N);
  put_32 (zip, directory->len);
  put_32 (zip, offset);
  put_16 (zip, 0);
  files_write (served.folder, "s.zip", zip->data, zip->len);
}

static void
assert_is (GstBuffer *buffer, gsize offset, guint i)
{
  g_autoptr (GBytes) content = make_content (i);
  gsize size;
  gconstpointer data = g_bytes_get_data (content, &size);

  fail_unless (gst_buffer_get_size (buffer) >= offset + size);
  fail_unless (gst_buffer_memcmp (buffer, offset, data, size) == 0, "%u", i);
}

/* @wrong: the sample that fails, or N for none */
static void
assert_samples (Run *run, guint wrong)
{
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, N - (wrong < N));
  fail_unless_equals_int (run->failures->len, wrong < N);
  for (guint i = 0; i < run->buffers->len; i++) {
    GstBuffer *buffer = g_ptr_array_index (run->buffers, i);
    const GstSpdlItemMeta *item = run_item (run, i);
    g_autoptr (GBytes) content = make_content (item->index);

    fail_unless_equals_int64 (item->label, item->index);
    fail_unless_equals_int (
        gst_buffer_get_size (buffer), g_bytes_get_size (content));
    assert_is (buffer, 0, item->index);
  }
}

static Run *
run_zip (const gchar *base, const gchar *source, const gchar *fetch)
{
  return run_pipeline (
      "spdlsrc location=\"%s/s.zip\" %s ! %s ! fakesink name=sink", base,
      source, fetch);
}

static gchar *
get_base (void)
{
  return g_strdup_printf ("%s/shard/0/0", server_get_base (served.server));
}

GST_START_TEST (test_read)
{
  g_autofree gchar *base = get_base ();
  const gchar *bases[] = { served.folder, base };

  write_zip (N);
  for (guint i = 0; i < G_N_ELEMENTS (bases); i++) {
    /* The first run writes the index, and the second one reads it. */
    for (guint j = 0; j < 2; j++) {
      Run *run = run_zip (bases[i], "index-cache=always shuffle=true",
          "spdlfetch concurrency=4");

      assert_samples (run, N);
      run_free (run);
    }
    for (guint j = 0; j < 2; j++) {
      Run *run = run_zip (bases[i], "",
          "spdlaggregate size=6 ! spdlfetch concurrency=4 coalesce=1000000 ! "
          "spdldisaggregate");

      assert_samples (run, N);
      run_free (run);
    }
  }
}

GST_END_TEST;

GST_START_TEST (test_parts)
{
  g_autofree gchar *base = get_base ();
  Run *run;

  write_zip (N);
  run = run_zip (base, "", "spdlfetch parts=seg.png concurrency=4");
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, N);
  for (guint i = 0; i < N; i++) {
    GstBuffer *buffer = g_ptr_array_index (run->buffers, i);
    const guint64 index = run_item (run, i)->index;
    g_autoptr (GBytes) content = make_content (index);

    assert_is (buffer, 0, index);
    assert_is (buffer, g_bytes_get_size (content), N + index);
  }
  run_free (run);
}

GST_END_TEST;

/* Tests that the cache stores the compressed data and that each hit is
 * decompressed. */
GST_START_TEST (test_cache)
{
  g_autofree gchar *base = get_base ();
  g_autofree gchar *fetch = g_strdup_printf (
      "spdlfetch cache-dir=%s/items cache-validate=none concurrency=4",
      served.cache);
  ServerCounts before, after;
  Run *run;

  write_zip (N);
  run = run_zip (base, "index-cache=always", fetch);
  assert_samples (run, N);
  run_free (run);
  server_get_counts (served.server, &before);
  run = run_zip (base, "index-cache=always", fetch);
  assert_samples (run, N);
  run_free (run);
  server_get_counts (served.server, &after);
  fail_unless_equals_int (after.requests, before.requests + 1);
}

GST_END_TEST;

static void
assert_fails (Run *run, guint wrong, const gchar *part)
{
  assert_samples (run, wrong);
  fail_unless (errors_text_has (run_failure_text (run, 0), part), "%s",
      run_failure_text (run, 0));
  run_free (run);
}

GST_START_TEST (test_damaged)
{
  g_autofree gchar *base = get_base ();

  write_zip (4);
  assert_fails (
      run_zip (served.folder, "", "spdlfetch"), 4, "[resource-error read]");
  assert_fails (run_zip (base, "", "spdlfetch concurrency=3"), 4,
      "[resource-error read]");
  assert_fails (
      run_zip (base, "",
          "spdlaggregate size=12 ! spdlfetch coalesce=1000000 concurrency=3 ! "
          "spdldisaggregate"),
      4, "[resource-error read]");
  /* The size is checked before the data is read. The last image is stored, and
   * the one before it is the largest. */
  write_zip (N);
  assert_fails (run_zip (base, "", "spdlfetch max-size=55999"), 11, "max-size");
}

GST_END_TEST;

/* Tests URIs that were not written by spdlsrc. */
GST_START_TEST (test_uris)
{
  static const struct {
    const gchar *fragment;
    const gchar *part;
  } uris[] = {
    { "#bytes=0-9&inflate=5", "[resource-error settings]" },
    { "#bytes=0-9&inflate=&crc32=1", "[resource-error settings]" },
    { "#bytes=0-9&inflate=5&crc32=x", "[resource-error settings]" },
    { "#bytes=0-9&inflate=-5&crc32=1", "[resource-error settings]" },
    { "#bytes=0-9&inflate=9999999999&crc32=1", "[resource-error settings]" },
    { "#bytes=0-9&inflate=4294967295&crc32=1", "[resource-error read]" },
    { "#bytes=0-9&inflate=5&crc32=1", "[resource-error read]" },
    { "#bytes=10-19&inflate=5&crc32=3610a686", "[resource-error read]" },
    { "#bytes=10-15&inflate=5&crc32=3610a686", "[resource-error read]" },
    { "#bytes=10-13&inflate=5&crc32=3610a686", "[resource-error read]" },
    { "#bytes=10-16&inflate=4&crc32=3610a686", "[resource-error read]" },
    { "#bytes=10-16&inflate=6&crc32=3610a686", "[resource-error read]" },
    { "#bytes=10-16&inflate=5&crc32=3610a687", "[resource-error read]" },
  };
  g_autoptr (GString) list = g_string_new (NULL);
  Run *run;

  /* The deflated text "hello" between other bytes. */
  files_write (served.folder, "h",
      "\377\377\377\377\377\377\377\377\377\377"
      "\313H\315\311\311\7\0zzz",
      20);
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    g_string_append_printf (
        list, "file://%s/h%s\n", served.folder, uris[i].fragment);
  g_string_append_printf (list,
      "file://%s/h#bytes=10-16&inflate=5&crc32=3610a686\n", served.folder);
  files_write_text (served.folder, "list.txt", list->str);
  run = run_pipeline (
      "spdlsrc location=%s/list.txt ! spdlfetch ! fakesink name=sink",
      served.folder);
  fail_unless_equals_int (run->buffers->len, 1);
  fail_unless (gst_buffer_memcmp (
                   g_ptr_array_index (run->buffers, 0), 0, "hello", 5) == 0);
  fail_unless_equals_int (run->failures->len, G_N_ELEMENTS (uris));
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    fail_unless (errors_text_has (run_failure_text (run, i), uris[i].part),
        "%s: %s", uris[i].fragment, run_failure_text (run, i));
  run_free (run);
}

GST_END_TEST;

CHECK_SUITE (zip_deflated, FIXTURE (served_setup, served_teardown),
    TEST (test_read), TEST (test_parts), TEST (test_cache), TEST (test_damaged),
    TEST (test_uris))
