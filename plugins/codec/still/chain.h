/* gst-spdl: one decoder element that is held open
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/picture.h"

G_BEGIN_DECLS

/* A decoder element between two pads of ours, in no bin, which plays from the
 * first file to the last. A file goes in as one buffer, and its first frame
 * comes out in the same thread; then the element is flushed, so that no file
 * finds anything of another. One thread at a time. */

typedef struct _SpdlChain SpdlChain;

typedef enum {
  SPDL_CHAIN_OK,
  SPDL_CHAIN_BROKEN_FILE,
  /* It would take more pixels than allowed. */
  SPDL_CHAIN_TOO_LARGE,
  /* The element does not do it, though another might. */
  SPDL_CHAIN_UNFIT,
} SpdlChainResult;

/* @caps: of the first file. NULL with @error set if there is no
 * such element or it does not start. */
SpdlChain *
spdl_chain_new (GstElementFactory *factory, GstCaps *caps, GError **error);
void spdl_chain_free (SpdlChain *self);

typedef struct {
  guint64 max_pixels;
  gboolean keep; /* what could be decoded of a broken file */
} SpdlChainLimits;

/* Decodes @file (transfer full), whose caps are @caps: the same ones as long as
 * nothing changes. With OK, there is a frame; with another result there may be
 * one, of what could be decoded; else @error is set. */
SpdlChainResult spdl_chain_decode (SpdlChain *self, GstBuffer *file,
    GstCaps *caps, const SpdlChainLimits *limits, GError **error);

/* The frame of the last file, until the next; FALSE if there is none. */
gboolean spdl_chain_get_frame (SpdlChain *self, SpdlFrame *frame);

/* Whether the last file made an error: the next to fail fails perhaps because
 * of that. */
gboolean spdl_chain_is_suspect (const SpdlChain *self);

G_END_DECLS
