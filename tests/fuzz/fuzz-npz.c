/* gst-spdl: fuzz target of the NPZ reader
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <zlib.h>

#include "plugins/common/zip.h"
#include "tests/fuzz/fuzz-arrays.h"

#define MAX_SIZE (1 << 16)

static void
put_32 (guint8 *p, guint32 value)
{
  for (guint i = 0; i < 4; i++)
    p[i] = value >> 8 * i;
}

/* Writes the correct size and checksum of a member into its entry, which a
 * fuzzer does not find. */
static void
put_member_right (
    guint8 *entry, const SpdlZipMember *member, const guint8 *packed)
{
  g_autofree guint8 *data = g_malloc (MAX_SIZE);
  z_stream z = { .next_in = (Bytef *) packed,
    .avail_in = member->packed_size,
    .next_out = data,
    .avail_out = MAX_SIZE };

  if (member->method == SPDL_ZIP_STORED) {
    put_32 (entry + 16, crc32 (0, packed, member->packed_size));
    return;
  }
  inflateInit2 (&z, -MAX_WBITS);
  inflate (&z, Z_FINISH);
  put_32 (entry + 16, crc32 (0, data, z.total_out));
  put_32 (entry + 20, z.total_in);
  put_32 (entry + 24, z.total_out);
  inflateEnd (&z);
}

static void
put_right (guint8 *data, gsize size)
{
  SpdlZipMember member;
  SpdlZip zip;

  if (spdl_zip_open (&zip, data, size))
    return;
  for (guint i = 0; i < MIN (zip.n_members, GST_SPDL_MAX_TENSORS); i++) {
    guint8 *entry = data + (zip.next - data);
    guint64 first;

    if (spdl_zip_next (&zip, &member) ||
        spdl_zip_find_data (&zip, &member, data + member.head, &first))
      return;
    put_member_right (entry, &member, data + first);
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
  FuzzInput input = { data, size };
  const guint8 settings = fuzz_take (&input);
  g_autofree guint8 *file = g_memdup2 (input.data, input.size);

  if (settings & 1)
    put_right (file, input.size);
  fuzz_arrays_run (SPDL_ARRAYS_NPZ, file, input.size, settings >> 1 & 7);
  return 0;
}
