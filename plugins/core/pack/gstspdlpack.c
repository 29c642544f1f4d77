/* gst-spdl: element spdlpack
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:element-spdlpack
 * @title: spdlpack
 * @short_description: packs documents into rows of tokens
 *
 * Joins items with token ids, the *documents*, to rows of exactly `row-length`
 * tokens. An item is a tensor of one dimension, a sample of several media with
 * such a part, or bytes. A row is a sample with the parts `tokens`,
 * `segment_ids` (1 for the first document, 0 for padding), `positions`,
 * `loss_mask`, `cu_seqlens` (where the documents begin and end, for attention
 * within documents) and `num_documents`. `spdlbatch` stacks rows to batches.
 *
 * A row also joins what else its documents have, such as the files of images,
 * except with `mode=concat`.
 *
 * With `mode=concat`, a document that does not fit continues in the next row.
 * With `mode=best-fit`, none is cut: each goes to the open row with the least
 * room that it fits into. If it fits into none of `window` open rows, the
 * fullest is sent. With `mode=pad`, each document has its own row. Rows do not
 * span epochs.
 *
 * A document counts as delivered when its rows were. A resumed run makes the
 * rows that were not delivered again, with the same documents.
 *
 * ## Example
 * |[
 * gst-launch-1.0 spdlsrc location=/usr/share/icons pattern="*.png"
 *     ! spdlfetch ! spdlpack row-length=4096 token-type=uint8
 *     ! spdlbatch batch-size=8 ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include "gst/spdl/common/marks.h"
#include "gst/spdl/common/propertytable.h"
#include "gst/spdl/progress/state.h"
#include "gst/spdl/stage/capsgate.h"
#include "gst/spdl/stage/droppeditems.h"
#include "gst/spdl/stage/plain.h"
#include "plugins/core/core.h"
#include "plugins/core/pack/packrow.h"

typedef enum {
  SPDL_PACK_CONCAT,
  SPDL_PACK_BEST_FIT,
  SPDL_PACK_PAD,
} SpdlPackMode;

typedef enum {
  SPDL_PACK_AS_IS,
  SPDL_PACK_INT64,
} SpdlPackDtype;

typedef enum {
  SPDL_TOO_LONG_FAIL,
  SPDL_TOO_LONG_CUT,
} SpdlOnTooLong;

SPDL_DEFINE_ENUM_TYPE (GstSpdlPackMode, spdl_pack_mode,
    { SPDL_PACK_CONCAT, "Documents continue in the next row", "concat" },
    { SPDL_PACK_BEST_FIT, "No document is cut", "best-fit" },
    { SPDL_PACK_PAD, "A row per document", "pad" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlPackDtype, spdl_pack_dtype,
    { SPDL_PACK_AS_IS, "Same as the documents", "as-is" },
    { SPDL_PACK_INT64, "64-bit integer", "int64" })

SPDL_DEFINE_ENUM_TYPE (GstSpdlOnTooLong, spdl_on_too_long,
    { SPDL_TOO_LONG_FAIL, "Fail the item and continue", "fail" },
    { SPDL_TOO_LONG_CUT, "Drop the tokens that do not fit", "cut" })

typedef struct {
  SpdlPackMode mode;
  guint row_length;
  guint window;
  guint max_documents; /* 0: an eighth of the row's length */
  gint64 eos_id;       /* -1: none */
  gint64 pad_id;
  SpdlPackDtype dtype;
  SpdlOnTooLong on_too_long;
  gboolean drop_last;
  gchar *tokens;
  gchar *token_type; /* nullable */
} SpdlPackSettings;

/* Counts since the start, which stage-stats has. Guarded by the lock of the
 * statistics. */
typedef struct {
  guint64 n_rows;
  guint64 n_tokens;
  guint64 n_padding;
  guint64 n_cut; /* documents of which tokens were dropped */
} SpdlPackCounts;

/* Documents that a run before has delivered in part. */
typedef struct {
  guint32 seqnum; /* of the event that announced the source */
  GArray *cuts;   /* SpdlCut; nullable */
} SpdlPackSource;

#define GST_TYPE_SPDL_PACK (gst_spdl_pack_get_type ())
G_DECLARE_FINAL_TYPE (GstSpdlPack, gst_spdl_pack, GST, SPDL_PACK, GstSpdlFilter)

struct _GstSpdlPack {
  GstSpdlFilter parent;

  SpdlPackSettings settings; /* properties, guarded by the object lock */
  SpdlPackCounts counts;

  /* Guarded by the stream lock. */
  SpdlPackSettings used; /* since the start */
  GstSpdlCapsGate gate;
  GstCaps *sample_caps;
  GstCaps *caps; /* (nullable): of the current input */
  SpdlRowFormat format;
  gboolean has_format; /* since the first document */
  GPtrArray *open;     /* SpdlPackRow, in the order in which they began */
  GHashTable *sources; /* SpdlPackSource by number */
  gboolean has_ended;  /* with an error */
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_SPDL_TENSORS_CAPS "; " GST_SPDL_SAMPLE_CAPS
                                               "; application/octet-stream"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_SPDL_SAMPLE_CAPS));

G_DEFINE_FINAL_TYPE (GstSpdlPack, gst_spdl_pack, GST_TYPE_SPDL_FILTER)
GST_ELEMENT_REGISTER_DEFINE (
    spdlpack, "spdlpack", GST_RANK_NONE, GST_TYPE_SPDL_PACK)

/* Failures */

/* Posts @error (transfer full) and ends the stream. Returns GST_FLOW_EOS. */
static GstFlowReturn
fail_stream (GstSpdlPack *self, GError *error)
{
  self->has_ended = TRUE;
  gst_spdl_post_error (GST_ELEMENT (self), error);
  g_error_free (error);
  return GST_FLOW_EOS;
}

/* Announces that a document will not come.
 *
 * @failure: (nullable): why it failed */
static void
drop_item (GstSpdlPack *self, const GstSpdlItemMeta *item,
    GstSpdlDropReason reason, GstSpdlFailure *failure)
{
  GstSpdlDroppedItems dropped_items;

  gst_spdl_dropped_items_init (&dropped_items);
  gst_spdl_dropped_items_add (&dropped_items, item, reason);
  dropped_items.last = failure;
  gst_spdl_dropped_items_push (&dropped_items, self->parent.srcpad);
  gst_spdl_dropped_items_clear (&dropped_items);
}

/* @error: (transfer full) */
static GstFlowReturn
fail_item (GstSpdlPack *self, const GstSpdlItemMeta *item, GError *error)
{
  drop_item (self, item, GST_SPDL_DROP_REASON_FAILED,
      gst_spdl_filter_report_failure (&self->parent, item, error));
  g_error_free (error);
  return GST_FLOW_OK;
}

/* Rows */

static SpdlPackRow *
get_open (const GstSpdlPack *self, guint i)
{
  return g_ptr_array_index (self->open, i);
}

static GstFlowReturn
fail_memory (GstSpdlPack *self)
{
  return fail_stream (
      self, g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                "Not enough memory for a row of %u tokens: lower row-length or "
                "window",
                self->format.length));
}

/* Sends the open row number @i. */
static GstFlowReturn
push_row (GstSpdlPack *self, guint i)
{
  GstSpdlPlainStats *stats = self->parent.stats;
  SpdlPackRow *row = g_ptr_array_steal_index (self->open, i);
  const guint n = row->n;
  GstBuffer *buffer = spdl_pack_row_finish (row, &self->format);

  if (!buffer)
    return fail_memory (self);
  spdl_mutex_lock (&stats->lock);
  self->counts.n_rows++;
  self->counts.n_tokens += n;
  self->counts.n_padding += self->format.length - n;
  stats->meter.interval.bytes_out += gst_buffer_get_size (buffer);
  spdl_mutex_unlock (&stats->lock);
  gst_spdl_caps_gate_open (&self->gate, self->sample_caps);
  return gst_pad_push (self->parent.srcpad, buffer);
}

static GstFlowReturn
push_all (GstSpdlPack *self)
{
  GstFlowReturn ret = GST_FLOW_OK;

  while (ret == GST_FLOW_OK && self->open->len > 0)
    ret = push_row (self, 0);
  return ret;
}

/* Drops the open rows and their documents. */
static void
drop_all (GstSpdlPack *self)
{
  GstSpdlDroppedItems dropped_items;
  g_autofree gchar *text = NULL;
  guint64 n_tokens = 0;

  if (self->open->len == 0)
    return;
  gst_spdl_dropped_items_init (&dropped_items);
  for (guint i = 0; i < self->open->len; i++) {
    const SpdlPackRow *row = get_open (self, i);

    n_tokens += row->n;
    for (guint k = 0; k < row->items->len; k++)
      gst_spdl_dropped_items_add (&dropped_items,
          &g_array_index (row->items, GstSpdlItemMeta, k),
          GST_SPDL_DROP_REASON_DROPPED);
  }
  gst_spdl_dropped_items_push (&dropped_items, self->parent.srcpad);
  gst_spdl_dropped_items_clear (&dropped_items);
  text = g_strdup_printf ("drop-last has dropped %u incomplete rows with "
                          "%" G_GUINT64_FORMAT " tokens",
      self->open->len, n_tokens);
  gst_spdl_post_warning (
      GST_ELEMENT (self), GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, text);
  g_ptr_array_set_size (self->open, 0);
}

/* Starts a row at the end of the open ones. */
static gboolean
begin_row (GstSpdlPack *self)
{
  SpdlPackRow *row = spdl_pack_row_new (&self->format);

  if (row) {
    g_ptr_array_add (self->open, row);
    return TRUE;
  }
  fail_memory (self);
  return FALSE;
}

/* Adds tokens to the open row number @i, which is sent if nothing more fits. */
static GstFlowReturn
add_to_row (GstSpdlPack *self, guint i, const SpdlDocument *document,
    gsize first, gsize end, const GstSpdlItemMeta *item)
{
  SpdlPackRow *row = get_open (self, i);

  spdl_pack_row_add (row, &self->format, document, first, end, item);
  return spdl_pack_row_is_full (row, &self->format) ? push_row (self, i)
                                                    : GST_FLOW_OK;
}

/* Modes. @first and @end: the tokens of the document that are left, with its
 * end token. */

/* Makes @item the share of a part of its document. The tokens tell a later run
 * where to continue; an item that was split before begins again. */
static void
number_part (GstSpdlItemMeta *item, const GstSpdlItemMeta *whole, guint part,
    guint parts, gsize first, gsize end)
{
  const guint64 product = (guint64) whole->parts * parts;

  item->part = whole->part * parts + part;
  item->parts = MIN (product, G_MAXUINT32);
  item->first_token = whole->parts == 1 ? first : 0;
  item->end_token = whole->parts == 1 ? end : 0;
}

static GstFlowReturn
concatenate (GstSpdlPack *self, const SpdlDocument *document, gsize first,
    gsize end, const GstSpdlItemMeta *item)
{
  const guint length = self->format.length;
  const gboolean is_whole = first == 0;
  GstSpdlItemMeta part = *item;
  GstFlowReturn ret = GST_FLOW_OK;
  gsize room;
  guint n = 1;

  if (self->open->len == 0 && !begin_row (self))
    return GST_FLOW_EOS;
  room = length - get_open (self, 0)->n;
  if (end - first > room)
    n += (end - first - room + length - 1) / length;
  for (guint i = 0; i < n && ret == GST_FLOW_OK; i++) {
    const gsize next = MIN (first + room, end);

    if (i > 0 && !begin_row (self))
      return GST_FLOW_EOS;
    if (n > 1 || !is_whole)
      number_part (&part, item, i, n, first, next);
    ret = add_to_row (self, 0, document, first, next, &part);
    first = next;
    room = length;
  }
  return ret;
}

/* Returns the number of the open row with the least room for @need tokens, the
 * first of several; -1: there is none. */
static gint
find_best (const GstSpdlPack *self, gsize need)
{
  guint least = G_MAXUINT;
  gint best = -1;

  for (guint i = 0; i < self->open->len; i++) {
    const guint room = self->format.length - get_open (self, i)->n;

    if (room >= need && room < least) {
      least = room;
      best = i;
    }
  }
  return best;
}

/* The choice depends only on the open rows, so that a run that resumes after
 * any row makes the same rows of the documents that were not delivered: they
 * begin the rows that were open. */
static GstFlowReturn
fit_best (GstSpdlPack *self, const SpdlDocument *document, gsize first,
    gsize end, const GstSpdlItemMeta *item)
{
  GstFlowReturn ret;
  gint best = find_best (self, end - first);

  if (best < 0) {
    if (self->open->len == self->used.window &&
        (ret = push_row (self, find_best (self, 0))) != GST_FLOW_OK)
      return ret;
    if (!begin_row (self))
      return GST_FLOW_EOS;
    best = self->open->len - 1;
  }
  return add_to_row (self, best, document, first, end, item);
}

static GstFlowReturn
pad_document (GstSpdlPack *self, const SpdlDocument *document, gsize first,
    gsize end, const GstSpdlItemMeta *item)
{
  GstFlowReturn ret;

  if (!begin_row (self))
    return GST_FLOW_EOS;
  ret = add_to_row (self, 0, document, first, end, item);
  return ret == GST_FLOW_OK ? push_all (self) : ret;
}

/* Documents */

static SpdlPackSource *
find_source (const GstSpdlPack *self, guint32 number)
{
  return g_hash_table_lookup (self->sources, GUINT_TO_POINTER (number));
}

/* Returns the number of tokens of a document that a run before has delivered,
 * and forgets it. */
static guint64
take_cut (GstSpdlPack *self, const GstSpdlItemMeta *item)
{
  SpdlPackSource *source = find_source (self, item->source);
  guint64 n;

  if (G_LIKELY (!source || !source->cuts) || item->parts > 1)
    return 0;
  n = spdl_cuts_find (source->cuts, item->epoch, item->index);
  if (n > 0)
    spdl_cuts_set (&source->cuts, item->epoch, item->index, 0);
  return n;
}

/* Plans the rows for the first document. */
static gboolean
plan_rows (GstSpdlPack *self, const SpdlDocument *document)
{
  const SpdlPackSettings *used = &self->used;
  GError *error = NULL;

  self->format = (SpdlRowFormat){
    .length = used->row_length,
    .max_documents = used->max_documents > 0
                         ? MIN (used->max_documents, used->row_length)
                         : (used->row_length + 7) / 8,
    .eos = used->eos_id,
    .padding = used->pad_id,
    .type =
        used->dtype == SPDL_PACK_INT64 ? GST_SPDL_TENSOR_INT64 : document->type,
  };
  self->has_format = TRUE;
  if (spdl_row_format_plan (&self->format, document, &error))
    return TRUE;
  fail_stream (self, error);
  return FALSE;
}

/* Returns why a row cannot have the document, NULL if it can. */
static GError *
check_document (const GstSpdlPack *self, const SpdlDocument *document)
{
  GError *error = NULL;

  if (document->type != self->format.type &&
      self->format.type != GST_SPDL_TENSOR_INT64)
    return g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The item has tokens of type %s, but the rows have %s: set dtype=int64",
        spdl_token_type_get_name (document->type),
        spdl_token_type_get_name (self->format.type));
  spdl_others_format_check (&self->format.others, document, &error);
  return error;
}

/* Returns an error if the document has data that cannot be split. */
static GError *
check_split (const GstSpdlPack *self, const SpdlDocument *document)
{
  if (document->others && self->used.mode == SPDL_PACK_CONCAT)
    return g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The item has the part \"%s\" besides its tokens, and mode=concat "
        "cannot split it: set mode=best-fit or pad, or leave the part out",
        g_array_index (document->others, SpdlDocumentPart, 0).name);
  return NULL;
}

/* Shortens a document that is longer than a row, or returns an error. */
static GError *
shorten (
    GstSpdlPack *self, const SpdlDocument *document, gsize first, gsize *end)
{
  const guint length = self->format.length;

  if (self->used.mode == SPDL_PACK_CONCAT || *end - first <= length)
    return NULL;
  /* Other data may belong to the tokens at the end. */
  if (self->used.on_too_long == SPDL_TOO_LONG_CUT && !document->others) {
    *end = first + length;
    spdl_mutex_lock (&self->parent.stats->lock);
    self->counts.n_cut++;
    spdl_mutex_unlock (&self->parent.stats->lock);
    return NULL;
  }
  return g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The item has %" G_GSIZE_FORMAT
      " tokens, with the end token, and a row has %u: raise row-length%s",
      *end - first, length,
      document->others ? ", or make fewer tokens"
                       : ", set on-too-long=cut, or mode=concat");
}

static GstFlowReturn
place (GstSpdlPack *self, const SpdlDocument *document, gsize first, gsize end,
    const GstSpdlItemMeta *item)
{
  switch (self->used.mode) {
    case SPDL_PACK_CONCAT:
      return concatenate (self, document, first, end, item);
    case SPDL_PACK_BEST_FIT:
      return fit_best (self, document, first, end, item);
    default:
      return pad_document (self, document, first, end, item);
  }
}

static GstFlowReturn
pack (GstSpdlPack *self, const SpdlDocument *document,
    const GstSpdlItemMeta *item)
{
  const gsize first = take_cut (self, item);
  gsize end = document->n + (self->used.eos_id >= 0);
  GstSpdlItemMeta rest = *item;
  GError *error;

  if ((error = check_split (self, document)))
    return fail_item (self, item, error);
  if (document->n == 0) {
    drop_item (self, item, GST_SPDL_DROP_REASON_FILTERED, NULL);
    return GST_FLOW_OK;
  }
  if (!self->has_format && !plan_rows (self, document))
    return GST_FLOW_EOS;
  if (first >= end)
    error = g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "The item has %" G_GSIZE_FORMAT " tokens, but the resume state counts "
        "%" G_GSIZE_FORMAT " as delivered: use the same tokenizer and eos-id",
        end, first);
  else if (!(error = check_document (self, document)))
    error = shorten (self, document, first, &end);
  if (error)
    return fail_item (self, item, error);
  if (first > 0)
    number_part (&rest, item, 0, 1, first, end);
  return place (self, document, first, end, &rest);
}

static GstFlowReturn
refuse_batch (GstSpdlPack *self, GstBuffer *batch)
{
  gst_buffer_unref (batch);
  return fail_stream (
      self, g_error_new_literal (GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
                "Input is a batch, or a row of tokens: put spdlpack before "
                "spdlbatch, "
                "and only once"));
}

static GstFlowReturn
gst_spdl_pack_chain (GstSpdlFilter *filter, GstBuffer *buffer)
{
  GstSpdlPack *self = GST_SPDL_PACK (filter);
  const GstSpdlItemMeta *item;
  SpdlDocument document;
  GError *error = NULL;
  GstFlowReturn ret;

  if (self->has_ended) {
    gst_buffer_unref (buffer);
    return GST_FLOW_EOS;
  }
  if (gst_spdl_buffer_get_batch_meta (buffer))
    return refuse_batch (self, buffer);
  buffer = gst_spdl_filter_ensure_item (filter, buffer);
  item = gst_spdl_buffer_get_item_meta (buffer);
  filter->losses.num_items++;
  gst_spdl_plain_stats_pass (filter->stats, 1, gst_buffer_get_size (buffer), 0);
  if (!spdl_document_read (&document, buffer, self->caps, self->used.tokens,
          self->used.token_type, &error)) {
    ret = fail_item (self, item, error);
  } else {
    ret = pack (self, &document, item);
    spdl_document_clear (&document);
  }
  gst_buffer_unref (buffer);
  return ret;
}

/* Events */

static void
free_source (gpointer data)
{
  SpdlPackSource *source = data;

  g_clear_pointer (&source->cuts, g_array_unref);
  g_free (source);
}

/* Reads which documents of a source a run before has delivered in part. The
 * same event may arrive again when pads are linked again. */
static void
take_source (GstSpdlPack *self, GstEvent *event)
{
  const guint32 seqnum = gst_event_get_seqnum (event);
  g_auto (SpdlState) state = { 0 };
  g_autofree gchar *problem = NULL;
  SpdlPackSource *source;
  const gchar *text;
  guint32 number;

  if (!gst_spdl_event_parse_source (event, &number, NULL, &text))
    return;
  source = find_source (self, number);
  if (source && source->seqnum == seqnum)
    return;
  source = g_new0 (SpdlPackSource, 1);
  source->seqnum = seqnum;
  spdl_state_init (&state);
  /* The sink warns of a malformed state. */
  if (text && spdl_state_read (&state, text, number, &problem))
    source->cuts = g_steal_pointer (&state.cuts);
  g_hash_table_insert (self->sources, GUINT_TO_POINTER (number), source);
}

/* Ends the rows at the end of an epoch or of the stream. */
static void
end_rows (GstSpdlPack *self)
{
  if (self->used.drop_last)
    drop_all (self);
  else
    push_all (self);
}

static gboolean
gst_spdl_pack_event (GstSpdlFilter *filter, GstEvent *event)
{
  GstSpdlPack *self = GST_SPDL_PACK (filter);
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    gst_caps_replace (&self->caps, caps);
    gst_event_unref (event);
    return TRUE;
  }
  take_source (self, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS ||
      gst_spdl_event_parse_epoch (event, NULL, NULL, NULL))
    end_rows (self);
  gst_spdl_filter_sum_up_losses (filter, event);
  /* After an error the epoch would seem complete. */
  if (self->has_ended && gst_spdl_event_parse_epoch (event, NULL, NULL, NULL)) {
    gst_event_unref (event);
    return TRUE;
  }
  if (GST_EVENT_TYPE (event) != GST_EVENT_EOS &&
      GST_EVENT_IS_SERIALIZED (event)) {
    gst_spdl_caps_gate_push_event (&self->gate, event);
    return TRUE;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_spdl_caps_gate_open (&self->gate, NULL);
  return GST_SPDL_FILTER_CLASS (gst_spdl_pack_parent_class)
      ->event (filter, event);
}

static void
gst_spdl_pack_reset (GstSpdlFilter *filter)
{
  GstSpdlPack *self = GST_SPDL_PACK (filter);

  g_ptr_array_set_size (self->open, 0);
  gst_spdl_caps_gate_flush (&self->gate);
  self->has_ended = FALSE;
}

/* State changes */

static gboolean
gst_spdl_pack_start (GstSpdlFilter *filter, GError **error)
{
  GstSpdlPack *self = GST_SPDL_PACK (filter);
  GstSpdlTensorType type;
  gboolean ok;

  GST_OBJECT_LOCK (self);
  self->used = self->settings;
  self->used.tokens = g_strdup (self->used.tokens);
  self->used.token_type = g_strdup (self->used.token_type);
  GST_OBJECT_UNLOCK (self);
  spdl_mutex_lock (&self->parent.stats->lock);
  self->counts = (SpdlPackCounts){ 0 };
  spdl_mutex_unlock (&self->parent.stats->lock);
  ok = !self->used.token_type ||
       spdl_token_type_find (self->used.token_type, &type);
  if (!ok)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "token-type is \"%s\", but must be uint8, uint16, int32, uint32 or "
        "int64",
        self->used.token_type);
  return ok;
}

static void
gst_spdl_pack_stop (GstSpdlFilter *filter)
{
  GstSpdlPack *self = GST_SPDL_PACK (filter);

  if (self->has_format)
    spdl_row_format_clear (&self->format);
  self->has_format = FALSE;
  g_hash_table_remove_all (self->sources);
  gst_spdl_caps_gate_clear (&self->gate);
  gst_clear_caps (&self->caps);
  g_clear_pointer (&self->used.tokens, g_free);
  g_clear_pointer (&self->used.token_type, g_free);
}

/* Class */

static const SpdlProperty properties[] = {
  SPDL_PROPERTY_UINT (SpdlPackSettings, row_length, READY, "row-length",
      "Row length", "Number of tokens in a row", 1, 1 << 26, 2048),
  SPDL_PROPERTY_ENUM (SpdlPackSettings, mode, READY, "mode", "Mode",
      "How documents become rows", spdl_pack_mode_get_type, SPDL_PACK_CONCAT),
  SPDL_PROPERTY_UINT (SpdlPackSettings, window, READY, "window", "Window",
      "Number of open rows with mode=best-fit", 1, 4096, 16),
  SPDL_PROPERTY_INT64 (SpdlPackSettings, eos_id, READY, "eos-id", "End token",
      "Token to add to the end of each document (-1 = none)", -1, G_MAXINT64,
      -1),
  SPDL_PROPERTY_INT64 (SpdlPackSettings, pad_id, READY, "pad-id",
      "Padding token", "Token that pads rows", G_MININT64, G_MAXINT64, 0),
  SPDL_PROPERTY_ENUM (SpdlPackSettings, dtype, READY, "dtype", "Data type",
      "Data type of the tokens in rows", spdl_pack_dtype_get_type,
      SPDL_PACK_INT64),
  SPDL_PROPERTY_ENUM (SpdlPackSettings, on_too_long, READY, "on-too-long",
      "On too long",
      "Action for a document that is longer than a row, except with "
      "mode=concat",
      spdl_on_too_long_get_type, SPDL_TOO_LONG_FAIL),
  SPDL_PROPERTY_BOOLEAN (SpdlPackSettings, drop_last, READY, "drop-last",
      "Drop last",
      "Drop incomplete rows at the end of an epoch or of the stream, with a "
      "warning, instead of padding them",
      FALSE),
  SPDL_PROPERTY_UINT (SpdlPackSettings, max_documents, READY, "max-documents",
      "Maximum documents",
      "Maximum number of documents in a row, for which cu_seqlens has places; "
      "a row with this number is sent (0 = an eighth of row-length)",
      0, 1 << 26, 0),
  SPDL_PROPERTY_STRING (SpdlPackSettings, tokens, READY, "tokens", "Tokens",
      "Name of the tensor or part with the token ids, if items have several",
      "tokens"),
  SPDL_PROPERTY_STRING (SpdlPackSettings, token_type, READY, "token-type",
      "Token type",
      "Type of the tokens of items that are bytes: uint8, uint16, int32, "
      "uint32 or int64 (unset = as their source says)",
      NULL),
  SPDL_PROPERTY_END
};

static void
add_figures (GstElement *element, const SpdlMeterStats *stats, GstStructure *s)
{
  GstSpdlPack *self = GST_SPDL_PACK (element);
  SpdlPackCounts counts;

  spdl_mutex_lock (&self->parent.stats->lock);
  counts = self->counts;
  spdl_mutex_unlock (&self->parent.stats->lock);
  gst_structure_set (s, "num-rows", G_TYPE_UINT64, counts.n_rows, "num-tokens",
      G_TYPE_UINT64, counts.n_tokens, "num-padding", G_TYPE_UINT64,
      counts.n_padding, "num-cut", G_TYPE_UINT64, counts.n_cut, NULL);
}

static void
gst_spdl_pack_finalize (GObject *object)
{
  GstSpdlPack *self = GST_SPDL_PACK (object);

  g_ptr_array_unref (self->open);
  g_hash_table_unref (self->sources);
  gst_caps_unref (self->sample_caps);
  gst_spdl_property_table_clear (properties, &self->settings);
  G_OBJECT_CLASS (gst_spdl_pack_parent_class)->finalize (object);
}

static void
gst_spdl_pack_class_init (GstSpdlPackClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstSpdlFilterClass *filter_class = GST_SPDL_FILTER_CLASS (klass);

  object_class->finalize = gst_spdl_pack_finalize;
  gst_spdl_property_table_implement (
      properties, object_class, G_STRUCT_OFFSET (GstSpdlPack, settings));
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Token packer",
      "Filter/Converter", "Packs documents into rows of tokens",
      "the gst-spdl developers");
  filter_class->fields = GST_SPDL_FIELDS_FAILURES;
  filter_class->chain = gst_spdl_pack_chain;
  filter_class->event = gst_spdl_pack_event;
  filter_class->reset = gst_spdl_pack_reset;
  filter_class->start = gst_spdl_pack_start;
  filter_class->stop = gst_spdl_pack_stop;
}

static void
gst_spdl_pack_init (GstSpdlPack *self)
{
  gst_spdl_property_table_init (properties, &self->settings);
  self->parent.stats->add_figures = add_figures;
  self->sample_caps = gst_caps_new_empty_simple (GST_SPDL_SAMPLE_CAPS);
  self->open =
      g_ptr_array_new_with_free_func ((GDestroyNotify) spdl_pack_row_free);
  self->sources = g_hash_table_new_full (NULL, NULL, NULL, free_source);
  gst_spdl_caps_gate_init (&self->gate, self->parent.srcpad);
  GST_PAD_SET_ACCEPT_TEMPLATE (self->parent.sinkpad);
  gst_pad_use_fixed_caps (self->parent.srcpad);
}
