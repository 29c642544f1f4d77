/* gst-spdl: augmentations of raw pixels, for tests in Python
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/core/augment/painter.h"
#include "plugins/core/augment/plan.h"

/* augment-raw draw OPS SEED EPOCH FIRST N WIDTH HEIGHT
 * prints the steps of N items, one a line.
 *
 * augment-raw paint OPS SEED EPOCH INDEX WIDTH HEIGHT CHANNELS [KERNELS]
 * reads an image, and writes the result. */

static guint64
parse (const gchar *text)
{
  return g_ascii_strtoull (text, NULL, 10);
}

static GPtrArray *
parse_ops (const gchar *text)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *ops = spdl_op_list_parse (text, &error);

  if (ops)
    return ops;
  g_printerr ("%s\n", error->message);
  exit (1);
}

static void
draw_plan (SpdlPlan *plan, gchar **argv, GPtrArray *ops, guint64 index,
    guint width, guint height)
{
  g_autoptr (GError) error = NULL;

  if (spdl_plan_draw (plan, ops, parse (argv[3]), parse (argv[4]), index, width,
          height, &error))
    return;
  g_printerr ("%s\n", error->message);
  exit (1);
}

static void
draw (gchar **argv)
{
  GPtrArray *ops = parse_ops (argv[2]);
  SpdlPlan *plan = spdl_plan_new ();

  for (guint64 i = 0; i < parse (argv[6]); i++) {
    g_autofree gchar *text = NULL;

    draw_plan (
        plan, argv, ops, parse (argv[5]) + i, parse (argv[7]), parse (argv[8]));
    text = spdl_steps_to_text (
        (const SpdlStep *) plan->steps->data, plan->steps->len);
    puts (text);
  }
  spdl_plan_free (plan);
  g_ptr_array_unref (ops);
}

static void
paint (gchar **argv, const gchar *kernels)
{
  GPtrArray *ops = parse_ops (argv[2]);
  SpdlPlan *plan = spdl_plan_new ();
  SpdlPainter *painter =
      spdl_painter_new (kernels ? spdl_pixel_kernels_find (kernels) : NULL);
  SpdlRaster in = { .width = parse (argv[6]),
    .height = parse (argv[7]),
    .n_channels = parse (argv[8]) };
  SpdlRaster out = in;
  gsize size;

  in.stride = (gsize) in.width * in.n_channels;
  in.data = g_malloc (in.stride * in.height);
  if (fread (in.data, in.stride, in.height, stdin) != in.height)
    exit (1);
  draw_plan (plan, argv, ops, parse (argv[5]), in.width, in.height);
  out.width = plan->width;
  out.height = plan->height;
  out.stride = (gsize) out.width * out.n_channels;
  size = out.stride * out.height;
  out.data = g_malloc (size);
  if (!spdl_painter_run (painter, (const SpdlStep *) plan->steps->data,
          plan->steps->len, &in, &out, NULL))
    exit (1);
  fwrite (out.data, 1, size, stdout);
  g_free (in.data);
  g_free (out.data);
  spdl_painter_free (painter);
  spdl_plan_free (plan);
  g_ptr_array_unref (ops);
}

gint
main (gint argc, gchar **argv)
{
  if (argc == 9 && strcmp (argv[1], "draw") == 0)
    draw (argv);
  else if (argc >= 9 && strcmp (argv[1], "paint") == 0)
    paint (argv, argv[9]);
  else
    return 2;
  return 0;
}
