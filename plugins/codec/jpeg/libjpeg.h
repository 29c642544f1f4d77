/* gst-spdl: fields of libjpeg-turbo that are private or depend on its ABI
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stdio.h>
#include <glib.h>
#include <jpeglib.h>

/* Number of pixels that a side of a block is decoded to: for a component, and
 * the minimum over all components. */
#if JPEG_LIB_VERSION >= 70
#define BLOCK_SIDE(component) ((component)->DCT_h_scaled_size)
#define LEAST_BLOCK_SIDE(cinfo) ((cinfo)->min_DCT_h_scaled_size)
#else
#define BLOCK_SIDE(component) ((component)->DCT_scaled_size)
#define LEAST_BLOCK_SIDE(cinfo) ((cinfo)->min_DCT_scaled_size)
#endif

/* libjpeg-turbo declares these in jpegint.h, which it does not install; Debian
 * added the file up to libjpeg-turbo 2.1 and dropped it with 3.1. The order of
 * the fields below was compared with the sources of libjpeg 6b and of
 * libjpeg-turbo 1.0.0, 1.5.3, 2.0.6, 2.1.5, 3.0.0, 3.0.4, 3.1.0, 3.1.3, 3.1.4.1
 * and 3.2.0, and with the jpegint.h of Debian 12 (2.1.5-2). It is the same in
 * all of them, and does not depend on JPEG_LIB_VERSION (62, 70 or 80), which
 * only changes public structs. test-entropy-check compares it with jpegint.h if
 * that is installed, and entropycheck.h with the loaded library. */

/* The first fields of `struct jpeg_entropy_decoder`. In libjpeg-turbo 3 the
 * methods for lossless JPEGs follow; a lossless JPEG leaves `decode_mcu`
 * uninitialized. */
typedef struct {
  void (*start_pass) (j_decompress_ptr cinfo);
  boolean (*decode_mcu) (j_decompress_ptr cinfo, JBLOCKROW *blocks);
} SpdlLibjpegEntropy;

/* Values of `global_state` in jpeg_start_decompress() and after it. */
enum {
  SPDL_LIBJPEG_PRELOAD = 203, /* reads all scans */
  SPDL_LIBJPEG_SCANNING = 205,
  SPDL_LIBJPEG_RAW_OK = 206,
  SPDL_LIBJPEG_BUFIMAGE = 207, /* with `buffered_image` */
};

static inline SpdlLibjpegEntropy *
spdl_libjpeg_get_entropy (j_decompress_ptr cinfo)
{
  return (SpdlLibjpegEntropy *) cinfo->entropy;
}
