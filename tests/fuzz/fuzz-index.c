/* gst-spdl: fuzz target of the index files of lists
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugins/common/fingerprint.h"
#include "plugins/dataset/list/listindex.h"
#include "tests/fuzz/fuzz.h"

#define N_WORDS (SPDL_INDEX_FILE_HEADER / sizeof (guint64))

/* Recomputes the hashes, which a fuzzer does not find. */
static void
put_hashes_right (guint64 *words, gsize size)
{
  const gsize rest = size - SPDL_INDEX_FILE_HEADER;
  const gsize names = MIN (GUINT64_FROM_LE (words[10]), rest);

  words[8] =
      GUINT64_TO_LE (spdl_fingerprint_add (0, words + N_WORDS, rest - names));
  words[11] = GUINT64_TO_LE (
      spdl_fingerprint_add (0, (const guint8 *) words + size - names, names));
  words[14] = GUINT64_TO_LE (spdl_fingerprint_add (0, words, 112));
}

/* Returns the key of the list that the file names. */
static SpdlIndexKey
key_of (const guint64 *words)
{
  return (
      SpdlIndexKey){ { GUINT64_FROM_LE (words[2]), GUINT64_FROM_LE (words[3]),
                         GUINT64_FROM_LE (words[4]) },
    GUINT64_FROM_LE (words[5]), FALSE, GUINT64_FROM_LE (words[9]), 0 };
}

static void
check_index (const SpdlIndex *index, const SpdlIndexKey *key)
{
  const guint64 n = spdl_index_get_size (index);
  guint64 last = 0, offset, end;

  g_assert_cmpuint (n, >, 0);
  for (guint64 i = 0; i < n; i += MAX (n / 50, 1)) {
    g_assert_cmpuint (spdl_index_find (index, i, &offset, &end), <=, i);
    g_assert_cmpuint (offset, >=, last);
    g_assert_cmpuint (offset, <, key->stamp.size);
    g_assert_cmpuint (end, >, offset);
    last = offset;
  }
}

/* Returns the bytes of the names, which are sorted and therefore distinct. */
static gsize
count_bytes (const SpdlClasses *classes)
{
  const gchar *const *names = classes ? spdl_classes_get_names (classes) : NULL;
  gsize size = 0;

  for (guint i = 0; names && names[i]; i++) {
    g_assert_true (g_utf8_validate (names[i], -1, NULL));
    fuzz_check_text (names[i]);
    g_assert_cmpint (
        spdl_classes_find (classes, names[i], strlen (names[i])), ==, i);
    g_assert_true (i == 0 || strcmp (names[i - 1], names[i]) < 0);
    size += strlen (names[i]) + 1;
  }
  return size;
}

/* Checks that an index that was read is the same after being written and
 * read. */
static void
check_back (const SpdlIndex *index, const SpdlIndexKey *key)
{
  const int fd = memfd_create ("index", MFD_CLOEXEC);
  SpdlIndexKey again = *key;
  const gchar *flaw;
  guint n, n_again;
  const guint64 *offsets = spdl_index_get_offsets (index, &n);
  const SpdlClasses *classes = spdl_index_get_classes (index);
  const gsize size =
      SPDL_INDEX_FILE_HEADER + n * sizeof *offsets + count_bytes (classes);
  guint8 *data = g_malloc (size);
  SpdlIndex *other;

  g_assert_cmpint (spdl_index_file_write (fd, index, key), ==, 0);
  g_assert_cmpint (lseek (fd, 0, SEEK_END), ==, size);
  g_assert_cmpint (pread (fd, data, size, 0), ==, size);
  close (fd);
  again.hash = 0;
  other = spdl_index_file_read (data, size, &again, &flaw);
  g_assert_nonnull (other);
  g_assert_cmpuint (again.hash, ==, key->hash);
  g_assert_cmpuint (
      spdl_index_get_size (other), ==, spdl_index_get_size (index));
  g_assert_cmpmem (spdl_index_get_offsets (other, &n_again),
      n_again * sizeof *offsets, offsets, n * sizeof *offsets);
  g_assert_cmpuint (spdl_classes_get_hash (spdl_index_get_classes (other)), ==,
      spdl_classes_get_hash (classes));
  spdl_index_free (other);
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
  guint8 *copy = g_malloc (MAX (input.size, 1));
  SpdlIndexKey key = { { 100, 0, 0 }, 0, FALSE, 0, 0 };
  const gchar *flaw = NULL;
  SpdlIndex *index;

  memcpy (copy, input.data, input.size);
  if (input.size >= SPDL_INDEX_FILE_HEADER && settings & 1)
    put_hashes_right ((guint64 *) copy, input.size);
  if (input.size >= SPDL_INDEX_FILE_HEADER && settings & 2)
    key = key_of ((guint64 *) copy);
  key.labels = settings >> 2 & 1;
  index = spdl_index_file_read (copy, input.size, &key, &flaw);
  g_assert_true ((index == NULL) == (flaw != NULL));
  if (!index)
    return 0;
  check_index (index, &key);
  check_back (index, &key);
  spdl_index_free (index);
  return 0;
}
