/* gst-spdl: builder of a batch: rows, padding and parts of samples
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/spdl/spdl.h>

#include "plugins/core/batch/batchpool.h"
#include "plugins/core/batch/batchworkers.h"
#include <gst/video/video.h>
#include "plugins/core/batch/convert.h"

G_BEGIN_DECLS

/* Description of the tensors of items with certain caps, which copies items
 * into a batch. */

typedef enum {
  SPDL_COLLATE_DTYPE_AS_IS,
  SPDL_COLLATE_DTYPE_UINT8,
  SPDL_COLLATE_DTYPE_FLOAT16,
  SPDL_COLLATE_DTYPE_FLOAT32,
} SpdlCollateDtype;

typedef enum {
  SPDL_COLLATE_LAYOUT_AS_IS,
  SPDL_COLLATE_LAYOUT_NHWC,
  SPDL_COLLATE_LAYOUT_NCHW,
} SpdlCollateLayout;

/* Conversion of the first tensor. */
typedef struct {
  SpdlCollateDtype type;
  SpdlCollateLayout layout;
  double mean[SPDL_CONVERT_MAX_CHANNELS];
  guint n_mean; /* 0: none */
  double std[SPDL_CONVERT_MAX_CHANNELS];
  guint n_std;
} SpdlCollateSettings;

typedef struct {
  GstSpdlTensorsInfo info; /* of one item, without the dimension of the batch */
  const gchar *names[GST_SPDL_MAX_TENSORS]; /* interned; NULL: unnamed */
  gboolean is_video;
  GstVideoInfo video;

  gboolean converts; /* whether the first tensor is converted frame by frame: */
  SpdlConvert convert;
  gsize in_size; /* size of the first tensor, in bytes */
  gsize n_pixels;
  guint n_frames;

  /* For audio, whose length is known only from the buffer; otherwise 0. */
  guint n_channels;
  gsize moment; /* bytes of one sample of all channels */
  gsize plane;  /* distance of channels in samples; 0: the number of samples */
} SpdlCollator;

/* Formats that SpdlCollator accepts. */
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define SPDL_COLLATOR_GRAY16 "GRAY16_LE"
#define SPDL_COLLATOR_SOUND_FORMATS "{ F32LE, S16LE, S32LE, F64LE, U8, S8 }"
#else
#define SPDL_COLLATOR_GRAY16 "GRAY16_BE"
#define SPDL_COLLATOR_SOUND_FORMATS "{ F32BE, S16BE, S32BE, F64BE, U8, S8 }"
#endif
#define SPDL_COLLATOR_FORMATS                                    \
  "{ RGB, BGR, RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, " \
  "GRAY8, " SPDL_COLLATOR_GRAY16 " }"
#define SPDL_COLLATOR_SOUND                                                 \
  "audio/x-raw, format=(string)" SPDL_COLLATOR_SOUND_FORMATS                \
  ", layout=(string)interleaved, rate=(int)[ 1, max ], channels=(int)[ 1, " \
  "max ]"

/* Returns FALSE with @error set, which names a remedy, if the template of @pad
 * does not have @caps. */
gboolean
spdl_collator_check_caps (const GstCaps *caps, GstPad *pad, GError **error);

/* Initializes a collator. Returns FALSE with @error set if it does not support
 * the caps, or the conversion in @settings for these caps. */
gboolean spdl_collator_init (SpdlCollator *self, const GstCaps *caps,
    const SpdlCollateSettings *settings, GError **error);

/* Sets the dimensions that depend on the size of @item rather than its caps.
 * Must be called for each item first. Returns FALSE with @error set if the size
 * is invalid. */
gboolean
spdl_collator_measure (SpdlCollator *self, GstBuffer *item, GError **error);

/* Random erasing of images, mixing of a batch, and labels of several classes.
 */
typedef struct {
  double mixup_alpha;  /* 0: no Mixup */
  double cutmix_alpha; /* 0: no CutMix */
  double mix_prob;     /* of a batch to be mixed */
  double switch_prob;  /* of CutMix instead of Mixup, if both are on */
  double smoothing;    /* of labels */
  guint n_classes;     /* 0: labels are numbers */
  double erase_prob;
  gboolean erase_noise; /* normally distributed values instead of 0 */
  guint64 seed;
} SpdlMixSettings;

/* Items that workers write to the batch. */
typedef struct {
  SpdlBatchWorkers workers;
  SpdlMixSettings mix; /* of the current items */
  GPtrArray *all;      /* SpdlCollation, for reuse */
  guint n_used;
  gboolean is_last; /* The next item is the last of its batch. The caller writes
                       it instead of waiting for a worker. */
} SpdlCollations;

void spdl_collations_init (SpdlCollations *self, GstSpdlPlainStats *stats);
void spdl_collations_clear (SpdlCollations *self);

/* Waits until all items are written. */
void spdl_collations_wait (SpdlCollations *self);

/* Writes the tensors of @item to @places, one address per tensor. Large ones
 * are complete after spdl_collations_wait(); until then, the collator must not
 * change. Returns FALSE with @error set if @item holds less data than its caps
 * require. */
gboolean spdl_collator_write (const SpdlCollator *self, GstBuffer *item,
    guint8 *const *places, SpdlCollations *collations, GError **error);

/* Advice for error messages: how to skip items with another shape. */
#define SPDL_SKIP_HINT "on-shape-mismatch=skip on spdlbatch to skip such items"

/* Returns TRUE if both kinds of items fit into one batch. Otherwise sets
 * @error, with both shapes and advice. */
gboolean spdl_collator_is_compatible (
    const SpdlCollator *self, const SpdlCollator *item, GError **error);

/* Field of the source event with the names of the targets. */
#define SPDL_TARGETS_FIELD "target-columns"

/* Numbers of an item, such as those of a regression, in the fields of its extra
 * that the source named. Each target is a tensor of doubles of the batch. */
typedef struct {
  GStrv names;    /* nullable */
  guint32 source; /* number of the source that named them */
  guint n;
  guint sizes[GST_SPDL_MAX_TENSORS]; /* numbers of each; 0: one, without a
                                        dimension */
  GArray *values;                    /* double: of all targets in turn */
} SpdlTargets;

void spdl_targets_init (SpdlTargets *self);
void spdl_targets_clear (SpdlTargets *self);

/* Forgets the names. */
void spdl_targets_reset (SpdlTargets *self);

/* Takes the names from a source event. Other events are ignored, and so are
 * sources without targets beside one with targets, whose items then fail.
 * Returns FALSE with @error set if there are more names than tensors in a
 * batch, or another source has other names. */
gboolean
spdl_targets_take_event (SpdlTargets *self, GstEvent *event, GError **error);

/* Returns TRUE if no source has named targets. */
static inline gboolean
spdl_targets_are_none (const SpdlTargets *self)
{
  return self->n == 0;
}

/* Reads the targets of an item. Returns FALSE with @error set if one is missing
 * or not a number or a list of numbers. */
gboolean spdl_targets_read (
    SpdlTargets *self, const GstSpdlItemMeta *item, GError **error);

/* Returns FALSE with @error set if the targets are not @n, or have other sizes
 * than @sizes. */
gboolean spdl_targets_have_sizes (
    const SpdlTargets *self, guint n, const guint *sizes, GError **error);

/* Padding of items of different length. Items are kept until the batch is
 * complete, because its longest item is unknown until then. Items may differ in
 * the number of audio samples, or in the outermost dimension of their first
 * tensor. */

typedef struct {
  GstBuffer *buffer;
  SpdlCollator collator; /* for the item's own caps and length */
} SpdlPaddedItem;

typedef struct {
  GArray *items; /* SpdlPaddedItem */
} SpdlPadding;

void spdl_padding_init (SpdlPadding *self);
void spdl_padding_clear (SpdlPadding *self);

/* Returns TRUE if items of this kind may differ in length; images may not. */
gboolean spdl_padding_can (const SpdlCollator *collator);

/* Keeps a reference to @item. Returns FALSE with @error set if it differs in
 * more than length. */
gboolean spdl_padding_take (SpdlPadding *self, const SpdlCollator *collator,
    GstBuffer *item, GError **error);

/* Releases all items. */
void spdl_padding_forget (SpdlPadding *self);

/* Returns the description of one of the longest items. */
const SpdlCollator *spdl_padding_get_longest (const SpdlPadding *self);

/* Returns the length of item @i. */
guint32 spdl_padding_get_length (const SpdlPadding *self, guint i);

/* Writes item @i followed by zeros, or by silence for uint8 audio. */
gboolean spdl_padding_write (const SpdlPadding *self, guint i,
    const SpdlCollator *longest, guint8 *const *places,
    SpdlCollations *collations, GError **error);

/* Copies row @i of @rows, at most @size bytes, to @place, and returns its
 * size. */
typedef gsize (*SpdlCopyRow) (
    gconstpointer rows, guint i, guint8 *place, gsize size);

/* Returns: (transfer full) (nullable): @n rows of @length bytes, which are
 * filled with @fill after the bytes that @copy copies; NULL if memory is
 * exhausted */
GstMemory *spdl_pad_rows (
    SpdlCopyRow copy, gconstpointer rows, guint n, gsize length, guint8 fill);

/* Batch in a slab, which contains the tensors one after the other. Each item
 * has one row per tensor: the tensors that the collator writes, then its
 * length, label and index if requested, and its targets. The caller sets the
 * first fields before each batch. */
typedef struct {
  SpdlCollator collator; /* describes the items */
  guint size;            /* number of rows, at least 1 */
  gboolean labels;
  gboolean indices;
  gboolean lengths;
  const SpdlMixSettings *mix;
  SpdlTargets *targets; /* of the next item; not owned */

  /* The current batch: */
  guint n; /* completed rows */
  SpdlSlab *slab;
  GstBuffer *batch;
  GstSpdlBatchMeta *meta;
  guint n_tensors;
  guint n_targets;
  guint target_sizes[GST_SPDL_MAX_TENSORS];
  gsize offsets[GST_SPDL_MAX_TENSORS];
  gsize item_sizes[GST_SPDL_MAX_TENSORS];
} SpdlBatchRows;

/* Plans the targets like those of the item that was read last. */
void spdl_batch_rows_set_targets (SpdlBatchRows *self);
guint spdl_batch_rows_count_tensors (const SpdlBatchRows *self);
gsize spdl_batch_rows_plan (SpdlBatchRows *self, GstSpdlTensorsInfo *info);
gboolean spdl_batch_rows_begin (SpdlBatchRows *self, GstBuffer *memory);

gboolean spdl_batch_rows_has_free_names (
    const SpdlBatchRows *self, const SpdlCollator *item, GError **error);
void spdl_batch_rows_get_places (const SpdlBatchRows *self, guint8 **places);

/* Completes a row, whose tensors were written: adds length, label, index and
 * targets. Returns FALSE with @error set if the label is not one of the
 * classes. */
gboolean spdl_batch_rows_end_row (SpdlBatchRows *self,
    const GstSpdlItemMeta *item, gint64 length, GError **error);

/* Completes a row of tokens, whose tensors were written: takes the items of
 * @documents, one or more. The batch must have no further tensors. */
void spdl_batch_rows_end_documents (
    SpdlBatchRows *self, GstSpdlBatchMeta *documents);

guint spdl_batch_rows_get_n (const SpdlBatchRows *self);
void spdl_batch_rows_end (SpdlBatchRows *self, GstSpdlTensorsInfo *info);
void spdl_batch_rows_clear (SpdlBatchRows *self);

/* Builder for samples of several media. Each part of a sample becomes a tensor
 * with the name of the part, written by a collator. Parts that are bytes differ
 * in length: they are kept until the batch is complete, and then padded to the
 * longest. Their lengths are in further tensors. */

typedef struct {
  SpdlCollateSettings stack;
  const gchar *part; /* interned: part to convert; NULL: the first */
  gboolean pad;      /* whether parts that are bytes are allowed */
} SpdlPartSettings;

typedef struct _SpdlBatchBuilder SpdlBatchBuilder;

/* @collations: not owned */
SpdlBatchBuilder *spdl_batch_builder_new (SpdlCollations *collations);
void spdl_batch_builder_free (SpdlBatchBuilder *self);

/* Sets the settings for further items. The current batch is not affected. */
void spdl_batch_builder_set (
    SpdlBatchBuilder *self, const SpdlPartSettings *settings);

/* Describes the tensors of @item's parts in @collator, if the parts have
 * changed since the last item. Returns FALSE with @error set if they cannot be
 * collated. */
gboolean spdl_batch_builder_look (SpdlBatchBuilder *self, GstBuffer *item,
    SpdlCollator *collator, GError **error);

/* Returns TRUE if the padded parts of the sample that was last examined fit
 * into the batch, whose names and number of padded parts are the same.
 * Otherwise sets
 * @error. */
gboolean
spdl_batch_builder_is_compatible (const SpdlBatchBuilder *self, GError **error);

/* Writes the tensors of @item to @places. spdl_batch_builder_look() must have
 * accepted the item, and it must be compatible with the batch. Returns FALSE
 * with @error set if it holds less data than its caps require. */
gboolean spdl_batch_builder_write (SpdlBatchBuilder *self, GstBuffer *item,
    guint8 *const *places, GError **error);

/* Returns the number of padded tensors of the last sample, which follow all
 * others. */
guint spdl_batch_builder_count_padded (const SpdlBatchBuilder *self);

/* Starts a batch with the sample that was last examined: adds the names of its
 * padded tensors. */
void spdl_batch_builder_begin (SpdlBatchBuilder *self, GstSpdlBatchMeta *batch);

/* Adds the padded tensors of the batch to @buffer and @info. Returns FALSE with
 * @error set if memory is exhausted. */
gboolean spdl_batch_builder_end (SpdlBatchBuilder *self, GstBuffer *buffer,
    GstSpdlTensorsInfo *info, GError **error);

/* Drops the batch. */
void spdl_batch_builder_cancel (SpdlBatchBuilder *self);

G_END_DECLS
