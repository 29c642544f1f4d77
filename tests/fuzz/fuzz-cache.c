/* gst-spdl: fuzz target of cache entries and deflated data
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <zlib.h>

#include "plugins/common/fingerprint.h"
#include "plugins/fetch/diskcache/diskentry.h"
#include "plugins/fetch/io/range.h"
#include "tests/fuzz/fuzz.h"

#define AT_NAME 8
#define AT_TEXT_SIZE 92
#define AT_HASH 96

/* Recomputes the hash, which a fuzzer does not find. */
static void
put_hash_right (guint8 *data, gsize size)
{
  guint32 n;
  guint64 hash;

  memcpy (&n, data + AT_TEXT_SIZE, sizeof n);
  n = MIN (GUINT32_FROM_LE (n), size - SPDL_DISK_ENTRY_HEADER);
  hash = spdl_fingerprint_add (0, data, AT_HASH);
  hash = spdl_fingerprint_add (hash, data + SPDL_DISK_ENTRY_HEADER, n);
  hash = GUINT64_TO_LE (hash);
  memcpy (data + AT_HASH, &hash, sizeof hash);
}

static void
check_entry (const SpdlDiskEntry *entry, const guint8 *data, gsize head,
    guint64 file_size)
{
  guint8 again[SPDL_DISK_ENTRY_MAX_HEAD];

  g_assert_cmpuint (head, >=, SPDL_DISK_ENTRY_HEADER);
  g_assert_cmpuint (head + entry->size, ==, file_size);
  g_assert_true (spdl_disk_entry_fits (entry));
  g_assert_true ((entry->validator.kind == SPDL_VALIDATOR_NONE) ==
                 (entry->validator.text == NULL));
  g_assert_cmpuint (spdl_disk_entry_write (entry, again), ==, head);
  g_assert_cmpmem (again, head, data, head);
}

#define MAX_UNPACKED 65536

/* Decompresses with zlib in small pieces, as the reference. Returns FALSE on an
 * error and if the output is too large. */
static gboolean
inflate_slowly (const FuzzInput *input, guint8 *to, gsize *size, gsize *used)
{
  z_stream z = {
    .next_in = (Bytef *) input->data, .next_out = to, .avail_out = MAX_UNPACKED
  };
  int status = inflateInit2 (&z, -MAX_WBITS);

  while (status == Z_OK && z.total_in < input->size) {
    z.avail_in = 1;
    status = inflate (&z, Z_NO_FLUSH);
  }
  *size = z.total_out;
  *used = z.total_in;
  inflateEnd (&z);
  return status == Z_STREAM_END;
}

static void
fuzz_inflate (FuzzInput *input, gboolean right)
{
  SpdlPacking packing = { TRUE, fuzz_take_32 (input), fuzz_take_32 (input) };
  g_autofree guint8 *expected = g_malloc (MAX_UNPACKED);
  g_autoptr (GError) error = NULL;
  gsize size, used;
  const gboolean good =
      inflate_slowly (input, expected, &size, &used) && used == input->size;
  GstBuffer *content;

  if (right && good)
    packing = (SpdlPacking){ TRUE, size, crc32 (0, expected, size) };
  packing.size %= MAX_UNPACKED * 2;
  content = spdl_inflate (input->size > 0
                              ? gst_buffer_new_memdup (input->data, input->size)
                              : gst_buffer_new (),
      &packing, &error);
  g_assert_true (content || !right || !good);
  if (content) {
    g_assert_true (good && packing.size == size);
    g_assert_true (gst_buffer_memcmp (content, 0, expected, size) == 0);
    gst_buffer_unref (content);
  } else {
    fuzz_check_error (error);
  }
}

static void
fuzz_packing (const FuzzInput *input)
{
  g_autofree gchar *text = g_strndup ((const gchar *) input->data, input->size);
  g_autofree gchar *uri = g_strconcat ("file://", text, NULL);
  g_autofree gchar *whole = g_strdup (uri);
  g_autoptr (GError) error = NULL;
  SpdlPacking packing;

  if (spdl_packing_split (uri, &packing, &error)) {
    g_assert_true (g_str_has_prefix (whole, uri));
    g_assert_true (packing.packed || strcmp (whole, uri) == 0);
  } else {
    g_assert_nonnull (error);
  }
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

static void
fuzz_entry (FuzzInput *input, guint8 settings)
{
  const guint64 more = fuzz_take_32 (input);
  const gsize n = MIN (input->size, SPDL_DISK_ENTRY_MAX_HEAD);
  const guint64 file_size = n < SPDL_DISK_ENTRY_MAX_HEAD ? n : n + more;
  g_autofree guint8 *copy = g_malloc (n + 1);
  guint8 name[SPDL_DIGEST_SIZE] = { 0 };
  const gchar *flaw = NULL;
  SpdlDiskEntry entry;
  gsize head;

  memcpy (copy, input->data, n);
  if (n >= SPDL_DISK_ENTRY_HEADER && settings & 1)
    put_hash_right (copy, n);
  if (n >= SPDL_DISK_ENTRY_HEADER && settings & 2)
    memcpy (name, copy + AT_NAME, sizeof name);
  head = spdl_disk_entry_read (&entry, copy, n, file_size, name, &flaw);
  g_assert_true ((head == 0) == (flaw != NULL));
  if (head > 0)
    check_entry (&entry, copy, head, file_size);
  spdl_validator_clear (&entry.validator);
}

/* Bits of the setting: 4, deflated data; 8, a URI with the parameters of
 * deflated data; otherwise an entry, with 1, a correct hash; 2, also a correct
 * name. The second setting is the number of bytes that follow the data. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  const guint8 settings = fuzz_take (&input);

  if (settings & 4)
    fuzz_inflate (&input, settings & 1);
  else if (settings & 8)
    fuzz_packing (&input);
  else
    fuzz_entry (&input, settings);
  return 0;
}
