/* gst-spdl: augmentations of raw pixels, for programs in Python
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/core/augment/opspec.h"
#include "plugins/core/augment/painter.h"
#include "plugins/core/augment/plan.h"

/* augment-raw draw OPS SEED EPOCH FIRST N WIDTH HEIGHT
 * prints the steps of N items, one a line.
 *
 * augment-raw paint OPS SEED EPOCH INDEX WIDTH HEIGHT CHANNELS [KERNELS]
 * reads an image, and writes the result.
 *
 * augment-raw table
 * prints the table of operations as JSON, for bindings/python/generate.py:
 * names, whether all must be set, whether operations are arguments, fill (null:
 * none), and arguments with their kinds, slots, limits, default ranges (null:
 * not set) and words. */

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

static void
print_number (double number)
{
  g_print (isnan (number) ? ", null" : ", %.17g", number);
}

static void
print_arg (const SpdlArg *arg)
{
  static const gchar *const kinds[] = { "range", "integers", "spread", "jitter",
    "number", "integer", "odd", "word", "size", "corners", "fill", "noise" };

  g_print ("\n  [\"%s\", \"%s\", %u", arg->name, kinds[arg->kind], arg->slot);
  print_number (arg->min);
  print_number (arg->max);
  print_number (arg->low);
  print_number (arg->high);
  g_print (", [");
  for (guint i = 0; arg->words && arg->words[i]; i++)
    g_print ("%s\"%s\"", i > 0 ? ", " : "", arg->words[i]);
  g_print ("]]");
}

static void
print_table (void)
{
  for (guint i = 0; i < SPDL_N_OPS; i++) {
    const SpdlOpSpec *spec = &spdl_op_specs[i];
    const guint8 *c = spec->fill.color;
    g_autofree gchar *fill = g_strdup_printf ("[%u, %u, %u]", c[0], c[1], c[2]);

    g_print ("%s[\"%s\", %s, %s, %s, [", i > 0 ? ",\n" : "[", spec->name,
        spec->flags & SPDL_OP_NEEDS_ALL ? "true" : "false",
        spec->flags & SPDL_OP_HAS_MEMBERS ? "true" : "false",
        spec->fill.kind == SPDL_FILL_NONE ? "null" : fill);
    for (const SpdlArg *arg = spec->args; arg->name; arg++) {
      g_print (arg > spec->args ? "," : "");
      print_arg (arg);
    }
    g_print ("]]");
  }
  g_print ("]\n");
}

gint
main (gint argc, gchar **argv)
{
  if (argc == 9 && strcmp (argv[1], "draw") == 0)
    draw (argv);
  else if (argc >= 9 && strcmp (argv[1], "paint") == 0)
    paint (argv, argv[9]);
  else if (argc == 2 && strcmp (argv[1], "table") == 0)
    print_table ();
  else
    return 2;
  return 0;
}
