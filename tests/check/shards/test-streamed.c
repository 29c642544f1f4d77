/* gst-spdl: tests of streamed shards, from servers without byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <archive.h>
#include <archive_entry.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check/support/errors.h"
#include "tests/check/support/files.h"
#include "tests/check/support/run.h"
#include "tests/check/support/served.h"
#include "tests/check/support/suite.h"
#include "tests/check/support/tars.h"

#define SIZE 60000
#define N_SHARDS 4
#define N_EACH 5
#define N_ALL (N_SHARDS * N_EACH)
#define ALL "train-{0000..0003}.tar"
/* The distance of sequence numbers after a shard that failed. */
#define STRIDE (G_GUINT64_CONSTANT (1) << 40)

static void
setup (void)
{
  served_setup ();
  for (guint i = 0; i < N_SHARDS; i++) {
    g_autofree gchar *name = g_strdup_printf ("train-%04u.tar", i);

    tar_write_shard (served.folder, name, i * N_EACH, N_EACH, SIZE);
  }
}

static Run *
run_shards (const gchar *fault, const gchar *shards, const gchar *source,
    const gchar *rest)
{
  return run_pipeline ("spdlsrc location=\"%s/%s/%s\" %s ! %s "
                       "! fakesink name=sink",
      server_get_base (served.server), fault, shards, source, rest);
}

/* Checks each sample and returns their labels in the order of the stream. */
static gchar *
list_samples (Run *run)
{
  GString *text = g_string_new (NULL);

  fail_unless_equals_int (run->failures->len, 0);
  for (guint i = 0; i < run->buffers->len; i++) {
    const GstSpdlItemMeta *item = run_item (run, i);
    const gsize size = SIZE + item->label;
    g_autofree guint8 *expected = g_malloc (size);
    g_autofree gchar *caption =
        g_strdup_printf ("caption %" G_GINT64_FORMAT, item->label);
    GstBuffer *buffer = g_ptr_array_index (run->buffers, i);

    tar_fill (expected, size, item->label);
    fail_unless_equals_int (gst_buffer_get_size (buffer), size);
    fail_unless (gst_buffer_memcmp (buffer, 0, expected, size) == 0);
    fail_unless_equals_string (
        gst_structure_get_string (item->extra, "txt"), caption);
    fail_unless_equals_uint64 (item->index,
        (guint64) (item->label / N_EACH) << 32 | item->label % N_EACH);
    g_string_append_printf (text, "%" G_GINT64_FORMAT " ", item->label);
  }
  return g_string_free (text, FALSE);
}

/* Checks that each of the first @n samples is in the list @text once. */
static void
assert_once (const gchar *text, guint n)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  fail_unless_equals_int (g_strv_length (words), n + 1);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *word = g_strdup_printf ("%u", i);

    fail_unless (g_strv_contains ((const gchar *const *) words, word), "%s: %s",
        word, text);
  }
}

static gchar *
run_and_list (const gchar *source)
{
  Run *run = run_shards (
      "tape/0/0", ALL, source, "spdlfetch concurrency=3 output-order=input");
  gchar *text;

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->warnings->len, 0);
  text = list_samples (run);
  run_free (run);
  return text;
}

/* Returns the number of items in the event that ends epoch @wanted, or
 * G_MAXUINT64 if there is none. */
static guint64
count_in_event (Run *run, guint64 wanted)
{
  for (guint i = 0; i < run->stream->len; i++) {
    GstMiniObject *object = g_ptr_array_index (run->stream, i);
    guint64 epoch, n;

    if (GST_IS_EVENT (object) &&
        gst_spdl_event_parse_epoch (GST_EVENT (object), NULL, &epoch, &n) &&
        epoch == wanted)
      return n;
  }
  return G_MAXUINT64;
}

GST_START_TEST (test_in_order)
{
  Run *run = run_shards (
      "tape/0/0", ALL, "epochs=2", "spdlfetch output-order=input ! identity");
  g_autofree gchar *text = list_samples (run);
  ServerCounts counts;

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_string (text,
      "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 "
      "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 ");
  for (guint i = 0; i < 2 * N_ALL; i++) {
    fail_unless_equals_uint64 (run_item (run, i)->sequence, i % N_ALL);
    fail_unless_equals_uint64 (run_item (run, i)->epoch, i / N_ALL);
  }
  fail_unless_equals_int (run->n_epochs, 2);
  fail_unless_equals_uint64 (count_in_event (run, 0), N_ALL);
  fail_unless_equals_uint64 (count_in_event (run, 1), N_ALL);
  run_free (run);
  /* Each shard is requested once per epoch, some after a request for a byte. */
  server_get_counts (served.server, &counts);
  fail_unless (counts.requests <= 3 * N_SHARDS, "%u", counts.requests);
}

GST_END_TEST;

/* Writes @to, a copy of @from compressed with one of libarchive's filters. */
static void
compress_shard (
    const gchar *from, const gchar *to, int (*add_filter) (struct archive *))
{
  g_autofree gchar *in = g_build_filename (served.folder, from, NULL);
  g_autofree gchar *out = g_build_filename (served.folder, to, NULL);
  struct archive *archive = archive_write_new ();
  struct archive_entry *entry = archive_entry_new ();
  g_autofree gchar *data = NULL;
  gsize size;

  fail_unless (g_file_get_contents (in, &data, &size, NULL));
  fail_unless_equals_int (add_filter (archive), ARCHIVE_OK);
  fail_unless_equals_int (archive_write_set_format_raw (archive), ARCHIVE_OK);
  fail_unless_equals_int (
      archive_write_open_filename (archive, out), ARCHIVE_OK);
  archive_entry_set_filetype (entry, S_IFREG);
  fail_unless_equals_int (archive_write_header (archive, entry), ARCHIVE_OK);
  fail_unless_equals_int64 (archive_write_data (archive, data, size), size);
  fail_unless_equals_int (archive_write_close (archive), ARCHIVE_OK);
  archive_entry_free (entry);
  archive_write_free (archive);
}

#define N_FILTERS 2

static void
compress_shards (void)
{
  static int (*const filters[N_FILTERS]) (struct archive *) = {
    archive_write_add_filter_gzip, archive_write_add_filter_zstd
  };
  static const gchar *const ends[N_FILTERS] = { "gz", "zst" };

  for (guint f = 0; f < N_FILTERS; f++)
    for (guint i = 0; i < N_SHARDS; i++) {
      g_autofree gchar *from = g_strdup_printf ("train-%04u.tar", i);
      g_autofree gchar *to = g_strdup_printf ("%s.%s", from, ends[f]);

      compress_shard (from, to, filters[f]);
    }
}

/* Tests that compressed tars have the same samples, also after a restart. */
GST_START_TEST (test_compressed)
{
  static const gchar *const shards[N_FILTERS] = { ALL ".gz", ALL ".zst" };

  compress_shards ();
  for (guint f = 0; f < N_FILTERS; f++) {
    Run *run = run_shards ("tape/0/0", shards[f], "",
        "spdlfetch concurrency=3 output-order=input");
    g_autofree gchar *text = NULL;

    fail_unless (run->error == NULL, "%s", run->error);
    fail_unless_equals_int (run->warnings->len, 0);
    text = list_samples (run);
    assert_once (text, N_ALL);
    run_free (run);
  }
}

GST_END_TEST;

/* Tests that a truncated compressed tar gives the samples before its end. */
GST_START_TEST (test_compressed_cut)
{
  g_autofree gchar *path =
      g_build_filename (served.folder, "train-0003.tar.gz", NULL);
  g_autofree gchar *data = NULL;
  gsize size;
  Run *run;

  compress_shards ();
  fail_unless (g_file_get_contents (path, &data, &size, NULL));
  files_write (served.folder, "train-0003.tar.gz", data, size / 2);
  run = run_shards (
      "tape/0/0", ALL ".gz", "", "spdlfetch concurrency=3 output-order=input");
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->warnings->len, 1);
  fail_unless (run->buffers->len >= 15 && run->buffers->len < N_ALL);
  run_free (run);
}

GST_END_TEST;

/* Tests that damage that only the checksum of gzip shows is reported. */
GST_START_TEST (test_compressed_damaged)
{
  g_autofree gchar *path = g_build_filename (served.folder, "one.tar", NULL);
  struct archive *archive = archive_write_new ();
  struct archive_entry *entry = archive_entry_new ();
  g_autofree gchar *data = NULL;
  gchar *content;
  gsize size;
  Run *run;

  archive_write_set_format_ustar (archive);
  archive_write_add_filter_gzip (archive);
  archive_write_set_filter_option (archive, "gzip", "compression-level", "0");
  archive_write_open_filename (archive, path);
  archive_entry_set_pathname (entry, "a.jpg");
  archive_entry_set_filetype (entry, S_IFREG);
  archive_entry_set_size (entry, 8);
  fail_unless_equals_int (archive_write_header (archive, entry), ARCHIVE_OK);
  fail_unless_equals_int (archive_write_data (archive, "GOODDATA", 8), 8);
  archive_entry_free (entry);
  archive_write_free (archive);
  run = run_shards ("tape/0/0", "one.tar", "", "spdlfetch");
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->warnings->len, 0);
  fail_unless_equals_int (run->buffers->len, 1);
  run_free (run);

  fail_unless (g_file_get_contents (path, &data, &size, NULL));
  content = memmem (data, size, "GOODDATA", 8);
  fail_unless (content != NULL);
  *content = 'X';
  files_write (served.folder, "one.tar", data, size);
  run = run_shards ("tape/0/0", "one.tar", "", "spdlfetch");
  fail_unless (
      run->error && errors_text_has (run->error, "[resource-error read]|gzip"),
      "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 0);
  run_free (run);
}

GST_END_TEST;

/* Tests that a large file is not decompressed completely. */
GST_START_TEST (test_compressed_bomb)
{
  static const gchar name[] = "README", size[] = "10000000001";
  g_autofree gchar *path = g_build_filename (served.folder, "head.tar", NULL);
  gchar head[512] = { 0 };
  guint sum = 0;
  Run *run;

  /* Only the header is written, with a size of 1 GiB and a byte, as the rest is
   * not read. */
  memcpy (head, name, sizeof name);
  memcpy (head + 124, size, sizeof size);
  memset (head + 148, ' ', 8);
  head[156] = '0';
  memcpy (head + 257, "ustar\00000", 8);
  for (guint i = 0; i < sizeof head; i++)
    sum += (guchar) head[i];
  g_snprintf (head + 148, 8, "%06o", sum);
  fail_unless (g_file_set_contents (path, head, sizeof head, NULL));
  compress_shard ("head.tar", "bomb.tar", archive_write_add_filter_gzip);
  run = run_shards ("tape/0/0", "bomb.tar", "", "spdlfetch");
  fail_unless (
      run->error && errors_text_has (run->error, "[resource-error read]|1 GiB"),
      "%s", run->error);
  run_free (run);
}

GST_END_TEST;

GST_START_TEST (test_shuffled)
{
  g_autofree gchar *one = run_and_list ("shuffle=true shuffle-buffer=7 seed=1");
  g_autofree gchar *again =
      run_and_list ("shuffle=true shuffle-buffer=7 seed=1");
  g_autofree gchar *other =
      run_and_list ("shuffle=true shuffle-buffer=7 seed=2");
  g_autofree gchar *shards = run_and_list ("shuffle=true seed=1");
  g_autofree gchar *buffer = run_and_list ("shuffle-buffer=1000 seed=1");

  assert_once (one, N_ALL);
  assert_once (other, N_ALL);
  assert_once (shards, N_ALL);
  assert_once (buffer, N_ALL);
  fail_unless_equals_string (one, again);
  fail_if (g_str_equal (one, other));
  fail_if (g_str_equal (one, shards));
  fail_if (g_str_equal (buffer, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 "
                                "18 19 "));
}

GST_END_TEST;

/* Tests classes as with indexed shards. An integer may be a class name. */
GST_START_TEST (test_classes)
{
  Run *run = run_shards ("tape/0/0", "train-0000.tar", "classes=<3,1,2,0,4>",
      "spdlfetch output-order=input");
  static const gint64 labels[] = { 3, 1, 2, 0, 4 };

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless (run->buffers->len >= G_N_ELEMENTS (labels));
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    fail_unless_equals_int64 (run_item (run, i)->label, labels[i]);
  run_free (run);

  run = run_shards ("tape/0/0", ALL, "classes=<a,b>", "spdlfetch ! identity");
  fail_unless (
      run->error &&
          errors_text_has (run->error, "[resource-error read]|2|label") &&
          errors_text_has (run->error, "[resource-error read]|2|classes"),
      "%s", run->error);
  run_free (run);
}

GST_END_TEST;

/* Tests that ranks divide shards and not samples. */
GST_START_TEST (test_ranks)
{
  g_autofree gchar *first = run_and_list ("rank=0 world-size=3 "
                                          "shard-mode=uneven shuffle=true");
  g_autofree gchar *second = run_and_list ("rank=1 world-size=3 "
                                           "shard-mode=uneven shuffle=true");
  g_autofree gchar *third = run_and_list ("rank=2 world-size=3 "
                                          "shard-mode=uneven shuffle=true");
  g_autofree gchar *all = g_strconcat (first, second, third, NULL);
  g_autofree gchar *padded = run_and_list ("rank=2 world-size=3");
  g_autofree gchar *none = NULL;
  Run *run;

  assert_once (all, N_ALL);
  fail_unless_equals_string (padded, "10 11 12 13 14 5 6 7 8 9 ");

  /* There are more ranks than shards. */
  none = run_and_list ("rank=4 world-size=5 shard-mode=uneven epochs=3");
  fail_unless_equals_string (none, "");
  run = run_shards ("tape/0/0", ALL,
      "rank=4 world-size=5 shard-mode=uneven epochs=-1", "spdlfetch");
  fail_unless (errors_text_has (run->error, "epochs=-1"), "%s", run->error);
  run_free (run);
  run = run_shards (
      "tape/0/0", ALL, "rank=4 world-size=5 shard-mode=drop", "spdlfetch");
  fail_unless (errors_text_has (run->error, "[resource-error settings]|4"),
      "%s", run->error);
  run_free (run);
}

GST_END_TEST;

/* Tests that an interrupted shard is resumed if its validator is unchanged. */
GST_START_TEST (test_broken)
{
  /* The first request is the one for a byte. */
  Run *run = run_shards (
      "tape/3/150000", "train-0000.tar", "", "spdlfetch output-order=input");
  g_autofree gchar *text = list_samples (run);

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->warnings->len, 0);
  fail_unless_equals_string (text, "0 1 2 3 4 ");
  fail_unless_equals_int (
      server_count_path (served.server, "/tape/3/150000/train-0000.tar"), 4);
  run_free (run);
}

GST_END_TEST;

/* Checks that an interrupted shard that cannot be resumed loses its remaining
 * samples. */
static void
assert_lost (const gchar *fault, guint timeout, const gchar *part)
{
  g_autofree gchar *location =
      g_strdup_printf ("{%s/train-0000,tape/0/0/train-0001}.tar", fault);
  Run *run = run_pipeline ("spdlsrc location=\"%s/%s\" epochs=2 timeout=%u "
                           "retries=1 ! spdlfetch output-order=input "
                           "! fakesink name=sink",
      server_get_base (served.server), location, timeout);
  g_autofree gchar *text = list_samples (run);

  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_string (text, "0 1 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 ");
  fail_unless_equals_int (run->warnings->len, 1);
  fail_unless (errors_text_has (g_ptr_array_index (run->warnings, 0),
                   "[resource-error read]|train-0000|2") &&
                   errors_text_has (g_ptr_array_index (run->warnings, 0), part),
      "%s", (gchar *) g_ptr_array_index (run->warnings, 0));
  fail_unless_equals_uint64 (run_item (run, 1)->sequence, 1);
  fail_unless_equals_uint64 (run_item (run, 2)->sequence, STRIDE);
  fail_unless_equals_uint64 (run_item (run, 6)->sequence, STRIDE + 4);
  fail_unless_equals_uint64 (run_item (run, 7)->sequence, 0);
  fail_unless_equals_uint64 (count_in_event (run, 0), 7);
  fail_unless_equals_uint64 (count_in_event (run, 1), 10);
  run_free (run);
}

GST_START_TEST (test_lost)
{
  assert_lost ("othertape/2/150000", 30, "[resource-error read]");
  assert_lost ("tape/3/150000", 30, "[resource-error read]|150000");
  assert_lost ("tapejam/3/150000", 3, "[resource-error read]|3");
}

GST_END_TEST;

/* Tests a truncated shard and missing shards. */
GST_START_TEST (test_truncated_and_missing)
{
  g_autofree gchar *path =
      g_build_filename (served.folder, "train-0000.tar", NULL);
  Run *run;

  fail_unless_equals_int (truncate (path, 130000), 0);
  run = run_shards ("tape/0/0", "{train-0000,train-0001}.tar", "", "spdlfetch");
  fail_unless_equals_int (run->buffers->len, 2 + N_EACH);
  fail_unless_equals_int (run->warnings->len, 1);
  run_free (run);
  /* A dataset without any sample is an error. */
  run = run_shards ("tape/0/0", "{none,other}.tar", "", "spdlfetch");
  fail_unless (errors_text_has (run->error, "[resource-error not-found]|404"),
      "%s", run->error);
  run_free (run);
}

GST_END_TEST;

static void
assert_refused (const gchar *shards, const gchar *part)
{
  Run *run = run_shards ("tape/0/0", shards, "", "spdlfetch");

  fail_unless (
      run->error && errors_text_has (run->error, part), "%s", run->error);
  run_free (run);
}

GST_START_TEST (test_refused)
{
  Tar tar;

  files_write_text (served.folder, "a.zip", "PK, or so");
  assert_refused ("a.zip", "[resource-error read]|a.zip");
  files_write_text (served.folder, "no.tar", "not a tar");
  assert_refused ("no.tar", "[resource-error read]|no.tar");
  files_write_text (served.folder, "gz.tar", "\037\213 and so on");
  assert_refused ("gz.tar", "[resource-error read]|gz.tar");
  files_write_text (served.folder, "xz.tar", "\3757zXZ and so on");
  assert_refused ("xz.tar", "[resource-error read]");
  tar_begin (&tar);
  tar_add_text (&tar, "a.jpg", "one");
  tar_add_text (&tar, "a.jpg", "two");
  tar_end (&tar, served.folder, "twice.tar");
  assert_refused ("twice.tar", "[resource-error read]");
  tar_begin (&tar);
  tar_add_text (&tar, "a.txt", "one");
  tar_end (&tar, served.folder, "notes.tar");
  assert_refused ("notes.tar", "[resource-error not-found]");
}

GST_END_TEST;

/* Tests that the other files of a sample become parts. */
GST_START_TEST (test_parts)
{
  Tar tar;
  Run *run;

  tar_begin (&tar);
  for (guint i = 0; i < 3; i++) {
    g_autofree gchar *image = g_strdup_printf ("%u.jpg", i);
    g_autofree gchar *mask = g_strdup_printf ("%u.seg.png", i);
    g_autofree gchar *note = g_strdup_printf ("%u.txt", i);

    tar_add_text (&tar, image, "image");
    tar_add_text (&tar, mask, "mask of it");
    tar_add_text (&tar, note, "text");
  }
  tar_add_text (&tar, "only.txt", "no payload");
  tar_end (&tar, served.folder, "parts.tar");
  run = run_shards ("tape/0/0", "parts.tar", "",
      "spdlaggregate size=2 ! spdlfetch parts=seg.png coalesce=1000 "
      "! spdldisaggregate");
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->failures->len, 0);
  fail_unless_equals_int (run->buffers->len, 3);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *sample = g_ptr_array_index (run->buffers, i);

    fail_unless_equals_int (gst_buffer_get_size (sample), 5 + 10);
    fail_unless (gst_buffer_memcmp (sample, 0, "imagemask of it", 15) == 0);
  }
  fail_unless_equals_int (run->warnings->len, 1);
  fail_unless (errors_text_has (
      g_ptr_array_index (run->warnings, 0), "[resource-error read]|1|4"));
  run_free (run);
  fail_unless_equals_int (
      server_count_path (served.server, "/tape/0/0/parts.tar"), 2);
}

GST_END_TEST;

/* Tests a file that is larger than the read-ahead. */
GST_START_TEST (test_large)
{
  const gsize size = 5 << 20;
  Run *run;

  tar_write_shard (served.folder, "large.tar", 0, 6, size);
  run = run_shards ("tape/0/0", "large.tar", "", "spdlfetch max-size=5242883");
  fail_unless (run->error == NULL, "%s", run->error);
  fail_unless_equals_int (run->buffers->len, 4);
  for (guint i = 0; i < 4; i++) {
    g_autofree guint8 *expected = g_malloc (size + i);

    tar_fill (expected, size + i, i);
    fail_unless (gst_buffer_memcmp (g_ptr_array_index (run->buffers, i), 0,
                     expected, size + i) == 0);
  }
  fail_unless_equals_int (run->failures->len, 2);
  fail_unless (errors_text_has (run_failure_text (run, 0), "max-size"));
  run_free (run);
}

GST_END_TEST;

/* Stops the pipeline while the server is stalled, or while downstream is
 * blocked. */
static void
stop_early (const gchar *fault, const gchar *rest)
{
  g_autofree gchar *description =
      g_strdup_printf ("spdlsrc location=\"%s/%s/" ALL "\" timeout=0 ! %s ! "
                       "appsink name=sink max-buffers=1 sync=false",
          server_get_base (served.server), fault, rest);
  GstElement *pipeline = gst_parse_launch (description, NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (sink, "pull-sample", &sample);
  fail_unless (sample != NULL);
  gst_sample_unref (sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}

GST_START_TEST (test_stopped)
{
  stop_early ("tapejam/9/150000", "spdlfetch");
  stop_early ("tapejam/9/150000", "identity");
  stop_early ("tape/0/0", "spdlfetch");
  stop_early ("tape/0/0", "identity");
}

GST_END_TEST;

/* Resume */

/* Pulls up to @n samples after @state and adds their indices to @seen. Returns
 * the state after them, or NULL at the end. */
static gchar *
pull_some (const gchar *fault, const gchar *source, const gchar *state, guint n,
    GArray *seen)
{
  g_autofree gchar *description = g_strdup_printf (
      "spdlsrc location=\"%s/%s\" %s ! spdlfetch concurrency=4 ! spdlsink",
      server_get_base (served.server), fault, source);
  g_autoptr (GstSpdlLoader) loader = gst_spdl_loader_new (description, NULL);
  g_autoptr (GError) error = NULL;
  gchar *after = NULL;

  if (state)
    fail_unless (gst_spdl_loader_restore_state (loader, state, NULL));
  fail_unless (gst_spdl_loader_start (loader, &error), "%s",
      error ? error->message : "");
  while (n > 0 && !gst_spdl_loader_is_finished (loader)) {
    g_autoptr (GstSpdlBatch) batch =
        gst_spdl_loader_next (loader, GST_CLOCK_TIME_NONE, &error);
    g_autofree guint64 *indices = NULL;
    guint n_items;

    fail_unless (error == NULL, "%s", error ? error->message : "");
    if (!batch)
      continue;
    indices = gst_spdl_batch_dup_indices (batch, &n_items);
    g_array_append_vals (seen, indices, n_items);
    n--;
  }
  if (!gst_spdl_loader_is_finished (loader))
    after = gst_spdl_loader_dup_state (loader);
  gst_spdl_loader_stop (loader);
  return after;
}

static gint
compare_64 (gconstpointer a, gconstpointer b)
{
  const guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return x < y ? -1 : x > y;
}

/* Tests repeated interruptions: each sample occurs once in each of two
 * epochs. */
GST_START_TEST (test_resume)
{
  static const gchar *const sources[] = { "epochs=2",
    "epochs=2 shuffle=true shuffle-buffer=6 seed=5", "epochs=2" };

  compress_shards ();
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++) {
    g_autoptr (GArray) seen = g_array_new (FALSE, FALSE, sizeof (guint64));
    g_autofree gchar *state = NULL;

    do {
      gchar *next = pull_some (i < 2 ? "tape/0/0/" ALL : "tape/0/0/" ALL ".zst",
          sources[i], state, 7, seen);

      g_free (state);
      state = next;
    } while (state);
    fail_unless_equals_int (seen->len, 2 * N_ALL);
    g_array_sort (seen, compare_64);
    for (guint j = 0; j < seen->len; j++) {
      const guint64 n = j / 2;

      fail_unless_equals_uint64 (
          g_array_index (seen, guint64, j), n / N_EACH << 32 | n % N_EACH);
    }
  }
}

GST_END_TEST;

static void
assert_not_resumed (const gchar *fault, const gchar *source, const gchar *state,
    const gchar *part)
{
  Run *run =
      run_pipeline ("spdlsrc location=\"%s/%s\" %s resume-state=\"%s\" ! "
                    "fakesink name=sink",
          server_get_base (served.server), fault, source, state);

  fail_unless (
      run->error && errors_text_has (run->error, part), "%s", run->error);
  run_free (run);
}

GST_START_TEST (test_resume_refused)
{
  g_autoptr (GArray) seen = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autofree gchar *state =
      pull_some ("tape/0/0/" ALL, "shuffle-buffer=5", NULL, 5, seen);
  g_autofree gchar *lossy = NULL;
  const gchar *lost = "{othertape/2/150000/train-0000,tape/0/0/train-0001}.tar";

  assert_not_resumed (
      "tape/0/0/" ALL, "shuffle-buffer=6", state, "[resource-error settings]");
  assert_not_resumed (
      "tape/0/0/" ALL, "shuffle-buffer=5 shuffle=true", state, "shuffle=false");
  assert_not_resumed ("tape/0/0/" ALL, "shuffle-buffer=5 rank=0 world-size=2",
      state, "world-size=1");
  assert_not_resumed ("tape/0/0/train-{0000..0002}.tar", "shuffle-buffer=5",
      state, "[resource-error settings]|4");
  lossy = pull_some (lost, "retries=0", NULL, 5, seen);
  assert_not_resumed (lost, "", lossy, "0");
}

GST_END_TEST;

CHECK_SUITE (streamed, FIXTURE (setup, served_teardown), TEST (test_in_order),
    TEST (test_compressed), TEST (test_compressed_cut),
    TEST (test_compressed_damaged), TEST (test_compressed_bomb),
    TEST (test_shuffled), TEST (test_classes), TEST (test_ranks),
    TEST (test_broken), TEST (test_lost), TEST (test_truncated_and_missing),
    TEST (test_refused), TEST (test_parts), TEST (test_large),
    TEST (test_stopped), TEST (test_resume), TEST (test_resume_refused))
