/* gst-spdl: sampler: order, rank and position in a dataset
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/common/carried.h"
#include "plugins/dataset/dataset.h"
#include "plugins/dataset/sampler/rankpartition.h"

G_BEGIN_DECLS

#define SPDL_DEFAULT_PATTERN "*"

typedef struct {
  gchar *location; /* nullable */
  gchar *pattern;  /* NULL: SPDL_DEFAULT_PATTERN */
  SpdlLabel label;
  gboolean shuffle;
  guint64 seed;
  gint rank;       /* -1: from the environment */
  gint world_size; /* -1: from the environment */
  SpdlShardMode shard_mode;
  gchar *weights;          /* nullable */
  guint64 items_per_epoch; /* 0: as many as items */
  SpdlSidecarUse sidecar;
  gchar *extensions;   /* nullable */
  gchar *resume_state; /* nullable */
  guint shuffle_buffer;
  GStrv classes; /* nullable: none are given */
  SpdlRemoteSettings remote;
} SpdlSourceSettings;

/* Position in a dataset: the order of its epochs, and the part of each epoch
 * that this process sends. For one thread, except spdl_sampler_get_size() and
 * spdl_sampler_set_flushing(). */

typedef struct _SpdlSampler SpdlSampler;

/* Opens the dataset and goes to where it is to begin.
 *
 * @source: the number of the source
 * @warn: (nullable): as for spdl_dataset_open(); also called later, where
 *     shards are streamed
 *
 * Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR. */
SpdlSampler *spdl_sampler_open (const SpdlSourceSettings *settings,
    guint32 source, void (*warn) (const gchar *text, gpointer user_data),
    gpointer user_data, GError **error);

void spdl_sampler_free (SpdlSampler *self);

/* Returns the number of items or draws per epoch on this rank. It may be 0 with
 * SPDL_SHARD_UNEVEN, and is GST_SPDL_ITEMS_UNKNOWN for shards that are read as
 * streams. */
guint64 spdl_sampler_get_size (const SpdlSampler *self);

/* Returns the start as a resume state (transfer full). It keeps the state of
 * other sources, which may be announced later. */
gchar *spdl_sampler_get_start (const SpdlSampler *self);

/* Returns the current epoch. */
guint64 spdl_sampler_get_epoch (const SpdlSampler *self);

/* Its fields are (transfer full). */
typedef struct {
  guint64 sequence; /* its place in what is delivered of the epoch */
  guint64 index;    /* its place in the dataset */
  gchar *uri;
  gint64 label;
  GstStructure *extra;     /* nullable */
  GstSpdlCarried *carried; /* nullable: what its URIs name */
} SpdlSamplerItem;

typedef enum {
  SPDL_SAMPLER_ITEM,
  SPDL_SAMPLER_END,      /* the epoch has no further item */
  SPDL_SAMPLER_FAILED,   /* it cannot go on */
  SPDL_SAMPLER_FLUSHING, /* it was told not to wait */
} SpdlSamplerStatus;

/* Moves to the next item, for which it may wait. Sets @error on failure. */
SpdlSamplerStatus
spdl_sampler_next (SpdlSampler *self, SpdlSamplerItem *item, GError **error);

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
