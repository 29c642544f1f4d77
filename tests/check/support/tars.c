/* gst-spdl: tar archives for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/tars.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/check/support/files.h"

#define BLOCK 512
#define LONG_AGO 1700000000

void
tar_begin (Tar *tar)
{
  tar->data = g_byte_array_new ();
}

static void
pad (Tar *tar)
{
  static const guint8 zeros[BLOCK];
  const guint left = tar->data->len % BLOCK;

  if (left > 0)
    g_byte_array_append (tar->data, zeros, BLOCK - left);
}

static void
put_octal (gchar *to, gsize width, guint64 number)
{
  g_snprintf (to, width, "%0*" G_GINT64_MODIFIER "o", (int) width - 1, number);
}

void
tar_add (Tar *tar, const gchar *name, gconstpointer data, gsize size)
{
  gchar header[BLOCK] = "";
  guint sum = 0;

  memcpy (header, name, MIN (strlen (name), 100));
  put_octal (header + 100, 8, 0644);
  put_octal (header + 108, 8, 0);
  put_octal (header + 116, 8, 0);
  put_octal (header + 124, 12, size);
  put_octal (header + 136, 12, LONG_AGO);
  memset (header + 148, ' ', 8);
  header[156] = '0';
  memcpy (header + 257, "ustar\00000", 8);
  for (guint i = 0; i < BLOCK; i++)
    sum += (guchar) header[i];
  put_octal (header + 148, 7, sum);
  g_byte_array_append (tar->data, (const guint8 *) header, BLOCK);
  g_byte_array_append (tar->data, data, size);
  pad (tar);
}

void
tar_add_text (Tar *tar, const gchar *name, const gchar *text)
{
  tar_add (tar, name, text, strlen (text));
}

void
tar_set_time (const gchar *folder, const gchar *name, guint n)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);
  struct timespec times[2] = { { 0, UTIME_OMIT }, { LONG_AGO + n, 5 } };

  g_assert_cmpint (utimensat (AT_FDCWD, path, times, 0), ==, 0);
}

void
tar_end (Tar *tar, const gchar *folder, const gchar *name)
{
  static const guint8 zeros[2 * BLOCK];

  g_byte_array_append (tar->data, zeros, sizeof zeros);
  files_write (folder, name, tar->data->data, tar->data->len);
  tar_set_time (folder, name, 0);
  g_byte_array_unref (tar->data);
}

void
tar_fill (guint8 *data, gsize size, guint i)
{
  for (gsize j = 0; j < size; j++)
    data[j] = i * 37 + j * 11 + (j >> 8);
}

static void
add_file (Tar *tar, const gchar *key, const gchar *extension,
    gconstpointer data, gsize size)
{
  g_autofree gchar *name = g_strconcat (key, extension, NULL);

  tar_add (tar, name, data, size);
}

static void
add_note (Tar *tar, const gchar *key, const gchar *extension, const gchar *text)
{
  add_file (tar, key, extension, text, strlen (text));
}

void
tar_write_shard (
    const gchar *folder, const gchar *name, guint first, guint n, gsize size)
{
  Tar tar;

  tar_begin (&tar);
  for (guint i = first; i < first + n; i++) {
    g_autofree guint8 *data = g_malloc (size + i);
    g_autofree gchar *label = g_strdup_printf ("%u\n", i);
    g_autofree gchar *json = g_strdup_printf (
        "{\"number\": %u, \"half\": %u.5, \"good\": true, \"name\": \"n%u\", "
        "\"list\": [1, 2]}",
        i, i, i);
    g_autofree gchar *text = g_strdup_printf ("caption %u", i);
    g_autofree gchar *key = g_strdup_printf ("train/%06u.", i);

    tar_fill (data, size + i, i);
    add_note (&tar, key, "cls", label);
    add_file (&tar, key, "JPG", data, size + i);
    add_note (&tar, key, "json", json);
    add_note (&tar, key, "txt", text);
  }
  tar_end (&tar, folder, name);
}
