/* gst-spdl: result of a diagnosis
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/diagnose/diagnosis-private.h"

G_DEFINE_BOXED_TYPE (GstSpdlDiagnosis, gst_spdl_diagnosis,
    gst_spdl_diagnosis_ref, gst_spdl_diagnosis_unref)

G_DEFINE_ENUM_TYPE (GstSpdlLimit, gst_spdl_limit,
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_TOO_FEW, "too-few"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_IDLE, "idle"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_BALANCED, "balanced"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_COMPUTING, "computing"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_CORES, "cores"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_WAITING, "waiting"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_STRAGGLER, "straggler"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_HELD, "held"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_ELEMENT, "element"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_SOURCE, "source"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_CONSUMER, "consumer"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_CONTENTION, "contention"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_CACHED, "cached"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_OTHERS, "others"),
    G_DEFINE_ENUM_VALUE (GST_SPDL_LIMIT_FAILURES, "failures"))

GstSpdlDiagnosis *
gst_spdl_diagnosis_new (GstSpdlLimit limit, const gchar *element, gchar *reason,
    const gchar *todo_format, ...)
{
  GstSpdlDiagnosis *self = g_atomic_rc_box_new0 (GstSpdlDiagnosis);
  g_autofree gchar *todo = NULL;
  va_list args;

  va_start (args, todo_format);
  todo = g_strdup_vprintf (todo_format, args);
  va_end (args);
  self->limit = limit;
  self->element = g_strdup (element);
  self->reason = reason;
  self->sentence = g_strdup_printf ("%s: %s", reason, todo);
  return self;
}

void
gst_spdl_diagnosis_suggest (
    GstSpdlDiagnosis *self, const gchar *property, gchar *value)
{
  self->property = g_strdup (property);
  self->value = value;
}

gchar *
gst_spdl_diagnosis_format_time (double ns)
{
  if (ns < 1e6)
    return g_strdup_printf ("%.0f µs", ns / 1e3);
  if (ns < 1e9)
    return g_strdup_printf ("%.3g ms", ns / 1e6);
  return g_strdup_printf ("%.3g s", ns / 1e9);
}

const gchar *
gst_spdl_limit_get_nick (GstSpdlLimit limit)
{
  GEnumClass *klass = g_type_class_ref (GST_TYPE_SPDL_LIMIT);
  const gchar *nick = g_enum_get_value (klass, limit)->value_nick;

  g_type_class_unref (klass);
  return nick;
}

static void
clear_finding (gpointer data)
{
  GstSpdlDiagnosis *self = data;

  g_free (self->element);
  g_free (self->reason);
  g_free (self->sentence);
  g_free (self->property);
  g_free (self->value);
  g_clear_pointer (&self->roofline, gst_structure_free);
}

/**
 * gst_spdl_diagnosis_ref:
 * @diagnosis: a diagnosis
 *
 * Adds a reference.
 *
 * Returns: (transfer full): @diagnosis
 *
 * Since: 0.1
 */
GstSpdlDiagnosis *
gst_spdl_diagnosis_ref (GstSpdlDiagnosis *diagnosis)
{
  return g_atomic_rc_box_acquire (diagnosis);
}

/**
 * gst_spdl_diagnosis_unref:
 * @diagnosis: (transfer full): a diagnosis
 *
 * Drops a reference. The last one frees the diagnosis.
 *
 * Since: 0.1
 */
void
gst_spdl_diagnosis_unref (GstSpdlDiagnosis *diagnosis)
{
  g_atomic_rc_box_release_full (diagnosis, clear_finding);
}

/**
 * gst_spdl_diagnosis_get_limit:
 * @diagnosis: a diagnosis
 *
 * Gets the kind of the bottleneck.
 *
 * Returns: the kind of the bottleneck
 *
 * Since: 0.1
 */
GstSpdlLimit
gst_spdl_diagnosis_get_limit (const GstSpdlDiagnosis *diagnosis)
{
  g_return_val_if_fail (diagnosis != NULL, GST_SPDL_LIMIT_TOO_FEW);

  return diagnosis->limit;
}

/**
 * gst_spdl_diagnosis_get_limit_nick:
 * @diagnosis: a diagnosis
 *
 * Gets the nick of the bottleneck's kind, such as "waiting".
 *
 * Returns: (transfer none): the nick
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_diagnosis_get_limit_nick (const GstSpdlDiagnosis *diagnosis)
{
  g_return_val_if_fail (diagnosis != NULL, NULL);

  return gst_spdl_limit_get_nick (diagnosis->limit);
}

/**
 * gst_spdl_diagnosis_get_element:
 * @diagnosis: a diagnosis
 *
 * Gets the element that is the bottleneck.
 *
 * Returns: (transfer none) (nullable): the name of the element, valid as long
 * as
 *     @diagnosis
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_diagnosis_get_element (const GstSpdlDiagnosis *diagnosis)
{
  g_return_val_if_fail (diagnosis != NULL, NULL);

  return diagnosis->element;
}

/**
 * gst_spdl_diagnosis_get_reason:
 * @diagnosis: a diagnosis
 *
 * Gets the reason, such as "decode computes all the time and its queue is 98 %
 * full".
 *
 * Returns: (transfer none): the reason, valid as long as @diagnosis
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_diagnosis_get_reason (const GstSpdlDiagnosis *diagnosis)
{
  g_return_val_if_fail (diagnosis != NULL, NULL);

  return diagnosis->reason;
}

/**
 * gst_spdl_diagnosis_get_sentence:
 * @diagnosis: a diagnosis
 *
 * Gets the reason and a suggestion, such as "decode computes all the time and
 * its queue is 98 % full: raise decode.concurrency, now 2".
 *
 * Returns: (transfer none): the sentence, valid as long as @diagnosis
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_diagnosis_get_sentence (const GstSpdlDiagnosis *diagnosis)
{
  g_return_val_if_fail (diagnosis != NULL, NULL);

  return diagnosis->sentence;
}

/**
 * gst_spdl_diagnosis_get_property:
 * @diagnosis: a diagnosis
 *
 * Gets the property of the element that should be changed.
 *
 * Returns: (transfer none) (nullable): the name of the property; %NULL without
 * a suggestion
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_diagnosis_get_property (const GstSpdlDiagnosis *diagnosis)
{
  g_return_val_if_fail (diagnosis != NULL, NULL);

  return diagnosis->property;
}

/**
 * gst_spdl_diagnosis_get_value:
 * @diagnosis: a diagnosis
 *
 * Gets the suggested value of the property.
 *
 * Returns: (transfer none) (nullable): the value as text; %NULL without a
 *     suggestion
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_diagnosis_get_value (const GstSpdlDiagnosis *diagnosis)
{
  g_return_val_if_fail (diagnosis != NULL, NULL);

  return diagnosis->value;
}

/**
 * gst_spdl_diagnosis_dup_suggestion:
 * @diagnosis: a diagnosis
 *
 * Formats the suggestion as for the option `--set` of gst-spdl-launch-1.0, such
 * as "decode.concurrency=4".
 *
 * Returns: (nullable) (transfer full): the text; %NULL without a suggestion
 *
 * Since: 0.1
 */
gchar *
gst_spdl_diagnosis_dup_suggestion (const GstSpdlDiagnosis *diagnosis)
{
  g_return_val_if_fail (diagnosis != NULL, NULL);

  if (!diagnosis->property)
    return NULL;
  return g_strdup_printf (
      "%s.%s=%s", diagnosis->element, diagnosis->property, diagnosis->value);
}

/**
 * gst_spdl_diagnosis_get_gain:
 * @diagnosis: a diagnosis
 *
 * Gets the factor by which the throughput may grow before the next stage is the
 * bottleneck.
 *
 * Returns: the factor, or 0 if it is unknown
 *
 * Since: 0.1
 */
gdouble
gst_spdl_diagnosis_get_gain (const GstSpdlDiagnosis *diagnosis)
{
  g_return_val_if_fail (diagnosis != NULL, 0);

  return diagnosis->gain;
}

/**
 * gst_spdl_diagnosis_get_roofline:
 * @diagnosis: a diagnosis
 *
 * Gets an estimate of the throughput that this machine can reach with this
 * pipeline, whatever the trainer takes, if each `concurrency` has its best
 * value. It is the lowest limit that a resource sets. The structure is called
 * `spdl-roofline`:
 *
 * - `items-per-second` (double): the maximum
 * - `batches-per-second` (double): the same in batches, if they are counted
 * - `limit` (string): nick of a #GstSpdlLimit, the resource that sets the
 *   maximum. `cores`: the CPU time of an item. `waiting`: the duration of a
 *   stage's tasks, of which a limited number runs at the same time. `element`:
 *   the thread that pushes the results of a stage and runs the elements after
 *   it, or the threads that run the requests of a stage. `source`: the thread
 *   of the source.
 * - `element` (string): the stage or source of that limit; not with `cores`
 * - `cpu-time` (uint64): CPU time of an item in all threads that load, in ns
 * - `cores` (double): cores that the process may use, if known
 * - `trainer-items-per-second` (double): items that the trainer takes if it
 *   never waits, by the duration of its steps. Missing if these are unknown, or
 *   if the trainer does nothing.
 * - `trainer-cores` (double): cores that loading needs at that rate
 * - `sentence` (string): these values for a reader
 *
 * Returns: (transfer none) (nullable): the estimate, valid as long as
 *     @diagnosis; %NULL if there is too little data for it
 *
 * Since: 0.1
 */
const GstStructure *
gst_spdl_diagnosis_get_roofline (const GstSpdlDiagnosis *diagnosis)
{
  g_return_val_if_fail (diagnosis != NULL, NULL);

  return diagnosis->roofline;
}
