/* gst-spdl: tests of spdldecode with arrays that it cannot decode
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>
#include <sys/resource.h>

#include "tests/check/support/arrays.h"
#include "tests/check/support/errors.h"
#include "tests/check/support/rig.h"
#include "tests/check/support/suite.h"

static const guint8 data[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
  15, 16, 17, 18, 19, 20, 21, 22, 23, 24 };

static void
push_part (Rig *rig, guint64 number, GBytes *file, gsize size)
{
  GstBuffer *item = rig_make_item (number, size);

  gst_buffer_fill (item, 0, g_bytes_get_data (file, NULL), size);
  gst_pad_push (rig->src, item);
}

static void
push_file (Rig *rig, guint64 number, GBytes *file)
{
  push_part (rig, number, file, g_bytes_get_size (file));
}

static GBytes *
make_npy (const gchar *descr, const gchar *shape)
{
  return arrays_make_npy (1, descr, FALSE, shape, data, sizeof data);
}

/* Checks that @file fails and that the message contains @part. */
static void
assert_fails (GBytes *file, const gchar *part)
{
  Rig *rig =
      rig_new ("spdldecode", "max-decompressed-bytes", (guint64) 4096, NULL);
  g_autoptr (GError) error = NULL;

  rig_start (rig, "application/octet-stream");
  push_file (rig, 3, file);
  rig_push_eos (rig);
  rig_wait_eos (rig);
  rig_assert_log (rig, "failed 3 gone failed 3 eos");
  gst_structure_get (rig_find_message (rig, "spdl-item-failed"), "error",
      G_TYPE_ERROR, &error, NULL);
  fail_unless (
      errors_has (error, part), "not \"%s\": %s", part, error->message);
  rig_free (rig);
  g_bytes_unref (file);
}

GST_START_TEST (test_npy_types)
{
  static const gchar *types[] = { "'<c8'", "'<c16'", "'|S3'", "'<U6'",
    "'<M8[ns]'", "'<m8[s]'", "'|V24'", "'<f16'", "'<i3'", "'<b2'", "'b'", "''",
    "'<'" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    assert_fails (make_npy (types[i], "(1,)"), "[stream-error decode]");
  assert_fails (make_npy ("'|O'", "(1,)"), "[stream-error decode]");
  assert_fails (make_npy ("'O8'", "(1,)"), "[stream-error decode]");
  assert_fails (make_npy ("[('a', '<f4'), ('b', '<i4')]", "(3,)"),
      "[stream-error decode]");
  assert_fails (make_npy ("('<f4', (2,))", "(3,)"), "[stream-error decode]");
}

GST_END_TEST;

GST_START_TEST (test_npy_shapes)
{
  assert_fails (make_npy ("'|u1'", "(0,)"), "[stream-error decode]|24");
  assert_fails (make_npy ("'|u1'", "(3, 0, 2)"), "[stream-error decode]|24");
  assert_fails (make_npy ("'|u1'", "(25,)"), "[stream-error decode]|24|25");
  assert_fails (make_npy ("'|u1'", "(23,)"), "NPZ");
  assert_fails (make_npy ("'|u1'", "(4294967296,)"), "[stream-error decode]");
  assert_fails (make_npy ("'<f8'", "(4294967295, 4294967295, 4294967295)"),
      "[stream-error decode]");
  assert_fails (make_npy ("'|u1'", "(99999999999999999999999999, 1)"),
      "[stream-error decode]");
  assert_fails (
      make_npy ("'|u1'", "(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 24)"),
      "[stream-error decode]|16|15");
}

GST_END_TEST;

GST_START_TEST (test_npy_headers)
{
#define TYPE "'descr': '|u1'"
#define ORDER "'fortran_order': False"
#define SHAPE "'shape': (24,)"
  static const gchar *headers[] = { "", "{", "{}", "[]", "{" TYPE "}",
    "{" TYPE ", " ORDER "}", "{" TYPE ", " ORDER ", " SHAPE,
    "{" TYPE ", " ORDER ", " SHAPE ", " SHAPE "}",
    "{" TYPE ", " ORDER ", " SHAPE ", 'x': 1}",
    "{" TYPE ", " ORDER ", " SHAPE "} x", "{" TYPE " " ORDER ", " SHAPE "}",
    "{'descr' '|u1', " ORDER ", " SHAPE "}", "{descr: '|u1'}",
    "{" TYPE ", 'fortran_order': 0, " SHAPE "}",
    "{" TYPE ", " ORDER ", 'shape': (24)}",
    "{" TYPE ", " ORDER ", 'shape': (24,,)}",
    "{" TYPE ", " ORDER ", 'shape': (-24,)}",
    "{" TYPE ", " ORDER ", 'shape': 24}",
    "{" TYPE ", " ORDER ", 'shape': (24,}",
    "{'descr': '|u\\x31', " ORDER ", " SHAPE "}", "{'descr': \"|u1' }" };

  for (guint i = 0; i < G_N_ELEMENTS (headers); i++)
    assert_fails (arrays_make_npy_of (headers[i], data, sizeof data),
        "[stream-error decode]");
  for (guint version = 0; version < 5; version += 4)
    assert_fails (
        arrays_make_npy (version, "'|u1'", FALSE, "(24,)", data, sizeof data),
        "[stream-error decode]");
#undef TYPE
#undef ORDER
#undef SHAPE
}

GST_END_TEST;

/* Returns an NPZ archive with one member. */
static GBytes *
make_npz (ArraysFlags flags)
{
  return arrays_make_zip (flags, "a.npy", make_npy ("'|u1'", "(2, 12)"), NULL);
}

/* Like make_npz(), with @value in @size bytes of the directory, @offset bytes
 * after the signature @mark. */
static GBytes *
make_lying (ArraysFlags flags, const gchar *mark, gsize offset, gsize size,
    guint64 value)
{
  g_autoptr (GBytes) file = make_npz (flags);

  return arrays_patch (file, mark, 4, offset, size, value);
}

#define ENTRY "PK\1\2"
#define LOCAL "PK\3\4"
#define END "PK\5\6"
#define END_64 "PK\6\6"
#define LOCATOR "PK\6\7"

GST_START_TEST (test_npz_lies)
{
  const ArraysFlags deflated = ARRAYS_DEFLATED;

  for (guint flags = 0; flags < 2; flags++) {
    assert_fails (
        make_lying (flags, ENTRY, 16, 4, 1), "[stream-error decode]|\"a\"");
    assert_fails (make_lying (flags, ENTRY, 8, 2, 1), "[stream-error decode]");
    assert_fails (make_lying (flags, ENTRY, 42, 4, 2), "[stream-error decode]");
    assert_fails (
        make_lying (flags, ENTRY, 42, 4, 9999), "[stream-error decode]");
    assert_fails (
        make_lying (flags, ENTRY, 20, 4, 9999), "[stream-error decode]");
    assert_fails (
        make_lying (flags, ENTRY, 28, 2, 999), "[stream-error decode]");
    assert_fails (
        make_lying (flags, ENTRY, 46, 1, 'b'), "[stream-error decode]");
    assert_fails (make_lying (flags, LOCAL, 26, 2, 4), "[stream-error decode]");
    assert_fails (
        make_lying (flags, LOCAL, 28, 2, 9999), "[stream-error decode]");
    assert_fails (make_lying (flags, END, 10, 2, 2), "[stream-error decode]");
    assert_fails (make_lying (flags, END, 10, 2, 0), "[stream-error decode]");
    assert_fails (make_lying (flags, END, 10, 2, 17), "[stream-error decode]");
    assert_fails (make_lying (flags, END, 4, 2, 1), "[stream-error decode]");
    assert_fails (
        make_lying (flags, END, 16, 4, 9999), "[stream-error decode]");
    assert_fails (
        make_lying (flags, END, 12, 4, 9999), "[stream-error decode]");
    assert_fails (
        make_lying (flags, END, 10, 2, 0xffff), "[stream-error decode]");
    assert_fails (make_lying (flags, ENTRY, 20, 4, G_MAXUINT32), "ZIP64");
  }
  assert_fails (make_lying (0, ENTRY, 24, 4, 99), "[stream-error decode]");
  assert_fails (
      make_lying (deflated, ENTRY, 24, 4, 151), "[stream-error decode]");
  assert_fails (
      make_lying (deflated, ENTRY, 24, 4, 153), "[stream-error decode]");
  assert_fails (
      make_lying (deflated, ENTRY, 24, 4, 4097), "max-decompressed-bytes");
  assert_fails (
      make_lying (deflated, ENTRY, 24, 4, 1u << 31), "[stream-error decode]");
  assert_fails (
      make_lying (deflated, ENTRY, 20, 4, 20), "[stream-error decode]");
  assert_fails (
      make_lying (deflated, ENTRY, 20, 4, 97), "[stream-error decode]");
}

GST_END_TEST;

GST_START_TEST (test_npz_methods)
{
  g_autoptr (GBytes) file = make_lying (0, ENTRY, 10, 2, 14);

  assert_fails (
      arrays_patch (file, LOCAL, 4, 8, 2, 14), "[stream-error decode]|14");
  assert_fails (make_lying (0, ENTRY, 10, 2, 8), "[stream-error decode]");
}

GST_END_TEST;

GST_START_TEST (test_npz_64)
{
  const ArraysFlags flags = ARRAYS_ZIP64;
  const guint64 huge = G_MAXUINT64 - 10;
  const gsize extra = 46 + 5 + 7 + 4;

  assert_fails (
      make_lying (flags, LOCATOR, 8, 8, huge), "[stream-error decode]");
  assert_fails (make_lying (flags, LOCATOR, 0, 1, 3), "[stream-error decode]");
  assert_fails (
      make_lying (flags, END_64, 48, 8, huge), "[stream-error decode]");
  assert_fails (
      make_lying (flags, END_64, 40, 8, huge), "[stream-error decode]");
  assert_fails (
      make_lying (flags, END_64, 32, 8, huge), "[stream-error decode]");
  assert_fails (make_lying (flags, END_64, 16, 4, 1), "[stream-error decode]");
  assert_fails (
      make_lying (flags, ENTRY, extra, 8, huge), "[stream-error decode]");
  assert_fails (
      make_lying (flags, ENTRY, extra + 8, 8, huge), "[stream-error decode]");
  assert_fails (
      make_lying (flags, ENTRY, extra + 16, 8, huge), "[stream-error decode]");
  assert_fails (
      make_lying (flags, ENTRY, extra - 2, 2, 16), "[stream-error decode]");
  assert_fails (
      make_lying (flags, ENTRY, extra - 2, 2, 99), "[stream-error decode]");
  assert_fails (
      make_lying (flags, ENTRY, extra - 4, 2, 2), "[stream-error decode]");
}

GST_END_TEST;

GST_START_TEST (test_npz_members)
{
  g_autoptr (GBytes) two = arrays_make_zip (0, "a.npy",
      make_npy ("'|u1'", "(24,)"), "b.npy", make_npy ("'|u1'", "(24,)"), NULL);

  assert_fails (arrays_patch (two, END, 4, 10, 2, 1), "[stream-error decode]");
  assert_fails (arrays_make_zip (0, NULL), "[stream-error decode]");
  assert_fails (
      arrays_make_zip (0, "word/doc.xml", g_bytes_new (data, 3), NULL),
      "[stream-error decode]|\"word/doc.xml\"");
  assert_fails (arrays_make_zip (0, ".npy", g_bytes_new (data, 3), NULL),
      "[stream-error decode]");
  assert_fails (arrays_make_zip (0, "\xff.npy", g_bytes_new (data, 3), NULL),
      "[stream-error decode]");
  assert_fails (arrays_make_zip (0, "a.npy", g_bytes_new (data, 3), NULL),
      "[stream-error decode]|\"a\"");
  assert_fails (arrays_make_zip (1, "a.npy", g_bytes_new (data, 0), NULL),
      "[stream-error decode]|\"a\"");
  assert_fails (arrays_make_zip (0, "a.npy", make_npy ("'|u1'", "(24,)"),
                    "a.npy", make_npy ("'|u1'", "(24,)"), NULL),
      "[stream-error decode]|\"a\"");
  assert_fails (arrays_make_zip (0, "b\n.npy", make_npy ("'|O'", "(1,)"), NULL),
      "[stream-error decode]|\"b?\"");
}

GST_END_TEST;

#define A(type, shape, offsets) \
  "'a':{'dtype':'" type "','shape':" shape ",'data_offsets':" offsets "}"
#define B(type, shape, offsets) \
  "'b':{'dtype':'" type "','shape':" shape ",'data_offsets':" offsets "}"

static void
assert_safetensors_fail (const gchar *header, const gchar *part)
{
  assert_fails (arrays_make_safetensors (header, data, sizeof data), part);
}

GST_START_TEST (test_safetensors)
{
  static const gchar *refused[] = { "F8_E5M2", "F8_E4M3", "C64", "u8", "" };
  static const gchar *broken[] = { "{", "{ x", "{\"\"}",
    "{" A ("U8", "[24]", "[0,24]"), "{" A ("U8", "[24]", "[0,24]") "}}",
    "{" A ("U8", "[24", "[0,24]") "}", "{" A ("U8", "[24]", "[0]") "}",
    "{" A ("U8", "[-24]", "[0,24]") "}", "{" A ("U8", "[2.4e1]", "[0,24]") "}",
    "{'a':{}}", "{'a':[]}", "{'a':{'dtype':'U8'}}",
    "{'a':{'dtype':'U8','dtype':'U8','shape':[24]}}", "{'a':{'x':1}}",
    "{'\\u12':1}", "{'\\ud800':1}", "{'\\ud800\\u0041':1}", "{'\\u0000':1}",
    "{'\\x':1}", "{'\n':1}", "{'", "{'a\\", "{'__metadata__':{'a':1}}",
    "{'__metadata__':{'a':'b'}", "{'__metadata__':[]}", "{'\xff':1}" };

  for (guint i = 0; i < G_N_ELEMENTS (broken); i++)
    assert_safetensors_fail (broken[i], "[stream-error decode]");
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    g_autofree gchar *header = g_strdup_printf (
        "{'a':{'dtype':'%s','shape':[1],'data_offsets':[0,24]}}", refused[i]);

    assert_safetensors_fail (header, "[stream-error decode]");
  }
  assert_safetensors_fail ("{}", "[stream-error decode]");
  assert_safetensors_fail (
      "{" A ("U8", "[0]", "[0,0]") "}", "[stream-error decode]|24");
  assert_safetensors_fail (
      "{" A ("U8", "[23]", "[0,24]") "}", "[stream-error decode]|0|24");
  assert_safetensors_fail (
      "{" A ("U8", "[23]", "[0,23]") "}", "[stream-error decode]|1");
  assert_safetensors_fail (
      "{" A ("U8", "[23]", "[1,24]") "}", "[stream-error decode]|0");
  assert_safetensors_fail (
      "{" A ("U8", "[25]", "[0,25]") "}", "[stream-error decode]");
  assert_safetensors_fail (
      "{" A ("U8", "[24]", "[24,0]") "}", "[stream-error decode]|24");
  assert_safetensors_fail (
      "{" A ("U8", "[24]", "[0,24]") "," B ("U8", "[24]", "[0,24]") "}",
      "[stream-error decode]|24");
  assert_safetensors_fail (
      "{" A ("U8", "[12]", "[0,12]") "," A ("U8", "[12]", "[12,24]") "}",
      "[stream-error decode]");
  assert_safetensors_fail (
      "{'':{'dtype':'U8','shape':[24],'data_offsets':[0,24]}}",
      "[stream-error decode]|0");
  assert_safetensors_fail ("{" A ("U8", "[99999999999999999999]", "[0,24]") "}",
      "[stream-error decode]");
  assert_safetensors_fail ("{" A ("U8", "[9999999999999999]", "[0,24]") "}",
      "[stream-error decode]");
}

GST_END_TEST;

/* Tests small headers that would take much memory or a deep stack to parse. */
GST_START_TEST (test_safetensors_header)
{
  g_autofree gchar *nested = g_strnfill (100000, '[');
  g_autofree gchar *deep = g_strdup_printf ("{'a':%s", nested);
  g_autofree gchar *blanks = g_strnfill (4 << 20, ' ');
  g_autofree gchar *large = g_strdup_printf ("{%s}", blanks);

  assert_safetensors_fail (deep, "[stream-error decode]");
  assert_safetensors_fail (large, "[stream-error decode]|4194304");
}

GST_END_TEST;

GST_START_TEST (test_safetensors_many)
{
  GString *header = g_string_new ("{");

  for (guint i = 0; i < 17; i++)
    g_string_append_printf (header,
        "%s'%u':{'dtype':'U8','shape':[],'data_offsets':[%u,%u]}",
        i == 0 ? "" : ",", i, i, i + 1);
  g_string_append (header, "}");
  assert_fails (arrays_make_safetensors (header->str, data, 17),
      "[stream-error decode]|16");
  g_string_free (header, TRUE);
}

GST_END_TEST;

static GBytes *
make_any (guint kind)
{
  switch (kind) {
    case 0:
      return make_npy ("'<f4'", "(2, 3)");
    case 1:
    case 2:
    case 3:
      return make_npz (kind - 1);
    default:
      return arrays_make_safetensors (
          "{" A ("F32", "[2,3]", "[0,24]") "}", data, sizeof data);
  }
}

/* Tests that a file truncated at any byte fails its item and has no other
 * effect. */
GST_START_TEST (test_cuts)
{
  for (guint kind = 0; kind < 5; kind++) {
    g_autoptr (GBytes) file = make_any (kind);
    const gsize size = g_bytes_get_size (file);
    Rig *rig =
        rig_new ("spdldecode", "concurrency", 4, "max-failure-rate", 1.0, NULL);

    rig_start (rig, "application/octet-stream");
    for (gsize i = 0; i <= size; i++)
      push_part (rig, i, file, i);
    rig_push_eos (rig);
    rig_wait_eos (rig);
    fail_unless_equals_int (rig_count_items (rig), 1);
    fail_unless_equals_int (
        gst_spdl_buffer_get_item_meta (g_ptr_array_index (rig->buffers, 0))
            ->index,
        size);
    rig_free (rig);
  }
}

GST_END_TEST;

/* Tests that a file with one corrupt byte fails or decodes to another array,
 * and that an intact file after it is decoded correctly. */
GST_START_TEST (test_wrong_bytes)
{
  static const guint8 wrong[] = { 0x01, 0x80, 0xff };

  for (guint kind = 0; kind < 5; kind++) {
    g_autoptr (GBytes) file = make_any (kind);
    const gsize size = g_bytes_get_size (file);
    Rig *rig =
        rig_new ("spdldecode", "concurrency", 2, "max-failure-rate", 1.0, NULL);
    guint n_good = 0;

    rig_start (rig, "application/octet-stream");
    for (gsize i = 0; i < size; i++) {
      for (guint k = 0; k < G_N_ELEMENTS (wrong); k++) {
        GstBuffer *item = rig_make_item (0, size);
        guint8 byte = ((const guint8 *) g_bytes_get_data (file, NULL))[i];

        byte ^= wrong[k];
        gst_buffer_fill (item, 0, g_bytes_get_data (file, NULL), size);
        gst_buffer_fill (item, i, &byte, 1);
        gst_pad_push (rig->src, item);
      }
      push_file (rig, 1 + i, file);
    }
    rig_push_eos (rig);
    rig_wait_eos (rig);
    for (guint i = 0; i < rig->buffers->len; i++) {
      GstBuffer *result = g_ptr_array_index (rig->buffers, i);
      guint8 found[sizeof data];

      if (gst_spdl_buffer_get_item_meta (result)->index == 0)
        continue;
      gst_buffer_extract (result, 0, found, sizeof found);
      fail_unless (memcmp (found, data, sizeof data) == 0);
      n_good++;
    }
    fail_unless_equals_int (n_good, size);
    rig_free (rig);
  }
}

GST_END_TEST;

/* Tests that a compressed array over max-decompressed-bytes is rejected before
 * memory is allocated for it. */
GST_START_TEST (test_bomb)
{
  const gsize size = 32 << 20;
  g_autofree guint8 *zeros = g_malloc0 (size);
  g_autofree gchar *shape = g_strdup_printf ("(%" G_GSIZE_FORMAT ",)", size);
  GBytes *file = arrays_make_zip (ARRAYS_DEFLATED, "a.npy",
      arrays_make_npy (1, "'|u1'", FALSE, shape, zeros, size), NULL);
  struct rusage before, after;

  /* zlib's highest compression ratio is about 1000:1. */
  fail_unless (g_bytes_get_size (file) < size / 900);
  getrusage (RUSAGE_SELF, &before);
  assert_fails (file, "max-decompressed-bytes");
  getrusage (RUSAGE_SELF, &after);
  fail_unless (after.ru_maxrss - before.ru_maxrss < 16 << 10);
}

GST_END_TEST;

CHECK_SUITE (broken, TEST (test_npy_types), TEST (test_npy_shapes),
    TEST (test_npy_headers), TEST (test_npz_lies), TEST (test_npz_methods),
    TEST (test_npz_64), TEST (test_npz_members), TEST (test_safetensors),
    TEST (test_safetensors_header), TEST (test_safetensors_many),
    TEST (test_cuts), TEST (test_wrong_bytes), TEST (test_bomb))
