/* gst-spdl: fuzzes files of the disk cache
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "fuzz.h"
#include "plugins/core/spdlfingerprint.h"
#include "spdldiskentry.h"

#define AT_NAME 8
#define AT_TEXT_SIZE 92
#define AT_HASH 96

/* No input has the right hash by itself. */
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

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

/* Settings: 1, the hash is right; 2, the name, too; how much larger the file is
 * than what there is of it. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  const guint8 settings = fuzz_take (&input);
  const guint64 more = fuzz_take_32 (&input);
  const gsize n = MIN (input.size, SPDL_DISK_ENTRY_MAX_HEAD);
  const guint64 file_size = n < SPDL_DISK_ENTRY_MAX_HEAD ? n : n + more;
  g_autofree guint8 *copy = g_malloc (n + 1);
  guint8 name[SPDL_DIGEST_SIZE] = { 0 };
  const gchar *flaw = NULL;
  SpdlDiskEntry entry;
  gsize head;

  memcpy (copy, input.data, n);
  if (n >= SPDL_DISK_ENTRY_HEADER && settings & 1)
    put_hash_right (copy, n);
  if (n >= SPDL_DISK_ENTRY_HEADER && settings & 2)
    memcpy (name, copy + AT_NAME, sizeof name);
  head = spdl_disk_entry_read (&entry, copy, n, file_size, name, &flaw);
  g_assert_true ((head == 0) == (flaw != NULL));
  if (head > 0)
    check_entry (&entry, copy, head, file_size);
  spdl_validator_clear (&entry.validator);
  return 0;
}
