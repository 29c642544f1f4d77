/* gst-spdl: self-test of the Huffman decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/jpeg/entropy.h"

G_BEGIN_DECLS

/* The Huffman decoder is installed through a private field of libjpeg
 * (libjpeg.h), and libjpeg does not report its version at run time. Therefore
 * the first use in a process tests whether the loaded library has the field at
 * the expected offset, and whether both decoders give the same pixels for small
 * images. If the test fails, libjpeg decodes all files. */

typedef struct {
  const gchar *reason; /* for libjpeg's decoder; NULL: our decoder is used */
  gboolean failed;     /* the self-test failed */
} SpdlEntropyChoice;

/* Returns the entropy decoder that this process uses for JPEGs. The first call
 * runs the self-test; concurrent calls wait for it. With
 * SPDL_ENTROPY_DECODER=libjpeg in the environment, libjpeg's decoder is
 * selected. */
const SpdlEntropyChoice *spdl_entropy_choose (void);

#define SPDL_ENTROPY_CHECK_ERROR (spdl_entropy_check_error_quark ())
GQuark spdl_entropy_check_error_quark (void);

typedef enum {
  SPDL_ENTROPY_CHECK_ERROR_LAYOUT,  /* private fields have other offsets */
  SPDL_ENTROPY_CHECK_ERROR_OUTPUT,  /* images differ */
  SPDL_ENTROPY_CHECK_ERROR_LIBJPEG, /* libjpeg reported an error */
} SpdlEntropyCheckError;

/* Fault injection for tests. */
typedef struct {
  /* nullable: called before the private fields are checked */
  void (*prepare) (j_decompress_ptr cinfo);
  /* nullable: decodes an MCU in place of spdl_entropy_decode() */
  boolean (*decode) (
      SpdlEntropy *entropy, j_decompress_ptr cinfo, JBLOCKROW *blocks);
} SpdlEntropyCheckHooks;

/* Runs the self-test.
 * @hooks: (nullable) */
gboolean
spdl_entropy_check (const SpdlEntropyCheckHooks *hooks, GError **error);

/* Sets the hooks for the self-test of spdl_entropy_choose(). Call it before the
 * first use. */
void spdl_entropy_check_set_hooks (const SpdlEntropyCheckHooks *hooks);

G_END_DECLS
