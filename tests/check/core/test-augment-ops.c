/* gst-spdl: tests of lists of augmentations, their random values and pixels
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <string.h>

#include "plugins/core/augment/painter.h"
#include "plugins/core/augment/plan.h"
#include "tests/check/core/augment-pixels.h"

#define DIGEST "91d97802a5f52ff8"
#define DIGEST_ALONE "53e315a79c69db72"
#define WIDTH 12
#define HEIGHT 9

/* Lists */

static void
assert_refused (const gchar *text, const gchar *position, const gchar *reason)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *at = g_strdup_printf ("character %s:", position);

  g_assert_null (spdl_op_list_parse (text, &error));
  g_assert_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS);
  g_assert_nonnull (strstr (error->message, at));
  g_assert_nonnull (strstr (error->message, reason));
}

static void
test_refused (void)
{
  assert_refused ("", "1", "\"the end\"");
  assert_refused ("invert; bright", "9", "brightness, contrast");
  assert_refused ("invert invert", "8", "\";\"");
  assert_refused ("brightness", "1", "factor");
  assert_refused ("brightness(factr=1)", "12", "factor, p");
  assert_refused ("brightness(factor=x)", "19", "\"x\"");
  assert_refused ("brightness(factor=2..1)", "19", "smaller");
  assert_refused ("brightness(factor=101)", "19", "100");
  assert_refused ("brightness(factor=nan)", "19", "nan");
  assert_refused ("brightness(factor=1", "20", "\")\"");
  assert_refused ("brightness(1)", "12", "NAME=VALUE");
  assert_refused ("invert(p=1.5)", "10", "between 0 and 1");
  assert_refused ("invert(p=0..1)", "10", "a number");
  assert_refused ("color-jitter(hue=0.7)", "18", "0.5");
  assert_refused ("posterize(bits=2.5)", "16", "whole");
  assert_refused ("gaussian-blur(kernel-size=4)", "27", "odd");
  assert_refused (
      "rotate(degrees=9,interpolation=cubic)", "32", "nearest, bilinear");
  assert_refused ("rotate(degrees=9,fill=1/2)", "23", "124/116/104");
  assert_refused ("auto-augment(mnist)", "14", "imagenet, cifar10, svhn");
  assert_refused ("random-crop(size=3x0)", "18", "65535");
  assert_refused ("rand-augment(m=31)", "1", "bins=31");
  assert_refused ("rand-m9-x3", "9", "mstd");
  assert_refused ("choice()", "1", "operations");
  assert_refused ("choice(invert,blur)", "15", "gaussian-blur");
  assert_refused ("mix(sequence(pad(padding=1)))", "14", "size");
  assert_refused ("mix(invert)", "5", "sequence");
  assert_refused ("erase(x=1)", "1", "height");
  assert_refused ("sequence(sequence(sequence(sequence(sequence("
                  "sequence(sequence(sequence(sequence(invert)))))))))",
      "73", "nested");
  /* Positions are in characters, not in bytes. */
  assert_refused ("choice(p=\xc3\xa4)", "10", "\"\"");
}

static GPtrArray *
parse (const gchar *text)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *ops = spdl_op_list_parse (text, &error);

  g_assert_no_error (error);
  return ops;
}

static SpdlPlan *
draw (const gchar *text, guint64 epoch, guint64 index)
{
  GPtrArray *ops = parse (text);
  SpdlPlan *plan = spdl_plan_new ();

  g_assert_true (
      spdl_plan_draw (plan, ops, 7, epoch, index, WIDTH, HEIGHT, NULL));
  g_ptr_array_unref (ops);
  return plan;
}

static gchar *
draw_text (const gchar *text, guint64 epoch, guint64 index)
{
  SpdlPlan *plan = draw (text, epoch, index);
  gchar *steps = spdl_steps_to_text (
      (const SpdlStep *) plan->steps->data, plan->steps->len);

  spdl_plan_free (plan);
  return steps;
}

static void
assert_steps (const gchar *ops, const gchar *expected)
{
  g_autofree gchar *steps = draw_text (ops, 0, 0);

  g_assert_cmpstr (steps, ==, expected);
}

static void
test_accepted (void)
{
  assert_steps (" invert ( p = 1 ) ;\n", "invert(p=1)");
  assert_steps ("brightness(factor=0.5,p=0)", "");
  assert_steps (
      "affine(degrees=10..10,translate-x=3)", "affine(angle=10,translate-x=3)");
  assert_steps ("choice(sequence(invert(p=1)),sequence(equalize,weight=0))",
      "invert(p=1)");
  assert_steps ("sequence(solarize-add(add=3),grayscale(p=1))",
      "solarize-add(add=3); grayscale(p=1)");
  assert_steps (
      "gaussian-blur(sigma=1)", "gaussian-blur(kernel-size=7,sigma=1)");
  assert_steps ("random-crop(size=20x17,padding=4,mode=edge)",
      "pad(padding=4,mode=edge); crop(x=0,y=0,width=20,height=17)");
  assert_steps ("mix(weight=0.25,sequence(invert(p=1),weight=0.5),sequence())",
      "mix(weight=0.25,sequence(weight=0.5,invert(p=1)),sequence())");
  assert_steps ("mix(sequence(invert(p=1),p=0))", "mix(sequence())");
  assert_steps ("rand-m9-n0", "");
}

#define EVERYTHING                                                           \
  "color-jitter(brightness=0.4,contrast=0.4,saturation=0.2,hue=0.1);"        \
  "gaussian-blur;affine(degrees=9,translate=0.2,scale=0.8..1.2,shear=9,"     \
  "fill=1/2/3);perspective(p=0.9);rotate(degrees=9,interpolation=bilinear);" \
  "sharpness(factor=0..3);posterize(bits=1..8);erase(value=random,p=0.9);"   \
  "rand-augment(n=3);trivial-augment-wide;auto-augment(cifar10);"            \
  "auto-augment(svhn);auto-augment;augmix;augmix(alpha=0.4,depth=2);"        \
  "rand-m9-n3-mstd0.5-inc1;rand-m6-p1;random-crop(size=7,padding=2);"        \
  "pad(padding=1,mode=symmetric);choice(invert,solarize(threshold=0..99))"

/* The drawn steps are a list that repeats them. */
static void
test_repeated (void)
{
  for (guint i = 0; i < 300; i++) {
    g_autofree gchar *steps = draw_text (EVERYTHING, 1, i);
    g_autofree gchar *again = draw_text (steps, 2, i + 1000);

    g_assert_cmpstr (steps, ==, again);
  }
}

/* Values depend on the seed, the epoch, the index and the operation's number,
 * and on nothing else. */
static void
test_key (void)
{
  const gchar *ops = "invert(p=1);hue(factor=-0.5..0.5)";
  g_autofree gchar *a = draw_text (ops, 3, 4);
  g_autofree gchar *b = draw_text (ops, 3, 4);
  g_autofree gchar *other_epoch = draw_text (ops, 4, 4);
  g_autofree gchar *other_index = draw_text (ops, 3, 5);
  g_autofree gchar *other_list =
      draw_text ("invert(p=1);hue(factor=-0.5..0.5);augmix", 3, 4);

  g_assert_cmpstr (a, ==, b);
  g_assert_cmpstr (a, !=, other_epoch);
  g_assert_cmpstr (a, !=, other_index);
  g_assert_true (g_str_has_prefix (other_list, a));
}

static void
test_sizes (void)
{
  static const gchar *const wrong[] = { "center-crop(size=13)",
    "crop(x=6,y=0,width=7,height=2)", "pad(padding=9,mode=reflect)" };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    GPtrArray *ops = parse (wrong[i]);
    SpdlPlan *plan = spdl_plan_new ();
    g_autoptr (GError) error = NULL;

    g_assert_false (spdl_plan_draw (plan, ops, 0, 0, 0, WIDTH, HEIGHT, &error));
    g_assert_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT);
    spdl_plan_free (plan);
    g_ptr_array_unref (ops);
  }
}

/* Pixels */

static void
init_raster (SpdlRaster *raster, guint width, guint height, guint n_channels)
{
  *raster = (SpdlRaster){ .width = width,
    .height = height,
    .n_channels = n_channels,
    .stride = width * n_channels + 5 };
  raster->data = g_malloc0 (raster->stride * height);
}

static void
init_image (SpdlRaster *raster, guint width, guint height, guint n_channels)
{
  init_raster (raster, width, height, n_channels);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      for (guint c = 0; c < n_channels; c++)
        raster->data[y * raster->stride + x * n_channels + c] =
            x * 17 + y * 29 + c * 71 + x * y * (c + 1) * 3;
}

static void
paint (SpdlPainter *painter, const SpdlPlan *plan, const SpdlRaster *in,
    const SpdlRaster *out)
{
  g_assert_true (spdl_painter_run (painter,
      (const SpdlStep *) plan->steps->data, plan->steps->len, in, out, NULL));
}

static guint
get_digits (const gchar *text, guint i)
{
  return g_ascii_xdigit_value (text[2 * i]) << 4 |
         g_ascii_xdigit_value (text[2 * i + 1]);
}

/* Compares with torchvision: at most one level of difference. */
static void
assert_pixels (guint i, const SpdlRaster *out)
{
  const guint row = out->width * 3;

  for (guint y = 0; y < out->height; y++)
    for (guint x = 0; x < row; x++) {
      const guint want = get_digits (expected[i].pixels, y * row + x);
      const gint got = out->data[y * out->stride + x];

      if (ABS (got - (gint) want) > 1)
        g_error ("%s: sample %u of row %u is %d, not %u", expected[i].ops, x, y,
            got, want);
    }
}

static void
test_pixels (void)
{
  SpdlPainter *painter = spdl_painter_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    SpdlPlan *plan = draw (expected[i].ops, 0, 0);
    SpdlRaster in, out;

    init_image (&in, WIDTH, HEIGHT, 3);
    init_raster (&out, plan->width, plan->height, 3);
    g_assert_cmpuint (out.width, ==, expected[i].width);
    g_assert_cmpuint (out.height, ==, expected[i].height);
    paint (painter, plan, &in, &out);
    assert_pixels (i, &out);
    if (out.width == in.width && out.height == in.height) {
      paint (painter, plan, &in, &in);
      assert_pixels (i, &in);
    }
    g_free (in.data);
    g_free (out.data);
    spdl_plan_free (plan);
  }
  spdl_painter_free (painter);
}

static void
swap_colors (const SpdlRaster *raster)
{
  for (guint y = 0; y < raster->height; y++)
    for (guint x = 0; x < raster->width; x++) {
      guint8 *pixel = raster->data + y * raster->stride + 3 * x;
      const guint8 red = pixel[0];

      pixel[0] = pixel[2];
      pixel[2] = red;
    }
}

/* BGR gives the colors of RGB, and a gray image the values of its channel where
 * channels do not depend on each other. */
static void
test_channels (void)
{
  SpdlPainter *painter = spdl_painter_new (NULL);
  GPtrArray *ops = parse (EVERYTHING);

  for (guint i = 0; i < 50; i++) {
    SpdlPlan *plan = spdl_plan_new ();
    SpdlRaster rgb, bgr, rgb_out, bgr_out;

    init_image (&rgb, 40, 31, 3);
    init_image (&bgr, 40, 31, 3);
    swap_colors (&bgr);
    bgr.bgr = TRUE;
    g_assert_true (spdl_plan_draw (plan, ops, 0, 0, i, 40, 31, NULL));
    /* Noise is in the order of the samples. */
    for (guint k = 0; k < plan->steps->len; k++) {
      SpdlStep *step = &g_array_index (plan->steps, SpdlStep, k);

      if (step->fill.kind == SPDL_FILL_NOISE)
        step->fill.kind = SPDL_FILL_COLOR;
    }
    init_raster (&rgb_out, plan->width, plan->height, 3);
    init_raster (&bgr_out, plan->width, plan->height, 3);
    paint (painter, plan, &rgb, &rgb_out);
    paint (painter, plan, &bgr, &bgr_out);
    swap_colors (&bgr_out);
    g_assert_cmpmem (rgb_out.data, rgb_out.stride * rgb_out.height,
        bgr_out.data, bgr_out.stride * bgr_out.height);
    g_free (rgb.data);
    g_free (bgr.data);
    g_free (rgb_out.data);
    g_free (bgr_out.data);
    spdl_plan_free (plan);
  }
  g_ptr_array_unref (ops);
  spdl_painter_free (painter);
}

/* All sets of kernels give the bytes of plain C, and nothing is read or written
 * outside of the image: the sanitizers watch. */
static void
test_kernels (void)
{
  const SpdlPixelKernels *best = spdl_pixel_kernels_find ("avx2");
  SpdlPainter *one = spdl_painter_new (&spdl_pixel_kernels_c);
  SpdlPainter *other = spdl_painter_new (best);
  GPtrArray *ops = parse (EVERYTHING);

  for (guint i = 0; i < 400; i++) {
    SpdlPlan *plan = spdl_plan_new ();
    const guint n_channels = i % 4 == 0 ? 1 : 3;
    SpdlRaster in, a, b;

    init_image (&in, 5 + i * 7 % 190, 5 + i * 5 % 67, n_channels);
    g_assert_true (
        spdl_plan_draw (plan, ops, 0, 0, i, in.width, in.height, NULL));
    init_raster (&a, plan->width, plan->height, n_channels);
    init_raster (&b, plan->width, plan->height, n_channels);
    paint (one, plan, &in, &a);
    paint (other, plan, &in, &b);
    g_assert_cmpmem (a.data, a.stride * a.height, b.data, b.stride * b.height);
    g_free (in.data);
    g_free (a.data);
    g_free (b.data);
    spdl_plan_free (plan);
  }
  g_ptr_array_unref (ops);
  spdl_painter_free (one);
  spdl_painter_free (other);
  if (!best)
    g_test_skip ("this CPU has no AVX2");
}

/* Adds the result of item @index to @digest. */
static void
add_to_digest (
    SpdlPainter *painter, const gchar *text, guint64 index, guint64 *digest)
{
  g_autoptr (GPtrArray) ops = parse (text);
  SpdlPlan *plan = spdl_plan_new ();
  SpdlRaster in, out;

  init_image (&in, 37, 29, index % 4 == 0 ? 1 : 3);
  g_assert_true (spdl_plan_draw (plan, ops, 0, 0, index, 37, 29, NULL));
  init_raster (&out, plan->width, plan->height, in.n_channels);
  paint (painter, plan, &in, &out);
  for (gsize k = 0; k < out.stride * out.height; k++)
    *digest = (*digest ^ out.data[k]) * G_GUINT64_CONSTANT (0x100000001b3);
  g_free (in.data);
  g_free (out.data);
  spdl_plan_free (plan);
}

static void
assert_digest (guint64 digest, const gchar *expected)
{
  g_autofree gchar *text =
      g_strdup_printf ("%016" G_GINT64_MODIFIER "x", digest);

  g_assert_cmpstr (text, ==, expected);
}

/* Results are the same on all CPUs: digests of those of x86-64, of all
 * operations together and of each alone. */
static void
test_digest (void)
{
  SpdlPainter *painter = spdl_painter_new (NULL);
  guint64 digest = 0, alone = 0;

  for (guint i = 0; i < 200; i++)
    add_to_digest (painter, EVERYTHING, i, &digest);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    for (guint k = 0; k < 4; k++)
      add_to_digest (painter, expected[i].ops, k, &alone);
  assert_digest (digest, DIGEST);
  assert_digest (alone, DIGEST_ALONE);
  spdl_painter_free (painter);
}

/* Small images have neither neighbors nor an inside. */
static void
test_small (void)
{
  SpdlPainter *painter = spdl_painter_new (NULL);
  GPtrArray *ops = parse (
      "sharpness(factor=2,p=1);gaussian-blur(kernel-size=23,sigma=5);"
      "rotate(degrees=30,interpolation=bilinear);perspective(p=1);erase(p=1);"
      "equalize(p=1);autocontrast(p=1);contrast(factor=2);augmix;"
      "horizontal-flip(p=1);vertical-flip(p=1);random-crop(size=1,padding=1)");

  for (guint i = 0; i < 36; i++) {
    SpdlPlan *plan = spdl_plan_new ();
    SpdlRaster in, out;

    init_image (&in, 1 + i % 3, 1 + i / 3 % 3, i % 2 ? 1 : 3);
    g_assert_true (
        spdl_plan_draw (plan, ops, 0, 0, i, in.width, in.height, NULL));
    init_raster (&out, 1, 1, in.n_channels);
    paint (painter, plan, &in, &out);
    g_free (in.data);
    g_free (out.data);
    spdl_plan_free (plan);
  }
  g_ptr_array_unref (ops);
  spdl_painter_free (painter);
}

gint
main (gint argc, gchar **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/augment-ops/refused", test_refused);
  g_test_add_func ("/augment-ops/accepted", test_accepted);
  g_test_add_func ("/augment-ops/repeated", test_repeated);
  g_test_add_func ("/augment-ops/key", test_key);
  g_test_add_func ("/augment-ops/sizes", test_sizes);
  g_test_add_func ("/augment-ops/pixels", test_pixels);
  g_test_add_func ("/augment-ops/channels", test_channels);
  g_test_add_func ("/augment-ops/kernels", test_kernels);
  g_test_add_func ("/augment-ops/digest", test_digest);
  g_test_add_func ("/augment-ops/small", test_small);
  return g_test_run ();
}
