/* gst-spdl: maximum throughput of a pipeline on this machine
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/diagnose/analysis.h"

G_BEGIN_DECLS

/* Estimates the throughput of the pipeline with the best concurrency. Every
 * resource sets a limit, and the lowest one counts: the cores, the tasks of a
 * stage that may wait at the same time, and each thread that runs elements one
 * after the other.
 *
 * Returns: (transfer full) (nullable): a structure `spdl-roofline`, as
 * gst_spdl_diagnosis_get_roofline() describes it; NULL if no limit is known */
GstStructure *gst_spdl_roofline_new (const GstSpdlAnalysis *c);

G_END_DECLS
