/* gst-spdl-launch: comparison of a pipeline with cached batches
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/modes/gains.h"
#include "tools/launch/modes/options.h"

G_BEGIN_DECLS

/* What one run came to. */
typedef struct {
  gboolean cached;
  double batch_time;          /* s from one batch to the next */
  double wait;                /* s of it */
  guint64 p50_step, p99_step; /* ns */
  double rate;                /* items a second */
  double cores;
} HeadspaceRun;

/* What all of them did. */
typedef struct {
  const Options *options;
  GArray *runs; /* HeadspaceRun, in the order in which they ran */
  Gains gains;
  gchar *verdict; /* a sentence */
} Headspace;

/* Runs the pipeline as it is and from a cache, with the same trainer, in turn,
 * and says what perfect loading would bring. Returns the exit status. */
int headspace_run (const Options *options, GError **error);

/* Writes the files that were asked for. */
gboolean headspace_write_files (const Headspace *self, GError **error);

G_END_DECLS
