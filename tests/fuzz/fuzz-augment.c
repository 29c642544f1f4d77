/* gst-spdl: fuzz target of lists of augmentations
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "plugins/core/augment/painter.h"
#include "plugins/core/augment/plan.h"
#include "tests/fuzz/fuzz.h"

/* The input is a list, after the size of an image and the index of an item.
 * The drawn list must repeat the item, and plain C and AVX2 must paint
 * the same pixels. */

#define MAX_SIDE 40
/* Larger plans are not painted. */
#define MAX_STEPS 40
#define MAX_RESULT 200

static SpdlPainter *painter, *c_painter;

static gboolean
draw (
    SpdlPlan *plan, const gchar *text, guint64 index, guint width, guint height)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) ops = spdl_op_list_parse (text, &error);
  const gboolean ok =
      ops && spdl_plan_draw (plan, ops, 0, 0, index, width, height, &error);

  if (!ok) {
    g_assert_nonnull (error);
    fuzz_check_error (error);
  }
  return ok;
}

static gboolean
is_small (const SpdlPlan *plan)
{
  if (plan->steps->len > MAX_STEPS)
    return FALSE;
  for (guint i = 0; i < plan->steps->len; i++) {
    const SpdlStep *step = &g_array_index (plan->steps, SpdlStep, i);

    if (step->kind == SPDL_OP_PAD && step->values[0] > MAX_SIDE)
      return FALSE;
  }
  return plan->width <= MAX_RESULT && plan->height <= MAX_RESULT;
}

static void
paint (SpdlPainter *with, const SpdlPlan *plan, const SpdlRaster *in,
    SpdlRaster *out)
{
  *out = *in;
  out->width = plan->width;
  out->height = plan->height;
  out->stride = (gsize) out->width * out->n_channels;
  out->data = g_malloc (out->stride * out->height);
  g_assert_true (spdl_painter_run (with, (const SpdlStep *) plan->steps->data,
      plan->steps->len, in, out, NULL));
}

static void
check_pixels (const SpdlPlan *plan, guint width, guint height, guint n_channels)
{
  SpdlRaster in = { .width = width,
    .height = height,
    .n_channels = n_channels,
    .stride = (gsize) width * n_channels };
  SpdlRaster a, b;

  in.data = g_malloc (in.stride * height);
  for (gsize i = 0; i < in.stride * height; i++)
    in.data[i] = i * 37 ^ i >> 3;
  paint (painter, plan, &in, &a);
  paint (c_painter, plan, &in, &b);
  g_assert_cmpmem (a.data, a.stride * a.height, b.data, b.stride * b.height);
  g_free (in.data);
  g_free (a.data);
  g_free (b.data);
}

static void
check_plan (const SpdlPlan *plan, guint width, guint height)
{
  g_autofree gchar *text = spdl_steps_to_text (
      (const SpdlStep *) plan->steps->data, plan->steps->len);
  g_autofree gchar *again = NULL;
  SpdlPlan *other;

  g_assert_true (g_utf8_validate (text, -1, NULL));
  if (plan->steps->len == 0)
    return;
  other = spdl_plan_new ();
  g_assert_true (draw (other, text, 99, width, height));
  again = spdl_steps_to_text (
      (const SpdlStep *) other->steps->data, other->steps->len);
  g_assert_cmpstr (text, ==, again);
  spdl_plan_free (other);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_init ();
  painter = spdl_painter_new (NULL);
  c_painter = spdl_painter_new (&spdl_pixel_kernels_c);
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput input = { data, size };
  const guint width = fuzz_take_side (&input, MAX_SIDE);
  const guint height = fuzz_take_side (&input, MAX_SIDE);
  const guint8 index = fuzz_take (&input);
  g_autofree gchar *text = g_strndup ((const gchar *) input.data, input.size);
  SpdlPlan *plan;

  /* Properties are UTF-8. */
  if (!g_utf8_validate (text, -1, NULL))
    return 0;
  plan = spdl_plan_new ();
  if (draw (plan, text, index, width, height)) {
    /* A list of as many steps as allowed may be longer than a list may be. */
    if (plan->steps->len < 500)
      check_plan (plan, width, height);
    if (is_small (plan))
      check_pixels (plan, width, height, index % 2 ? 1 : 3);
  }
  spdl_plan_free (plan);
  return 0;
}
