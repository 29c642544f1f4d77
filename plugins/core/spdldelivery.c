/* gst-spdl: which items a process delivers, and in which order
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdldelivery.h"

#include <string.h>

#include "spdlalias.h"
#include "spdlpermutation.h"
#include "spdlresume.h"

struct _SpdlDelivery {
  guint32 source;
  SpdlDataset *dataset;
  SpdlAlias *alias; /* if items are drawn by weight; else NULL */
  SpdlShard shard;
  guint64 n_places; /* of an epoch's order, on all ranks */
  guint64 size;     /* of this one's part of them */

  SpdlState start; /* what it is, and what was done of its first epoch */
  gchar *others;   /* the state that it began at, nullable */
  guint64 epoch;
  guint64 next;                /* the sequence to look at next */
  guint next_run;              /* of the start's, the first that lies ahead */
  SpdlPermutation permutation; /* of this epoch, if shuffled */
  SpdlDraws draws;             /* of this epoch, if drawn */
};

void
spdl_delivery_free (SpdlDelivery *self)
{
  g_clear_pointer (&self->dataset, spdl_dataset_free);
  g_clear_pointer (&self->alias, spdl_alias_free);
  spdl_state_clear (&self->start);
  g_free (self->others);
  g_free (self);
}

static gboolean
check_shard (SpdlDelivery *self, const SpdlSettings *settings, GError **error)
{
  const guint64 n = self->n_places;

  if (settings->shard_mode != SPDL_SHARD_DROP || n >= self->shard.world_size)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "shard-mode=drop leaves no item: \"%s\" has %" G_GUINT64_FORMAT
      ", and the world size is %" G_GUINT64_FORMAT
      ": set shard-mode to pad or uneven, or use fewer processes",
      settings->location, n, self->shard.world_size);
  return FALSE;
}

static gboolean
has_weights (const SpdlSettings *settings)
{
  return settings->weights && *settings->weights;
}

static gboolean
check_draws (const SpdlSettings *settings, GError **error)
{
  if (has_weights (settings) &&
      strlen (settings->weights) >= SPDL_STATE_MAX_WEIGHTS) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "The name of a column of weights has at most %d bytes, which \"%s\" "
        "exceeds",
        SPDL_STATE_MAX_WEIGHTS - 1, settings->weights);
    return FALSE;
  }
  if (has_weights (settings) || settings->num_draws == 0)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "num-draws is %" G_GUINT64_FORMAT ", but nothing is drawn: set weights "
      "to a column of the list, or leave num-draws unset",
      settings->num_draws);
  return FALSE;
}

static gboolean
open_dataset (SpdlDelivery *self, const SpdlSettings *settings,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data,
    GError **error)
{
  const SpdlDatasetOptions options = { settings->location, settings->pattern,
    settings->label, has_weights (settings) ? settings->weights : NULL,
    settings->sidecar, settings->extensions };

  self->dataset = spdl_dataset_open (&options, warn, user_data, error);
  if (self->dataset)
    self->n_places = spdl_dataset_get_size (self->dataset);
  return self->dataset != NULL;
}

static gboolean
prepare_draws (SpdlDelivery *self, const SpdlSettings *settings, GError **error)
{
  g_autoptr (GArray) weights = spdl_dataset_steal_weights (self->dataset);

  if (!weights)
    return TRUE;
  if (settings->num_draws > 0)
    self->n_places = settings->num_draws;
  self->alias = spdl_alias_new (weights);
  if (self->alias)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "All weights of \"%s\" in column \"%s\" are 0: nothing can be drawn",
      settings->location, settings->weights);
  return FALSE;
}

static void
identify (SpdlDelivery *self, const SpdlSettings *settings)
{
  SpdlIdentity *identity = &self->start.identity;

  identity->count = spdl_dataset_get_size (self->dataset);
  identity->hash = spdl_dataset_get_hash (self->dataset);
  identity->shuffle = settings->shuffle;
  identity->seed = settings->seed;
  identity->rank = self->shard.rank;
  identity->world_size = self->shard.world_size;
  g_strlcpy (identity->shard_mode,
      spdl_shard_mode_get_name (settings->shard_mode),
      sizeof identity->shard_mode);
  if (!self->alias)
    return;
  g_strlcpy (identity->weights, settings->weights, sizeof identity->weights);
  identity->num_draws = self->n_places;
}

static void
begin_epoch (SpdlDelivery *self, guint64 epoch)
{
  const SpdlIdentity *identity = &self->start.identity;

  self->epoch = epoch;
  self->next = 0;
  if (self->alias)
    spdl_draws_init (&self->draws, identity->seed, epoch);
  else if (identity->shuffle)
    spdl_permutation_init (
        &self->permutation, identity->count, identity->seed, epoch);
}

static gboolean
go_to_start (SpdlDelivery *self, const SpdlSettings *settings, GError **error)
{
  if (settings->resume_state && *settings->resume_state &&
      !spdl_resume_read (&self->start, settings->resume_state, self->source,
          self->size, settings->location, error))
    return FALSE;
  self->others = g_strdup (settings->resume_state);
  begin_epoch (self, self->start.progress.epoch);
  self->next = self->start.progress.mark;
  return TRUE;
}

SpdlDelivery *
spdl_delivery_open (const SpdlSettings *settings, guint32 source,
    void (*warn) (const gchar *text, gpointer user_data), gpointer user_data,
    GError **error)
{
  SpdlDelivery *self = g_new0 (SpdlDelivery, 1);

  self->source = source;
  spdl_state_init (&self->start);
  /* First, because it takes no time: a dataset may. */
  if (!spdl_shard_init (&self->shard, settings->rank, settings->world_size,
          settings->shard_mode, error) ||
      !check_draws (settings, error) ||
      !open_dataset (self, settings, warn, user_data, error) ||
      !prepare_draws (self, settings, error) ||
      !check_shard (self, settings, error)) {
    spdl_delivery_free (self);
    return NULL;
  }
  identify (self, settings);
  self->size = spdl_shard_get_size (&self->shard, self->n_places);
  if (go_to_start (self, settings, error))
    return self;
  spdl_delivery_free (self);
  return NULL;
}

guint64
spdl_delivery_get_size (const SpdlDelivery *self)
{
  return self->size;
}

static gboolean
is_number (guint32 source, gconstpointer self)
{
  return source == ((const SpdlDelivery *) self)->source;
}

gchar *
spdl_delivery_get_start (const SpdlDelivery *self)
{
  GString *text = g_string_new (NULL);

  spdl_state_begin (text);
  spdl_state_write_identity (text, self->source, &self->start.identity);
  spdl_state_write_progress (text, &self->start.progress);
  if (self->others)
    spdl_state_write_others (text, self->others, is_number, self);
  return g_string_free (text, FALSE);
}

guint64
spdl_delivery_get_epoch (const SpdlDelivery *self)
{
  return self->epoch;
}

/* Past what was done of the first epoch. */
static void
skip_done (SpdlDelivery *self)
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
get_item (const SpdlDelivery *self, guint64 place)
{
  if (self->alias)
    return spdl_alias_get_item (
        self->alias, spdl_draws_get_number (&self->draws, place));
  if (self->start.identity.shuffle)
    return spdl_permutation_get_item (&self->permutation, place);
  return place;
}

gboolean
spdl_delivery_next (SpdlDelivery *self, guint64 *sequence, guint64 *index)
{

  skip_done (self);
  if (self->next >= self->size)
    return FALSE;
  *sequence = self->next++;
  *index = get_item (
      self, spdl_shard_get_place (&self->shard, self->n_places, *sequence));
  return TRUE;
}

void
spdl_delivery_end_epoch (SpdlDelivery *self)
{
  self->next_run = self->start.progress.runs->len;
  begin_epoch (self, self->epoch + 1);
}

SpdlDataset *
spdl_delivery_get_dataset (const SpdlDelivery *self)
{
  return self->dataset;
}
