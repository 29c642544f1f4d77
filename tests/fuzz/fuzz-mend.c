/* gst-spdl: fuzzes the mending of broken PNGs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <zlib.h>

#include "../failing-memory.h"
#include "fuzz.h"
#include "spdlbytes.h"
#include "spdllook.h"
#include "spdlmend.h"

/* Larger ones are not decoded, and never come here. */
#define MAX_PIXELS (1 << 14)

/* Writes the checksums anew, which no fuzzer guesses. */
static void
put_right (guint8 *data, gsize size)
{
  gsize at = 8;

  while (at < size && size - at >= 12) {
    const gsize length = spdl_read_32_be (data + at);
    guint8 *checksum;
    guint32 value;

    if (length > size - at - 12)
      return;
    checksum = data + at + 8 + length;
    value = crc32 (0, data + at + 4, length + 4);
    for (guint i = 0; i < 4; i++)
      checksum[i] = value >> (24 - 8 * i);
    at += 12 + length;
  }
}

/* What was mended is whole, and as large as it was. */
static void
check (GstBuffer *mended, const SpdlLook *look, guint n_rows)
{
  SpdlLook anew;
  GstMapInfo in;

  g_assert_cmpuint (n_rows, <=, look->height);
  gst_buffer_map (mended, &in, GST_MAP_READ);
  spdl_look (&anew, in.data, in.size);
  g_assert_cmpstr (anew.damage, ==, NULL);
  g_assert_cmpuint (anew.width, ==, look->width);
  g_assert_cmpuint (anew.height, ==, look->height);
  g_assert_cmpuint (in.data[24], <=, 16); /* bits a sample */
  gst_buffer_unmap (mended, &in);
}

static void
mend (const guint8 *data, gsize size)
{
  GstBuffer *mended;
  SpdlLook look;
  guint n_rows;

  spdl_look (&look, data, size);
  if (g_strcmp0 (look.type, "image/png") != 0 ||
      (guint64) look.width * look.height > MAX_PIXELS)
    return;
  mended = spdl_mend_png (data, size, &n_rows);
  if (!mended)
    return;
  check (mended, &look, n_rows);
  gst_buffer_unref (mended);
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
  failing_memory_let_fail (settings >> 1 & 3);
  mend (file, input.size);
  failing_memory_let_fail (0);
  return 0;
}
