/* gst-spdl: command-line resizer of raw images, for comparison with Pillow
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Reads jobs from stdin and writes their results to stdout. A job is a line
 *     INTERPOLATION PIXEL_SIZE WIDTH HEIGHT X Y BOX_WIDTH BOX_HEIGHT \
 *         OUT_WIDTH OUT_HEIGHT
 * followed by the pixels, without padding. */

#include "tests/check/support/feed.h"

#include <stdio.h>

static gboolean
read_job (SpdlResizeJob *job)
{
  guint interpolation;

  if (scanf ("%u%u%u%u%u%u%u%u%u%u", &interpolation, &job->pixel_size,
          &job->width, &job->height, &job->box_x, &job->box_y, &job->box_width,
          &job->box_height, &job->out_width, &job->out_height) != 10)
    return FALSE;
  job->interpolation = interpolation;
  return getchar () == '\n';
}

static gboolean
do_job (SpdlResize *resize, SpdlResizeJob *job)
{
  const gsize n_in = (gsize) job->width * job->height * job->pixel_size;
  g_autofree guint8 *in = g_malloc (n_in);
  g_autofree guint8 *out = NULL;
  gsize n_out;

  job->out_stride = (gsize) job->out_width * (job->pixel_size == 1 ? 1 : 3);
  n_out = job->out_stride * job->out_height;
  job->out = out = g_malloc (n_out);
  return fread (in, 1, n_in, stdin) == n_in && feed (resize, job, in, NULL) &&
         fwrite (out, 1, n_out, stdout) == n_out;
}

int
main (int argc, char **argv)
{
  SpdlResize *resize = spdl_resize_new (NULL);
  SpdlResizeJob job = { 0 };
  gboolean ok = TRUE;

  while (ok && read_job (&job))
    ok = do_job (resize, &job);
  spdl_resize_free (resize);
  return ok ? 0 : 1;
}
