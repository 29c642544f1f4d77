/* gst-spdl: tests of the self-test of the Huffman decoder and of the fallback
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <glib.h>
#include <jpeglib.h>
#ifdef HAVE_JPEGINT_H
#include <jpegint.h>
#endif

#include "plugins/codec/jpeg/entropycheck.h"
#include "plugins/codec/jpeg/jpeg-private.h"
#include "plugins/codec/jpeg/libjpeg.h"

/* Layout */

#ifdef HAVE_JPEGINT_H
#define ASSERT_SAME_FIELD(field)                                  \
  G_STATIC_ASSERT (                                               \
      G_STRUCT_OFFSET (SpdlLibjpegEntropy, field) ==              \
          G_STRUCT_OFFSET (struct jpeg_entropy_decoder, field) && \
      __builtin_types_compatible_p (                              \
          __typeof__ (((SpdlLibjpegEntropy *) 0)->field),         \
          __typeof__ (((struct jpeg_entropy_decoder *) 0)->field)))

ASSERT_SAME_FIELD (start_pass);
ASSERT_SAME_FIELD (decode_mcu);
G_STATIC_ASSERT (
    sizeof (SpdlLibjpegEntropy) <= sizeof (struct jpeg_entropy_decoder));
G_STATIC_ASSERT (SPDL_LIBJPEG_SCANNING == DSTATE_SCANNING);
G_STATIC_ASSERT (SPDL_LIBJPEG_RAW_OK == DSTATE_RAW_OK);
#endif

/* The self-test */

static void
assert_passes (const SpdlEntropyCheckHooks *hooks)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (spdl_entropy_check (hooks, &error));
  g_assert_no_error (error);
}

static void
assert_fails (const SpdlEntropyCheckHooks *hooks, gint code)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (spdl_entropy_check (hooks, &error));
  g_assert_error (error, SPDL_ENTROPY_CHECK_ERROR, code);
}

static void
test_passes (void)
{
  assert_passes (NULL);
  assert_passes (&(SpdlEntropyCheckHooks){ .decode = spdl_entropy_decode });
}

static gpointer wrong_function;

static void
set_start_pass (j_decompress_ptr cinfo)
{
  spdl_libjpeg_get_entropy (cinfo)->start_pass =
      (void (*) (j_decompress_ptr)) wrong_function;
}

static void
set_decode_mcu (j_decompress_ptr cinfo)
{
  spdl_libjpeg_get_entropy (cinfo)->decode_mcu =
      (boolean (*) (j_decompress_ptr, JBLOCKROW *)) wrong_function;
}

static void
clear_entropy (j_decompress_ptr cinfo)
{
  cinfo->entropy = NULL;
}

static boolean
never_decode (SpdlEntropy *entropy, j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  g_assert_not_reached ();
}

/* Tests that a field that does not point to libjpeg's function is found before
 * anything is called: it points to a function of this program or of another
 * library, to data, or is NULL. */
static void
test_pointers (void)
{
  static gint data;
  const gpointer wrong[] = { test_pointers, g_malloc, &data, NULL,
    GUINT_TO_POINTER (1) };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    wrong_function = wrong[i];
    assert_fails (&(SpdlEntropyCheckHooks){ set_start_pass, never_decode },
        SPDL_ENTROPY_CHECK_ERROR_LAYOUT);
    assert_fails (&(SpdlEntropyCheckHooks){ set_decode_mcu, never_decode },
        SPDL_ENTROPY_CHECK_ERROR_LAYOUT);
  }
  assert_fails (&(SpdlEntropyCheckHooks){ clear_entropy, never_decode },
      SPDL_ENTROPY_CHECK_ERROR_LAYOUT);
}

static void
make_arithmetic (j_decompress_ptr cinfo)
{
  cinfo->arith_code = TRUE;
}

static void
cut_data (j_decompress_ptr cinfo)
{
  cinfo->src->bytes_in_buffer = 100;
}

static void
raise_error (j_decompress_ptr cinfo)
{
  cinfo->err->error_exit ((j_common_ptr) cinfo);
}

static boolean
suspend (SpdlEntropy *entropy, j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  return FALSE;
}

/* Tests a decoder that is not called, leaves the scan to libjpeg or suspends,
 * and an error raised by libjpeg. */
static void
test_calls (void)
{
  assert_fails (&(SpdlEntropyCheckHooks){ make_arithmetic, never_decode },
      SPDL_ENTROPY_CHECK_ERROR_OUTPUT);
  assert_fails (&(SpdlEntropyCheckHooks){ cut_data, NULL },
      SPDL_ENTROPY_CHECK_ERROR_OUTPUT);
  assert_fails (&(SpdlEntropyCheckHooks){ NULL, suspend },
      SPDL_ENTROPY_CHECK_ERROR_OUTPUT);
  assert_fails (&(SpdlEntropyCheckHooks){ raise_error, NULL },
      SPDL_ENTROPY_CHECK_ERROR_LIBJPEG);
}

/* The MCU, counted over all images, and its block and coefficient to
 * corrupt. */
static struct {
  guint mcu, block, place;
  gint by;
} fault;
static guint n_mcus, n_hit;

static boolean
decode_wrongly (SpdlEntropy *entropy, j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  const boolean ok = spdl_entropy_decode (entropy, cinfo, blocks);

  if (n_mcus++ == fault.mcu) {
    blocks[fault.block % cinfo->blocks_in_MCU][0][fault.place] += fault.by;
    n_hit++;
  }
  return ok;
}

/* Tests that an error of one in any single coefficient is found. */
static void
test_coefficients (void)
{
  static const SpdlEntropyCheckHooks hooks = { NULL, decode_wrongly };
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  guint n_all;

  fault.mcu = G_MAXUINT;
  n_mcus = n_hit = 0;
  assert_passes (&hooks);
  n_all = n_mcus;
  g_assert_cmpuint (n_all, >, 40);
  for (guint i = 0; i < 400; i++) {
    fault.mcu = g_rand_int_range (rand, 0, n_all);
    fault.block = g_rand_int_range (rand, 0, 6);
    fault.place = g_rand_int_range (rand, 0, DCTSIZE2);
    fault.by = g_rand_boolean (rand) ? 1 : -1;
    n_mcus = n_hit = 0;
    assert_fails (&hooks, SPDL_ENTROPY_CHECK_ERROR_OUTPUT);
    g_assert_cmpuint (n_hit, ==, 1);
  }
}

/* Selection */

#define WIDTH 50
#define HEIGHT 37

/* Writes a 4:2:0 JPEG to @file and returns its size. */
static gsize
make_jpeg (guint8 *file, gsize size)
{
  struct jpeg_compress_struct cinfo;
  struct jpeg_error_mgr errors;
  guint8 row[WIDTH * 3];
  JSAMPROW rows[] = { row };
  unsigned char *to = file;
  unsigned long written = size;

  cinfo.err = jpeg_std_error (&errors);
  jpeg_create_compress (&cinfo);
  jpeg_mem_dest (&cinfo, &to, &written);
  cinfo.image_width = WIDTH;
  cinfo.image_height = HEIGHT;
  cinfo.input_components = 3;
  cinfo.in_color_space = JCS_RGB;
  jpeg_set_defaults (&cinfo);
  jpeg_start_compress (&cinfo, TRUE);
  for (guint y = 0; y < HEIGHT; y++) {
    for (guint i = 0; i < sizeof row; i++)
      row[i] = (i * i + y * 7 * i) >> 3;
    jpeg_write_scanlines (&cinfo, rows, 1);
  }
  jpeg_finish_compress (&cinfo);
  jpeg_destroy_compress (&cinfo);
  g_assert_true (to == file);
  return written;
}

/* Decodes @file with libjpeg alone. */
static void
decode_plainly (const guint8 *file, gsize size, guint8 *pixels)
{
  struct jpeg_decompress_struct cinfo;
  struct jpeg_error_mgr errors;

  cinfo.err = jpeg_std_error (&errors);
  jpeg_create_decompress (&cinfo);
  jpeg_mem_src (&cinfo, file, size);
  jpeg_read_header (&cinfo, TRUE);
  jpeg_start_decompress (&cinfo);
  while (cinfo.output_scanline < HEIGHT) {
    JSAMPROW row = pixels + cinfo.output_scanline * WIDTH * 3;

    jpeg_read_scanlines (&cinfo, &row, 1);
  }
  jpeg_destroy_decompress (&cinfo);
}

static guint8 *
get_row (gpointer user_data, guint y)
{
  return (guint8 *) user_data + y * WIDTH * 3;
}

static void
rows_done (gpointer user_data, guint y_end)
{
}

/* Checks that spdldecode uses our decoder, or libjpeg's, and that its pixels
 * equal libjpeg's. */
static void
assert_decodes (gboolean is_ours)
{
  static guint8 file[WIDTH * HEIGHT * 3];
  static guint8 expected[WIDTH * HEIGHT * 3], got[WIDTH * HEIGHT * 3];
  const gsize size = make_jpeg (file, sizeof file);
  const SpdlRows rows = { get_row, rows_done, got, WIDTH, HEIGHT, 0, WIDTH, 0,
    HEIGHT, 3, FALSE, 0 };
  SpdlJpeg *jpeg = spdl_jpeg_new ();
  g_autoptr (GError) error = NULL;
  guint width, height;

  g_assert_true ((spdl_entropy_choose ()->reason == NULL) == is_ours);
  g_assert_true ((jpeg->entropy != NULL) == is_ours);
  decode_plainly (file, size, expected);
  g_assert_true (
      spdl_jpeg_read_header (jpeg, file, size, &width, &height, &error));
  spdl_jpeg_set_reduction (jpeg, 1);
  g_assert_true (spdl_jpeg_read_rows (jpeg, &rows, FALSE, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (got, sizeof got, expected, sizeof expected);
  spdl_jpeg_free (jpeg);
}

static gpointer
choose (gpointer user_data)
{
  return (gpointer) spdl_entropy_choose ();
}

/* Forks, as the decoder is chosen once per process. Returns TRUE in the parent,
 * after the child has passed. GLib's subprocess API executes the program again,
 * which does not work under an emulator of another CPU. */
static gboolean
fork_test (void)
{
  const pid_t pid = fork ();
  int status;

  g_assert_cmpint (pid, >=, 0);
  if (pid == 0) {
    memset (&fault, 0, sizeof fault);
    n_mcus = 0;
    return FALSE;
  }
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_cmpint (status, ==, 0);
  return TRUE;
}

/* Tests that all threads get the same choice, made by one self-test. */
static void
test_default (void)
{
  static const SpdlEntropyCheckHooks counting = { NULL, decode_wrongly };
  GThread *threads[8];
  guint n_of_one;

  if (fork_test ())
    return;
  g_unsetenv ("SPDL_ENTROPY_DECODER");
  fault.mcu = G_MAXUINT;
  assert_passes (&counting);
  n_of_one = n_mcus;
  n_mcus = 0;
  spdl_entropy_check_set_hooks (&counting);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("choose", choose, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_assert_true (g_thread_join (threads[i]) == spdl_entropy_choose ());
  g_assert_cmpuint (n_mcus, ==, n_of_one);
  g_assert_false (spdl_entropy_choose ()->failed);
  g_assert_null (spdl_entropy_choose ()->reason);
  assert_decodes (TRUE);
  _exit (0);
}

/* Tests that libjpeg decodes if the self-test fails. */
static void
test_failed (void)
{
  static const SpdlEntropyCheckHooks wrong = { NULL, decode_wrongly };

  if (fork_test ())
    return;
  g_unsetenv ("SPDL_ENTROPY_DECODER");
  fault.by = 1;
  spdl_entropy_check_set_hooks (&wrong);
  g_assert_true (spdl_entropy_choose ()->failed);
  g_assert_nonnull (spdl_entropy_choose ()->reason);
  assert_decodes (FALSE);
  _exit (0);
}

/* Tests that no self-test runs if the environment selects libjpeg's decoder. */
static void
test_asked (void)
{
  static const SpdlEntropyCheckHooks none = { NULL, never_decode };

  if (fork_test ())
    return;
  g_setenv ("SPDL_ENTROPY_DECODER", "libjpeg", TRUE);
  spdl_entropy_check_set_hooks (&none);
  g_assert_false (spdl_entropy_choose ()->failed);
  g_assert_nonnull (spdl_entropy_choose ()->reason);
  assert_decodes (FALSE);
  _exit (0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/entropy-check/passes", test_passes);
  g_test_add_func ("/entropy-check/pointers", test_pointers);
  g_test_add_func ("/entropy-check/calls", test_calls);
  g_test_add_func ("/entropy-check/coefficients", test_coefficients);
  g_test_add_func ("/entropy-check/default", test_default);
  g_test_add_func ("/entropy-check/failed", test_failed);
  g_test_add_func ("/entropy-check/asked", test_asked);
  return g_test_run ();
}
