/* gst-spdl: private parts of a diagnosis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/gstspdldiagnose.h"
#include "gst/spdl/diagnose/analysis.h"

G_BEGIN_DECLS

struct _GstSpdlDiagnosis {
  GstSpdlLimit limit;
  gchar *element;  /* nullable, as all below except reason and sentence */
  gchar *reason;   /* sentence without the advice */
  gchar *sentence; /* reason and advice */
  gchar *property;
  gchar *value;
  gdouble gain;           /* 0: unknown */
  GstStructure *roofline; /* nullable */
};

/* Creates a diagnosis. Its sentence consists of the reason and the advice in
 * @todo_format.
 *
 * @element: (nullable)
 * @reason: (transfer full) */
GstSpdlDiagnosis *
gst_spdl_diagnosis_new (GstSpdlLimit limit, const gchar *element, gchar *reason,
    const gchar *todo_format, ...) G_GNUC_PRINTF (4, 5);

/* Suggests a value for a property. */
void gst_spdl_diagnosis_suggest (
    GstSpdlDiagnosis *self, const gchar *property, gchar *value);

/* "0.2 ms" */
gchar *gst_spdl_diagnosis_format_time (double ns);

const gchar *gst_spdl_limit_get_nick (GstSpdlLimit limit);

G_END_DECLS
