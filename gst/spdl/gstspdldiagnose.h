/* gst-spdl: bottleneck of a pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_DIAGNOSE_H__
#define __GST_SPDL_DIAGNOSE_H__

#include <gst/spdl/spdl-prelude.h>

G_BEGIN_DECLS

/**
 * GstSpdlLimit:
 * @GST_SPDL_LIMIT_TOO_FEW: not enough data for a diagnosis
 * @GST_SPDL_LIMIT_IDLE: no item passed
 * @GST_SPDL_LIMIT_BALANCED: no stage is clearly the slowest
 * @GST_SPDL_LIMIT_COMPUTING: the workers of a stage compute all the time
 * @GST_SPDL_LIMIT_CORES: all cores are busy, so more workers do not help
 * @GST_SPDL_LIMIT_WAITING: the workers of a stage wait, for example for a slow
 *     server
 * @GST_SPDL_LIMIT_STRAGGLER: a stage with output-order=input holds results back
 *     for a slow item
 * @GST_SPDL_LIMIT_HELD: a stage holds items back although its workers are idle
 * @GST_SPDL_LIMIT_ELEMENT: an element between stages is slow
 * @GST_SPDL_LIMIT_SOURCE: the source is slow
 * @GST_SPDL_LIMIT_CONSUMER: the consumer is slow, and the pipeline keeps up
 * @GST_SPDL_LIMIT_CONTENTION: the consumer does not wait for batches, but its
 *     steps take longer than without loading
 * @GST_SPDL_LIMIT_CACHED: batches come from a cache instead of the pipeline
 * @GST_SPDL_LIMIT_OTHERS: other programs use the cores, so more workers do not
 *     help
 * @GST_SPDL_LIMIT_FAILURES: nearly all items of a stage fail
 *
 * The bottleneck of a pipeline.
 *
 * Since: 0.1
 */
typedef enum {
  GST_SPDL_LIMIT_TOO_FEW,
  GST_SPDL_LIMIT_IDLE,
  GST_SPDL_LIMIT_BALANCED,
  GST_SPDL_LIMIT_COMPUTING,
  GST_SPDL_LIMIT_CORES,
  GST_SPDL_LIMIT_WAITING,
  GST_SPDL_LIMIT_STRAGGLER,
  GST_SPDL_LIMIT_HELD,
  GST_SPDL_LIMIT_ELEMENT,
  GST_SPDL_LIMIT_SOURCE,
  GST_SPDL_LIMIT_CONSUMER,
  GST_SPDL_LIMIT_CONTENTION,
  GST_SPDL_LIMIT_CACHED,
  GST_SPDL_LIMIT_OTHERS,
  GST_SPDL_LIMIT_FAILURES,
} GstSpdlLimit;

#define GST_TYPE_SPDL_LIMIT (gst_spdl_limit_get_type ())
GST_SPDL_API
GType gst_spdl_limit_get_type (void);

/**
 * GstSpdlDiagnosis:
 *
 * Result of gst_spdl_diagnose(). Immutable.
 *
 * Since: 0.1
 */
typedef struct _GstSpdlDiagnosis GstSpdlDiagnosis;

#define GST_TYPE_SPDL_DIAGNOSIS (gst_spdl_diagnosis_get_type ())
GST_SPDL_API
GType gst_spdl_diagnosis_get_type (void);

GST_SPDL_API
GstSpdlDiagnosis *
gst_spdl_diagnose (GList *stages, guint num_cores, guint64 cpu_time);

GST_SPDL_API
GstSpdlDiagnosis *gst_spdl_diagnose_with_cpus (
    GList *stages, const GstStructure *before, const GstStructure *after);

GST_SPDL_API
GstSpdlDiagnosis *gst_spdl_diagnosis_ref (GstSpdlDiagnosis *diagnosis);

GST_SPDL_API
void gst_spdl_diagnosis_unref (GstSpdlDiagnosis *diagnosis);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstSpdlDiagnosis, gst_spdl_diagnosis_unref)

GST_SPDL_API
GstSpdlLimit gst_spdl_diagnosis_get_limit (const GstSpdlDiagnosis *diagnosis);

GST_SPDL_API
const gchar *
gst_spdl_diagnosis_get_limit_nick (const GstSpdlDiagnosis *diagnosis);

GST_SPDL_API
const gchar *gst_spdl_diagnosis_get_element (const GstSpdlDiagnosis *diagnosis);

GST_SPDL_API
const gchar *gst_spdl_diagnosis_get_reason (const GstSpdlDiagnosis *diagnosis);

GST_SPDL_API
const gchar *
gst_spdl_diagnosis_get_sentence (const GstSpdlDiagnosis *diagnosis);

GST_SPDL_API
const gchar *
gst_spdl_diagnosis_get_property (const GstSpdlDiagnosis *diagnosis);

GST_SPDL_API
const gchar *gst_spdl_diagnosis_get_value (const GstSpdlDiagnosis *diagnosis);

GST_SPDL_API
gchar *gst_spdl_diagnosis_dup_suggestion (const GstSpdlDiagnosis *diagnosis);

GST_SPDL_API
gdouble gst_spdl_diagnosis_get_gain (const GstSpdlDiagnosis *diagnosis);

GST_SPDL_API
const GstStructure *
gst_spdl_diagnosis_get_roofline (const GstSpdlDiagnosis *diagnosis);

G_END_DECLS

#endif /* __GST_SPDL_DIAGNOSE_H__ */
