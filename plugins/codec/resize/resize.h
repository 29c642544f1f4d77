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

/* Makes of a box within an image what Pillow's Image.resize() does, at most a
 * level beside it: the filter is widened when the image shrinks. Rows of four
 * bytes a pixel go in from the top, and rows of three come out as soon as they
 * can; or of one byte and one.
 *
 * Rows first: as soon as four have come they are shrunk along their length, and
 * of these a window as high as the filter is kept. One thread. */

typedef struct _SpdlResize SpdlResize;

typedef struct {
  SpdlInterpolation interpolation;
  guint pixel_size; /* of the rows that go in: 4 or 1 */
  guint width;      /* of the image; all sides are at least 1 */
  guint height;
  guint box_x; /* what is resized of it; as wide as 0: all */
  guint box_y;
  guint box_width;
  guint box_height;
  guint out_width;
  guint out_height;
  guint8 *out; /* must stay until all rows are done */
  gsize out_stride;

  /* 0 where they are not needed: */
  guint unit;       /* of the box: so much is a pixel; 0: 1 */
  gboolean half_x;  /* rows of bytes that have a byte for two pixels */
  gboolean half_y;  /* and a row for two */
  gboolean crop;    /* whether nothing beyond the box is looked at */
  guint full_width; /* what the box becomes; 0: what comes out */
  guint full_height;
  guint skip_x; /* where what comes out begins in that */
  guint skip_y;
} SpdlResizeJob;

/* @filters: (not owned) to be shared with others of its thread; or NULL. */
SpdlResize *spdl_resize_new (SpdlFilters *filters);
void spdl_resize_free (SpdlResize *self);

/* For tests: another set of inner loops than the best one. */
void spdl_resize_set_kernels (SpdlResize *self, const SpdlKernels *kernels);

/* Begins an image. Memory and filters of those before are kept, for the same
 * sizes and for others. Returns FALSE if there is no memory. */
gboolean spdl_resize_begin (SpdlResize *self, const SpdlResizeJob *job);

/* Which part of the image in hand counts, the box and what its filter looks at
 * around it, in samples and rows as they go in: all else need not be written.
 */
typedef struct {
  guint x_begin, x_end;
  guint y_begin, y_end;
} SpdlResizeSource;
SpdlResizeSource spdl_resize_get_source (const SpdlResize *self);

/* Where row @y is to be written, all of its columns at their places. At most
 * SPDL_RESIZE_AHEAD rows may be asked for beyond those that are done. */
#define SPDL_RESIZE_AHEAD 32
guint8 *spdl_resize_get_row (SpdlResize *self, guint y);

/* All rows before @y_end that count are there: makes what can be made of them,
 * at the latest when all have come. */
void spdl_resize_rows_done (SpdlResize *self, guint y_end);

G_END_DECLS
