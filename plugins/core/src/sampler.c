/* gst-spdl: position of a source in a dataset: epoch order, rank and resuming
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/core/src/sampler.h"

#include <string.h>

#include <gst/spdl/spdl.h>

#include "gst/spdl/common/redact.h"
#include "gst/spdl/progress/reshard.h"
#include "plugins/common/fail.h"
#include "plugins/core/src/resume.h"
#include "plugins/dataset/archive/streamedshards.h"
#include "plugins/dataset/sampler/blockorder.h"
#include "plugins/dataset/sampler/permutation.h"
#include "plugins/dataset/sampler/weightedsampler.h"

/* Step of the sequence numbers after a shard that failed. Another run may get
 * more or fewer samples of that shard, so the sequence numbers of later items
 * are not reproducible. They start at a multiple of the step, which shows in a
 * resume state. */
#define LOST_STRIDE (G_GUINT64_CONSTANT (1) << 40)

struct _SpdlSampler {
  guint32 source;
  const SpdlSourceSettings *settings;
  SpdlDatasetOptions options;
  SpdlClasses *classes; /* (nullable): classes from the settings */
  SpdlDataset *dataset; /* nullable: NULL for streamed shards */
  SpdlStreamedShards *streamed_shards; /* nullable: streamed shards */
  guint n_lost;             /* shards that failed since the last item */
  const gchar *label_field; /* (nullable): field of samples in shards with
                         labels that are not integers */
  gboolean has_samples;     /* items are samples of shards */
  gboolean counts_labels; /* whether items without a label are still counted */
  SpdlLabelCount count;
  gchar *first_missing; /* (nullable): URI of the first one */
  gchar *fields;        /* (nullable): what it has instead */
  gboolean told_missing;
  gboolean told_text; /* warned of a label that is text */
  guint64 n_sent;     /* of the streamed epoch, including finished items */
  guint64 next_shard; /* index of the rank's next streamed shard */
  SpdlWeightedSampler *weighted_sampler; /* nullable: weighted draws */
  SpdlBlockOrder *blocks; /* nullable: order of a table in parts */
  guint block;            /* the last one that was planned */
  SpdlPartition partition;
  guint64 n_places; /* positions of an epoch on all ranks; with streamed shards,
                       number of shards */
  guint64 size;     /* positions of an epoch on this rank */

  SpdlState start; /* identity, and progress in the first epoch */
  gchar *others;   /* nullable: initial resume state */
  guint64 epoch;
  guint64 next;         /* next sequence number */
  guint next_run;       /* next run of finished items in the initial state */
  const SpdlLeft *left; /* nullable: what is left of the current epoch */
  SpdlPermutation permutation; /* of the current epoch, if shuffled */
  SpdlDraws draws;             /* of the current epoch, if weighted */
};

void
spdl_sampler_free (SpdlSampler *self)
{
  g_clear_pointer (&self->dataset, spdl_dataset_free);
  g_clear_pointer (&self->streamed_shards, spdl_streamed_shards_free);
  g_clear_pointer (&self->weighted_sampler, spdl_weighted_sampler_free);
  g_clear_pointer (&self->blocks, spdl_block_order_free);
  g_clear_pointer (&self->classes, spdl_classes_free);
  spdl_state_clear (&self->start);
  g_free (self->others);
  g_free (self->first_missing);
  g_free (self->fields);
  g_free (self);
}

static gboolean
is_streamed (const SpdlSampler *self)
{
  return self->streamed_shards || spdl_dataset_is_streamed (self->dataset);
}

guint64
spdl_sampler_get_size (const SpdlSampler *self)
{
  /* The number of items in streams is unknown, except without shards. */
  return is_streamed (self) && self->size > 0 ? GST_SPDL_ITEMS_UNKNOWN
                                              : self->size;
}

/* Returns FALSE with @error set unless there is one dataset. */
static gboolean
check_location (const SpdlSourceSettings *settings, GError **error)
{
  const gchar *table =
      settings->table ? spdl_arrow_table_get_name (settings->table) : NULL;

  if (!settings->location || !*settings->location)
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "location is not set: set it to a folder, to a .txt, .csv or .jsonl "
        "list, or to .tar or .zip shards");
  else if (table && !g_str_equal (settings->location, table))
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "location is \"%s\", but the program has set the table \"%s\": leave "
        "out one of them",
        settings->location, table);
  else
    return TRUE;
  return FALSE;
}

static gboolean
check_shard (SpdlSampler *self, GError **error)
{
  const SpdlSourceSettings *settings = self->settings;
  const guint64 n = self->n_places;

  if (settings->shard_mode != SPDL_SHARD_DROP ||
      spdl_partition_get_size (&self->partition, n) > 0)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "shard-mode=drop leaves no item: \"%s\" has %" G_GUINT64_FORMAT
      "%s, the world size is %" G_GUINT64_FORMAT
      ", and shard-run is %" G_GUINT64_FORMAT
      ": set shard-mode to pad or uneven, or lower shard-run or the number of "
      "processes",
      settings->location, n,
      self->streamed_shards ? " shards, which are streamed" : "",
      self->partition.world_size, self->partition.run);
}

/* Checks that the rows of a stream can be sent in the order of the settings. */
static gboolean
check_stream (const SpdlSampler *self, GError **error)
{
  const SpdlSourceSettings *settings = self->settings;
  const gboolean divides = self->partition.world_size > 1 &&
                           settings->shard_mode != SPDL_SHARD_UNEVEN;

  if (self->streamed_shards || !is_streamed (self) ||
      (!settings->shuffle && !divides))
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" is a stream, whose rows can only be read in their order, so it "
      "cannot be used with %s: pass a table, or set %s",
      settings->location,
      settings->shuffle ? "shuffle=true" : "this shard-mode",
      settings->shuffle ? "shuffle=false" : "shard-mode=uneven");
}

static gboolean
has_weights (const SpdlSourceSettings *settings)
{
  return settings->weights && *settings->weights;
}

static gboolean
check_draws (const SpdlSourceSettings *settings, GError **error)
{
  if (has_weights (settings) &&
      strlen (settings->weights) >= SPDL_STATE_MAX_WEIGHTS)
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "weight-column is \"%s\", longer than the limit of %d bytes",
        settings->weights, SPDL_STATE_MAX_WEIGHTS - 1);
  /* Such a name could not be read from a state. Columns of tables may have any
   * name. */
  if (has_weights (settings) && strpbrk (settings->weights, ",;"))
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        "weight-column is \"%s\", but its name must not have \",\" or \";\": "
        "rename the column",
        settings->weights);
  if (has_weights (settings) || settings->items_per_epoch == 0)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "items-per-epoch is %" G_GUINT64_FORMAT
      ", but weight-column is unset: set weight-column to a column of the "
      "list, or leave items-per-epoch unset",
      settings->items_per_epoch);
}

static gboolean
open_streamed (SpdlSampler *self, GError **error)
{
  self->streamed_shards = spdl_streamed_shards_open (
      &self->options, self->settings->shuffle_buffer, error);
  if (self->streamed_shards)
    self->n_places = spdl_streamed_shards_get_n_shards (self->streamed_shards);
  return self->streamed_shards != NULL;
}

/* Opens the dataset. Shards without byte ranges are streamed instead. */
static gboolean
open_dataset (SpdlSampler *self, GError **error)
{
  GError *reason = NULL;

  self->dataset = spdl_dataset_open (&self->options, &reason);
  if (self->dataset) {
    self->n_places = spdl_dataset_get_size (self->dataset);
    return TRUE;
  }
  if (g_error_matches (reason, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SEEK)) {
    g_error_free (reason);
    return open_streamed (self, error);
  }
  g_propagate_error (error, reason);
  return FALSE;
}

static void
take_options (SpdlSampler *self,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data)
{
  const SpdlSourceSettings *settings = self->settings;

  self->options = (SpdlDatasetOptions){
    .weights = has_weights (settings) ? settings->weights : NULL,
    .sidecar = settings->sidecar,
    .uri = settings->uri && *settings->uri ? settings->uri : NULL,
    .warn = warn,
    .user_data = user_data,
    .location = settings->location,
    .table = settings->table,
    .root = settings->root && *settings->root ? settings->root : NULL,
    .require_annotations = settings->require_annotations,
    .pattern = settings->pattern ? settings->pattern : SPDL_DEFAULT_PATTERN,
    .label = settings->label,
    .extensions = settings->extensions,
    .remote = &settings->remote,
    .cancellable = settings->remote.cancellable
  };
}

static gboolean
take_classes (SpdlSampler *self, GError **error)
{
  GError *problem = NULL;

  self->classes = spdl_classes_new_from_names (
      (const gchar *const *) self->settings->classes, &problem);
  if (problem)
    g_propagate_error (error, problem);
  return !problem;
}

/* Reads the settings of labels. */
static gboolean
take_labels (SpdlSampler *self, GError **error)
{
  const SpdlSourceSettings *settings = self->settings;
  SpdlLabelOptions *labels = &self->options.labels;
  const gchar *column = settings->label_column && *settings->label_column
                            ? settings->label_column
                            : NULL;

  if (!take_classes (self, error))
    return FALSE;
  self->label_field = column ? column : "cls";
  labels->column = column;
  labels->missing = settings->label_missing;
  labels->classes = self->classes;
  if (settings->targets && *settings->targets)
    labels->targets = settings->targets;
  if (settings->shapes.boxes || settings->shapes.keypoints)
    labels->lists = settings->shapes.spec.fields;
  labels->read = settings->label == SPDL_LABEL_AUTO ||
                 settings->label == SPDL_LABEL_MANIFEST;
  /* A target is not a label, unless label-column names it. */
  if (!column && spdl_targets_has (labels->targets, "label")) {
    labels->read &= settings->label == SPDL_LABEL_MANIFEST;
    labels->column = labels->read ? NULL : "";
  }
  labels->wanted =
      settings->label != SPDL_LABEL_NONE &&
      (settings->label != SPDL_LABEL_AUTO || column || self->classes ||
          labels->missing == SPDL_LABEL_MISSING_FAIL);
  if (!column || labels->read)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "label-column is \"%s\", but label is \"%s\": set label to auto or "
      "manifest, or leave label-column unset",
      column, settings->label == SPDL_LABEL_NONE ? "none" : "folder");
}

static gboolean
prepare_draws (SpdlSampler *self, GError **error)
{
  const SpdlSourceSettings *settings = self->settings;
  g_autoptr (GArray) weights =
      self->dataset ? spdl_dataset_steal_weights (self->dataset) : NULL;

  if (!weights)
    return TRUE;
  if (settings->items_per_epoch > 0)
    self->n_places = settings->items_per_epoch;
  self->weighted_sampler = spdl_weighted_sampler_new (weights);
  if (self->weighted_sampler)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "No item of \"%s\" can be drawn, because all weights in column \"%s\" "
      "are 0: give some items a weight above 0",
      settings->location, settings->weights);
}

/* Prepares the order of a table in parts. Unless shard-run is set, each rank
 * has a single run of it, so that two ranks read a part only at their border.
 */
static void
prepare_blocks (SpdlSampler *self)
{
  const SpdlSourceSettings *settings = self->settings;
  g_autofree guint64 *sizes = NULL;
  const GstSpdlArrowPart *parts;
  guint n_parts = 0;

  if (!self->dataset ||
      !(parts = spdl_dataset_get_parts (self->dataset, &n_parts)))
    return;
  if (settings->shuffle)
    self->start.identity.shuffle_buffer = settings->shuffle_buffer;
  if (settings->shard_run == 1)
    self->partition.run = 0;
  sizes = g_new (guint64, n_parts);
  for (guint i = 0; i < n_parts; i++)
    sizes[i] = parts[i].n_rows;
  self->blocks = spdl_block_order_new (
      sizes, n_parts, self->start.identity.shuffle_buffer);
}

static void
set_identity (SpdlSampler *self)
{
  const SpdlSourceSettings *settings = self->settings;
  SpdlIdentity *identity = &self->start.identity;

  identity->count = self->streamed_shards
                        ? self->n_places
                        : spdl_dataset_get_size (self->dataset);
  identity->hash = self->streamed_shards
                       ? spdl_streamed_shards_get_hash (self->streamed_shards)
                       : spdl_dataset_get_hash (self->dataset);
  identity->shuffle = settings->shuffle;
  identity->seed = settings->seed;
  identity->classes = spdl_classes_get_hash (spdl_sampler_get_classes (self));
  identity->rank = self->partition.rank;
  identity->world_size = self->partition.world_size;
  g_strlcpy (identity->shard_mode,
      spdl_shard_mode_get_name (settings->shard_mode),
      sizeof identity->shard_mode);
  identity->shard_run = self->partition.run;
  identity->streamed = is_streamed (self);
  if (!self->weighted_sampler)
    return;
  g_strlcpy (identity->weights, settings->weights, sizeof identity->weights);
  identity->items_per_epoch = self->n_places;
}

static void
begin_epoch (SpdlSampler *self, guint64 epoch)
{
  const SpdlIdentity *identity = &self->start.identity;

  self->epoch = epoch;
  self->left = spdl_lefts_find (self->start.left, epoch);
  self->next = self->left ? self->left->first : 0;
  self->next_shard = self->n_sent = 0;
  self->n_lost = 0;
  self->block = G_MAXUINT;
  if (self->streamed_shards)
    spdl_streamed_shards_begin_epoch (
        self->streamed_shards, identity->seed, epoch);
  else
    spdl_dataset_begin_epoch (self->dataset);
  if (self->weighted_sampler)
    spdl_draws_init (&self->draws, identity->seed, epoch);
  else if (self->blocks)
    spdl_block_order_begin_epoch (
        self->blocks, identity->shuffle, identity->seed, epoch);
  else if (identity->shuffle)
    spdl_permutation_init (
        &self->permutation, identity->count, identity->seed, epoch);
}

/* Fails if a resume state was saved after a streamed shard failed in its epoch,
 * since the items that were sent cannot be identified. */
static gboolean
check_nothing_lost (const SpdlSampler *self, GError **error)
{
  const SpdlProgress *progress = &self->start.progress;
  const guint n = progress->runs->len;
  const guint64 end = n > 0 ? g_array_index (progress->runs, SpdlRun, n - 1).end
                            : progress->mark;

  if (!self->streamed_shards || end < LOST_STRIDE)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
      "The resume state cannot be used: a streamed shard failed before the "
      "state in epoch %" G_GUINT64_FORMAT
      ", so it is unknown which of its samples were sent: use a state of the "
      "beginning of an epoch",
      progress->epoch);
}

/* Reads the resume state, which may be the states of all ranks. */
static gboolean
read_start (SpdlSampler *self, GError **error)
{
  const SpdlSourceSettings *settings = self->settings;
  g_autofree gchar *problem = NULL;

  if (!settings->resume_state)
    return TRUE;
  self->others = spdl_reshard_pick (settings->resume_state, self->source,
      self->partition.rank, self->partition.world_size, &problem);
  if (!self->others)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "The resume states of all ranks cannot be used: %s", problem);
  return self->others && spdl_resume_read (&self->start, self->others,
                             self->source, spdl_sampler_get_size (self),
                             self->n_places, settings->location, error);
}

static gboolean
go_to_start (SpdlSampler *self, GError **error)
{
  if (!read_start (self, error) || !check_nothing_lost (self, error))
    return FALSE;
  begin_epoch (self, self->start.progress.epoch);
  if (!self->streamed_shards)
    self->next = self->start.progress.mark;
  return TRUE;
}

SpdlSampler *
spdl_sampler_open (const SpdlSourceSettings *settings, guint32 source,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data,
    GError **error)
{
  SpdlSampler *self = g_new0 (SpdlSampler, 1);

  self->source = source;
  self->settings = settings;
  take_options (self, warn, user_data);
  spdl_state_init (&self->start);
  /* Check the partition first, as opening a dataset may take long. */
  self->partition.run = settings->shard_run;
  self->partition.mode = settings->shard_mode;
  if (!check_location (settings, error) ||
      !spdl_rank_partition_init (
          &self->partition, settings->rank, settings->world_size, error) ||
      !check_draws (settings, error) || !take_labels (self, error) ||
      !open_dataset (self, error) || !check_stream (self, error) ||
      !prepare_draws (self, error) || !check_shard (self, error)) {
    spdl_sampler_free (self);
    return NULL;
  }
  prepare_blocks (self);
  set_identity (self);
  self->has_samples = !settings->table && !spdl_sampler_get_root (self);
  self->counts_labels =
      self->options.labels.read &&
      (!self->dataset || !spdl_dataset_has_checked_labels (self->dataset));
  self->size = spdl_partition_get_size (&self->partition, self->n_places);
  g_assert (self->dataset || self->streamed_shards);
  if (go_to_start (self, error))
    return self;
  spdl_sampler_free (self);
  return NULL;
}

static gboolean
is_number (guint32 source, gconstpointer self)
{
  return source == ((const SpdlSampler *) self)->source;
}

gchar *
spdl_sampler_get_start (const SpdlSampler *self)
{
  GString *text = g_string_new (NULL);

  spdl_state_begin (text);
  spdl_state_write (text, self->source, &self->start);
  if (self->others)
    spdl_state_write_others (text, self->others, is_number, self);
  return g_string_free (text, FALSE);
}

guint64
spdl_sampler_get_epoch (const SpdlSampler *self)
{
  return self->epoch;
}

/* Skips items of the first epoch that were finished before the resume. */
static void
skip_done (SpdlSampler *self)
{
  const GArray *runs = self->start.progress.runs;
  const SpdlRun *run;

  while (self->next_run < runs->len) {
    run = &g_array_index (runs, SpdlRun, self->next_run);
    if (run->begin > self->next)
      return;
    self->next = run->end;
    self->next_run++;
  }
}

static guint64
get_item (const SpdlSampler *self, guint64 place)
{
  if (self->weighted_sampler)
    return spdl_weighted_sampler_get_item (
        self->weighted_sampler, spdl_draws_get_number (&self->draws, place));
  if (self->blocks)
    return spdl_block_order_get_item (self->blocks, place);
  if (self->start.identity.shuffle)
    return spdl_permutation_get_item (&self->permutation, place);
  return place;
}

/* Returns the last place up to which parts are read ahead. */
static guint64
get_last_place (const SpdlSampler *self)
{
  if (self->left || self->partition.run > 0)
    return self->n_places - 1;
  return MIN (self->n_places,
             spdl_partition_get_begin (&self->partition, self->n_places) +
                 self->size) -
         1;
}

/* Plans which parts of a table are read, at the beginning of a block. */
static void
plan_reading (SpdlSampler *self, guint64 place)
{
  SpdlReadPlan plan = { .max_ahead = self->settings->read_ahead,
    .max_ahead_bytes = self->settings->read_ahead_bytes };
  const guint block = spdl_block_order_find_block (self->blocks, place);

  if (block == self->block)
    return;
  self->block = block;
  plan.parts = spdl_block_order_get_parts (self->blocks, block,
      get_last_place (self), &plan.n_needed, &plan.n_parts);
  spdl_dataset_plan (self->dataset, &plan);
}

/* Handles the end of a stream, a failure, or an interrupted wait. The item was
 * not read. */
static SpdlDatasetStatus
end_listed (SpdlSampler *self, GError **error)
{
  self->next--;
  if (!*error)
    return SPDL_DATASET_END;
  if (!g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return SPDL_DATASET_FAILED;
  g_clear_error (error);
  return SPDL_DATASET_FLUSHING;
}

static SpdlDatasetStatus
get_listed (SpdlSampler *self, SpdlDatasetItem *item, GError **error)
{
  guint64 place;

  skip_done (self);
  if (self->next >= self->size)
    return SPDL_DATASET_END;
  item->sequence = self->next++;
  if (self->left)
    place = spdl_left_get_place (self->left, item->sequence);
  else if (self->partition.world_size > 1)
    place = spdl_partition_get_place (
        &self->partition, self->n_places, item->sequence);
  else
    place = item->sequence;
  if (self->blocks)
    plan_reading (self, place);
  item->index = get_item (self, place);
  item->uri = spdl_dataset_get_item (self->dataset, item->index, &item->label,
      &item->extra, &item->carried, error);
  return item->uri ? SPDL_DATASET_ITEM : end_listed (self, error);
}

/* Streamed shards */

static gboolean
next_shard (gpointer user_data, guint64 *shard)
{
  SpdlSampler *self = user_data;

  if (self->next_shard >= self->size)
    return FALSE;
  *shard = get_item (self, spdl_partition_get_place (&self->partition,
                               self->n_places, self->next_shard++));
  return TRUE;
}

static guint64
take_sequence (SpdlSampler *self)
{
  if (self->n_lost > 0)
    self->next = (self->next / LOST_STRIDE + 1) * LOST_STRIDE;
  self->n_lost = 0;
  self->n_sent++;
  return self->next++;
}

/* Gets the next item of streamed shards. After a resume, finished items are
 * read again and skipped, because their positions in the shards are unknown. */
static SpdlDatasetStatus
get_streamed (SpdlSampler *self, SpdlDatasetItem *item, GError **error)
{
  SpdlDatasetStatus status;

  while ((status = spdl_streamed_shards_next (self->streamed_shards, next_shard,
              self, item, &self->n_lost, error)) == SPDL_DATASET_ITEM) {
    item->sequence = take_sequence (self);
    if (!spdl_progress_has (&self->start.progress, self->epoch, item->sequence))
      break;
    spdl_dataset_item_clear (item);
  }
  return status;
}

/* Labels of samples in shards, whose indexes contain no class names */

/* Gets a label that is not an integer of a `.cls` from its field. */
static void
take_label (
    const SpdlSampler *self, const SpdlDatasetItem *item, SpdlLine *line)
{
  const GValue *value =
      item->label == SPDL_NO_LABEL && item->extra
          ? gst_structure_get_value (item->extra, self->label_field)
          : NULL;
  const gchar *text;

  spdl_line_init (line, NULL);
  line->label = item->label;
  if (!value)
    return;
  if (G_VALUE_HOLDS_STRING (value)) {
    text = g_value_get_string (value);
    line->name = (SpdlField){ text, strlen (text), SPDL_FIELD_PLAIN };
    spdl_line_read_label (line);
  } else if (G_VALUE_HOLDS_INT64 (value)) {
    line->label = g_value_get_int64 (value);
  } else if (G_VALUE_HOLDS_DOUBLE (value)) {
    line->name_kind =
        spdl_line_convert_label (g_value_get_double (value), &line->label);
  }
}

static gchar *
describe_label (const SpdlLine *line, const SpdlDatasetItem *item)
{
  return line->name.text
             ? spdl_parse_error_quote (line->name.text, line->name.length)
             : g_strdup_printf ("%" G_GINT64_FORMAT, line->label);
}

/* Handles a label without classes. A text cannot be its number, which a warning
 * says once. */
static gboolean
read_number (SpdlSampler *self, SpdlDatasetItem *item, const SpdlLine *line,
    GError **error)
{
  g_autofree gchar *text = NULL, *label = NULL;

  item->label = line->label;
  if (line->name_kind == SPDL_PARSE_ERROR_NONE)
    return TRUE;
  if (self->told_text ||
      self->options.labels.missing == SPDL_LABEL_MISSING_KEEP)
    return TRUE;
  label = describe_label (line, item);
  text = g_strdup_printf (
      "The label %s of the item \"%s\" is text, which cannot be a label's "
      "number: set classes to the names of the classes, or label=none",
      label, item->uri);
  if (self->options.labels.missing == SPDL_LABEL_MISSING_FAIL) {
    g_set_error_literal (
        error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, text);
    return FALSE;
  }
  spdl_dataset_warn (&self->options, "%s", text);
  self->told_text = TRUE;
  return TRUE;
}

/* Replaces the label of a sample by its class number. */
static gboolean
number_label (const SpdlSampler *self, SpdlDatasetItem *item, SpdlLine *line,
    GError **error)
{
  g_autofree gchar *label = NULL;
  gboolean fits = TRUE;

  if (line->name.text)
    fits = spdl_classes_number_line (self->classes, line);
  else if (line->label != SPDL_NO_LABEL)
    fits = spdl_classes_number (
        self->classes, NULL, 0, TRUE, line->label, &line->label);
  item->label = line->label;
  if (fits)
    return TRUE;
  label = describe_label (line, item);
  return spdl_fail (error, GST_RESOURCE_ERROR_READ,
      "The label %s of the item \"%s\" is not among the %u classes: correct "
      "it, or add it to classes",
      label, item->uri, spdl_classes_get_size (self->classes));
}

static gboolean
read_label (SpdlSampler *self, SpdlDatasetItem *item, GError **error)
{
  SpdlLine line;

  take_label (self, item, &line);
  /* A text may be the name of a class. */
  if (line.name_kind != SPDL_PARSE_ERROR_NONE &&
      line.name_kind != SPDL_PARSE_ERROR_LABEL_NO_INTEGER &&
      !(self->classes && line.name.text))
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "The label of the item \"%s\" is not an integer of 64 bits, so it is "
        "not the number of a class: name the field \"%s\" in target-columns to "
        "get its numbers as a tensor, and set label=none",
        item->uri, self->label_field);
  return self->classes ? number_label (self, item, &line, error)
                       : read_number (self, item, &line, error);
}

/* Missing labels of a dataset that cannot be checked before it is read */

/* Counts an item. Warns of the first one without a label as soon as it is known
 * that the dataset should have labels. */
static gboolean
count_label (SpdlSampler *self, const SpdlDatasetItem *item, GError **error)
{
  SpdlLabelCount *count = &self->count;
  const gboolean is_missing = item->label == SPDL_NO_LABEL;

  count->n_items++;
  count->n_missing += is_missing;
  if (is_missing && !self->first_missing) {
    self->first_missing = spdl_redact_dup_uri (item->uri);
    self->fields = spdl_labels_describe_fields (item->extra);
  }
  if (is_missing && self->options.labels.missing == SPDL_LABEL_MISSING_FAIL)
    return spdl_fail (error, GST_RESOURCE_ERROR_READ,
        "The item \"%s\" has no label \"%s\", but the %s: set label-column to "
        "the name of the labels, classes if they are text, or "
        "label-missing=warn to load it with the label -1",
        item->uri, self->label_field, self->fields);
  if (self->told_missing || count->n_missing == 0 ||
      self->options.labels.missing != SPDL_LABEL_MISSING_WARN ||
      (!self->options.labels.wanted && count->n_missing == count->n_items))
    return TRUE;
  self->told_missing = TRUE;
  spdl_dataset_warn (&self->options,
      "The item \"%s\" has no label, so its label is -1: label it, or set "
      "label-missing=keep if that is intended. The items without a label are "
      "counted at the end of the epoch",
      self->first_missing);
  return TRUE;
}

/* Reports the items of the epoch that had no label. */
static gboolean
report_labels (SpdlSampler *self, GError **error)
{
  self->counts_labels = FALSE;
  self->count.name = self->has_samples ? self->label_field : NULL;
  self->count.first = self->first_missing;
  self->count.fields = self->fields;
  return spdl_labels_check (
      &self->options, &self->count, self->options.location, error);
}

static gboolean
finish_label (SpdlSampler *self, SpdlDatasetItem *item, GError **error)
{
  if ((self->has_samples && self->options.labels.read &&
          !read_label (self, item, error)) ||
      (self->counts_labels && !count_label (self, item, error))) {
    spdl_dataset_item_clear (item);
    return FALSE;
  }
  if (item->label == SPDL_NO_LABEL)
    item->label = -1;
  return TRUE;
}

SpdlDatasetStatus
spdl_sampler_next (SpdlSampler *self, SpdlDatasetItem *item, GError **error)
{
  SpdlDatasetStatus status;

  *item = (SpdlDatasetItem){ .label = SPDL_NO_LABEL };
  status = self->streamed_shards ? get_streamed (self, item, error)
                                 : get_listed (self, item, error);
  if (status == SPDL_DATASET_END && self->counts_labels &&
      !report_labels (self, error))
    return SPDL_DATASET_FAILED;
  if (status == SPDL_DATASET_ITEM && !finish_label (self, item, error))
    return SPDL_DATASET_FAILED;
  return status;
}

guint64
spdl_sampler_end_epoch (SpdlSampler *self)
{
  const guint64 n_items = self->streamed_shards ? self->n_sent
                          : is_streamed (self)  ? self->next
                                                : self->size;

  self->next_run = self->start.progress.runs->len;
  begin_epoch (self, self->epoch + 1);
  return n_items;
}

void
spdl_sampler_set_flushing (SpdlSampler *self, gboolean flushing)
{
  if (self->streamed_shards)
    spdl_streamed_shards_set_flushing (self->streamed_shards, flushing);
  else
    spdl_dataset_set_flushing (self->dataset, flushing);
}

const SpdlClasses *
spdl_sampler_get_classes (const SpdlSampler *self)
{
  return self->dataset ? spdl_dataset_get_classes (self->dataset)
                       : self->classes;
}

const gchar *
spdl_sampler_get_root (const SpdlSampler *self)
{
  return self->dataset ? spdl_dataset_get_root (self->dataset) : NULL;
}
