/* gst-spdl: self-test of the Huffman decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/jpeg/entropycheck.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include "plugins/codec/jpeg/libjpeg.h"
#include "plugins/codec/jpeg/progressive.h"

/* Side of the test images. Blocks and MCUs extend past the edges, but none is
 * completely outside, where a wrong coefficient would not be visible. */
#define SIDE 45
#define N_CHANNELS 3
#define ROW_SIZE (SIDE * N_CHANNELS)
#define MAX_FILE_SIZE (4 * SIDE * ROW_SIZE)

typedef struct {
  guint h, v; /* sampling factors of Y */
  guint quality;
  guint restart_interval; /* in MCUs; 0: none */
  gboolean pairs; /* look up two codes at a time; applies to all following
                     images too */
} Image;

static const Image images[] = {
  { 1, 1, 90, 0, FALSE },
  { 2, 2, 60, 2, FALSE },
  { 2, 2, 85, 0, TRUE },
};
/* The image that is also progressive. */
#define PROGRESSIVE 1

typedef struct {
  const SpdlEntropyCheckHooks *hooks;
  guint i; /* index of the image */

  struct jpeg_compress_struct compress;
  struct jpeg_decompress_struct decompress;
  struct jpeg_error_mgr errors;
  jmp_buf on_error;
  gchar message[JMSG_LENGTH_MAX];

  SpdlEntropy *entropy;
  SpdlProgressive *progressive;
  gboolean is_progressive;
  guint n_mcus; /* decoded MCUs */
  guint8 file[MAX_FILE_SIZE];
  unsigned long size;
  guint8 drawing[SIDE * ROW_SIZE];
  guint8 expected[SIDE * ROW_SIZE], got[SIDE * ROW_SIZE];
} Check;

static const SpdlEntropyCheckHooks *chosen_hooks;
static SpdlEntropyChoice choice;

G_DEFINE_QUARK (
    spdl - entropy - check - error - quark, spdl_entropy_check_error)

static void
on_error (j_common_ptr cinfo)
{
  Check *self = cinfo->client_data;

  cinfo->err->format_message (cinfo, self->message);
  longjmp (self->on_error, 1);
}

static void
on_message (j_common_ptr cinfo, int level)
{
  /* Warnings are ignored: a defect shows in the pixels. */
}

/* Images */

/* Draws a gradient with noise, which produces codes of all lengths. Values keep
 * away from 0 and 255, where clamping would hide a wrong coefficient. */
static void
draw_image (Check *self)
{
  guint32 random = 1;

  for (guint i = 0; i < sizeof self->drawing; i++) {
    random = random * 1664525 + 1013904223;
    self->drawing[i] = 64 + i % ROW_SIZE / 2 + i / ROW_SIZE + (random >> 28);
  }
}

static void
encode_image (Check *self)
{
  const Image *image = &images[self->i];
  struct jpeg_compress_struct *cinfo = &self->compress;
  unsigned char *file = self->file;

  self->size = sizeof self->file;
  jpeg_mem_dest (cinfo, &file, &self->size);
  cinfo->image_width = cinfo->image_height = SIDE;
  cinfo->input_components = N_CHANNELS;
  cinfo->in_color_space = JCS_YCbCr;
  jpeg_set_defaults (cinfo);
  jpeg_set_quality (cinfo, image->quality, TRUE);
  cinfo->comp_info[0].h_samp_factor = image->h;
  cinfo->comp_info[0].v_samp_factor = image->v;
  cinfo->restart_interval = image->restart_interval;
  if (self->is_progressive)
    jpeg_simple_progression (cinfo);
  jpeg_start_compress (cinfo, TRUE);
  while (cinfo->next_scanline < SIDE) {
    JSAMPROW row = self->drawing + cinfo->next_scanline * ROW_SIZE;

    jpeg_write_scanlines (cinfo, &row, 1);
  }
  jpeg_finish_compress (cinfo);
  g_assert (file == self->file);
}

/* Without color conversion and fancy upsampling each sample depends on a single
 * coefficient block. */
static void
open_image (Check *self)
{
  struct jpeg_decompress_struct *cinfo = &self->decompress;

  jpeg_mem_src (cinfo, self->file, self->size);
  jpeg_read_header (cinfo, TRUE);
  cinfo->out_color_space = JCS_YCbCr;
  cinfo->do_fancy_upsampling = FALSE;
}

static gboolean
start_image (Check *self, GError **error)
{
  struct jpeg_decompress_struct *cinfo = &self->decompress;

  open_image (self);
  jpeg_start_decompress (cinfo);
  if (cinfo->output_width == SIDE && cinfo->output_height == SIDE &&
      cinfo->output_components == N_CHANNELS)
    return TRUE;
  g_set_error (error, SPDL_ENTROPY_CHECK_ERROR, SPDL_ENTROPY_CHECK_ERROR_OUTPUT,
      "libjpeg decodes self-test image %u as %u by %u samples of %d channels, "
      "not %u by %u of %u",
      self->i, cinfo->output_width, cinfo->output_height,
      cinfo->output_components, SIDE, SIDE, N_CHANNELS);
  return FALSE;
}

static gboolean
read_image (Check *self, guint8 *samples, GError **error)
{
  struct jpeg_decompress_struct *cinfo = &self->decompress;

  while (cinfo->output_scanline < SIDE) {
    JSAMPROW row = samples + cinfo->output_scanline * ROW_SIZE;

    if (jpeg_read_scanlines (cinfo, &row, 1) == 1)
      continue;
    g_set_error (error, SPDL_ENTROPY_CHECK_ERROR,
        SPDL_ENTROPY_CHECK_ERROR_OUTPUT,
        "libjpeg waits for more data at row %u of self-test image %u",
        cinfo->output_scanline, self->i);
    return FALSE;
  }
  return TRUE;
}

/* Decoder */

/* Returns whether @function belongs to the library that our calls resolve
 * to. */
static gboolean
is_in_libjpeg (gpointer function)
{
  Dl_info library, info;

  return function && dladdr (jpeg_read_header, &library) != 0 &&
         dladdr (function, &info) != 0 && info.dli_fbase == library.dli_fbase;
}

static gboolean
check_methods (Check *self, GError **error)
{
  const SpdlLibjpegEntropy *methods =
      spdl_libjpeg_get_entropy (&self->decompress);
  const gchar *wrong = NULL;

  if (!methods)
    wrong = "entropy";
  else if (!is_in_libjpeg (methods->start_pass))
    wrong = "entropy->start_pass";
  else if (!is_in_libjpeg (methods->decode_mcu))
    wrong = "entropy->decode_mcu";
  if (!wrong)
    return TRUE;
  g_set_error (error, SPDL_ENTROPY_CHECK_ERROR, SPDL_ENTROPY_CHECK_ERROR_LAYOUT,
      "Field %s of this libjpeg does not point to a function of libjpeg",
      wrong);
  return FALSE;
}

static boolean
decode_mcu (j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  Check *self = cinfo->client_data;
  const SpdlEntropyCheckHooks *hooks = self->hooks;

  self->n_mcus++;
  return hooks && hooks->decode
             ? hooks->decode (self->entropy, cinfo, blocks)
             : spdl_entropy_decode (self->entropy, cinfo, blocks);
}

/* Checks that libjpeg called the decoder for all MCUs, and that the decoder did
 * not fall back to libjpeg. */
static gboolean
check_calls (Check *self, GError **error)
{
  struct jpeg_decompress_struct *cinfo = &self->decompress;
  const guint n_expected = cinfo->MCUs_per_row * cinfo->MCU_rows_in_scan;

  if (self->n_mcus == n_expected &&
      spdl_libjpeg_get_entropy (cinfo)->decode_mcu == decode_mcu)
    return TRUE;
  g_set_error (error, SPDL_ENTROPY_CHECK_ERROR, SPDL_ENTROPY_CHECK_ERROR_OUTPUT,
      "libjpeg called gst-spdl's decoder for %u of the %u MCUs of self-test "
      "image %u",
      self->n_mcus, n_expected, self->i);
  return FALSE;
}

static gboolean
check_samples (Check *self, GError **error)
{
  for (guint i = 0; i < sizeof self->got; i++) {
    if (self->got[i] == self->expected[i])
      continue;
    g_set_error (error, SPDL_ENTROPY_CHECK_ERROR,
        SPDL_ENTROPY_CHECK_ERROR_OUTPUT,
        "Sample %u of self-test image %u is decoded as %u, by libjpeg as %u", i,
        self->i, self->got[i], self->expected[i]);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_image (Check *self, GError **error)
{
  struct jpeg_decompress_struct *cinfo = &self->decompress;

  encode_image (self);
  if (!start_image (self, error) || !read_image (self, self->expected, error))
    return FALSE;
  jpeg_abort_decompress (cinfo);

  if (!start_image (self, error))
    return FALSE;
  if (self->hooks && self->hooks->prepare)
    self->hooks->prepare (cinfo);
  if (!check_methods (self, error))
    return FALSE;
  self->n_mcus = 0;
  spdl_entropy_set_ways (self->entropy, FALSE, images[self->i].pairs);
  spdl_entropy_begin (self->entropy, cinfo, decode_mcu);
  if (!read_image (self, self->got, error) || !check_calls (self, error) ||
      !check_samples (self, error))
    return FALSE;
  jpeg_abort_decompress (cinfo);
  return TRUE;
}

static void
start_pass (j_decompress_ptr cinfo)
{
  Check *self = cinfo->client_data;

  spdl_progressive_start_pass (self->progressive, cinfo);
}

static boolean
decode_progressive_mcu (j_decompress_ptr cinfo, JBLOCKROW *blocks)
{
  Check *self = cinfo->client_data;

  return spdl_progressive_decode_mcu (self->progressive, cinfo, blocks);
}

static gboolean
check_progressive (Check *self, GError **error)
{
  static const SpdlProgressiveHooks hooks = { start_pass,
    decode_progressive_mcu };
  struct jpeg_decompress_struct *cinfo = &self->decompress;

  self->is_progressive = TRUE;
  self->i = PROGRESSIVE;
  encode_image (self);
  if (!start_image (self, error) || !read_image (self, self->expected, error))
    return FALSE;
  jpeg_abort_decompress (cinfo);
  open_image (self);
  if (!spdl_progressive_start (self->progressive, cinfo, &hooks)) {
    g_set_error (error, SPDL_ENTROPY_CHECK_ERROR,
        SPDL_ENTROPY_CHECK_ERROR_LAYOUT,
        "This libjpeg does not let gst-spdl decode the progressive self-test "
        "image");
    return FALSE;
  }
  if (!read_image (self, self->got, error) || !check_samples (self, error))
    return FALSE;
  jpeg_abort_decompress (cinfo);
  return TRUE;
}

static gboolean
check_images (Check *self, GError **error)
{
  if (setjmp (self->on_error) != 0) {
    g_set_error (error, SPDL_ENTROPY_CHECK_ERROR,
        SPDL_ENTROPY_CHECK_ERROR_LIBJPEG,
        "libjpeg failed at self-test image %u: %s", self->i, self->message);
    return FALSE;
  }
  jpeg_create_compress (&self->compress);
  jpeg_create_decompress (&self->decompress);
  for (self->i = 0; self->i < G_N_ELEMENTS (images); self->i++)
    if (!check_image (self, error))
      return FALSE;
  return check_progressive (self, error);
}

gboolean
spdl_entropy_check (const SpdlEntropyCheckHooks *hooks, GError **error)
{
  Check *self = g_new0 (Check, 1);
  gboolean ok;

  self->hooks = hooks;
  self->compress.err = self->decompress.err = jpeg_std_error (&self->errors);
  self->errors.error_exit = on_error;
  self->errors.emit_message = on_message;
  self->compress.client_data = self->decompress.client_data = self;
  self->entropy = spdl_entropy_new ();
  self->progressive = spdl_progressive_new ();
  draw_image (self);
  ok = check_images (self, error);
  jpeg_destroy_compress (&self->compress);
  jpeg_destroy_decompress (&self->decompress);
  spdl_entropy_free (self->entropy);
  spdl_progressive_free (self->progressive);
  g_free (self);
  return ok;
}

/* Selection */

void
spdl_entropy_check_set_hooks (const SpdlEntropyCheckHooks *hooks)
{
  chosen_hooks = hooks;
}

static void
make_choice (void)
{
  g_autoptr (GError) error = NULL;

  if (g_strcmp0 (g_getenv ("SPDL_ENTROPY_DECODER"), "libjpeg") == 0) {
    choice.reason = "the environment variable SPDL_ENTROPY_DECODER selects it";
  } else if (!spdl_entropy_check (chosen_hooks, &error)) {
    choice.failed = TRUE;
    choice.reason = g_strdup (error->message); /* never freed */
  }
}

const SpdlEntropyChoice *
spdl_entropy_choose (void)
{
  /* GLib's g_once() is not used because ThreadSanitizer does not see its
   * ordering. */
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, make_choice);
  return &choice;
}
