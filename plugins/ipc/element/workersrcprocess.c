/* gst-spdl: the process of spdlworkersrc, from its start to its end
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/workersrc-private.h"

#include <unistd.h>

#include "gst/spdl/stage/gone.h"
#include "plugins/ipc/element/environment.h"
#include "plugins/ipc/element/sourcebase.h"

/* Lock held. */
static void
tell_cpu_budget (GstSpdlWorkerSrcElement *self)
{
  gdouble budget;

  GST_OBJECT_LOCK (self);
  budget = self->settings.order.cpu_budget;
  GST_OBJECT_UNLOCK (self);
  if (self->link)
    spdl_link_set_cpu_budget (self->link, budget);
}

void
gst_spdl_worker_src_element_tell_cpu_budget (GstSpdlWorkerSrcElement *self)
{
  spdl_mutex_lock (&self->lock);
  tell_cpu_budget (self);
  spdl_mutex_unlock (&self->lock);
}

/* @state: where it begins; nullable */
static void
open_link (GstSpdlWorkerSrcElement *self, const gchar *state)
{
  g_auto (SpdlWorkerSettings) run = { { NULL } };
  SpdlLink *link;

  spdl_worker_settings_copy (&run, &self->run);
  g_free (run.order.resume_state);
  run.order.resume_state = spdl_source_base_take_state (state, self->base);
  link = spdl_link_new (GST_ELEMENT (self),
      spdl_environment_select (
          (const gchar *const *) environ, run.rank, run.world_size),
      &run.order, self->base);
  spdl_mutex_lock (&self->lock);
  self->link = link;
  tell_cpu_budget (self);
  spdl_link_interrupt (link, self->flushing);
  spdl_mutex_unlock (&self->lock);
}

static void
close_link (GstSpdlWorkerSrcElement *self)
{
  GPtrArray *figures, *old;
  SpdlLink *link;

  spdl_mutex_lock (&self->lock);
  link = self->link;
  spdl_mutex_unlock (&self->lock);
  if (!link)
    return;
  /* It reports once more. */
  spdl_link_stop (link);
  figures = spdl_link_dup_figures (link);
  spdl_mutex_lock (&self->lock);
  self->link = NULL;
  old = self->figures;
  self->figures = figures;
  spdl_mutex_unlock (&self->lock);
  g_clear_pointer (&old, g_ptr_array_unref);
  spdl_link_free (link);
}

void
gst_spdl_worker_src_element_post_death (
    GstSpdlWorkerSrcElement *self, const gchar *why, const gchar *when)
{
  g_autoptr (GError) error = g_error_new (
      GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED, "%s, %s", why, when);

  gst_spdl_post_error (GST_ELEMENT (self), error);
}

static gboolean
begin_run (GstSpdlWorkerSrcElement *self, GError **error)
{
  spdl_worker_settings_clear (&self->run);
  GST_OBJECT_LOCK (self);
  spdl_worker_settings_copy (&self->run, &self->settings);
  GST_OBJECT_UNLOCK (self);
  self->base = spdl_source_base_find (GST_ELEMENT (self));
  g_atomic_int_set (&self->n_restarts, 0);
  spdl_restart_reset (&self->restart);
  self->told = self->has_pushed = FALSE;
  return spdl_worker_settings_check (&self->run, error);
}

static void
take_classes (GstSpdlWorkerSrcElement *self)
{
  GStrv classes = spdl_link_dup_classes (self->link);

  GST_OBJECT_LOCK (self);
  g_strfreev (self->classes);
  self->classes = classes;
  GST_OBJECT_UNLOCK (self);
}

gboolean
gst_spdl_worker_src_element_open (GstSpdlWorkerSrcElement *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree gchar *why = NULL;
  GstMessage *failure = NULL;

  if (!begin_run (self, &error)) {
    gst_spdl_post_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  gst_spdl_plain_stats_start (self->stats);
  spdl_mutex_lock (&self->lock);
  self->flushing = FALSE;
  spdl_mutex_unlock (&self->lock);
  open_link (self, self->run.order.resume_state);
  if (spdl_link_wait (self->link, &failure, &why) == SPDL_LINK_PLAYS) {
    take_classes (self);
    return TRUE;
  }
  if (failure)
    gst_element_post_message (GST_ELEMENT (self), failure);
  else if (why)
    gst_spdl_worker_src_element_post_death (
        self, why, "before its pipeline played");
  return FALSE;
}

void
gst_spdl_worker_src_element_close (GstSpdlWorkerSrcElement *self)
{
  close_link (self);
  gst_clear_message (&self->error);
  gst_spdl_plain_stats_stop (self->stats);
}

SpdlLinkStatus
gst_spdl_worker_src_element_reopen (GstSpdlWorkerSrcElement *self,
    const gchar *state, GstMessage **failure, gchar **why)
{
  close_link (self);
  open_link (self, state);
  return spdl_link_wait (self->link, failure, why);
}

void
gst_spdl_worker_src_element_set_flushing (
    GstSpdlWorkerSrcElement *self, gboolean flushing)
{
  spdl_mutex_lock (&self->lock);
  self->flushing = flushing;
  if (self->link)
    spdl_link_interrupt (self->link, flushing);
  spdl_mutex_unlock (&self->lock);
}

void
gst_spdl_worker_src_element_add_stages (
    GstSpdlWorkerSrcElement *self, GstStructure *s)
{
  GValue stages = G_VALUE_INIT, stage = G_VALUE_INIT;
  GPtrArray *figures = NULL;

  spdl_mutex_lock (&self->lock);
  if (self->link)
    figures = spdl_link_dup_figures (self->link);
  else if (self->figures)
    figures = g_ptr_array_ref (self->figures);
  gst_structure_set (s, "pid", G_TYPE_UINT,
      self->link ? spdl_link_get_pid (self->link) : 0, NULL);
  spdl_mutex_unlock (&self->lock);
  gst_value_array_init (&stages, 0);
  for (guint i = 0; figures && i < figures->len; i++) {
    g_value_init (&stage, GST_TYPE_STRUCTURE);
    g_value_set_boxed (&stage, g_ptr_array_index (figures, i));
    gst_value_array_append_and_take_value (&stages, &stage);
  }
  gst_structure_take_value (s, "stages", &stages);
  g_clear_pointer (&figures, g_ptr_array_unref);
}
