/* gst-spdl: fuzz target of shards and their indexes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/common/fingerprint.h"
#include "plugins/dataset/archive/archivenotes.h"
#include "plugins/dataset/list/columns.h"
#include "plugins/shards/archivestream.h"
#include "plugins/shards/archivewalk.h"
#include "tests/fuzz/fuzz.h"

#define TAR_BLOCK 512

/* A reader of a shard in memory, which may break off at some offset. */
typedef struct {
  SpdlReader base;
  const guint8 *data;
  guint64 broken;
} InputReader;

static gboolean
read_input (
    SpdlReader *base, guint64 offset, gpointer data, gsize size, GError **error)
{
  InputReader *self = (InputReader *) base;

  g_assert_cmpuint (size, >, 0);
  g_assert_cmpuint (offset + size, <=, base->stamp.size);
  if (offset + size > self->broken) {
    g_set_error (
        error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "It is broken");
    return FALSE;
  }
  memcpy (data, self->data + offset, size);
  return TRUE;
}

static void
free_input (SpdlReader *base)
{
}

/* Recomputes the hashes, which a fuzzer does not find. */
static void
put_hashes_right (guint8 *data, gsize size)
{
  guint64 *words = (guint64 *) data;

  memcpy (data, SPDL_ARCHIVE_INDEX_MARK, 8);
  words[SPDL_ARCHIVE_WORD_HASH] = GUINT64_TO_LE (spdl_fingerprint_add (
      0, words + SPDL_ARCHIVE_N_WORDS, size - SPDL_ARCHIVE_INDEX_HEADER));
  words[SPDL_ARCHIVE_WORD_HEADER_HASH] = GUINT64_TO_LE (spdl_fingerprint_add (
      0, words, SPDL_ARCHIVE_WORD_HEADER_HASH * sizeof *words));
}

/* Recomputes the checksums of tar headers. */
static void
put_sums_right (guint8 *data, gsize size)
{
  for (guint8 *block = data; size - (block - data) >= TAR_BLOCK;
       block += TAR_BLOCK) {
    guint sum = 0;
    gchar text[8];

    if (memcmp (block + 257, "ustar", 5) != 0)
      continue;
    memset (block + 148, ' ', 8);
    for (guint i = 0; i < TAR_BLOCK; i++)
      sum += block[i];
    g_snprintf (text, sizeof text, "%06o", sum);
    memcpy (block + 148, text, 7);
  }
}

static void
check_text (const gchar *text, gsize length, const guint8 *from, gsize size)
{
  g_assert_true ((const guint8 *) text >= from &&
                 (const guint8 *) text + length <= from + size);
}

/* Checks the names of the fields of a sample. */
static void
check_notes (const SpdlArchiveSample *sample)
{
  SpdlArchiveFile payload = { 0 };
  GstStructure *notes;

  spdl_archive_sample_get_payload (sample, NULL, &payload);
  notes = spdl_archive_notes_new (sample, "file:///s.tar", &payload, NULL);
  g_assert_nonnull (gst_structure_get_string (notes, "key"));
  for (gint i = 0; i < gst_structure_n_fields (notes); i++)
    g_assert_true (
        spdl_columns_is_field_name (gst_structure_nth_field_name (notes, i)));
  gst_structure_free (notes);
}

static void
check_sample (const SpdlArchiveIndex *index, const SpdlArchiveSample *sample,
    const SpdlArchiveCursor *cursor)
{
  static const gchar *const extensions[] = { "png", "jpg", NULL };
  gsize size;
  const guint8 *data = spdl_archive_index_get_data (index, &size);
  SpdlArchiveSample reading = *sample;
  SpdlArchiveFile file;

  if (!data) {
    data = (const guint8 *) cursor->records.data;
    size = cursor->records.size;
  }
  check_text (sample->key, sample->key_length, data, size);
  while (spdl_archive_sample_next (&reading, &file)) {
    check_text (file.extension, file.extension_length, data, size);
    if (file.text)
      check_text (file.text, file.text_length, data, size);
    g_assert_cmpuint (
        file.first + spdl_archive_file_get_length (&file), <=, G_MAXINT64);
    g_assert_cmpuint (file.size, <=, G_MAXINT64);
  }
  for (guint i = 0; i < 2; i++)
    if (spdl_archive_sample_get_payload (sample, i ? extensions : NULL, &file))
      g_assert_cmpuint (file.size, >, 0);
  check_notes (sample);
}

/* @whole: the size of the shard if it was indexed here; 0: the index may
 * contain anything */
static void
check_index (SpdlArchiveIndex *index, guint64 whole)
{
  SpdlArchiveCursor cursor = { NULL };
  SpdlArchiveKey key;

  spdl_archive_index_get_key (index, &key);
  g_assert_true (whole == 0 || key.stamp.size == whole);
  g_assert_true (whole == 0 || spdl_archive_index_get_n_long (index) <= whole);
  for (guint64 i = 0; i < MIN (spdl_archive_index_get_size (index), 50); i++) {
    SpdlArchiveSample sample;
    SpdlArchiveFile file;
    const gboolean ok =
        spdl_archive_index_get_sample (index, i, &cursor, &sample);

    g_assert_true (ok || whole == 0);
    if (!ok)
      continue;
    check_sample (index, &sample, &cursor);
    g_assert_true (
        whole == 0 || spdl_archive_sample_is_within (&sample, whole));
    while (whole > 0 && spdl_archive_sample_next (&sample, &file)) {
      g_assert_cmpuint (file.first, <=, whole);
      g_assert_cmpuint (
          spdl_archive_file_get_length (&file), <=, whole - file.first);
    }
  }
  spdl_archive_cursor_clear (&cursor);
}

/* Opens an index in a file. Takes ownership of @data. */
static SpdlArchiveIndex *
open_index (guint8 *data, gsize size, const gchar **flaw)
{
  const int fd = memfd_create ("index", MFD_CLOEXEC);
  g_autofree gchar *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  SpdlArchiveCursor cursor = { NULL };
  SpdlArchiveIndex *index;

  g_assert_cmpint (write (fd, data, size), ==, size);
  index = spdl_archive_index_open (path, &cursor, flaw);
  spdl_archive_cursor_clear (&cursor);
  close (fd);
  g_free (data);
  return index;
}

static void
fuzz_index (FuzzInput *input, gboolean right, gboolean file)
{
  guint8 *data = g_memdup2 (input->data, input->size);
  const gchar *flaw;
  SpdlArchiveIndex *index;

  if (right && input->size >= SPDL_ARCHIVE_INDEX_HEADER)
    put_hashes_right (data, input->size);
  index = file ? open_index (data, input->size, &flaw)
               : spdl_archive_index_new (data, input->size, &flaw);
  g_assert_true ((index == NULL) == (flaw != NULL));
  if (!index)
    return;
  if (!file)
    spdl_archive_index_restamp (index, spdl_archive_index_get_hash (index) | 1);
  check_index (index, 0);
  spdl_archive_index_free (index);
}

static void
fuzz_archive (FuzzInput *input, gboolean right, gboolean broken)
{
  const guint64 end = broken ? fuzz_take_16 (input) : G_MAXUINT64;
  g_autofree guint8 *copy = g_memdup2 (input->data, input->size);
  InputReader reader = { { .name = (gchar *) "shard.tar",
                             .stamp = { input->size, 1, 2 },
                             .block = 1024,
                             .read = read_input,
                             .free = free_input },
    copy, end };
  g_autoptr (GError) error = NULL;
  const gchar *flaw;
  guint8 *data;
  gsize size;

  if (right)
    put_sums_right (copy, input->size);
  data = spdl_archive_walk (&reader.base, &size, &error);
  if (data) {
    SpdlArchiveIndex *index = spdl_archive_index_new (data, size, &flaw);

    g_assert_nonnull (index);
    check_index (index, input->size);
    spdl_archive_index_free (index);
  } else {
    fuzz_check_error (error);
  }
}

/* A streamed shard, which may break off. */
typedef struct {
  const guint8 *data;
  gsize left;
  gsize piece;
  gsize until_broken;
} InputFlow;

static gboolean
read_piece (
    gpointer user_data, const guint8 **data, gsize *size, GError **error)
{
  InputFlow *self = user_data;

  if (self->until_broken == 0) {
    g_set_error (
        error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "It is broken");
    return FALSE;
  }
  *size = MIN (MIN (self->piece, self->left), self->until_broken);
  *data = self->data;
  self->data += *size;
  self->left -= *size;
  self->until_broken -= *size;
  return TRUE;
}

/* Checks that each file has the size from the index, and that its text is the
 * same. */
static void
check_contents (const SpdlSample *sample)
{
  SpdlArchiveSample files;
  SpdlArchiveFile file;
  guint n = 0;

  g_assert_true (
      spdl_archive_index_get_sample (sample->index, 0, NULL, &files));
  g_assert_cmpuint (spdl_archive_index_get_size (sample->index), ==, 1);
  check_sample (sample->index, &files, NULL);
  while (spdl_archive_sample_next (&files, &file)) {
    GstBuffer *content = g_ptr_array_index (sample->contents, n++);

    g_assert_true (content || spdl_archive_kind_is_note (file.kind));
    if (content)
      g_assert_cmpuint (gst_buffer_get_size (content), ==, file.size);
  }
  g_assert_cmpuint (n, ==, sample->contents->len);
}

static gboolean
take_sample (SpdlSample *sample, gpointer user_data)
{
  guint *left = user_data;

  check_contents (sample);
  spdl_sample_free (sample);
  return --*left > 0;
}

static void
fuzz_stream (FuzzInput *input, gboolean right, gboolean broken)
{
  const gsize piece = fuzz_take_16 (input);
  const gsize until_broken = broken ? fuzz_take_16 (input) : G_MAXSIZE;
  g_autofree guint8 *copy = g_malloc (input->size + 1);
  InputFlow flow = { copy, input->size, MAX (piece, 1), until_broken };
  const SpdlArchiveInput from = { "shard.tar", read_piece, &flow };
  g_autoptr (GError) error = NULL;
  guint left = 50;

  memcpy (copy, input->data, input->size);
  if (right)
    put_sums_right (copy, input->size);
  if (!spdl_archive_stream (&from, take_sample, &left, &error))
    fuzz_check_error (error);
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
  FuzzInput input = { data, size };
  const guint8 settings = fuzz_take (&input);

  if (settings & 1)
    fuzz_index (&input, settings & 2, settings & 8);
  else if (settings & 16)
    fuzz_stream (&input, settings & 2, settings & 4);
  else
    fuzz_archive (&input, settings & 2, settings & 4);
  return 0;
}
