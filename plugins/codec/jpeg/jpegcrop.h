/* gst-spdl: decodes some columns of a JPEG
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

/* The pixels that a side of a block is decoded to: of a component, and the
 * least of all components. */
#if JPEG_LIB_VERSION >= 70
#define BLOCK_SIDE(component) ((component)->DCT_h_scaled_size)
#define LEAST_BLOCK_SIDE(cinfo) ((cinfo)->min_DCT_h_scaled_size)
#else
#define BLOCK_SIDE(component) ((component)->DCT_scaled_size)
#define LEAST_BLOCK_SIDE(cinfo) ((cinfo)->min_DCT_scaled_size)
#endif

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

G_END_DECLS
