/* gst-spdl: several pictures of one image
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/codec/result/fanout.h"

#include <string.h>

#include "plugins/codec/resize/rowwindow.h"

/* Twice as many as are written ahead, so that positions are cheap. */
#define WINDOW_ROWS (2 * SPDL_ROWS_AHEAD)

struct _SpdlFanout {
  SpdlCanvas *canvases[SPDL_MAX_VIEWS]; /* NULL: not used yet */
  /* Rows of the decoder. Those that are done are overwritten, unless the
   * decoder may write them again. */
  SpdlRowWindow windows[SPDL_PLANES];

  /* The current image. */
  SpdlView *views;
  guint n_views;
  SpdlRows rows;
  SpdlPlanes planes;
  SpdlSampling sampling;
  const SpdlRows *to_rows[SPDL_MAX_VIEWS];
  const SpdlPlanes *to_planes[SPDL_MAX_VIEWS];
  guint done[SPDL_PLANES]; /* rows that the views have got */
  gboolean waits;          /* rows are copied when all of them are written */
};

SpdlFanout *
spdl_fanout_new (SpdlCanvas *canvas)
{
  SpdlFanout *self = g_new0 (SpdlFanout, 1);

  self->canvases[0] = canvas;
  return self;
}

void
spdl_fanout_free (SpdlFanout *self)
{
  for (guint i = 1; i < SPDL_MAX_VIEWS; i++)
    g_clear_pointer (&self->canvases[i], spdl_canvas_free);
  for (guint i = 0; i < SPDL_PLANES; i++)
    g_free (self->windows[i].data);
  g_free (self);
}

static SpdlCanvas *
get_canvas (SpdlFanout *self, guint view)
{
  if (!self->canvases[view])
    self->canvases[view] = spdl_canvas_new ();
  return self->canvases[view];
}

/* Rows */

static guint8 *
get_row (gpointer user_data, guint y)
{
  return spdl_row_window_get (((SpdlFanout *) user_data)->windows, y);
}

static void
copy_row (const SpdlFanout *self, const SpdlRows *to, guint y)
{
  const guint n = to->x_end - to->x_begin;
  const guint size = self->rows.pixel_size;
  const guint8 *in =
      spdl_row_window_get (self->windows, y) + to->x_begin * (gsize) size;
  guint8 *out =
      to->get_row (to->user_data, y) + to->x_begin * (gsize) to->pixel_size;

  if (to->pixel_size == size)
    memcpy (out, in, n * (gsize) size);
  else
    for (guint x = 0; x < n; x++, in += size, out += to->pixel_size)
      memcpy (out, in, 3);
}

static void
pass_rows (SpdlFanout *self, guint y_end)
{
  const guint done = self->done[0];

  for (guint i = 0; i < self->n_views; i++) {
    const SpdlRows *to = self->to_rows[i];

    for (guint y = MAX (done, to->y_begin); y < MIN (y_end, to->y_end); y++)
      copy_row (self, to, y);
    to->rows_done (to->user_data, y_end);
  }
  self->done[0] = MAX (done, y_end);
}

static void
rows_done (gpointer user_data, guint y_end)
{
  SpdlFanout *self = user_data;

  if (!self->waits)
    pass_rows (self, y_end);
}

static gboolean
no_memory (const SpdlView *view, GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Not enough memory for the views of an image of %u by %u",
      view->transform.width, view->transform.height);
  return FALSE;
}

static void
add_rows (SpdlRows *rows, const SpdlRows *more)
{
  rows->x_begin = MIN (rows->x_begin, more->x_begin);
  rows->x_end = MAX (rows->x_end, more->x_end);
  rows->y_begin = MIN (rows->y_begin, more->y_begin);
  rows->y_end = MAX (rows->y_end, more->y_end);
}

/* Sets the rows that the decoder writes, which are those that any view
 * needs. */
static gboolean
begin_rows (SpdlFanout *self, GError **error)
{
  SpdlRows *rows = &self->rows;

  *rows = *self->to_rows[0];
  rows->get_row = get_row;
  rows->rows_done = rows_done;
  rows->user_data = self;
  /* Any row of other pixels may be written at any time. */
  self->waits = rows->pixels != SPDL_PIXELS_COLOR;
  if (!self->waits)
    rows->pixel_size = 4;
  for (guint i = 1; i < self->n_views; i++)
    add_rows (rows, self->to_rows[i]);
  return spdl_row_window_begin (self->windows,
             rows->width * (gsize) rows->pixel_size,
             self->waits ? rows->height : WINDOW_ROWS, 0) ||
         no_memory (self->views, error);
}

/* Cancels the first @n canvases. */
static void
cancel (SpdlFanout *self, guint n)
{
  while (n-- > 0)
    spdl_canvas_cancel (self->canvases[n]);
}

const SpdlRows *
spdl_fanout_begin (SpdlFanout *self, SpdlView *views, guint n_views,
    guint reduction, GError **error)
{
  self->views = views;
  self->n_views = n_views;
  self->waits = FALSE;
  memset (self->done, 0, sizeof self->done);
  for (guint i = 0; i < n_views; i++) {
    self->to_rows[i] = spdl_canvas_begin (get_canvas (self, i), views[i].config,
        &views[i].transform, reduction, error);
    if (!self->to_rows[i]) {
      cancel (self, i);
      return NULL;
    }
  }
  if (n_views == 1)
    return self->to_rows[0];
  if (begin_rows (self, error))
    return &self->rows;
  cancel (self, n_views);
  return NULL;
}

/* Planes */

gboolean
spdl_fanout_takes_planes (const SpdlView *views, guint n_views, guint reduction,
    const SpdlSampling *sampling)
{
  for (guint i = 0; i < n_views; i++)
    if (!spdl_canvas_takes_planes (
            views[i].config, &views[i].transform, reduction, sampling))
      return FALSE;
  return TRUE;
}

static guint8 *
get_plane_row (gpointer user_data, guint plane, guint y)
{
  return spdl_row_window_get (((SpdlFanout *) user_data)->windows + plane, y);
}

static void
plane_rows_done (gpointer user_data, guint plane, guint y_end)
{
  SpdlFanout *self = user_data;
  const SpdlRowWindow *window = self->windows + plane;
  const gboolean half_x = self->sampling.half_x[plane];
  const gboolean half_y = self->sampling.half_y[plane];

  for (guint i = 0; i < self->n_views; i++) {
    const SpdlPlanes *to = self->to_planes[i];
    const guint begin = to->x_begin >> half_x;
    const guint n = ((to->x_end + half_x) >> half_x) - begin;
    const guint last = MIN (y_end, (to->y_end + half_y) >> half_y);

    for (guint y = MAX (self->done[plane], to->y_begin >> half_y); y < last;
         y++)
      memcpy (to->get_row (to->user_data, plane, y) + begin,
          spdl_row_window_get (window, y) + begin, n);
    to->rows_done (to->user_data, plane, y_end);
  }
  self->done[plane] = MAX (self->done[plane], y_end);
}

static void
add_planes (SpdlPlanes *planes, const SpdlPlanes *more)
{
  planes->x_begin = MIN (planes->x_begin, more->x_begin);
  planes->x_end = MAX (planes->x_end, more->x_end);
  planes->y_begin = MIN (planes->y_begin, more->y_begin);
  planes->y_end = MAX (planes->y_end, more->y_end);
}

static gboolean
begin_planes (SpdlFanout *self, guint reduction, GError **error)
{
  const guint width =
      (self->views[0].transform.width + reduction - 1) / reduction;

  self->planes = *self->to_planes[0];
  self->planes.get_row = get_plane_row;
  self->planes.rows_done = plane_rows_done;
  self->planes.user_data = self;
  for (guint i = 1; i < self->n_views; i++)
    add_planes (&self->planes, self->to_planes[i]);
  for (guint i = 0; i < self->sampling.n_planes; i++)
    if (!spdl_row_window_begin (self->windows + i,
            self->sampling.half_x[i] ? (width + 1) / 2 : width, WINDOW_ROWS, 0))
      return no_memory (self->views, error);
  return TRUE;
}

const SpdlPlanes *
spdl_fanout_begin_planes (SpdlFanout *self, SpdlView *views, guint n_views,
    guint reduction, const SpdlSampling *sampling, GError **error)
{
  self->views = views;
  self->n_views = n_views;
  self->waits = FALSE;
  memset (self->done, 0, sizeof self->done);
  self->sampling = *sampling;
  for (guint i = 0; i < n_views; i++) {
    self->to_planes[i] = spdl_canvas_begin_planes (get_canvas (self, i),
        views[i].config, &views[i].transform, reduction, sampling, error);
    if (!self->to_planes[i]) {
      cancel (self, i);
      return NULL;
    }
  }
  if (n_views == 1)
    return self->to_planes[0];
  if (begin_planes (self, reduction, error))
    return &self->planes;
  cancel (self, n_views);
  return NULL;
}

/* End of an image */

GstBuffer *
spdl_fanout_end (SpdlFanout *self)
{
  if (self->waits)
    pass_rows (self, self->rows.height);
  for (guint i = 1; i < self->n_views; i++)
    self->views[i].buffer =
        spdl_canvas_end (self->canvases[i], &self->views[i].caps);
  return spdl_canvas_end (self->canvases[0], &self->views[0].caps);
}

void
spdl_fanout_cancel (SpdlFanout *self)
{
  cancel (self, self->n_views);
}
