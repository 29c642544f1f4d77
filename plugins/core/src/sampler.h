/* gst-spdl: position of a source in a dataset: epoch order, rank and resuming
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/core/src/sourceshapes.h"
#include "plugins/dataset/dataset.h"
#include "plugins/dataset/list/item.h"
#include "plugins/dataset/sampler/rankpartition.h"

G_BEGIN_DECLS

#define SPDL_DEFAULT_PATTERN "*"

typedef struct {
  SpdlArrowTable *table; /* (nullable): instead of the location; not owned */
  gchar *location;       /* (nullable): or the name of the table */
  gchar *root;           /* (nullable): base of relative paths */
  gboolean require_annotations;
  gchar *pattern; /* NULL: SPDL_DEFAULT_PATTERN */
  SpdlLabel label;
  gchar *label_column; /* nullable */
  SpdlLabelMissing label_missing;
  gchar *targets; /* (nullable): names of numbers, with commas */
  SpdlShapesSettings shapes;
  gboolean shuffle;
  guint64 seed;
  gint rank;       /* -1: from the environment */
  gint world_size; /* -1: from the environment */
  SpdlShardMode shard_mode;
  guint shard_run;
  gchar *uri;              /* (nullable): NULL: "uri" */
  gchar *weights;          /* nullable */
  guint64 items_per_epoch; /* 0: the number of items */
  SpdlSidecarUse sidecar;
  gchar *extensions;   /* nullable */
  gchar *resume_state; /* nullable */
  guint shuffle_buffer;
  guint read_ahead;
  guint64 read_ahead_bytes;
  GStrv classes; /* nullable */
  SpdlRemoteSettings remote;
} SpdlSourceSettings;

/* Position in a dataset: the order of its epochs, and the part of each epoch
 * that this process sends. Not thread-safe, except spdl_sampler_get_size() and
 * spdl_sampler_set_flushing(). */

typedef struct _SpdlSampler SpdlSampler;

/* Opens the dataset and moves to the start position.
 *
 * @settings: must outlive the sampler
 * @source: the number of the source
 * @warn: (nullable): as for spdl_dataset_open(); with streamed shards, also
 *     called after this call
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlSampler *spdl_sampler_open (const SpdlSourceSettings *settings,
    guint32 source, void (*warn) (const gchar *text, gpointer user_data),
    gpointer user_data, GError **error);

void spdl_sampler_free (SpdlSampler *self);

/* Returns the number of items or draws per epoch on this rank. It may be 0 with
 * SPDL_SHARD_UNEVEN, and is GST_SPDL_ITEMS_UNKNOWN for streams. */
guint64 spdl_sampler_get_size (const SpdlSampler *self);

/* Returns the start as a resume state (transfer full). It keeps the state of
 * other sources, which may be announced later. */
gchar *spdl_sampler_get_start (const SpdlSampler *self);

/* Returns the current epoch. */
guint64 spdl_sampler_get_epoch (const SpdlSampler *self);

/* Moves to the next item. May block with streams and tables in parts. Returns
 * SPDL_DATASET_FAILED with @error set on failure. */
SpdlDatasetStatus
spdl_sampler_next (SpdlSampler *self, SpdlDatasetItem *item, GError **error);

/* Moves to the start of the next epoch. Returns the number of items of the
 * previous one. */
guint64 spdl_sampler_end_epoch (SpdlSampler *self);

/* Sets whether waiting for an item is cancelled. May be called from any thread.
 */
void spdl_sampler_set_flushing (SpdlSampler *self, gboolean flushing);

/* Returns the classes like spdl_dataset_get_classes(). */
const SpdlClasses *spdl_sampler_get_classes (const SpdlSampler *self);

/* Returns the root folder like spdl_dataset_get_root(). */
const gchar *spdl_sampler_get_root (const SpdlSampler *self);

G_END_DECLS
