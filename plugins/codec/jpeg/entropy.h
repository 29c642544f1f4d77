/* gst-spdl: Huffman decoding in libjpeg's place
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

/* Most of a JPEG's time is Huffman decoding. This does it in libjpeg's place
 * where the file is sequential, of one scan, and sound: two codes and their
 * values by one look into a table, and of blocks that nobody asks for several
 * codes at a time. Whatever is not as it should be is left to libjpeg, which
 * then begins again at the scan's first byte: results and warnings are always
 * its own. */

typedef struct _SpdlEntropy SpdlEntropy;

SpdlEntropy *spdl_entropy_new (void);
void spdl_entropy_free (SpdlEntropy *self);

/* For tests. @plain: does without what not all CPUs have; @pairs: takes two
 * codes a look in small files, too. */
void spdl_entropy_set_ways (SpdlEntropy *self, gboolean plain, gboolean pairs);

/* Make libjpeg call @decode_mcu, which calls spdl_entropy_decode(). Call it
 * after jpeg_start_decompress() and before anything is read, and only if
 * spdl_entropy_choose() allows it. Returns FALSE, and changes nothing, for a
 * file that libjpeg has to decode. */
gboolean spdl_entropy_begin (SpdlEntropy *self, j_decompress_ptr cinfo,
    boolean (*decode_mcu) (j_decompress_ptr cinfo, JBLOCKROW *blocks));

/* Only these columns of iMCUs are asked for; all where this is not called. */
void spdl_entropy_set_columns (SpdlEntropy *self, guint begin, guint end);

/* Decodes the next MCU. @blocks is nullable: nobody asks for it. */
boolean spdl_entropy_decode (
    SpdlEntropy *self, j_decompress_ptr cinfo, JBLOCKROW *blocks);

G_END_DECLS
