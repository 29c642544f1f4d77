/* gst-spdl: private parts of the JPEG decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/jpeg/jpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <jpeglib.h>

#include "plugins/codec/jpeg/entropy.h"

#ifndef JCS_EXTENSIONS
#error "libjpeg-turbo's colour spaces with padding are needed"
#endif

/* The most rows that one call for rows is worth: those of an iMCU. */
#define MAX_ROWS SPDL_ROWS_AHEAD

/* The pixels that a side of a block is decoded to: of a component, and the
 * least of all components. */
#if JPEG_LIB_VERSION >= 70
#define BLOCK_SIDE(component) ((component)->DCT_h_scaled_size)
#define LEAST_BLOCK_SIDE(cinfo) ((cinfo)->min_DCT_h_scaled_size)
#else
#define BLOCK_SIDE(component) ((component)->DCT_scaled_size)
#define LEAST_BLOCK_SIDE(cinfo) ((cinfo)->min_DCT_scaled_size)
#endif

/* What libjpeg decodes at a time, in planes: @n_lines pixels high. */
typedef struct {
  guint n_planes;
  guint n_lines;
  guint next, end;
  guint begin;               /* the first one that counts */
  guint n_rows[SPDL_PLANES]; /* of each plane */
  guint widths[SPDL_PLANES]; /* of whole blocks */
  guint skips[SPDL_PLANES];  /* samples to the left that are not read */
} Imcus;

struct _SpdlJpeg {
  struct jpeg_decompress_struct cinfo;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf on_error;
  /* NULL: libjpeg's */
  SpdlEntropy *entropy;
  gint lost;          /* the first warning that means lost pixels; 0: none */
  guint reduction;    /* 1, 2, 4 or 8 */
  guint x_begin;      /* the first column that is read */
  guint n_rows;       /* that were read */
  guint missing_from; /* the first row whose data is beyond the end */
  Imcus imcus;        /* where planes are read */
  gchar message[JMSG_LENGTH_MAX];
};

/* Does what jpeg_crop_scanline() does, and corrects the widths that it sets for
 * components that are scaled less than the others.
 *
 * In a JPEG of 4x2 sampling that is decoded at a half or a quarter of its size,
 * blocks of chroma have twice the side of those of luma. Before libjpeg-turbo
 * 3.0.0, jpeg_crop_scanline() ignores this. Fancy upsampling then fills only
 * the left half of the chroma rows, rounded up to whole vectors of the CPU, and
 * the colours of the right half come from uninitialized memory. */
void spdl_jpeg_crop_scanline (
    j_decompress_ptr cinfo, JDIMENSION *begin, JDIMENSION *width);
