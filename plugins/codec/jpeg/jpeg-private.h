/* gst-spdl: private parts of the JPEG decoder
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/jpeg/jpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <jpeglib.h>

#include "plugins/codec/jpeg/entropy.h"
#include "plugins/codec/jpeg/jpegcrop.h"

#ifndef JCS_EXTENSIONS
#error "libjpeg-turbo's colour spaces with padding are needed"
#endif

/* The most rows that one call for rows is worth: those of an iMCU. */
#define MAX_ROWS SPDL_ROWS_AHEAD

/* What libjpeg decodes at a time, in planes: @n_lines pixels high. */
typedef struct {
  guint n_planes;
  guint n_lines;
  guint next, end;
  guint begin;               /* the first one that counts */
  guint n_rows[SPDL_PLANES]; /* of each plane */
  guint widths[SPDL_PLANES]; /* of whole blocks */
  guint skips[SPDL_PLANES];  /* samples to the left that are not read */
} Imcus;

struct _SpdlJpeg {
  struct jpeg_decompress_struct cinfo;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf on_error;
  /* NULL: libjpeg's */
  SpdlEntropy *entropy;
  gint lost;          /* the first warning that means lost pixels; 0: none */
  guint reduction;    /* 1, 2, 4 or 8 */
  guint x_begin;      /* the first column that is read */
  guint n_rows;       /* that were read */
  guint missing_from; /* the first row whose data is beyond the end */
  Imcus imcus;        /* where planes are read */
  gchar message[JMSG_LENGTH_MAX];
};

/* Starts decompression, once the output is set. */
void spdl_jpeg_start (SpdlJpeg *self);

/* Decodes no columns but those that count, in whole iMCUs: @begin and @width
 * become what they are of. */
void
spdl_jpeg_crop_columns (SpdlJpeg *self, JDIMENSION *begin, JDIMENSION *width);

/* Ends the file in hand, and makes ready for the next. Returns FALSE. */
gboolean spdl_jpeg_give_up (SpdlJpeg *self, GError **error);
