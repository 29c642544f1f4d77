/* gst-spdl: tests of the PNG decoder against libpng
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <glib.h>
#include <png.h>
#include <string.h>

#include "plugins/codec/still/imagedecoder.h"
#include "plugins/codec/still/pngfilter.h"

/* Filters */

static void
check_rows (GRand *rand, guint pixel_size, guint n_pixels, guint n_rows)
{
  const gsize stride = 1 + pixel_size * n_pixels;
  const gsize n = stride * n_rows, all = n + SPDL_PNG_PADDING;
  g_autofree guint8 *rows = g_malloc (all), *wanted = NULL;

  for (gsize i = 0; i < all; i++)
    rows[i] = g_rand_int (rand) >> 24;
  for (guint y = 0; y < n_rows; y++)
    rows[y * stride] = g_rand_int_range (rand, 0, y == 2 ? 12 : 5);
  wanted = g_memdup2 (rows, all);
  spdl_png_unfilter_plain (wanted, stride, n_rows, pixel_size);
  spdl_png_unfilter (rows, stride, n_rows, pixel_size);
  g_assert_cmpmem (rows, all, wanted, all);
}

static void
test_filters (void)
{
  static const guint8 pixel_sizes[] = { 1, 2, 3, 4, 6, 8 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261128);

  for (guint i = 0; i < G_N_ELEMENTS (pixel_sizes); i++)
    for (guint n = 1; n < 40; n++)
      for (guint j = 0; j < 5; j++)
        check_rows (rand, pixel_sizes[i], n, 1 + n % 9);
}

/* Files that libpng writes */

typedef struct {
  gint kind;
  gint depth;
} Format;

static const Format formats[] = { { PNG_COLOR_TYPE_GRAY, 1 },
  { PNG_COLOR_TYPE_GRAY, 2 }, { PNG_COLOR_TYPE_GRAY, 4 },
  { PNG_COLOR_TYPE_GRAY, 8 }, { PNG_COLOR_TYPE_GRAY, 16 },
  { PNG_COLOR_TYPE_PALETTE, 1 }, { PNG_COLOR_TYPE_PALETTE, 2 },
  { PNG_COLOR_TYPE_PALETTE, 4 }, { PNG_COLOR_TYPE_PALETTE, 8 },
  { PNG_COLOR_TYPE_RGB, 8 }, { PNG_COLOR_TYPE_RGB, 16 },
  { PNG_COLOR_TYPE_GRAY_ALPHA, 8 }, { PNG_COLOR_TYPE_GRAY_ALPHA, 16 },
  { PNG_COLOR_TYPE_RGB_ALPHA, 8 }, { PNG_COLOR_TYPE_RGB_ALPHA, 16 } };

typedef struct {
  Format format;
  guint width;
  guint height;
  gboolean interlaced;
  gint filters; /* PNG_FILTER_... */
} Image;

static void
append (png_structp png, png_bytep data, size_t n)
{
  g_byte_array_append (png_get_io_ptr (png), data, n);
}

static void
flush (png_structp png)
{
}

/* Noise over a slope, so that all predictions occur; alpha is opaque. */
static void
make_row (GRand *rand, const Image *image, guint y, guint8 *row, gsize n)
{
  const gboolean has_alpha = image->format.kind & PNG_COLOR_MASK_ALPHA;
  const guint bytes = image->format.depth / 8;
  const guint channels = image->format.kind & PNG_COLOR_MASK_COLOR ? 4 : 2;

  for (gsize i = 0; i < n; i++) {
    row[i] = y * 3 + i + g_rand_int_range (rand, 0, 1 + y % 40);
    if (has_alpha && i / bytes % channels == channels - 1)
      row[i] = 255;
  }
}

static GByteArray *
write_png (GRand *rand, const Image *image)
{
  GByteArray *file = g_byte_array_new ();
  png_structp png =
      png_create_write_struct (PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct (png);
  g_autofree guint8 *rows = NULL;
  png_color colors[256];
  gsize n;

  png_set_write_fn (png, file, append, flush);
  png_set_IHDR (png, info, image->width, image->height, image->format.depth,
      image->format.kind,
      image->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
      PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  for (guint i = 0; i < G_N_ELEMENTS (colors); i++)
    colors[i] = (png_color){ i * 7, 255 - i, i * 31 };
  if (image->format.kind == PNG_COLOR_TYPE_PALETTE)
    png_set_PLTE (png, info, colors, 1 << image->format.depth);
  png_set_filter (png, PNG_FILTER_TYPE_BASE, image->filters);
  png_write_info (png, info);
  n = png_get_rowbytes (png, info);
  rows = g_malloc (n * image->height);
  for (guint y = 0; y < image->height; y++)
    make_row (rand, image, y, rows + y * n, n);
  for (gint pass = png_set_interlace_handling (png); pass > 0; pass--)
    for (guint y = 0; y < image->height; y++)
      png_write_row (png, rows + y * n);
  png_write_end (png, NULL);
  png_destroy_write_struct (&png, &info);
  return file;
}

/* Reads and compares */

typedef struct {
  const guint8 *at;
} Reader;

static void
read_bytes (png_structp png, png_bytep to, size_t n)
{
  Reader *reader = png_get_io_ptr (png);

  memcpy (to, reader->at, n);
  reader->at += n;
}

static guint8 *
read_with_libpng (const GByteArray *file, const Image *image)
{
  const gsize stride = image->width * 3;
  guint8 *pixels = g_malloc (stride * image->height);
  Reader reader = { file->data };
  png_structp png =
      png_create_read_struct (PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct (png);
  gint n_passes;

  png_set_read_fn (png, &reader, read_bytes);
  png_read_info (png, info);
  png_set_expand (png);
  png_set_scale_16 (png);
  png_set_strip_alpha (png);
  if (!(image->format.kind & PNG_COLOR_MASK_COLOR))
    png_set_gray_to_rgb (png);
  n_passes = png_set_interlace_handling (png);
  png_read_update_info (png, info);
  for (gint pass = 0; pass < n_passes; pass++)
    for (guint y = 0; y < image->height; y++)
      png_read_row (png, pixels + y * stride, NULL);
  png_destroy_read_struct (&png, &info, NULL);
  return pixels;
}

typedef struct {
  guint8 *pixels;
  gsize stride;
} Target;

static guint8 *
get_row (gpointer target, guint y)
{
  return ((Target *) target)->pixels + y * ((Target *) target)->stride;
}

static void
rows_done (gpointer target, guint y_end)
{
}

/* Also stops early, after @n_rows rows. */
static void
check_read (gpointer decoder, const GByteArray *file, const Image *image,
    const guint8 *wanted, guint n_rows, guint pixel_size)
{
  const gsize stride = image->width * (gsize) pixel_size;
  g_autofree guint8 *pixels = g_malloc0 (stride * image->height);
  Target target = { pixels, stride };
  const SpdlRows rows = { get_row, rows_done, &target, image->width,
    image->height, 0, image->width, 0, n_rows, SPDL_PIXELS_COLOR, pixel_size };
  SpdlImageHeader header;
  GError *error = NULL;

  spdl_png_decoder.read_header (
      decoder, file->data, file->len, G_MAXUINT64, &header, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (header.width, ==, image->width);
  g_assert_cmpuint (header.height, ==, image->height);
  spdl_png_decoder.read_rows (decoder, &rows, FALSE, &error);
  g_assert_no_error (error);
  spdl_png_decoder.close (decoder);
  for (gsize i = 0; i < (gsize) image->width * n_rows; i++)
    g_assert_cmpmem (pixels + i * pixel_size, 3, wanted + i * 3, 3);
}

static void
test_files (gconstpointer data)
{
  static const gint filters[] = { PNG_FILTER_NONE, PNG_FILTER_SUB,
    PNG_FILTER_UP, PNG_FILTER_AVG, PNG_FILTER_PAETH, PNG_ALL_FILTERS };
  g_autoptr (GRand) rand = g_rand_new_with_seed (20261128);
  gpointer decoder = g_malloc0 (spdl_png_decoder.size);

  for (guint i = 0; i < 2 * G_N_ELEMENTS (filters) * 12; i++) {
    const Image image = { *(const Format *) data, 1 + i / 12 * 3 + i % 12,
      1 + g_rand_int_range (rand, 0, 40), i % 2,
      filters[i / 2 % G_N_ELEMENTS (filters)] };
    g_autoptr (GByteArray) file = write_png (rand, &image);
    g_autofree guint8 *wanted = read_with_libpng (file, &image);

    check_read (decoder, file, &image, wanted, image.height, 3);
    check_read (decoder, file, &image, wanted,
        g_rand_int_range (rand, 1, image.height + 1), 4);
  }
  spdl_png_decoder.destroy (decoder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/png/filters", test_filters);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autofree gchar *path = g_strdup_printf (
        "/png/files/kind-%d-depth-%d", formats[i].kind, formats[i].depth);

    g_test_add_data_func (path, &formats[i], test_files);
  }
  return g_test_run ();
}
