/* gst-spdl: comparison of the Huffman decoder with libjpeg's
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/both-ways.h"

#include <stdio.h>
#include <string.h>
#include <jpeglib.h>

/* The parameters of a JPEG. */
typedef struct {
  guint width, height;
  guint n_components; /* 1 or 3 */
  guint h, v;         /* of the first component */
  guint quality;
  guint restart_interval; /* MCUs */
  gboolean optimized;
  guint noise; /* strength of the noise in the picture */
  gboolean progressive, arithmetic;
  gboolean in_scans; /* one scan per component */
  jpeg_scan_info scans[100];
  guint n_scans; /* 0: libjpeg's own progression */
} Kind;

static void
draw_row (GRand *rand, const Kind *kind, guint y, guint8 *row)
{
  for (guint x = 0; x < kind->width; x++)
    for (guint i = 0; i < kind->n_components; i++)
      row[x * kind->n_components + i] =
          (x * (i + 2) + y * 3) / 2 % 256 * (256 - kind->noise) / 256 +
          g_rand_int_range (rand, 0, 256) * kind->noise / 256;
}

static const jpeg_scan_info scans_of_one[] = { { 1, { 0 }, 0, 63, 0, 0 },
  { 1, { 1 }, 0, 63, 0, 0 }, { 1, { 2 }, 0, 63, 0, 0 } };

static void
set_kind (struct jpeg_compress_struct *cinfo, const Kind *kind)
{
  cinfo->image_width = kind->width;
  cinfo->image_height = kind->height;
  cinfo->input_components = kind->n_components;
  cinfo->in_color_space = kind->n_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults (cinfo);
  jpeg_set_quality (cinfo, kind->quality, TRUE);
  cinfo->comp_info[0].h_samp_factor = kind->h;
  cinfo->comp_info[0].v_samp_factor = kind->v;
  cinfo->restart_interval = kind->restart_interval;
  cinfo->optimize_coding = kind->optimized;
  if (kind->progressive)
    jpeg_simple_progression (cinfo);
  if (kind->n_scans > 0) {
    cinfo->scan_info = kind->scans;
    cinfo->num_scans = kind->n_scans;
  }
  if (kind->in_scans && kind->n_components == 3) {
    cinfo->scan_info = scans_of_one;
    cinfo->num_scans = 3;
  }
#ifdef C_ARITH_CODING_SUPPORTED
  cinfo->arith_code = kind->arithmetic;
#endif
}

static GBytes *
make_jpeg (GRand *rand, const Kind *kind)
{
  struct jpeg_compress_struct cinfo;
  struct jpeg_error_mgr errors;
  g_autofree guint8 *row = g_malloc (kind->width * kind->n_components);
  JSAMPROW rows[] = { row };
  unsigned char *data = NULL;
  unsigned long size = 0;
  GBytes *jpeg;

  cinfo.err = jpeg_std_error (&errors);
  jpeg_create_compress (&cinfo);
  jpeg_mem_dest (&cinfo, &data, &size);
  set_kind (&cinfo, kind);
  jpeg_start_compress (&cinfo, TRUE);
  for (guint y = 0; y < kind->height; y++) {
    draw_row (rand, kind, y, row);
    jpeg_write_scanlines (&cinfo, rows, 1);
  }
  jpeg_finish_compress (&cinfo);
  jpeg_destroy_compress (&cinfo);
  jpeg = g_bytes_new (data, size);
  free (data);
  return jpeg;
}

/* Sampling factors of the first component; those of the others are 1. */
static const guint factors[][2] = { { 1, 1 }, { 2, 1 }, { 2, 2 }, { 1, 2 },
  { 4, 1 }, { 4, 2 } };

/* Adds the scans of a band: its upper bits, and then each of the @n_lower
 * others. */
static void
add_band (
    Kind *kind, guint component, guint n, guint begin, guint end, guint n_lower)
{
  for (guint i = 0; i <= n_lower; i++) {
    jpeg_scan_info *scan = &kind->scans[kind->n_scans++];

    scan->comps_in_scan = n;
    for (guint k = 0; k < n; k++)
      scan->component_index[k] = component + k;
    scan->Ss = begin;
    scan->Se = end;
    scan->Ah = i == 0 ? 0 : n_lower - i + 1;
    scan->Al = n_lower - i;
  }
}

static void
draw_scans (GRand *rand, Kind *kind)
{
  const guint n_lower = g_rand_int_range (rand, 0, 4);

  if (g_rand_boolean (rand))
    add_band (kind, 0, kind->n_components, 0, 0, n_lower);
  else
    for (guint i = 0; i < kind->n_components; i++)
      add_band (kind, i, 1, 0, 0, n_lower);
  for (guint i = 0; i < kind->n_components; i++)
    for (guint begin = 1, n = 0; begin < DCTSIZE2; n++) {
      const guint end =
          n == 4 ? DCTSIZE2 : g_rand_int_range (rand, begin + 1, DCTSIZE2 + 1);

      add_band (kind, i, 1, begin, end - 1, g_rand_int_range (rand, 0, 4));
      begin = end;
    }
}

static Kind
draw_kind (GRand *rand)
{
  static const guint qualities[] = { 1, 20, 50, 75, 90, 95, 100 };
  const guint sampling = g_rand_int_range (rand, 0, G_N_ELEMENTS (factors));
  const guint quality = g_rand_int_range (rand, 0, G_N_ELEMENTS (qualities));

  Kind kind = {
    .width = g_rand_int_range (rand, 1, 200),
    .height = g_rand_int_range (rand, 1, 200),
    .n_components = g_rand_int_range (rand, 0, 4) == 0 ? 1 : 3,
    .h = factors[sampling][0],
    .v = factors[sampling][1],
    .quality = qualities[quality],
    .restart_interval =
        g_rand_boolean (rand) ? 0 : g_rand_int_range (rand, 1, 30),
    .optimized = g_rand_boolean (rand),
    .noise = g_rand_int_range (rand, 0, 257),
    .progressive = g_rand_boolean (rand),
  };

  if (kind.progressive && g_rand_boolean (rand))
    draw_scans (rand, &kind);
  return kind;
}

static Wish
draw_wish (GRand *rand)
{
  const gboolean is_part = g_rand_boolean (rand);

  return (Wish){ 1 << g_rand_int_range (rand, 0, 4),
    is_part ? g_rand_int_range (rand, 0, 200) : 0,
    is_part ? g_rand_int_range (rand, 0, 200) : 0,
    is_part ? g_rand_int_range (rand, 1, 256) : 256 };
}

static Outcome
check (GBytes *jpeg, const Wish *wish)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (jpeg, &size);

  return decode_both_ways (data, size, wish);
}

/* Tests that intact files are never left to libjpeg. */
static void
test_sound (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);

  for (guint i = 0; i < N_FILES; i++) {
    const Kind kind = draw_kind (rand);
    const Wish wish = draw_wish (rand);
    g_autoptr (GBytes) jpeg = make_jpeg (rand, &kind);
    const Outcome outcome = check (jpeg, &wish);

    g_assert_cmpuint (outcome.width, ==, kind.width);
    g_assert_cmpuint (outcome.n_warnings, ==, 0);
    g_assert_false (outcome.fell_back);
  }
}

/* Tests that libjpeg decodes the kinds of JPEG that the decoder does not
 * support. */
static void
test_others (void)
{
  static const Kind kinds[] = {
    { 60, 50, 3, 2, 1, 75, 5, FALSE, 60, .arithmetic = TRUE },
    { 60, 50, 3, 2, 2, 75, 0, FALSE, 60, .in_scans = TRUE },
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autoptr (GBytes) jpeg = make_jpeg (rand, &kinds[i]);

    for (guint k = 0; k < 20; k++) {
      const Wish wish = draw_wish (rand);

      g_assert_cmpuint (check (jpeg, &wish).n_warnings, ==, 0);
    }
  }
}

static void
spoil (GRand *rand, guint8 *data, gsize *size)
{
  const guint n = g_rand_int_range (rand, 1, 4);

  for (guint i = 0; i < n; i++) {
    const gsize at = g_rand_int_range (rand, 2, *size);

    switch (g_rand_int_range (rand, 0, 4)) {
      case 0:
        data[at] ^= 1 << g_rand_int_range (rand, 0, 8);
        break;
      case 1:
        data[at] = 0xff;
        break;
      case 2: /* a marker, possibly RSTn */
        data[at - 1] = 0xff;
        data[at] = 0xc0 + g_rand_int_range (rand, 0, 0x40);
        break;
      default:
        *size = at;
        break;
    }
    if (*size < 4)
      return;
  }
}

/* Tests that corrupt files give the same pixels and warnings as with
 * libjpeg. */
static void
test_broken (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  guint n_warned = 0, n_fell_back = 0;

  for (guint i = 0; i < N_FILES; i++) {
    const Kind kind = draw_kind (rand);
    g_autoptr (GBytes) jpeg = make_jpeg (rand, &kind);

    for (guint k = 0; k < 5; k++) {
      gsize size = g_bytes_get_size (jpeg);
      g_autofree guint8 *data = g_memdup2 (g_bytes_get_data (jpeg, NULL), size);
      const Wish wish = draw_wish (rand);
      Outcome outcome;

      spoil (rand, data, &size);
      outcome = decode_both_ways (data, size, &wish);
      n_warned += outcome.n_warnings > 0;
      n_fell_back += outcome.fell_back;
    }
  }
  g_assert_cmpuint (n_warned, >, N_FILES / 4);
  g_assert_cmpuint (n_fell_back, >, N_FILES / 4);
}

/* Tests files truncated at every byte. */
static void
test_cut (void)
{
  static const Kind kinds[] = { { 40, 24, 3, 2, 1, 75, 0, TRUE, 40 },
    { 40, 24, 3, 2, 2, 75, 2, FALSE, 200 },
    { 33, 17, 1, 1, 1, 90, 0, TRUE, 256 },
    { 40, 24, 3, 2, 1, 75, 0, TRUE, 40, .progressive = TRUE },
    { 33, 17, 3, 2, 2, 90, 2, TRUE, 256, .progressive = TRUE } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autoptr (GBytes) jpeg = make_jpeg (rand, &kinds[i]);
    const guint8 *data = g_bytes_get_data (jpeg, NULL);

    for (gsize size = 0; size <= g_bytes_get_size (jpeg); size++) {
      /* An exact allocation lets the sanitizer find reads past the end. */
      g_autofree guint8 *cut = g_memdup2 (data, MAX (size, 1));

      decode_both_ways (cut, size, &(Wish){ 1, 0, 0, 256 });
    }
  }
}

/* Tests that cropped columns equal those of the whole image. The images are so
 * wide that a row of chroma takes several vectors on any CPU. */
static void
test_columns (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);

  for (guint i = 0; i < G_N_ELEMENTS (factors); i++) {
    const Kind kind = { 900, 40, 3, factors[i][0], factors[i][1], 90, 0, FALSE,
      128 };
    g_autoptr (GBytes) jpeg = make_jpeg (rand, &kind);
    gsize size;
    const guint8 *data = g_bytes_get_data (jpeg, &size);

    for (guint k = 0; k < 40; k++)
      check_columns (data, size,
          &(Wish){ 1 << k % 4, g_rand_int_range (rand, 0, 200), 0,
              g_rand_int_range (rand, 1, 256) });
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/entropy/sound", test_sound);
  g_test_add_func ("/entropy/others", test_others);
  g_test_add_func ("/entropy/broken", test_broken);
  g_test_add_func ("/entropy/cut", test_cut);
  g_test_add_func ("/entropy/columns", test_columns);
  return g_test_run ();
}
