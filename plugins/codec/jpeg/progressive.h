/* gst-spdl: Huffman decoder of progressive JPEGs
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stdio.h>
#include <glib.h>
#include <jpeglib.h>

G_BEGIN_DECLS

/* Replaces libjpeg's Huffman decoder for the scans of a progressive JPEG, with
 * the same coefficients. It needs the private fields that entropy.h needs.
 * progressive.c describes the algorithm. */

typedef struct _SpdlProgressive SpdlProgressive;

SpdlProgressive *spdl_progressive_new (void);
void spdl_progressive_free (SpdlProgressive *self);

/* For tests: do not use optional CPU instructions. */
void spdl_progressive_set_plain (SpdlProgressive *self);

/* libjpeg calls these. They call the functions of the same names below. */
typedef struct {
  void (*start_pass) (j_decompress_ptr cinfo);
  boolean (*decode_mcu) (j_decompress_ptr cinfo, JBLOCKROW *blocks);
} SpdlProgressiveHooks;

/* Returns whether the file, whose header was read, is one for this decoder. */
static inline gboolean
spdl_progressive_accepts (j_decompress_ptr cinfo)
{
  return cinfo->progressive_mode && !cinfo->arith_code &&
         cinfo->data_precision == 8;
}

/* Calls jpeg_start_decompress(), which reads all scans. Returns FALSE if
 * libjpeg must decode the file, which is to be opened again. */
gboolean spdl_progressive_start (SpdlProgressive *self, j_decompress_ptr cinfo,
    const SpdlProgressiveHooks *hooks);

void
spdl_progressive_start_pass (SpdlProgressive *self, j_decompress_ptr cinfo);
boolean spdl_progressive_decode_mcu (
    SpdlProgressive *self, j_decompress_ptr cinfo, JBLOCKROW *blocks);

G_END_DECLS
