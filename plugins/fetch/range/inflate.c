/* gst-spdl: decompression of deflated byte ranges
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/range/inflate.h"

#include <string.h>
#include <zlib.h>

#define INFLATE "&inflate="
#define CRC32 "&crc32="
/* No byte becomes more: whoever says so means to take all memory. */
#define MAX_RATIO 1032

gboolean
spdl_packing_split (gchar *uri, SpdlPacking *packing, GError **error)
{
  gchar *fragment = strstr (uri, "#bytes=");
  gchar *at = fragment ? strstr (fragment, INFLATE) : NULL;
  gchar *sum = at ? strstr (at, CRC32) : NULL;
  guint64 size, checksum;

  *packing = (SpdlPacking){ FALSE };
  if (!at)
    return TRUE;
  if (sum)
    *sum = '\0';
  if (!sum ||
      !g_ascii_string_to_unsigned (
          at + strlen (INFLATE), 10, 0, G_MAXUINT32, &size, NULL) ||
      !g_ascii_string_to_unsigned (
          sum + strlen (CRC32), 16, 0, G_MAXUINT32, &checksum, NULL)) {
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "What is behind the byte range is no packing: write "
        "#bytes=FIRST-LAST&inflate=SIZE&crc32=HEX");
    return FALSE;
  }
  *packing = (SpdlPacking){ TRUE, size, checksum };
  *at = '\0';
  return TRUE;
}

static void
set_damaged (GError **error, const gchar *how)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "It is deflated, and damaged: %s", how);
}

/* All of @packed into all of @data. Returns what is wrong, or NULL. */
static const gchar *
inflate_all (const GstMapInfo *packed, guint8 *data, gsize size)
{
  z_stream z = { .next_in = packed->data,
    .avail_in = packed->size,
    .next_out = data,
    .avail_out = size };
  int status;

  if (inflateInit2 (&z, -MAX_WBITS) != Z_OK)
    return "there is no memory";
  status = inflate (&z, Z_FINISH);
  inflateEnd (&z);
  if (status == Z_DATA_ERROR || status == Z_NEED_DICT)
    return "it makes no sense";
  if (status == Z_BUF_ERROR)
    return z.avail_out > 0 ? "it breaks off"
                           : "it becomes more than it says, or breaks off";
  if (status != Z_STREAM_END)
    return "it cannot be unpacked";
  if (z.avail_out > 0)
    return "it becomes less than it says";
  return z.avail_in > 0 ? "it ends too early" : NULL;
}

static GstBuffer *
unpack_part (
    const GstMapInfo *packed, const SpdlPacking *packing, GError **error)
{
  guint8 *data = NULL;
  const gchar *problem;

  if (packed->size > G_MAXUINT32 || packing->size / MAX_RATIO > packed->size) {
    set_damaged (error, "its size makes no sense");
    return NULL;
  }
  data = g_try_malloc (MAX (packing->size, 1));
  if (!data) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "There is no memory for its %u bytes", packing->size);
    return NULL;
  }
  problem = inflate_all (packed, data, packing->size);
  if (!problem && crc32 (0, data, packing->size) != packing->checksum)
    problem = "its checksum is another one";
  if (!problem)
    return gst_buffer_new_wrapped (data, packing->size);
  set_damaged (error, problem);
  g_free (data);
  return NULL;
}

GstBuffer *
spdl_inflate (GstBuffer *content, const SpdlPacking *packing, GError **error)
{
  GstBuffer *unpacked = NULL;
  GstMapInfo map;

  if (gst_buffer_map (content, &map, GST_MAP_READ)) {
    unpacked = unpack_part (&map, packing, error);
    gst_buffer_unmap (content, &map);
  } else {
    set_damaged (error, "it cannot be read");
  }
  gst_buffer_unref (content);
  return unpacked;
}
