/* gst-spdl: CPU affinity of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/wire/affinity.h"

#include <errno.h>
#include <sched.h>

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
parse (const gchar *text, cpu_set_t *cpus, GError **error)
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
      "cpu-affinity is \"%s\", which is no list of CPUs such as 0,2-5", text);
  return FALSE;
}

gboolean
spdl_affinity_check (const gchar *text, GError **error)
{
  cpu_set_t cpus;

  return parse (text, &cpus, error);
}

gboolean
spdl_affinity_apply (const gchar *text, GError **error)
{
  cpu_set_t cpus;

  if (!parse (text, &cpus, error))
    return FALSE;
  if (sched_setaffinity (0, sizeof cpus, &cpus) == 0)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "cpu-affinity: %s", g_strerror (errno));
  return FALSE;
}
