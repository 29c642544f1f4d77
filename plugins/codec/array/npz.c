/* gst-spdl: arrays of an NPZ file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/array/arrays.h"

#include <string.h>

#include "plugins/codec/array/array.h"
#include "plugins/common/zip.h"

/* Deflate expands a byte to at most 1032 bytes; the slack covers the end of the
 * stream. */
#define MAX_RATIO 1032
#define RATIO_SLACK 64

/* The current file. */
typedef struct {
  SpdlArrays *arrays;
  const GstMapInfo *in;
  guint64 inflatable; /* remaining limit of decompressed bytes */
} Npz;

/* Checks that the declared size of @member is plausible and within the
 * limit. */
static gboolean
check_inflated (Npz *self, const SpdlArray *array, const SpdlZipMember *member,
    GError **error)
{
  if (member->size / MAX_RATIO > member->packed_size + RATIO_SLACK) {
    spdl_array_set_error (error, array,
        "declares a size of %" G_GUINT64_FORMAT
        " bytes, too large for its %" G_GUINT64_FORMAT " compressed bytes",
        member->size, member->packed_size);
    return FALSE;
  }
  if (member->size > self->inflatable) {
    spdl_array_set_error (error, array,
        "inflates to %" G_GUINT64_FORMAT
        " bytes, so the file exceeds max-decompressed-bytes",
        member->size);
    return FALSE;
  }
  self->inflatable -= member->size;
  return TRUE;
}

/* Inflates @member.
 * Returns: (transfer full) (nullable): new memory with all its data */
static GstMemory *
inflate_member (Npz *self, const SpdlArray *array, const SpdlZipMember *member,
    const guint8 *packed, GError **error)
{
  const gchar *corruption;
  guint8 *data;

  if (!check_inflated (self, array, member, error))
    return NULL;
  data = g_try_malloc (MAX (member->size, 1));
  if (!data) {
    spdl_array_set_no_memory (error, array, member->size);
    return NULL;
  }
  corruption = spdl_zip_inflate (member, packed, data);
  if (!corruption)
    return gst_memory_new_wrapped (
        0, data, member->size, 0, member->size, data, g_free);
  spdl_array_set_error (error, array, "%s", corruption);
  g_free (data);
  return NULL;
}

/* Verifies the checksum of the NPY file in @data and adds its array. */
static gboolean
read_file (Npz *self, SpdlArray *array, const SpdlZipMember *member,
    const SpdlArraysPlace *place, const guint8 *data, GError **error)
{
  gsize at;

  if (!spdl_zip_check_sum (member, data)) {
    spdl_array_set_error (error, array, "has a wrong checksum");
    return FALSE;
  }
  at = spdl_npy_read (array, data, member->size, error);
  return at > 0 &&
         spdl_arrays_add (self->arrays, array, place, data + at, error);
}

static gboolean
read_inflated (Npz *self, SpdlArray *array, const SpdlZipMember *member,
    const guint8 *packed, GError **error)
{
  GstMemory *memory = inflate_member (self, array, member, packed, error);
  SpdlArraysPlace place;
  GstMapInfo map;
  gboolean ok;

  if (!memory)
    return FALSE;
  gst_memory_map (memory, &map, GST_MAP_READ);
  place = (SpdlArraysPlace){ memory, map.data, TRUE };
  ok = read_file (self, array, member, &place, map.data, error);
  gst_memory_unmap (memory, &map);
  gst_memory_unref (memory);
  return ok;
}

static gboolean
read_member (Npz *self, SpdlArray *array, const SpdlZipMember *member,
    const guint8 *data, GError **error)
{
  const SpdlArraysPlace place = { self->in->memory, self->in->data };

  if (member->encrypted) {
    spdl_array_set_error (error, array, "is encrypted");
    return FALSE;
  }
  if (member->method == SPDL_ZIP_DEFLATED)
    return read_inflated (self, array, member, data, error);
  if (member->method != SPDL_ZIP_STORED) {
    spdl_array_set_error (error, array,
        "uses compression method %u; stored (0) and deflated (8) are supported",
        member->method);
    return FALSE;
  }
  if (member->size != member->packed_size) {
    spdl_array_set_error (
        error, array, "has two different sizes, although it is not compressed");
    return FALSE;
  }
  return read_file (self, array, member, &place, data, error);
}

/* Returns: (transfer full) (nullable): the name of @member's array */
static gchar *
name_array (const SpdlZipMember *member, GError **error)
{
  const gsize suffix = strlen (".npy");
  const gchar *end = member->name + member->name_length - suffix;
  g_autofree gchar *quoted = NULL;

  if (member->name_length > suffix && memcmp (end, ".npy", suffix) == 0 &&
      g_utf8_validate (member->name, member->name_length - suffix, NULL))
    return g_strndup (member->name, member->name_length - suffix);
  quoted = spdl_array_quote (member->name, member->name_length);
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "ZIP archive is not an NPZ: its member %s is not named NAME.npy", quoted);
  return NULL;
}

static gboolean
set_corruption (const gchar *corruption, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "Corrupt NPZ: %s", corruption);
  return FALSE;
}

/* Reads the next member, and adds its array unless it is left out. */
static gboolean
read_next (Npz *self, SpdlZip *zip, GError **error)
{
  g_autofree gchar *name = NULL;
  SpdlArray array = { NULL };
  SpdlZipMember member;
  const gchar *corruption = spdl_zip_next (zip, &member);
  GError *why = NULL;
  guint64 first;

  if (corruption)
    return set_corruption (corruption, error);
  if ((corruption = spdl_zip_find_data (
           zip, &member, self->in->data + member.head, &first))) {
    g_autofree gchar *what = g_strconcat ("a member ", corruption, NULL);

    return set_corruption (what, error);
  }
  array.name = name = name_array (&member, &why);
  if (name ? !spdl_arrays_wants (self->arrays, name)
           : !spdl_arrays_leave_out (self->arrays, &why))
    g_clear_error (&why);
  else if (name &&
           !read_member (self, &array, &member, self->in->data + first, &why) &&
           (!spdl_array_is_unfit (&array) ||
               !spdl_arrays_leave_out (self->arrays, &why)))
    g_propagate_error (error, why);
  return !*error;
}

gboolean
spdl_npz_read (SpdlArrays *arrays, const GstMapInfo *in,
    guint64 max_decompressed_bytes, GError **error)
{
  Npz self = { arrays, in, max_decompressed_bytes };
  const gchar *corruption;
  GError *reason = NULL;
  SpdlZip zip;

  if ((corruption = spdl_zip_open (&zip, in->data, in->size)))
    return set_corruption (corruption, error);
  for (guint64 i = 0; i < zip.n_members; i++)
    if (!read_next (&self, &zip, &reason)) {
      g_propagate_error (error, reason);
      return FALSE;
    }
  return zip.left == 0
             ? TRUE
             : set_corruption (
                   "the directory has more members than it declares", error);
}
