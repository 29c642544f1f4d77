/* gst-spdl: the arrays of an NPZ file
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlnpz.h"

#include <string.h>
#include <zlib.h>

#include "spdlnpy.h"

/* A byte becomes 1032 at most; a little is added for the end. */
#define MAX_RATIO 1032
#define RATIO_SLACK 64

struct _SpdlNpz {
  z_stream inflater;
  gboolean is_open;

  /* The file in hand. */
  SpdlArrays *arrays;
  const GstMapInfo *in;
  guint64 inflatable; /* bytes that may still be */
};

SpdlNpz *
spdl_npz_new (void)
{
  return g_new0 (SpdlNpz, 1);
}

void
spdl_npz_free (SpdlNpz *self)
{
  if (self->is_open)
    inflateEnd (&self->inflater);
  g_free (self);
}

/* zlib counts in 32 bits. */

static guint32
sum_up (const guint8 *data, gsize size)
{
  uLong sum = crc32 (0, NULL, 0);

  while (size > 0) {
    const uInt n = MIN (size, G_MAXINT32);

    sum = crc32 (sum, data, n);
    data += n;
    size -= n;
  }
  return sum;
}

static gboolean
open_inflater (SpdlNpz *self)
{
  if (self->is_open)
    return inflateReset (&self->inflater) == Z_OK;
  self->is_open = inflateInit2 (&self->inflater, -MAX_WBITS) == Z_OK;
  return self->is_open;
}

/* Inflates @member to @out, which has room for what it says. Returns what is
 * wrong, or NULL. */
static const gchar *
inflate_all (SpdlNpz *self, const SpdlZipMember *member, guint8 *out)
{
  z_stream *z = &self->inflater;
  gsize left = member->packed_size, room = member->size;
  guint8 beyond;
  int ret;

  if (!open_inflater (self))
    return "cannot be inflated for want of memory";
  z->next_in = (Bytef *) member->data;
  z->next_out = out;
  z->avail_in = z->avail_out = 0;
  do {
    if (z->avail_in == 0) {
      z->avail_in = MIN (left, G_MAXINT32);
      left -= z->avail_in;
    }
    if (z->avail_out == 0) {
      /* There may be an end yet to read, but no more data. */
      if (room == 0)
        z->next_out = &beyond;
      z->avail_out = room > 0 ? MIN (room, G_MAXINT32) : 1;
      room -= MIN (room, z->avail_out);
    }
    ret = inflate (z, Z_NO_FLUSH);
  } while (ret == Z_OK && z->next_out != &beyond + 1);
  if (z->next_out == &beyond + 1)
    return "is longer than its archive says";
  if (ret != Z_STREAM_END)
    return "has wrong compressed data, or ends too early";
  if (room > 0 || (z->avail_out > 0 && z->next_out != &beyond))
    return "is shorter than its archive says";
  return left + z->avail_in > 0 ? "has bytes behind its end" : NULL;
}

/* Whether there is to be memory for what @member says that it inflates to. */
static gboolean
check_inflated (SpdlNpz *self, const SpdlArray *array,
    const SpdlZipMember *member, GError **error)
{
  if (member->size / MAX_RATIO > member->packed_size + RATIO_SLACK) {
    spdl_array_set_error (error, array,
        "says that it inflates to %" G_GUINT64_FORMAT
        " bytes, which its %" G_GSIZE_FORMAT " cannot hold",
        member->size, member->packed_size);
    return FALSE;
  }
  if (member->size > self->inflatable) {
    spdl_array_set_error (error, array,
        "inflates to %" G_GUINT64_FORMAT
        " bytes, with which the file has more than max-inflated",
        member->size);
    return FALSE;
  }
  self->inflatable -= member->size;
  return TRUE;
}

/* Returns: (transfer full) (nullable): a new memory with all of @member */
static GstMemory *
inflate_member (SpdlNpz *self, const SpdlArray *array,
    const SpdlZipMember *member, GError **error)
{
  const gchar *damage;
  guint8 *data;

  if (!check_inflated (self, array, member, error))
    return NULL;
  data = g_try_malloc (MAX (member->size, 1));
  if (!data) {
    spdl_array_set_no_memory (error, array, member->size);
    return NULL;
  }
  damage = inflate_all (self, member, data);
  if (!damage)
    return gst_memory_new_wrapped (
        0, data, member->size, 0, member->size, data, g_free);
  spdl_array_set_error (error, array, "%s", damage);
  g_free (data);
  return NULL;
}

/* Reads the NPY file in @data. */
static gboolean
read_file (SpdlNpz *self, SpdlArray *array, const SpdlZipMember *member,
    const SpdlArraysPlace *place, const guint8 *data, GError **error)
{
  gsize at;

  if (sum_up (data, member->size) != member->checksum) {
    spdl_array_set_error (error, array, "has a wrong checksum");
    return FALSE;
  }
  at = spdl_npy_read (array, data, member->size, error);
  return at > 0 &&
         spdl_arrays_add (self->arrays, array, place, data + at, error);
}

static gboolean
read_inflated (SpdlNpz *self, SpdlArray *array, const SpdlZipMember *member,
    GError **error)
{
  GstMemory *memory = inflate_member (self, array, member, error);
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
read_member (SpdlNpz *self, SpdlArray *array, const SpdlZipMember *member,
    GError **error)
{
  const SpdlArraysPlace place = { self->in->memory, self->in->data };

  if (member->encrypted) {
    spdl_array_set_error (error, array, "is encrypted");
    return FALSE;
  }
  if (member->method == SPDL_ZIP_DEFLATED)
    return read_inflated (self, array, member, error);
  if (member->method != SPDL_ZIP_STORED) {
    spdl_array_set_error (error, array,
        "is compressed by the method %u; stored (0) and deflated (8) ones are "
        "read",
        member->method);
    return FALSE;
  }
  if (member->size != member->packed_size) {
    spdl_array_set_error (
        error, array, "has two sizes, though it is not compressed");
    return FALSE;
  }
  return read_file (self, array, member, &place, member->data, error);
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
      "It is a ZIP archive, but no NPZ: its member %s is not named as an array "
      "is, NAME.npy",
      quoted);
  return NULL;
}

static gboolean
set_damage (const gchar *damage, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "It is a broken NPZ: %s", damage);
  return FALSE;
}

gboolean
spdl_npz_read (SpdlNpz *self, SpdlArrays *arrays, const GstMapInfo *in,
    guint64 max_inflated, GError **error)
{
  const gchar *damage;
  SpdlZip zip;

  self->arrays = arrays;
  self->in = in;
  self->inflatable = max_inflated;
  if ((damage = spdl_zip_open (&zip, in->data, in->size)))
    return set_damage (damage, error);
  if (!spdl_arrays_check_number (zip.n_members, error))
    return FALSE;
  for (guint i = 0; i < zip.n_members; i++) {
    g_autofree gchar *name = NULL;
    SpdlArray array = { NULL };
    SpdlZipMember member;

    if ((damage = spdl_zip_next (&zip, &member)))
      return set_damage (damage, error);
    if (!(array.name = name = name_array (&member, error)) ||
        !read_member (self, &array, &member, error))
      return FALSE;
  }
  return zip.at == zip.end
             ? TRUE
             : set_damage (
                   "its directory has more members than it says", error);
}
