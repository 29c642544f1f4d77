/* gst-spdl: self-test of the Huffman decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/jpeg/entropy.h"

G_BEGIN_DECLS

/* Our Huffman decoder is called through a private field of libjpeg
 * (libjpeg.h), and libjpeg does not report its version at run time. So the
 * first use in a process tests whether the library in use has that field where
 * we expect it, and whether small images come out the same both ways. If not,
 * libjpeg decodes everything by itself. */

typedef enum {
  SPDL_ENTROPY_DECODER_SPDL,
  SPDL_ENTROPY_DECODER_LIBJPEG,
} SpdlEntropyDecoder;

typedef struct {
  SpdlEntropyDecoder decoder;
  gboolean failed;     /* the self-test */
  const gchar *reason; /* why it is libjpeg's; NULL where it is ours */
} SpdlEntropyChoice;

/* Return which entropy decoder JPEGs in this process get. The first call runs
 * the self-test; others wait for it. SPDL_ENTROPY_DECODER=libjpeg in the
 * environment of that call asks for libjpeg's. */
const SpdlEntropyChoice *spdl_entropy_choose (void);

#define SPDL_ENTROPY_CHECK_ERROR (spdl_entropy_check_error_quark ())
GQuark spdl_entropy_check_error_quark (void);

typedef enum {
  SPDL_ENTROPY_CHECK_ERROR_LAYOUT,  /* private fields lie elsewhere */
  SPDL_ENTROPY_CHECK_ERROR_OUTPUT,  /* images differ */
  SPDL_ENTROPY_CHECK_ERROR_LIBJPEG, /* libjpeg reported an error */
} SpdlEntropyCheckError;

/* A libjpeg or a decoder that is wrong, for tests. */
typedef struct {
  /* Called before the fields are looked at; nullable. */
  void (*prepare) (j_decompress_ptr cinfo);
  /* Decodes an MCU; NULL: spdl_entropy_decode(). */
  boolean (*decode) (
      SpdlEntropy *entropy, j_decompress_ptr cinfo, JBLOCKROW *blocks);
} SpdlEntropyCheckHooks;

/* Run the self-test. @hooks: nullable. */
gboolean
spdl_entropy_check (const SpdlEntropyCheckHooks *hooks, GError **error);

/* Let the self-test of spdl_entropy_choose() run with @hooks. Call it before
 * the first use. */
void spdl_entropy_check_set_hooks (const SpdlEntropyCheckHooks *hooks);

G_END_DECLS
