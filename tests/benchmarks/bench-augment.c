/* gst-spdl: CPU time of augmentations
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <time.h>

#include "plugins/core/augment/painter.h"
#include "plugins/core/augment/plan.h"

/* bench-augment [KERNELS [OPS...]]
 *
 * Prints the CPU time of a thread for an image of 224 by 224 pixels, in
 * microseconds, of each operation or of OPS. */

#define SIDE 224
#define N_IMAGES 300

static const gchar *const operations[] = {
  "brightness(factor=0.6..1.4)",
  "contrast(factor=0.6..1.4)",
  "saturation(factor=0.6..1.4)",
  "hue(factor=-0.5..0.5)",
  "sharpness(factor=0..2,p=1)",
  "autocontrast(p=1)",
  "equalize(p=1)",
  "invert(p=1)",
  "posterize(bits=4,p=1)",
  "solarize(threshold=128,p=1)",
  "grayscale(p=1)",
  "gaussian-blur(kernel-size=23,sigma=0.1..2)",
  "affine(degrees=30,translate=0.1,scale=0.8..1.2,shear=10)",
  "affine(degrees=30,translate=0.1,scale=0.8..1.2,shear=10,"
  "interpolation=bilinear)",
  "rotate(degrees=30)",
  "rotate(degrees=30,interpolation=bilinear)",
  "perspective(p=1)",
  "horizontal-flip(p=1)",
  "vertical-flip(p=1)",
  "random-crop(size=224,padding=4)",
  "erase(p=1)",
  "erase(value=random,p=1)",
};
static const gchar *const recipes[] = {
  "color-jitter(brightness=0.4,contrast=0.4,saturation=0.4,hue=0.1)",
  "rand-augment(n=2,m=9)",
  "rand-augment(n=2,m=9); erase(p=0.25)",
  "rand-m9-mstd0.5-inc1",
  "trivial-augment-wide",
  "auto-augment",
  "augmix",
};

static double
get_cpu_time (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &ts);
  return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* Fills the image with waves and noise: the time of a histogram depends on the
 * content. */
static void
fill_image (const SpdlRaster *image, SpdlRandom *random)
{
  for (guint k = 0; k < image->stride * SIDE; k++)
    image->data[k] = 128 + (k / 3 % SIDE * (k % 3 + 1) + k / 672 * 3) % 97 +
                     (spdl_random_next (random) & 15);
}

/* Returns microseconds for an image. */
static double
measure (const SpdlPixelKernels *kernels, const gchar *text)
{
  g_autoptr (GPtrArray) ops = spdl_op_list_parse (text, NULL);
  SpdlPainter *painter = spdl_painter_new (kernels);
  SpdlPlan *plan = spdl_plan_new ();
  SpdlRaster image = {
    .width = SIDE, .height = SIDE, .n_channels = 3, .stride = SIDE * 3
  };
  SpdlRandom random;
  const guint64 key = 1;
  double time = 0;

  if (!ops)
    g_error ("%s is not a list of operations", text);
  image.data = g_malloc (image.stride * SIDE);
  spdl_random_init (&random, &key, 1);
  for (guint i = 0; i < N_IMAGES * 11 / 10; i++) {
    /* The first images warm up. */
    const gboolean counts = i >= N_IMAGES / 10;

    if (i % 16 == 0)
      fill_image (&image, &random);
    time -= counts ? get_cpu_time () : 0;
    spdl_plan_draw (plan, ops, 0, 0, i, SIDE, SIDE, NULL);
    spdl_painter_run (painter, (const SpdlStep *) plan->steps->data,
        plan->steps->len, &image, &image, NULL);
    time += counts ? get_cpu_time () : 0;
  }
  g_free (image.data);
  spdl_plan_free (plan);
  spdl_painter_free (painter);
  return time / N_IMAGES * 1e6;
}

gint
main (gint argc, gchar **argv)
{
  const SpdlPixelKernels *kernels =
      argc > 1 ? spdl_pixel_kernels_find (argv[1]) : spdl_pixel_kernels_get ();
  double sum = 0;

  gst_init (NULL, NULL);
  if (!kernels)
    g_error ("No kernels %s", argv[1]);
  for (gint i = 2; i < argc; i++)
    g_print ("%7.1f  %s\n", measure (kernels, argv[i]), argv[i]);
  if (argc > 2)
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (operations); i++) {
    const double time = measure (kernels, operations[i]);

    sum += time;
    g_print ("%7.1f  %s\n", time, operations[i]);
  }
  g_print ("%7.1f  mean of the operations\n", sum / G_N_ELEMENTS (operations));
  for (guint i = 0; i < G_N_ELEMENTS (recipes); i++)
    g_print ("%7.1f  %s\n", measure (kernels, recipes[i]), recipes[i]);
  return 0;
}
