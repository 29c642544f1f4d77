/* gst-spdl: items of an epoch that are done
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* From `begin` on, up to but without `end`. */
typedef struct {
  guint64 begin;
  guint64 end;
} SpdlRun;

/* Which sequences of an epoch are done: all below the mark, and beyond it runs
 * of them, in order, with a gap before each. Its size is that of the gaps: as
 * many as there are items on their way that others have overtaken. */
typedef struct {
  guint64 epoch;
  guint64 mark;
  GArray *runs; /* SpdlRun */
  guint64 n_done;
  guint64 n_dropped_upstream; /* of these, that were gone before spdlmix */
  guint64 n_dropped_upstream_before; /* as many of the epochs before */
} SpdlProgress;

SPDL_PRIVATE_API
void spdl_progress_init (SpdlProgress *self, guint64 epoch);
SPDL_PRIVATE_API
void spdl_progress_clear (SpdlProgress *self);

/* Forgets all, for another epoch. */
SPDL_PRIVATE_API
void spdl_progress_reset (SpdlProgress *self, guint64 epoch);

SPDL_PRIVATE_API
void spdl_progress_copy (SpdlProgress *self, const SpdlProgress *other);

/* @sequence is done. Returns FALSE if it was already. */
SPDL_PRIVATE_API
gboolean spdl_progress_add (SpdlProgress *self, guint64 sequence);

/* Whether that item is done. */
SPDL_PRIVATE_API
gboolean
spdl_progress_has (const SpdlProgress *self, guint64 epoch, guint64 sequence);

/* Appends the runs, and reads them back: a pair of numbers for each, the length
 * of the gap and of the run, each of them in digits of five bits, the lowest
 * first. A gap costs at most 8 bytes where no two neighbours are farther apart
 * than 2^20. */
SPDL_PRIVATE_API
void spdl_progress_write_runs (const SpdlProgress *self, GString *text);

/* @text: what comes behind the mark. Returns where it ends, or NULL if that is
 *     no list of runs. */
SPDL_PRIVATE_API
const gchar *spdl_progress_read_runs (SpdlProgress *self, const gchar *text);

G_END_DECLS
