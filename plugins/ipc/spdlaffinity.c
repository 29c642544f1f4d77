/* gst-spdl: which CPUs a worker process may use
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlaffinity.h"

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

gboolean
spdl_affinity_parse (const gchar *text, cpu_set_t *cpus, GError **error)
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
