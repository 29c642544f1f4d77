/* gst-spdl: fuzzes what is read of containers of sound
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "fuzz.h"
#include "gst/spdl/engine/spdlbytes.h"
#include "spdltrack.h"

#define PAGE_HEADER 27

/* A decoder is to find all packets in what was read, and the way to each. */
static void
check (const SpdlTrack *track, const guint8 *data, gsize size)
{
  const gsize all = track->data == data ? size : track->gathered->len;
  const guint64 n = spdl_track_count (track);

  g_assert_nonnull (track->name);
  g_assert_nonnull (track->caps);
  g_assert_cmpint (track->codec, !=, SPDL_CODEC_NONE);
  g_assert_cmpuint (track->rate, >, 0);
  for (guint i = 0; i < track->packets->len; i++) {
    const SpdlPacket *packet = &g_array_index (track->packets, SpdlPacket, i);

    g_assert_cmpuint (packet->at, <=, all);
    g_assert_cmpuint (packet->size, <=, all - packet->at);
  }
  for (guint i = 0; i < 5; i++) {
    guint64 position;
    const guint first = spdl_track_find (track, n / 4 * i, &position);

    g_assert_cmpuint (first, <=, track->packets->len);
    g_assert_cmpuint (position, <=, n);
  }
}

static guint32
crc_of (const guint8 *p, gsize n)
{
  guint32 crc = 0;

  for (gsize i = 0; i < n; i++) {
    crc ^= (guint32) p[i] << 24;
    for (guint bit = 0; bit < 8; bit++)
      crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7 : 0);
  }
  return crc;
}

/* Nobody would find the sum of a page by trying. */
static void
mend_pages (guint8 *data, gsize size)
{
  gsize at = 0;

  while (size - at >= PAGE_HEADER && memcmp (data + at, "OggS", 4) == 0) {
    gsize length = PAGE_HEADER + data[at + 26];

    if (length > size - at)
      return;
    for (guint i = 0; i < data[at + 26]; i++)
      length += data[at + PAGE_HEADER + i];
    if (length > size - at)
      return;
    memset (data + at + 22, 0, 4);
    spdl_write_32_le (data + at + 22, crc_of (data + at, length));
    at += length;
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
  const guint8 mend = fuzz_take (&input);
  g_autofree guint8 *copy = g_malloc (MAX (input.size, 1));
  SpdlTrack track;

  if (input.size > 0)
    memcpy (copy, input.data, input.size);
  if (mend & 1)
    mend_pages (copy, input.size);
  spdl_track_init (&track);
  /* A track is used for one file after the other. */
  for (guint i = 0; i < 2; i++) {
    GError *error = NULL;

    if (spdl_track_read (&track, copy, input.size, &error))
      check (&track, copy, input.size);
    else if (error)
      fuzz_check_error (error);
    g_clear_error (&error);
  }
  spdl_track_clear (&track);
  return 0;
}
