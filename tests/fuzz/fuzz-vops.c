/* gst-spdl: fuzz target of the MPEG-4 part 2 VOP parser
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/codec/video/packetbits.h"
#include "tests/fuzz/fuzz.h"

/* Returns the offset of the first group or picture, found byte by byte, or
 * @size. */
static gsize
find_first (const guint8 *data, gsize size)
{
  gsize i = 0;

  while (i + 3 < size) {
    if (memcmp (data + i, "\0\0\1", 3) != 0) {
      i++;
      continue;
    }
    if (data[i + 3] == 0xb3 || data[i + 3] == 0xb6)
      return i;
    i += 4;
  }
  return size;
}

static void
check_packet (SpdlVops *vops, const guint8 *data, gsize size)
{
  /* An exact allocation lets the sanitizer find reads past the end. */
  g_autofree guint8 *packet = g_malloc (MAX (size, 1));
  gsize header_size;
  SpdlVop vop;

  memcpy (packet, data, size);
  vop = spdl_vops_take (vops, packet, size, &header_size);
  g_assert_cmpint (vop, <=, SPDL_VOP_BETWEEN);
  g_assert_cmpuint (vops->n_kept, <=, SPDL_VOPS_MAX_KEPT);
  g_assert_cmpuint (vops->time_bits, <=, 16);
  if (header_size > 0)
    g_assert_cmpuint (header_size, ==, find_first (data, size));
}

static gsize
take_length (FuzzInput *input)
{
  const guint8 length = fuzz_take (input);

  return MIN (length, input->size);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

/* The input is the length of the header, the header, and packets with their
 * lengths. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  gsize n = take_length (&input);
  g_autofree guint8 *header = g_memdup2 (input.data, n);
  const AVCodecParameters codec = {
    .codec_id = AV_CODEC_ID_MPEG4, .extradata = header, .extradata_size = n
  };
  SpdlVops vops;

  g_assert_true (spdl_vops_begin (&vops, &codec));
  g_assert_cmpuint (vops.n_kept, ==, 0);
  input.data += n;
  input.size -= n;
  while (input.size > 0) {
    n = take_length (&input);
    check_packet (&vops, input.data, n);
    input.data += n;
    input.size -= n;
  }
  return 0;
}
