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

/* Most of the time of a JPEG is Huffman decoding. This decodes sequential files
 * of one scan in libjpeg's place, two codes a table lookup; of blocks that are
 * not wanted, several. libjpeg decodes all other files, and those with an
 * error. entropy.c explains how. */

typedef struct _SpdlEntropy SpdlEntropy;

SpdlEntropy *spdl_entropy_new (void);
void spdl_entropy_free (SpdlEntropy *self);

/* For tests. @plain: uses no instructions that some CPUs lack; @pairs: looks up
 * two codes at a time in small files, too. */
void spdl_entropy_set_ways (SpdlEntropy *self, gboolean plain, gboolean pairs);

/* Make libjpeg call @decode_mcu, which calls spdl_entropy_decode(). Call it
 * after jpeg_start_decompress() and before anything is read, and only if
 * spdl_entropy_choose() allows it. Returns FALSE, and changes nothing, for a
 * file that libjpeg has to decode. */
gboolean spdl_entropy_begin (SpdlEntropy *self, j_decompress_ptr cinfo,
    boolean (*decode_mcu) (j_decompress_ptr cinfo, JBLOCKROW *blocks));

/* Only these columns of iMCUs are wanted; without a call, all are. */
void spdl_entropy_set_columns (SpdlEntropy *self, guint begin, guint end);

/* Decodes the next MCU. @blocks: (nullable): NULL if it is not wanted */
boolean spdl_entropy_decode (
    SpdlEntropy *self, j_decompress_ptr cinfo, JBLOCKROW *blocks);

G_END_DECLS
