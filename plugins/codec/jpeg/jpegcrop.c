/* gst-spdl: decodes some columns of a JPEG
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/jpeg/jpegcrop.h"

void
spdl_jpeg_crop_scanline (
    j_decompress_ptr cinfo, JDIMENSION *begin, JDIMENSION *width)
{
  const guint whole = cinfo->max_h_samp_factor * LEAST_BLOCK_SIDE (cinfo);

  jpeg_crop_scanline (cinfo, begin, width);
  for (gint i = 0; i < cinfo->num_components; i++) {
    jpeg_component_info *component = cinfo->comp_info + i;
    const guint part = component->h_samp_factor * BLOCK_SIDE (component);

    /* The upsampler reads this for each row, and nothing read it before. */
    component->downsampled_width =
        (cinfo->output_width * part + whole - 1) / whole;
  }
}
