/* gst-spdl: random erasing, Mixup and CutMix of a batch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/batch/batchmix.h"

#include <math.h>
#include <string.h>

#include "gst/spdl/engine/random.h"

/* Last number of the keys, so that draws are unrelated to each other and to
 * those of other elements. */
#define ERASE_KEY G_GUINT64_CONSTANT (0x6572617365)
#define NOISE_KEY G_GUINT64_CONSTANT (0x6e6f697365)
#define MIX_KEY G_GUINT64_CONSTANT (0x6d6978)

/* Boxes to erase, as in torchvision: share of the area, and ratio of height and
 * width. */
static const double erased_shares[] = { 0.02, 0.33 };
static const double erased_ratios[] = { 0.3, 3.3 };
#define MAX_TRIES 10

/* Shape of float32 images. A line has `width` pixels of `step` values. */
typedef struct {
  guint n_planes;
  guint n_lines; /* of a plane */
  guint width;
  guint step;
} ImageShape;

typedef struct {
  guint x, y, width, height; /* height 0: nothing */
} Box;

typedef struct {
  double lambda; /* share of the item itself; 1: the batch is not mixed */
  gboolean cuts; /* the box comes from the partner; otherwise all is mixed */
  Box box;
} Mix;

/* Settings */

gboolean
spdl_mix_check_settings (
    const SpdlMixSettings *self, gboolean labels, GError **error)
{
  const gboolean mixes = self->mixup_alpha > 0 || self->cutmix_alpha > 0;

  if ((mixes || self->smoothing > 0) && self->n_classes == 0) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "%s labels of several classes: set num-classes, and labels=true",
        mixes ? "mixup-alpha and cutmix-alpha make" : "label-smoothing makes");
    return FALSE;
  }
  if (self->n_classes > 0 && !labels) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "num-classes is for the tensor of labels, which the batch does not "
        "have: set labels=true");
    return FALSE;
  }
  return TRUE;
}

static gboolean
init_shape (ImageShape *self, const SpdlCollator *collator, GError **error)
{
  const GstSpdlTensorInfo *tensor = &collator->info.tensors[0];
  const gboolean planar = collator->converts && collator->convert.planar;
  g_autofree gchar *text = NULL;

  if (tensor->type != GST_SPDL_TENSOR_FLOAT32 || tensor->rank < 3 ||
      collator->n_channels > 0 || !collator->converts) {
    text = gst_spdl_tensor_info_to_string (tensor);
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "mixup-alpha, cutmix-alpha and erase-prob need float32 images, and the "
        "items of the batch are %s: set dtype=float32 on spdlbatch, and decode "
        "images",
        text);
    return FALSE;
  }
  self->step = planar ? 1 : tensor->dims[0];
  self->width = tensor->dims[planar ? 0 : 1];
  self->n_lines = tensor->dims[planar ? 1 : 2];
  self->n_planes = planar ? tensor->dims[2] : 1;
  for (guint i = 3; i < tensor->rank; i++)
    self->n_planes *= MAX (tensor->dims[i], 1);
  return TRUE;
}

gboolean
spdl_mix_check_items (const SpdlMixSettings *settings,
    const SpdlCollator *collator, GError **error)
{
  ImageShape shape;

  return (settings->mixup_alpha <= 0 && settings->cutmix_alpha <= 0 &&
             settings->erase_prob <= 0) ||
         init_shape (&shape, collator, error);
}

/* Distributions */

static double
draw_beta (SpdlRandom *random, double alpha)
{
  const double a = spdl_random_log_gamma (random, alpha);
  const double b = spdl_random_log_gamma (random, alpha);

  return 1 / (1 + exp (b - a));
}

static void
begin_draws (SpdlRandom *random, const SpdlMixSettings *settings,
    const GstSpdlItemMeta *item, guint64 purpose)
{
  const guint64 key[] = { settings->seed, item->epoch, item->index, purpose };

  spdl_random_init (random, key, G_N_ELEMENTS (key));
}

/* Erasing */

static void
draw_box (const SpdlMixSettings *settings, const ImageShape *shape,
    const GstSpdlItemMeta *item, Box *box)
{
  const double area = (double) shape->n_lines * shape->width;
  double sides[2]; /* height, width */
  SpdlRandom random;

  *box = (Box){ 0 };
  begin_draws (&random, settings, item, ERASE_KEY);
  if (spdl_random_double (&random) >= settings->erase_prob)
    return;
  for (guint i = 0; i < MAX_TRIES; i++) {
    spdl_random_sides (&random, area, erased_shares, erased_ratios, sides);
    if (sides[0] >= shape->n_lines || sides[1] >= shape->width || sides[1] < 1)
      continue;
    box->height = sides[0];
    box->width = sides[1];
    box->y = spdl_random_below (&random, shape->n_lines - box->height + 1);
    box->x = spdl_random_below (&random, shape->width - box->width + 1);
    return;
  }
}

static void
write_noise (SpdlRandom *random, float *out, gsize n)
{
  double pair[2];

  for (gsize i = 0; i < n; i++) {
    if (i % 2 == 0)
      spdl_random_normal (random, pair);
    out[i] = pair[i % 2];
  }
}

void
spdl_mix_erase (const SpdlMixSettings *settings, const SpdlCollator *collator,
    const GstSpdlItemMeta *item, float *row)
{
  ImageShape shape;
  SpdlRandom random;
  Box box;

  init_shape (&shape, collator, NULL);
  draw_box (settings, &shape, item, &box);
  begin_draws (&random, settings, item, NOISE_KEY);
  for (guint plane = 0; plane < shape.n_planes; plane++)
    for (guint y = box.y; y < box.y + box.height; y++) {
      const gsize line = (gsize) plane * shape.n_lines + y;
      const gsize n = (gsize) box.width * shape.step;
      float *out = row + (line * shape.width + box.x) * shape.step;

      if (settings->erase_noise)
        write_noise (&random, out, n);
      else
        memset (out, 0, n * sizeof *out);
    }
}

/* Mixing */

/* Draws the box of CutMix, and corrects lambda for its size. */
static void
draw_cut (SpdlRandom *random, const ImageShape *shape, Mix *mix)
{
  const gint width = shape->width, height = shape->n_lines;
  const gint x = spdl_random_below (random, width);
  const gint y = spdl_random_below (random, height);
  const double side = 0.5 * sqrt (1 - mix->lambda);
  const gint half_width = side * width, half_height = side * height;
  const gint left = MAX (x - half_width, 0), top = MAX (y - half_height, 0);

  mix->box = (Box){ left, top, MIN (x + half_width, width) - left,
    MIN (y + half_height, height) - top };
  mix->lambda =
      1 - (double) mix->box.width * mix->box.height / ((double) width * height);
}

static void
draw_mix (const SpdlMixSettings *settings, const ImageShape *shape,
    const GstSpdlItemMeta *item, Mix *mix)
{
  SpdlRandom random;

  begin_draws (&random, settings, item, MIX_KEY);
  *mix = (Mix){ .lambda = 1,
    .cuts = settings->cutmix_alpha > 0,
    .box = { 0, 0, shape->width, shape->n_lines } };
  if (!(settings->mixup_alpha > 0 || mix->cuts) ||
      spdl_random_double (&random) >= settings->mix_prob)
    return;
  if (mix->cuts && settings->mixup_alpha > 0)
    mix->cuts = spdl_random_double (&random) < settings->switch_prob;
  mix->lambda = draw_beta (
      &random, mix->cuts ? settings->cutmix_alpha : settings->mixup_alpha);
  if (mix->cuts)
    draw_cut (&random, shape, mix);
}

/* Vectors have the results of single values: each operation is rounded to
 * float32. */
typedef float Vector __attribute__ ((vector_size (16)));

static void
blend (float *own, const float *partner, gsize n, float share, float rest)
{
  gsize i = 0;

  for (; i + 4 <= n; i += 4) {
    Vector a, b;

    memcpy (&a, own + i, sizeof a);
    memcpy (&b, partner + i, sizeof b);
    a = b * rest + a * share;
    memcpy (own + i, &a, sizeof a);
  }
  for (; i < n; i++)
    own[i] = partner[i] * rest + own[i] * share;
}

/* Mixes @n rows that are @size values apart, at @length values in each. Goes
 * from the last row to the first, because a row is mixed with the one before
 * it.
 * @kept: space for @length values */
static void
mix_rows (const Mix *self, float *data, gsize size, guint n, gsize length,
    float *kept, gboolean cuts)
{
  memcpy (kept, data + (n - 1) * size, length * sizeof *kept);
  for (guint i = n; i-- > 0;) {
    const float *partner = i > 0 ? data + (i - 1) * size : kept;

    if (cuts)
      memcpy (data + i * size, partner, length * sizeof *data);
    else
      blend (data + i * size, partner, length, self->lambda, 1 - self->lambda);
  }
}

static void
mix_lines (const Mix *self, const ImageShape *shape, float *data, gsize size,
    guint n, guint from, guint to)
{
  const gsize line = (gsize) shape->width * shape->step;
  const gsize begin = (gsize) self->box.x * shape->step;
  const gsize length = (gsize) self->box.width * shape->step;
  g_autofree float *kept = g_new (float, length);

  for (guint i = from; i < to; i++) {
    const guint y = i % shape->n_lines;

    if (y >= self->box.y && y < self->box.y + self->box.height)
      mix_rows (
          self, data + i * line + begin, size, n, length, kept, self->cuts);
  }
}

static void
mix_labels (const Mix *self, float *labels, guint n_classes, guint n)
{
  g_autofree float *kept = g_new (float, n_classes);

  mix_rows (self, labels, n_classes, n, n_classes, kept, FALSE);
}

/* A part of the lines, for one thread. */
typedef struct {
  SpdlGuestWork work;
  const Mix *mix;
  const ImageShape *shape;
  float *data;
  gsize size;
  guint n, from, to;
} MixWork;

static void
run_mix_work (SpdlGuestWork *work)
{
  const MixWork *self = (const MixWork *) work;

  mix_lines (self->mix, self->shape, self->data, self->size, self->n,
      self->from, self->to);
}

/* Number of parts of the lines, for workers. */
#define N_PARTS 16

static void
mix_images (const Mix *mix, const ImageShape *shape, const SpdlBatchRows *rows,
    SpdlBatchWorkers *workers)
{
  const guint n_lines = shape->n_planes * shape->n_lines;
  const guint step = n_lines / N_PARTS + 1;
  MixWork works[N_PARTS];
  guint n = 0;

  for (guint from = 0; from < n_lines; from += step, n++) {
    works[n] = (MixWork){ { run_mix_work }, mix, shape,
      (float *) (gpointer) (rows->slab->map.data + rows->offsets[0]),
      rows->item_sizes[0] / sizeof (float), rows->meta->num_items, from,
      MIN (from + step, n_lines) };
    spdl_batch_workers_give (workers, &works[n].work);
  }
  spdl_batch_workers_wait (workers);
}

void
spdl_mix_batch (const SpdlMixSettings *settings, const SpdlBatchRows *rows,
    SpdlBatchWorkers *workers)
{
  const guint labels = rows->collator.info.num_tensors + rows->lengths;
  ImageShape shape;
  Mix mix;

  if (settings->mixup_alpha <= 0 && settings->cutmix_alpha <= 0)
    return;
  init_shape (&shape, &rows->collator, NULL);
  draw_mix (settings, &shape, &rows->meta->items[0], &mix);
  if (mix.lambda == 1)
    return;
  mix_images (&mix, &shape, rows, workers);
  mix_labels (&mix,
      (float *) (gpointer) (rows->slab->map.data + rows->offsets[labels]),
      settings->n_classes, rows->meta->num_items);
}

/* Labels */

gboolean
spdl_mix_write_label (
    const SpdlMixSettings *settings, gint64 label, float *row, GError **error)
{
  const guint n = settings->n_classes;
  const float rest = settings->smoothing / n;

  if (label < 0) {
    g_set_error_literal (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "Item has no label, which num-classes on spdlbatch requires");
    return FALSE;
  }
  if (label >= n) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
        "Item has the label %" G_GINT64_FORMAT ", and num-classes=%u: set "
        "num-classes on spdlbatch to the number of classes",
        label, n);
    return FALSE;
  }
  for (guint i = 0; i < n; i++)
    row[i] = rest;
  row[label] = 1 - settings->smoothing + settings->smoothing / n;
  return TRUE;
}
