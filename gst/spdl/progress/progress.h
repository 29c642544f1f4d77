/* gst-spdl: set of the finished items of an epoch
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* The range from `begin` to `end`, exclusive. */
typedef struct {
  guint64 begin;
  guint64 end;
} SpdlRun;

/* Finished sequence numbers of an epoch: all below the mark, and runs above it,
 * in order and separated by gaps. The size depends on the number of gaps, which
 * is the number of unfinished items that others have overtaken. */
typedef struct {
  guint64 epoch;
  guint64 mark;
  GArray *runs; /* SpdlRun */
  guint64 n_done;
  guint64 n_dropped_upstream;        /* lost before spdlmix */
  guint64 n_dropped_upstream_before; /* total of the previous epochs */
} SpdlProgress;

SPDL_PRIVATE_API
void spdl_progress_init (SpdlProgress *self, guint64 epoch);
SPDL_PRIVATE_API
void spdl_progress_clear (SpdlProgress *self);

/* Resets the set for another epoch. */
SPDL_PRIVATE_API
void spdl_progress_reset (SpdlProgress *self, guint64 epoch);

/* Resets the set for another epoch, with all items below @first finished. */
SPDL_PRIVATE_API
void spdl_progress_reset_at (SpdlProgress *self, guint64 epoch, guint64 first);

SPDL_PRIVATE_API
void spdl_progress_copy (SpdlProgress *self, const SpdlProgress *other);

/* Adds @sequence. Returns FALSE if it was added before. */
SPDL_PRIVATE_API
gboolean spdl_progress_add (SpdlProgress *self, guint64 sequence);

/* Returns TRUE if the item is finished. */
SPDL_PRIVATE_API
gboolean
spdl_progress_has (const SpdlProgress *self, guint64 epoch, guint64 sequence);

/* Appends the runs. Each is written as the length of the gap and of the run, in
 * digits of five bits, lowest digit first. A gap takes at most 8 bytes if no
 * two neighbors are more than 2^20 apart. */
SPDL_PRIVATE_API
void spdl_progress_write_runs (const SpdlProgress *self, GString *text);

/* Parses the runs in @text, which follow the mark. Returns the end of the runs,
 * or NULL if they are invalid. */
SPDL_PRIVATE_API
const gchar *spdl_progress_read_runs (SpdlProgress *self, const gchar *text);

G_END_DECLS
