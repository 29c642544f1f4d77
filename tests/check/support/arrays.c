/* gst-spdl: array files for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/arrays.h"

#include <stdarg.h>
#include <string.h>
#include <zlib.h>

#define ALIGNMENT 64

static void
put (GByteArray *file, guint64 value, guint size)
{
  for (guint i = 0; i < size; i++) {
    const guint8 byte = i < 8 ? value >> 8 * i : 0;

    g_byte_array_append (file, &byte, 1);
  }
}

static void
put_text (GByteArray *file, const gchar *text)
{
  g_byte_array_append (file, (const guint8 *) text, strlen (text));
}

static void
put_data (GByteArray *file, gconstpointer data, gsize size)
{
  g_byte_array_append (file, data, size);
}

static GBytes *
make_npy (guint version, const gchar *header, guint alignment,
    gconstpointer data, gsize size)
{
  GByteArray *file = g_byte_array_new ();
  const guint length_size = version == 1 ? 2 : 4;
  guint length = strlen (header), padding;

  padding = alignment - 1 - (8 + length_size + length) % alignment;
  put_text (file, "\x93NUMPY");
  put (file, version, 2);
  put (file, length + padding + 1, length_size);
  put_text (file, header);
  for (guint i = 0; i < padding; i++)
    put_text (file, " ");
  put_text (file, "\n");
  put_data (file, data, size);
  return g_byte_array_free_to_bytes (file);
}

GBytes *
arrays_make_npy (guint version, const gchar *descr, gboolean fortran,
    const gchar *shape, gconstpointer data, gsize size)
{
  g_autofree gchar *header =
      g_strdup_printf ("{'descr': %s, 'fortran_order': %s, 'shape': %s, }",
          descr, fortran ? "True" : "False", shape);

  return make_npy (version, header, ALIGNMENT, data, size);
}

GBytes *
arrays_make_npy_of (const gchar *header, gconstpointer data, gsize size)
{
  return make_npy (1, header, 1, data, size);
}

GByteArray *
arrays_deflate (GBytes *bytes)
{
  const gsize size = g_bytes_get_size (bytes);
  GByteArray *packed = g_byte_array_new ();
  z_stream z = { .next_in = (Bytef *) g_bytes_get_data (bytes, NULL),
    .avail_in = size };

  g_assert_cmpint (
      deflateInit2 (&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), ==,
      Z_OK);
  g_byte_array_set_size (packed, deflateBound (&z, size));
  z.next_out = packed->data;
  z.avail_out = packed->len;
  g_assert_cmpint (deflate (&z, Z_FINISH), ==, Z_STREAM_END);
  g_byte_array_set_size (packed, z.total_out);
  deflateEnd (&z);
  return packed;
}

/* Writes the fields that both headers of a ZIP member share, from the version
 * on. */
static void
put_common (GByteArray *file, ArraysFlags flags, const gchar *name,
    GBytes *bytes, const GByteArray *packed, guint extra_size)
{
  const gsize size = g_bytes_get_size (bytes);
  const gboolean wide = flags & ARRAYS_ZIP64;

  put (file, wide ? 45 : 20, 2);
  put (file, 0, 2);
  put (file, packed ? 8 : 0, 2);
  put (file, 0, 4);
  put (file, crc32 (0, g_bytes_get_data (bytes, NULL), size), 4);
  put (file, wide ? G_MAXUINT32 : packed ? packed->len : size, 4);
  put (file, wide ? G_MAXUINT32 : size, 4);
  put (file, strlen (name), 2);
  put (file, extra_size, 2);
}

static void
put_extra (GByteArray *file, GBytes *bytes, const GByteArray *packed)
{
  const gsize size = g_bytes_get_size (bytes);

  /* An extra field of another type, which readers must skip. */
  put (file, 0x7075, 2);
  put (file, 3, 2);
  put (file, 0, 3);
  put (file, 1, 2);
  put (file, 24, 2);
  put (file, size, 8);
  put (file, packed ? packed->len : size, 8);
}

static void
put_member (GByteArray *file, GByteArray *directory, ArraysFlags flags,
    const gchar *name, GBytes *bytes)
{
  const gboolean wide = flags & ARRAYS_ZIP64;
  const guint extra_size = wide ? 35 : 0;
  const gsize at = file->len;
  GByteArray *packed = flags & ARRAYS_DEFLATED ? arrays_deflate (bytes) : NULL;

  put_text (file, "PK\3\4");
  put_common (file, flags, name, bytes, packed, extra_size);
  put_text (file, name);
  if (wide) {
    put_extra (file, bytes, packed);
    put (file, 0, 8);
  }
  if (packed)
    put_data (file, packed->data, packed->len);
  else
    put_data (file, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));

  put_text (directory, "PK\1\2");
  put (directory, 20, 2);
  put_common (directory, flags, name, bytes, packed, extra_size);
  put (directory, 0, 2 + 2 + 2 + 4);
  put (directory, wide ? G_MAXUINT32 : at, 4);
  put_text (directory, name);
  if (wide) {
    put_extra (directory, bytes, packed);
    put (directory, at, 8);
  }
  g_clear_pointer (&packed, g_byte_array_unref);
}

static void
put_end_64 (GByteArray *file, gsize at, gsize size, guint n)
{
  const gsize end = file->len;

  put_text (file, "PK\6\6");
  put (file, 44, 8);
  put (file, 45, 2);
  put (file, 45, 2);
  put (file, 0, 4 + 4);
  put (file, n, 8);
  put (file, n, 8);
  put (file, size, 8);
  put (file, at, 8);
  put_text (file, "PK\6\7");
  put (file, 0, 4);
  put (file, end, 8);
  put (file, 1, 4);
}

GBytes *
arrays_make_zip (ArraysFlags flags, ...)
{
  GByteArray *file = g_byte_array_new ();
  GByteArray *directory = g_byte_array_new ();
  const gboolean wide = flags & ARRAYS_ZIP64;
  const gchar *name;
  va_list args;
  guint n = 0;
  gsize at;

  va_start (args, flags);
  while ((name = va_arg (args, const gchar *))) {
    GBytes *bytes = va_arg (args, GBytes *);

    put_member (file, directory, flags, name, bytes);
    g_bytes_unref (bytes);
    n++;
  }
  va_end (args);
  at = file->len;
  put_data (file, directory->data, directory->len);
  if (wide)
    put_end_64 (file, at, directory->len, n);
  put_text (file, "PK\5\6");
  put (file, 0, 2 + 2);
  put (file, wide ? G_MAXUINT16 : n, 2);
  put (file, wide ? G_MAXUINT16 : n, 2);
  put (file, wide ? G_MAXUINT32 : directory->len, 4);
  put (file, wide ? G_MAXUINT32 : at, 4);
  put (file, 7, 2);
  put_text (file, "comment");
  g_byte_array_unref (directory);
  return g_byte_array_free_to_bytes (file);
}

GBytes *
arrays_make_safetensors (const gchar *header, gconstpointer data, gsize size)
{
  GByteArray *file = g_byte_array_new ();
  g_autofree gchar *text = g_strdelimit (g_strdup (header), "'", '"');

  put (file, GST_ROUND_UP_8 (strlen (text)), 8);
  put_text (file, text);
  while (file->len % 8 != 0)
    put_text (file, " ");
  put_data (file, data, size);
  return g_byte_array_free_to_bytes (file);
}

GBytes *
arrays_patch (GBytes *file, gconstpointer mark, gsize mark_size, gsize offset,
    gsize size, guint64 value)
{
  gsize n_bytes;
  const guint8 *data = g_bytes_get_data (file, &n_bytes);
  guint8 *copy = g_memdup2 (data, n_bytes);
  gsize at = n_bytes - mark_size;

  while (memcmp (copy + at, mark, mark_size) != 0) {
    g_assert_cmpuint (at, >, 0);
    at--;
  }
  for (gsize i = 0; i < size; i++)
    copy[at + offset + i] = value >> 8 * i;
  return g_bytes_new_take (copy, n_bytes);
}
