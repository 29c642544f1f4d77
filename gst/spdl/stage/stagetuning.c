/* gst-spdl: how many tasks a stage works on at a time
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/stage-private.h"

#include "gst/spdl/autotune/pipelinetuner.h"
#include "gst/spdl/engine/cpus.h"

/* What is tried at most where it is automatic, whatever the cores: of tasks
 * that hold no thread, and of those that do. */
#define MAX_WAITING 256
#define MAX_THREADS 64

static guint
get_default (GstSpdlStage *self)
{
  const guint n = GST_SPDL_STAGE_GET_CLASS (self)->process_async
                      ? GST_SPDL_WAITING_CONCURRENCY
                      : spdl_cpus_count ();

  return MIN (n, GST_SPDL_MAX_CONCURRENCY);
}

void
gst_spdl_stage_default_concurrency (GstSpdlStage *self)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  spdl_mutex_lock (&priv->tuning_lock);
  GST_OBJECT_LOCK (self);
  if (!priv->concurrency_set)
    priv->concurrency = priv->current = get_default (self);
  GST_OBJECT_UNLOCK (self);
  gst_spdl_stage_apply_limits (self);
  spdl_mutex_unlock (&priv->tuning_lock);
}

/* Has it tuned if it is to be. Returns what is to be ended once the lock is
 * released. Tuning lock held. */
static SpdlTicker *
join_or_leave (GstSpdlStage *self)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  if (!priv->started || priv->concurrency != 0)
    return gst_spdl_tuner_remove (self);
  gst_spdl_tuner_add (self);
  return NULL;
}

static void
unlock_tuning (GstSpdlStagePrivate *priv, SpdlTicker *ended)
{
  spdl_mutex_unlock (&priv->tuning_lock);
  if (ended)
    spdl_ticker_stop (ended);
}

void
gst_spdl_stage_set_concurrency (GstSpdlStage *self, guint concurrency)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  spdl_mutex_lock (&priv->tuning_lock);
  GST_OBJECT_LOCK (self);
  priv->concurrency = concurrency;
  priv->concurrency_set = TRUE;
  if (concurrency > 0)
    priv->current = concurrency;
  else if (!priv->started)
    priv->current = get_default (self);
  GST_OBJECT_UNLOCK (self);
  gst_spdl_stage_apply_limits (self);
  unlock_tuning (priv, join_or_leave (self));
}

void
gst_spdl_stage_set_started (GstSpdlStage *self, gboolean started)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  spdl_mutex_lock (&priv->tuning_lock);
  priv->started = started;
  unlock_tuning (priv, join_or_leave (self));
}

void
gst_spdl_stage_adopt_concurrency (GstSpdlStage *self, guint concurrency)
{
  GstSpdlStagePrivate *priv = gst_spdl_stage_get_private (self);

  GST_OBJECT_LOCK (self);
  if (priv->concurrency == 0)
    priv->current = concurrency;
  GST_OBJECT_UNLOCK (self);
  gst_spdl_stage_apply_limits (self);
}

guint
gst_spdl_stage_get_current_concurrency (GstSpdlStage *self)
{
  guint current;

  GST_OBJECT_LOCK (self);
  current = gst_spdl_stage_get_private (self)->current;
  GST_OBJECT_UNLOCK (self);
  return current;
}

guint
gst_spdl_stage_get_max_concurrency (GstSpdlStage *self)
{
  const SpdlPool *pool = gst_spdl_stage_get_private (self)->executor.pool;

  if (GST_SPDL_STAGE_GET_CLASS (self)->process_async)
    return MAX_WAITING;
  /* More tasks than a shared pool has threads do not run. */
  if (pool->name)
    return pool->max_threads;
  return CLAMP (4 * spdl_cpus_count (), MAX_THREADS, GST_SPDL_MAX_CONCURRENCY);
}
