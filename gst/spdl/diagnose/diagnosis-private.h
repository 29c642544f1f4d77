/* gst-spdl: private parts of a diagnosis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/gstspdldiagnose.h"

G_BEGIN_DECLS

struct _GstSpdlDiagnosis {
  GstSpdlLimit limit;
  gchar *element;  /* nullable, as all below but reason and sentence */
  gchar *reason;   /* the sentence up to what to do */
  gchar *sentence; /* the reason, and what to do */
  gchar *property;
  gchar *value;
  gdouble gain; /* 0: not known */
};

GstSpdlDiagnosis *
gst_spdl_diagnosis_new (GstSpdlLimit limit, const gchar *element);

/* Sets the reason, and the sentence from it. */
void gst_spdl_diagnosis_say (GstSpdlDiagnosis *self, gchar *reason,
    const gchar *todo_format, ...) G_GNUC_PRINTF (3, 4);

/* Tells what to set the property to. */
void gst_spdl_diagnosis_suggest (
    GstSpdlDiagnosis *self, const gchar *property, gchar *value);

G_END_DECLS
