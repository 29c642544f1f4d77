/* gst-spdl: antialiased resize
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/codec/resize/filter.h"
#include "plugins/codec/resize/kernels.h"

G_BEGIN_DECLS

/* Resizes a crop of an image like Pillow's Image.resize(), with differences of
 * at most one level: filters are widened when the image shrinks. Rows of four
 * bytes per pixel, or of one byte, are passed from the top. Rows of three
 * bytes, or of one byte, are output as soon as possible.
 *
 * The horizontal pass runs on every four rows, and a window of its results, as
 * high as the vertical filter, is kept. Not thread-safe. */

typedef struct _SpdlResize SpdlResize;

typedef struct {
  SpdlInterpolation interpolation;
  guint pixel_size; /* of the input: 4 or 1 */
  guint width;      /* of the image; all sides are at least 1 */
  guint height;
  guint box_x; /* crop; box_width 0: the whole image */
  guint box_y;
  guint box_width;
  guint box_height;
  guint out_width;
  guint out_height;
  guint8 *out; /* must stay valid until all rows are done */
  gsize out_stride;

  /* 0 if not needed: */
  guint unit_x; /* units of the box per pixel; 0: 1 */
  guint unit_y;
  gboolean half_x;  /* single-channel input is subsampled by two horizontally */
  gboolean half_y;  /* and vertically */
  gboolean crop;    /* do not use pixels outside of the box */
  guint full_width; /* size to scale the box to; 0: out_width and out_height */
  guint full_height;
  guint skip_x; /* offset of the output in that */
  guint skip_y;
} SpdlResizeJob;

/* @filters: (nullable) (transfer none): shared with other resizers of the same
 * thread */
SpdlResize *spdl_resize_new (SpdlFilters *filters);
void spdl_resize_free (SpdlResize *self);

/* Selects kernels other than the best ones, for tests. */
void spdl_resize_set_kernels (SpdlResize *self, const SpdlKernels *kernels);

/* Starts an image. Memory and filters of previous images are kept and reused.
 * Returns FALSE if memory cannot be allocated. */
gboolean spdl_resize_begin (SpdlResize *self, const SpdlResizeJob *job);

/* Range of input samples and rows that are needed: the box and the support of
 * the filter around it. Others need not be written. */
typedef struct {
  guint x_begin, x_end;
  guint y_begin, y_end;
} SpdlResizeSource;
SpdlResizeSource spdl_resize_get_source (const SpdlResize *self);

/* Returns the memory of row @y, to be written in full width. At most
 * SPDL_RESIZE_AHEAD rows may be requested beyond those that are done. */
#define SPDL_RESIZE_AHEAD 32
guint8 *spdl_resize_get_row (SpdlResize *self, guint y);

/* Reports that all needed rows before @y_end are written. Outputs the rows that
 * can be computed; all of them after the last call. */
void spdl_resize_rows_done (SpdlResize *self, guint y_end);

/* Resizes an image of one channel, of one byte or 16 bits per pixel, as
 * @pixel_size says. One byte is resized with nearest only. All rows are kept:
 *
 *     spdl_resize_begin_plane ()
 *     ... write the rows that spdl_resize_get_source() says ...
 *     spdl_resize_end_plane ()
 */
gboolean spdl_resize_begin_plane (SpdlResize *self, const SpdlResizeJob *job);
guint8 *spdl_resize_get_plane_row (SpdlResize *self, guint y);
void spdl_resize_end_plane (SpdlResize *self);

G_END_DECLS
