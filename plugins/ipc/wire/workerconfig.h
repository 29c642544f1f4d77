/* gst-spdl: configuration of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/ipc/wire/serializer.h"

G_BEGIN_DECLS

/* Lists of CPUs are written as for taskset: `0,2-5`. Errors are in the domain
 * of GST_RESOURCE_ERROR. */

/* Returns FALSE with @error set if @text is not such a list. */
gboolean spdl_affinity_check (const gchar *text, GError **error);

/* Restricts the calling thread, and threads that it starts from now on, to
 * these CPUs. Returns FALSE with @error set if that fails. */
gboolean spdl_affinity_apply (const gchar *text, GError **error);

/* Which descriptor is the worker's socket. */
#define SPDL_WORKER_CONFIG_SOCKET 3
/* The most slabs that a consumer and the worker may have together. */
#define SPDL_WORKER_CONFIG_MAX_SLABS 4096
/* Events that may be on their way at a time. */
#define SPDL_WORKER_CONFIG_MAX_EVENTS 64

typedef struct {
  gchar *description;  /* of the pipeline */
  gchar *resume_state; /* nullable: where its sources begin */
  gint64 epochs;       /* of its sources; 0: as the description says */
  gint nice;           /* added to this process's */
  gchar *affinity;     /* nullable: CPUs, as taskset's list has them */
  guint n_slabs;
  gdouble cpu_budget; /* a share of all cores; 0: no bound */
  GStrv classes;      /* nullable: of its sources; NULL: as they say */
} SpdlWorkerConfig;

void spdl_worker_config_clear (SpdlWorkerConfig *self);

void spdl_put_worker_config (GByteArray *bytes, const SpdlWorkerConfig *self);
/* FALSE: the data is broken, and @self is empty. */
gboolean spdl_get_worker_config (SpdlPayload *payload, SpdlWorkerConfig *self);

/* What a share may be: FALSE, and the data is broken, if it is none. */
void spdl_put_cpu_budget (GByteArray *bytes, gdouble cpu_budget);
gboolean spdl_get_cpu_budget (SpdlPayload *payload, gdouble *cpu_budget);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlWorkerConfig, spdl_worker_config_clear)

G_END_DECLS
