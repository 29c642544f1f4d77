/* gst-spdl: Huffman decoder that replaces libjpeg's
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

/* Huffman decoding dominates the time of JPEG decoding. This decoder replaces
 * libjpeg's for sequential files with a single scan. It decodes two codes per
 * table lookup, and skips several per lookup in blocks that are not needed.
 * progressive.h has a decoder of progressive files; libjpeg decodes all other
 * files, and corrupt ones. entropy.c describes the algorithm. */

typedef struct _SpdlEntropy SpdlEntropy;

SpdlEntropy *spdl_entropy_new (void);
void spdl_entropy_free (SpdlEntropy *self);

/* For tests.
 * @plain: do not use optional CPU instructions
 * @pairs: look up two codes at a time in small files as well */
void spdl_entropy_set_ways (SpdlEntropy *self, gboolean plain, gboolean pairs);

/* Makes libjpeg call @decode_mcu, which must call spdl_entropy_decode(). Call
 * this after jpeg_start_decompress() and before any data is read, and only if
 * spdl_entropy_choose() selects this decoder. Returns FALSE without any change
 * if libjpeg must decode the file. */
gboolean spdl_entropy_begin (SpdlEntropy *self, j_decompress_ptr cinfo,
    boolean (*decode_mcu) (j_decompress_ptr cinfo, JBLOCKROW *blocks));

/* Limits decoding to these columns of iMCUs. The default is all columns. */
void spdl_entropy_set_columns (SpdlEntropy *self, guint begin, guint end);

/* Decodes the next MCU.
 * @blocks: (nullable): NULL: skip the MCU */
boolean spdl_entropy_decode (
    SpdlEntropy *self, j_decompress_ptr cinfo, JBLOCKROW *blocks);

G_END_DECLS
