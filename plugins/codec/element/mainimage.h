/* gst-spdl: alignment of the images of a sample
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/element/itemdecoder.h"

G_BEGIN_DECLS

/* The main image of a sample is the part "data", or the first image if there is
 * no such part or it is not an image. Parts that are decoded with the same seed
 * are turned, cropped and flipped like it. The extra fields of the item record
 * how each part was decoded. */

/* Finds the main image for the part that @config names. If it was not decoded
 * yet, its header is read.
 * @extra: (nullable)
 * Returns FALSE if there is none, if the part is the main image itself, or if
 * it was decoded with another seed. */
gboolean spdl_main_image_find (SpdlMainImage *self,
    SpdlItemDecoder *item_decoder, const SpdlDecodeConfig *config,
    GstBuffer *sample, const GstStructure *extra);

/* Checks that the part that @config names, which may be the main image, is
 * aligned with the parts that were decoded before it, if @main_image is not one
 * of these.
 * @main_image: (nullable)
 * @is_whole: (out): set to TRUE if only one of two aligned parts is cropped or
 * flipped at random */
gboolean spdl_main_image_check (const SpdlMainImage *main_image,
    const SpdlDecodeConfig *config, const SpdlImageTransform *transform,
    GstBuffer *sample, const GstStructure *extra, gboolean *is_whole,
    GError **error);

/* Records how a part was decoded. */
void spdl_main_image_note (GstStructure *fields, const SpdlDecodeConfig *config,
    const SpdlImageTransform *transform);

G_END_DECLS
