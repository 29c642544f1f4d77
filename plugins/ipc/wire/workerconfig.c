/* gst-spdl: configuration of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/wire/workerconfig.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

/* CPU affinity */

static gboolean
read_cpu (const gchar **at, guint64 *cpu)
{
  gchar *end;

  if (!g_ascii_isdigit (**at))
    return FALSE;
  *cpu = g_ascii_strtoull (*at, &end, 10);
  *at = end;
  return *cpu < CPU_SETSIZE;
}

static gboolean
read_range (const gchar **at, cpu_set_t *cpus)
{
  guint64 first, last;

  if (!read_cpu (at, &first))
    return FALSE;
  last = first;
  if (**at == '-') {
    ++*at;
    if (!read_cpu (at, &last) || last < first)
      return FALSE;
  }
  for (guint64 i = first; i <= last; i++)
    CPU_SET (i, cpus);
  return TRUE;
}

static gboolean
parse_affinity (const gchar *text, cpu_set_t *cpus, GError **error)
{
  const gchar *at = text;

  CPU_ZERO (cpus);
  while (read_range (&at, cpus)) {
    if (*at == '\0')
      return TRUE;
    if (*at++ != ',')
      break;
  }
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "cpu-affinity is \"%s\", which is not a list of CPUs such as 0,2-5",
      text);
  return FALSE;
}

gboolean
spdl_affinity_check (const gchar *text, GError **error)
{
  cpu_set_t cpus;

  return parse_affinity (text, &cpus, error);
}

gboolean
spdl_affinity_apply (const gchar *text, GError **error)
{
  cpu_set_t cpus;

  if (!parse_affinity (text, &cpus, error))
    return FALSE;
  if (sched_setaffinity (0, sizeof cpus, &cpus) == 0)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "cpu-affinity: %s", g_strerror (errno));
  return FALSE;
}

void
spdl_worker_config_clear (SpdlWorkerConfig *self)
{
  g_clear_pointer (&self->description, g_free);
  g_clear_pointer (&self->resume_state, g_free);
  g_clear_pointer (&self->affinity, g_free);
  g_clear_pointer (&self->classes, g_strfreev);
}

void
spdl_put_cpu_budget (GByteArray *bytes, gdouble cpu_budget)
{
  spdl_put (bytes, &cpu_budget, sizeof cpu_budget);
}

gboolean
spdl_get_cpu_budget (SpdlPayload *payload, gdouble *cpu_budget)
{
  const guint8 *at = spdl_get (payload, sizeof *cpu_budget);

  if (at)
    memcpy (cpu_budget, at, sizeof *cpu_budget);
  /* NaN fails this comparison. */
  if (at && *cpu_budget >= 0 && *cpu_budget <= 1)
    return TRUE;
  payload->broken = TRUE;
  return FALSE;
}

void
spdl_put_worker_config (GByteArray *bytes, const SpdlWorkerConfig *self)
{
  spdl_put_string (bytes, self->description);
  spdl_put_string (bytes, self->resume_state);
  spdl_put_u64 (bytes, self->epochs);
  spdl_put_u32 (bytes, self->nice);
  spdl_put_string (bytes, self->affinity);
  spdl_put_u32 (bytes, self->n_slabs);
  spdl_put_cpu_budget (bytes, self->cpu_budget);
  spdl_put_strings (bytes, (const gchar *const *) self->classes);
}

gboolean
spdl_get_worker_config (SpdlPayload *payload, SpdlWorkerConfig *self)
{
  *self = (SpdlWorkerConfig){ .description = spdl_get_string (payload) };
  self->resume_state = spdl_get_string (payload);
  self->epochs = spdl_get_u64 (payload);
  self->nice = spdl_get_u32 (payload);
  self->affinity = spdl_get_string (payload);
  self->n_slabs = spdl_get_u32 (payload);
  spdl_get_cpu_budget (payload, &self->cpu_budget);
  self->classes = spdl_get_strings (payload);
  if (spdl_payload_is_read (payload) && self->description &&
      self->n_slabs > 1 && self->n_slabs <= SPDL_WORKER_CONFIG_MAX_SLABS)
    return TRUE;
  payload->broken = TRUE;
  spdl_worker_config_clear (self);
  return FALSE;
}
