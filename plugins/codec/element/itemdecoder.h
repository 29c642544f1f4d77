/* gst-spdl: decoder of one item, of any media type
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/result/fanout.h"
#include "plugins/codec/still/imagedecoder.h"

G_BEGIN_DECLS

/* Decoders of one worker thread: libjpeg-turbo for JPEG, a library each for
 * PNG, WebP, GIF, TIFF and JPEG 2000, FFmpeg's libraries for most other images,
 * videos and audio. Images and frames are drawn on one shared
 * canvas. Not thread-safe: use from one thread at a time. */

typedef struct _SpdlItemDecoder SpdlItemDecoder;

SpdlItemDecoder *spdl_item_decoder_new (void);
void spdl_item_decoder_free (SpdlItemDecoder *self);

/* Decodes @source according to @config.
 * @views: (out): as many as @config has, or one: results, and how an image was
 * transformed; the width of the first transform is 0 for an item that is not an
 * image. Buffers are (transfer full)
 * Returns FALSE with @error set if there is no result. With on-corrupt=keep,
 * @error may be set although there is one. */
gboolean
spdl_item_decoder_decode (SpdlItemDecoder *self, const SpdlDecodeConfig *config,
    const SpdlSource *source, SpdlView *views, GError **error);

/* Reads the size and the EXIF orientation of an encoded image. Returns FALSE if
 * @item is not a still image, or its header does not declare a size. */
gboolean spdl_item_decoder_read_size (SpdlItemDecoder *self, GstBuffer *item,
    GstCaps *caps, guint64 max_pixels, SpdlImageHeader *header);

/* Returns a hint (transfer full) if @item seems to be a later piece of a file,
 * such as the blocks that filesrc sends; else NULL. */
gchar *spdl_item_decoder_hint_at_piece (GstBuffer *item);

/* Values of the file that the last result lost. */
typedef enum {
  SPDL_LOSS_NONE,
  SPDL_LOSS_BITS,    /* of samples of more than 8 bits */
  SPDL_LOSS_INDICES, /* of a palette, which became luminances */
} SpdlLoss;

/* About the last item. */
typedef struct {
  /* (nullable): presentation times of the frames of a video, in ns; the first
   * @n_own are those from the file, the rest repeat the last one */
  const GArray *times;
  guint n_own;
  GstClockTime audio_offset; /* NONE: no audio, or not at random */
  SpdlLoss loss;
  const GError *left_out; /* (nullable): why a member of arrays is missing */
} SpdlItemNotes;

/* Returns: (transfer none): notes that are valid until the next call */
const SpdlItemNotes *spdl_item_decoder_get_notes (const SpdlItemDecoder *self);

G_END_DECLS
