/* gst-spdl: byte ranges in URIs, and their compression
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/io/range.h"

#include <string.h>
#include <zlib.h>

#include "gst/spdl/common/storeuri.h"
#include "plugins/common/fail.h"

/* Returns `#bytes=...` in @uri, or NULL if it has no byte range or is a path,
 * whose name may contain the same text. */
static gchar *
find_range (gchar *uri)
{
  return spdl_uri_has_scheme (uri) ? strstr (uri, "#bytes=") : NULL;
}

/* Reads "FIRST-LAST". */
static gboolean
parse_range (gchar *text, SpdlRange *range)
{
  gchar *dash = strchr (text, '-');
  gboolean ok;

  if (!dash)
    return FALSE;
  *dash = '\0';
  ok = g_ascii_string_to_unsigned (
           text, 10, 0, G_MAXINT64, &range->first, NULL) &&
       g_ascii_string_to_unsigned (
           dash + 1, 10, range->first, G_MAXINT64, &range->last, NULL);
  *dash = '-';
  return ok;
}

gboolean
spdl_range_split (gchar *uri, SpdlRange *range, GError **error)
{
  gchar *fragment = find_range (uri);

  range->first = 0;
  range->last = G_MAXUINT64;
  if (!fragment)
    return TRUE;

  if (!parse_range (fragment + strlen ("#bytes="), range))
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "\"%s\" is not a byte range: write #bytes=FIRST-LAST, counted from 0, "
        "including the last byte",
        fragment);
  *fragment = '\0';
  return TRUE;
}

gboolean
spdl_range_get_size (
    const SpdlRange *self, guint64 whole, guint64 *size, GError **error)
{
  if (spdl_range_is_open (self)) {
    *size = whole - MIN (self->first, whole);
    return TRUE;
  }
  if (self->last >= whole)
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "Item ends after %" G_GUINT64_FORMAT
        " bytes, before byte %" G_GUINT64_FORMAT ", which was requested",
        whole, self->last);
  *size = self->last - self->first + 1;
  return TRUE;
}

static gboolean
check_max_size (
    guint64 size, const gchar *more, guint64 max_size, GError **error)
{
  if (max_size == 0 || size <= max_size)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "Item has %" G_GUINT64_FORMAT
      " bytes%s, which is over max-size (%" G_GUINT64_FORMAT
      "): to read it, set max-size, by default a quarter of the memory, to at "
      "least the item's size",
      size, more, max_size);
}

gboolean
spdl_check_max_size (guint64 size, guint64 max_size, GError **error)
{
  return check_max_size (size, "", max_size, error);
}

gboolean
spdl_check_max_part (guint64 size, guint64 max_size, GError **error)
{
  return check_max_size (size, " or more", max_size, error);
}

/* Compression */

#define INFLATE "&inflate="
#define CRC32 "&crc32="
/* Maximum compression ratio of deflate. A larger ratio in a URI is an attempt
 * to exhaust memory. */
#define MAX_RATIO 1032

gboolean
spdl_packing_split (gchar *uri, SpdlPacking *packing, GError **error)
{
  gchar *fragment = find_range (uri);
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
          sum + strlen (CRC32), 16, 0, G_MAXUINT32, &checksum, NULL))
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "Invalid compression after the byte range: write "
        "#bytes=FIRST-LAST&inflate=SIZE&crc32=HEX");
  *packing = (SpdlPacking){ TRUE, size, checksum };
  *at = '\0';
  return TRUE;
}

static void
set_damaged (GError **error, const gchar *how)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "Deflated data is damaged: %s", how);
}

/* Inflates all of @packed to exactly @size bytes. Returns the reason of a
 * failure, or NULL. */
static const gchar *
inflate_all (const GstMapInfo *packed, guint8 *data, gsize size)
{
  z_stream z = { .next_in = packed->data,
    .avail_in = packed->size,
    .next_out = data,
    .avail_out = size };
  int status;

  if (inflateInit2 (&z, -MAX_WBITS) != Z_OK)
    return "not enough memory";
  status = inflate (&z, Z_FINISH);
  inflateEnd (&z);
  if (status == Z_DATA_ERROR || status == Z_NEED_DICT)
    return "the data is invalid";
  if (status == Z_BUF_ERROR)
    return z.avail_out > 0 ? "the data is cut off"
                           : "the data is larger than declared, or cut off";
  if (status != Z_STREAM_END)
    return "the data cannot be inflated";
  if (z.avail_out > 0)
    return "the data is smaller than declared";
  return z.avail_in > 0 ? "the data ends too early" : NULL;
}

static GstBuffer *
unpack_part (
    const GstMapInfo *packed, const SpdlPacking *packing, GError **error)
{
  guint8 *data = NULL;
  const gchar *problem;

  if (packed->size > G_MAXUINT32 || packing->size / MAX_RATIO > packed->size) {
    set_damaged (error, "the size is invalid");
    return NULL;
  }
  data = g_try_malloc (MAX (packing->size, 1));
  if (!data) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
        "Not enough memory for the item's %u bytes", packing->size);
    return NULL;
  }
  problem = inflate_all (packed, data, packing->size);
  if (!problem && crc32 (0, data, packing->size) != packing->checksum)
    problem = "the checksum differs";
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
    set_damaged (error, "the data cannot be read");
  }
  gst_buffer_unref (content);
  return unpacked;
}
