/* gst-spdl: fuzz target of the frame size in video codec headers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/codec/video/framesize.h"
#include "plugins/codec/video/mp4track.h"
#include "tests/fuzz/fuzz.h"

static const gchar *const types[] = { "video/x-h264", "video/x-h265",
  "video/x-av1", "video/x-vp8", "video/x-vp9", "video/mpeg,mpegversion=2",
  "video/mpeg,mpegversion=4", "image/jpeg", "video/x-prores" };

static void
check (gboolean has, const SpdlFrameSize *size)
{
  g_assert_cmpint (has, ==, size->width > 0 && size->height > 0);
  g_assert_cmpuint (size->width, <=, G_MAXINT);
  g_assert_cmpuint (size->height, <=, G_MAXINT);
}

static void
read_caps (GstCaps *caps, const guint8 *data, gsize size)
{
  GstBuffer *buffer = gst_buffer_new_memdup (data, size);
  SpdlFrameSize found;

  gst_caps_set_simple (caps, "codec_data", GST_TYPE_BUFFER, buffer, NULL);
  gst_buffer_unref (buffer);
  check (spdl_frame_size_find_in_caps (caps, &found), &found);
}

static void
read_packet (
    SpdlPacketFormat *format, guint length_size, const guint8 *data, gsize size)
{
  /* An exact allocation lets the sanitizer find reads past the end. */
  g_autofree guint8 *packet = g_malloc (MAX (size, 1));
  SpdlFrameSize found, again;
  gboolean has;

  memcpy (packet, data, size);
  format->length_size = length_size;
  has = spdl_frame_size_find (format, packet, size, &found);
  check (has, &found);
  g_assert_true (spdl_frame_size_find (format, packet, size, &again) == has);
  g_assert_cmpuint (found.width, ==, again.width);
  g_assert_cmpuint (found.height, ==, again.height);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  return 0;
}

static void
read_track (const guint8 *data, gsize size)
{
  g_autofree guint8 *file = g_malloc (MAX (size, 1));
  SpdlMp4Track track;

  memcpy (file, data, size);
  if (spdl_mp4_track_find (&track, file, size))
    g_assert_true (track.orientation >= 1 && track.orientation <= 8);
}

/* The settings are the codec, and a mark for codec data, one for the boxes of
 * MP4, or the size of the length fields. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  const gchar *type = types[fuzz_take (&input) % G_N_ELEMENTS (types)];
  const guint8 settings = fuzz_take (&input);
  g_autoptr (GstCaps) caps = gst_caps_from_string (type);
  SpdlPacketFormat format = spdl_packet_get_format (caps);

  if ((settings & 0x80) && input.size > 0)
    read_caps (caps, input.data, input.size);
  else if (settings == 0x7f)
    read_track (input.data, input.size);
  else
    read_packet (&format, settings % 5, input.data, input.size);
  return 0;
}
