/* gst-spdl: the properties of spdlworkersrc
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/workersettings.h"

#include "gst/spdl/common/valuearrays.h"
#include "plugins/ipc/wire/workerconfig.h"

#define DEFAULT_SLABS 8
/* One that is written, one on its way, and one that is used. */
#define MIN_SLABS 3

void
spdl_worker_settings_init (SpdlWorkerSettings *self)
{
  *self = (SpdlWorkerSettings){
    .config = { .n_slabs = DEFAULT_SLABS },
    .rank = -1,
    .world_size = -1,
  };
}

void
spdl_worker_settings_copy (
    SpdlWorkerSettings *self, const SpdlWorkerSettings *other)
{
  *self = *other;
  self->config.description = g_strdup (other->config.description);
  self->config.resume_state = g_strdup (other->config.resume_state);
  self->config.affinity = g_strdup (other->config.affinity);
  self->config.classes = g_strdupv (other->config.classes);
}

void
spdl_worker_settings_clear (SpdlWorkerSettings *self)
{
  spdl_worker_config_clear (&self->config);
}

static void
set_string (gchar **text, const GValue *value)
{
  g_free (*text);
  *text = g_value_dup_string (value);
}

gboolean
spdl_worker_settings_set (
    SpdlWorkerSettings *self, guint id, const GValue *value)
{
  SpdlWorkerConfig *config = &self->config;

  switch (id) {
    case SPDL_WORKER_SETTING_PIPELINE:
      set_string (&config->description, value);
      break;
    case SPDL_WORKER_SETTING_NICE:
      config->nice = g_value_get_int (value);
      break;
    case SPDL_WORKER_SETTING_CPU_AFFINITY:
      set_string (&config->affinity, value);
      break;
    case SPDL_WORKER_SETTING_RESTARTS:
      self->restarts = g_value_get_uint (value);
      break;
    case SPDL_WORKER_SETTING_SLABS:
      config->n_slabs = g_value_get_uint (value);
      break;
    case SPDL_WORKER_SETTING_EPOCHS:
      config->epochs = g_value_get_int64 (value);
      break;
    case SPDL_WORKER_SETTING_RANK:
      self->rank = g_value_get_int (value);
      break;
    case SPDL_WORKER_SETTING_WORLD_SIZE:
      self->world_size = g_value_get_int (value);
      break;
    case SPDL_WORKER_SETTING_RESUME_STATE:
      set_string (&config->resume_state, value);
      break;
    case SPDL_WORKER_SETTING_CPU_BUDGET:
      config->cpu_budget = g_value_get_double (value);
      break;
    case SPDL_WORKER_SETTING_CLASSES:
      g_strfreev (config->classes);
      config->classes = gst_spdl_names_dup (value);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

gboolean
spdl_worker_settings_get (
    const SpdlWorkerSettings *self, guint id, GValue *value)
{
  const SpdlWorkerConfig *config = &self->config;

  switch (id) {
    case SPDL_WORKER_SETTING_PIPELINE:
      g_value_set_string (value, config->description);
      break;
    case SPDL_WORKER_SETTING_NICE:
      g_value_set_int (value, config->nice);
      break;
    case SPDL_WORKER_SETTING_CPU_AFFINITY:
      g_value_set_string (value, config->affinity);
      break;
    case SPDL_WORKER_SETTING_RESTARTS:
      g_value_set_uint (value, self->restarts);
      break;
    case SPDL_WORKER_SETTING_SLABS:
      g_value_set_uint (value, config->n_slabs);
      break;
    case SPDL_WORKER_SETTING_EPOCHS:
      g_value_set_int64 (value, config->epochs);
      break;
    case SPDL_WORKER_SETTING_RANK:
      g_value_set_int (value, self->rank);
      break;
    case SPDL_WORKER_SETTING_WORLD_SIZE:
      g_value_set_int (value, self->world_size);
      break;
    case SPDL_WORKER_SETTING_RESUME_STATE:
      g_value_set_string (value, config->resume_state);
      break;
    case SPDL_WORKER_SETTING_CPU_BUDGET:
      g_value_set_double (value, config->cpu_budget);
      break;
    case SPDL_WORKER_SETTING_CLASSES:
      gst_spdl_names_set (value, (const gchar *const *) config->classes);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

gboolean
spdl_worker_settings_check (const SpdlWorkerSettings *self, GError **error)
{
  const SpdlWorkerConfig *config = &self->config;

  if (!config->description || !*config->description) {
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "No pipeline is set: set it to a chain of elements in gst-launch's "
        "syntax, without a sink");
    return FALSE;
  }
  return !config->affinity || !*config->affinity ||
         spdl_affinity_check (config->affinity, error);
}

void
spdl_worker_settings_install (GObjectClass *klass)
{
  const GParamFlags ready =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  g_object_class_install_property (klass, SPDL_WORKER_SETTING_PIPELINE,
      g_param_spec_string ("pipeline", "Pipeline",
          "What the process runs, in gst-launch's syntax: a chain that ends in "
          "one open source pad",
          NULL, ready));
  g_object_class_install_property (klass, SPDL_WORKER_SETTING_NICE,
      g_param_spec_int ("nice", "Nice",
          "Added to the nice value of this process; 19 leaves the CPUs to "
          "others",
          -20, 19, 0, ready));
  g_object_class_install_property (klass, SPDL_WORKER_SETTING_CPU_AFFINITY,
      g_param_spec_string ("cpu-affinity", "CPU affinity",
          "The CPUs that the process may use, such as 0,2-5 (unset: those of "
          "this process)",
          NULL, ready));
  g_object_class_install_property (klass, SPDL_WORKER_SETTING_RESTARTS,
      g_param_spec_uint ("restarts", "Restarts",
          "How many times in a run a process that dies is followed by another "
          "one, which goes on behind the last batch",
          0, G_MAXUINT, 0, ready));
  g_object_class_install_property (klass, SPDL_WORKER_SETTING_SLABS,
      g_param_spec_uint ("slabs", "Slabs",
          "Pieces of shared memory: batches that are written, wait, and are in "
          "use. What is in use beyond all but two of them is copied",
          MIN_SLABS, SPDL_WORKER_CONFIG_MAX_SLABS, DEFAULT_SLABS, ready));
  g_object_class_install_property (klass, SPDL_WORKER_SETTING_EPOCHS,
      g_param_spec_int64 ("epochs", "Epochs",
          "The epochs of the pipeline's sources (0 = as the pipeline says)", -1,
          G_MAXINT64, 0, ready));
  g_object_class_install_property (klass, SPDL_WORKER_SETTING_RANK,
      g_param_spec_int ("rank", "Rank",
          "This process's rank, for the pipeline's sources (-1 = from the "
          "environment)",
          -1, G_MAXINT, -1, ready));
  g_object_class_install_property (klass, SPDL_WORKER_SETTING_WORLD_SIZE,
      g_param_spec_int ("world-size", "World size",
          "The number of ranks, for the pipeline's sources (-1 = from the "
          "environment)",
          -1, G_MAXINT, -1, ready));
  g_object_class_install_property (klass, SPDL_WORKER_SETTING_RESUME_STATE,
      g_param_spec_string ("resume-state", "Resume state",
          "Where the pipeline's sources begin (unset: at the beginning)", NULL,
          ready));
  g_object_class_install_property (klass, SPDL_WORKER_SETTING_CLASSES,
      gst_spdl_names_param_spec ("classes", "Classes",
          "Names of the classes in the order of their numbers, for all of the "
          "pipeline's sources (unset: as the pipeline says). Read from PAUSED "
          "on, those in use",
          ready));
  g_object_class_install_property (klass, SPDL_WORKER_SETTING_CPU_BUDGET,
      g_param_spec_double ("cpu-budget", "CPU budget",
          "The share that the process may use of all cores that it has (0 = no "
          "bound); from 0 to something else at the next start, else at once",
          0, 1, 0,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
              GST_PARAM_MUTABLE_PLAYING));
}
