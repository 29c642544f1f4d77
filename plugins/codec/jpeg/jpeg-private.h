/* gst-spdl: private declarations of the JPEG decoder
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
#include "plugins/codec/jpeg/libjpeg.h"
#include "plugins/codec/jpeg/progressive.h"

#ifndef JCS_EXTENSIONS
#error "libjpeg-turbo's colour spaces with padding are needed"
#endif

/* Maximum number of rows to read per call: those of an iMCU. */
#define MAX_ROWS SPDL_ROWS_AHEAD

/* Row of iMCUs, which libjpeg decodes at once into planes; @n_lines pixels
 * high. */
typedef struct {
  guint n_planes;
  guint n_lines;
  guint next, end;
  guint begin;               /* the first one to decode */
  guint n_rows[SPDL_PLANES]; /* per plane */
  guint widths[SPDL_PLANES]; /* of complete blocks */
  guint skips[SPDL_PLANES];  /* samples at the left that are not decoded */
} Imcus;

struct _SpdlJpeg {
  struct jpeg_decompress_struct cinfo;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf on_error;
  const guint8 *data; /* the file */
  gsize size;
  /* NULL: libjpeg's decoder is used */
  SpdlEntropy *entropy;
  SpdlProgressive *progressive;
  gint lost;       /* first warning that means lost pixels; 0: none */
  guint reduction; /* 1, 2, 4 or 8 */
  guint x_begin;   /* first decoded column */
  guint n_rows;    /* rows decoded so far */
  guint
      missing_from; /* first row whose data is missing at the end of the file */
  Imcus imcus;      /* when decoding to planes */
  gchar message[JMSG_LENGTH_MAX];
};

/* Calls jpeg_crop_scanline(), and corrects the widths that it sets for
 * components with a smaller scaling factor than others.
 *
 * In a JPEG with 4x2 sampling that is decoded at a half or a quarter of its
 * size, chroma blocks have twice the side of luma blocks. jpeg_crop_scanline()
 * ignores this before libjpeg-turbo 3.0.0: fancy upsampling then fills only the
 * left half of the chroma rows, rounded up to the CPU's vector size, and the
 * colors of the right half come from uninitialized memory. */
void spdl_jpeg_crop_scanline (
    j_decompress_ptr cinfo, JDIMENSION *begin, JDIMENSION *width);
