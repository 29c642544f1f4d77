/* gst-spdl: configuration of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "gst/spdl/wire/serializer.h"

G_BEGIN_DECLS

/* CPU lists have the format of taskset, such as `0,2-5`. Errors are in the
 * domain GST_RESOURCE_ERROR. */

/* Returns FALSE with @error set if @text is not a valid CPU list. */
gboolean spdl_affinity_check (const gchar *text, GError **error);

/* Restricts the calling thread, and threads that it starts later, to these
 * CPUs. Returns FALSE with @error set on failure. */
gboolean spdl_affinity_apply (const gchar *text, GError **error);

/* File descriptor of the socket in the worker. */
#define SPDL_WORKER_CONFIG_SOCKET 3
/* Maximum number of slabs in use by the consumer and the worker. */
#define SPDL_WORKER_CONFIG_MAX_SLABS 4096
/* Maximum number of events in transit. */
#define SPDL_WORKER_CONFIG_MAX_EVENTS 64

typedef struct {
  gchar *description;  /* pipeline description */
  gchar *resume_state; /* nullable: resume state of the sources */
  gint64 epochs;       /* epochs of the sources; 0: as in the description */
  gint nice;           /* added to that of the parent process */
  gchar *affinity;     /* nullable: CPU list */
  guint n_slabs;
  gdouble cpu_budget; /* fraction of all cores; 0: unlimited */
  GStrv
      classes; /* nullable: class names for the sources; NULL: their own ones */
} SpdlWorkerConfig;

void spdl_worker_config_clear (SpdlWorkerConfig *self);

void spdl_put_worker_config (GByteArray *bytes, const SpdlWorkerConfig *self);
/* Returns FALSE, with @self empty, if the data is invalid. */
gboolean spdl_get_worker_config (SpdlPayload *payload, SpdlWorkerConfig *self);

/* spdl_get_cpu_budget() returns FALSE, and marks the data as invalid, if the
 * value is not between 0 and 1. */
void spdl_put_cpu_budget (GByteArray *bytes, gdouble cpu_budget);
gboolean spdl_get_cpu_budget (SpdlPayload *payload, gdouble *cpu_budget);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlWorkerConfig, spdl_worker_config_clear)

G_END_DECLS
