/* gst-spdl: events and messages of the pipeline
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * SECTION:gstspdlevents
 * @title: Events
 * @short_description: events and messages of the pipeline
 *
 * Three serialized custom downstream events, which `spdlsink` removes from the
 * stream:
 *
 * - `spdl-source` is sticky and precedes the first item of a source.
 * - `spdl-epoch` follows the last item of each epoch.
 * - `spdl-items-dropped` names items that failed, were filtered or were dropped
 *   and will not come.
 *
 * Since: 0.1
 */

#include "gst/spdl/gstspdlevents.h"

#define SOURCE "spdl-source"
#define BASE "base"
#define EPOCH "spdl-epoch"
#define ITEMS_DROPPED "spdl-items-dropped"

G_DEFINE_ENUM_TYPE (GstSpdlDropReason, gst_spdl_drop_reason,
    { GST_SPDL_DROP_REASON_FAILED, "GST_SPDL_DROP_REASON_FAILED", "failed" },
    { GST_SPDL_DROP_REASON_FILTERED, "GST_SPDL_DROP_REASON_FILTERED",
        "filtered" },
    { GST_SPDL_DROP_REASON_DROPPED, "GST_SPDL_DROP_REASON_DROPPED", "dropped" })

/**
 * gst_spdl_event_new_source:
 * @source: number of the source
 * @num_items: number of items per epoch on this rank, or
 *     #GST_SPDL_ITEMS_UNKNOWN
 * @resume_state: state in which the source starts
 *
 * Creates an `spdl-source` event.
 *
 * Returns: (transfer full): the event
 *
 * Since: 0.1
 */
GstEvent *
gst_spdl_event_new_source (
    guint32 source, guint64 num_items, const gchar *resume_state)
{
  g_return_val_if_fail (resume_state != NULL, NULL);

  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY,
      gst_structure_new (SOURCE, "source", G_TYPE_UINT, source, "num-items",
          G_TYPE_UINT64, num_items, "resume-state", G_TYPE_STRING, resume_state,
          NULL));
}

/**
 * gst_spdl_event_parse_source:
 * @event: any event
 * @source: (out) (optional): number of the source
 * @num_items: (out) (optional): number of items per epoch, or
 *     #GST_SPDL_ITEMS_UNKNOWN
 * @resume_state: (out) (optional) (transfer none): state in which the source
 *     starts; valid as long as @event
 *
 * Reads an `spdl-source` event.
 *
 * Returns: %FALSE if @event is not an `spdl-source` event
 *
 * Since: 0.1
 */
gboolean
gst_spdl_event_parse_source (GstEvent *event, guint32 *source,
    guint64 *num_items, const gchar **resume_state)
{
  const GstStructure *s = gst_event_get_structure (event);
  const gchar *state;
  guint src;
  guint64 n;

  if (!s || !gst_structure_has_name (s, SOURCE) ||
      !gst_structure_get (s, "source", G_TYPE_UINT, &src, "num-items",
          G_TYPE_UINT64, &n, NULL) ||
      !(state = gst_structure_get_string (s, "resume-state")))
    return FALSE;
  if (source)
    *source = src;
  if (num_items)
    *num_items = n;
  if (resume_state)
    *resume_state = state;
  return TRUE;
}

/**
 * gst_spdl_event_set_base:
 * @event: (transfer none): a writable `spdl-source` event
 * @base: URI of the folder to which paths in the source's list are relative
 *
 * Sets the folder to which paths in the items' `extra` are relative.
 *
 * Since: 0.1
 */
void
gst_spdl_event_set_base (GstEvent *event, const gchar *base)
{
  g_return_if_fail (gst_spdl_event_parse_source (event, NULL, NULL, NULL));
  g_return_if_fail (gst_event_is_writable (event) && base != NULL);

  gst_structure_set (
      gst_event_writable_structure (event), BASE, G_TYPE_STRING, base, NULL);
}

/**
 * gst_spdl_event_get_base:
 * @event: any event
 *
 * Gets the folder to which paths in the items' `extra` are relative.
 *
 * Returns: (transfer none) (nullable): its URI, valid as long as @event; %NULL
 *     if @event is not an `spdl-source` event or has no folder
 *
 * Since: 0.1
 */
const gchar *
gst_spdl_event_get_base (GstEvent *event)
{
  if (!gst_spdl_event_parse_source (event, NULL, NULL, NULL))
    return NULL;
  return gst_structure_get_string (gst_event_get_structure (event), BASE);
}

/**
 * gst_spdl_event_new_epoch:
 * @source: number of the source
 * @epoch: the epoch that ends, from 0
 * @num_items: number of items of the epoch on this rank
 *
 * Creates an `spdl-epoch` event.
 *
 * Returns: (transfer full): the event
 *
 * Since: 0.1
 */
GstEvent *
gst_spdl_event_new_epoch (guint32 source, guint64 epoch, guint64 num_items)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
      gst_structure_new (EPOCH, "source", G_TYPE_UINT, source, "epoch",
          G_TYPE_UINT64, epoch, "num-items", G_TYPE_UINT64, num_items, NULL));
}

/**
 * gst_spdl_event_parse_epoch:
 * @event: any event
 * @source: (out) (optional): number of the source
 * @epoch: (out) (optional): the epoch that ends
 * @num_items: (out) (optional): number of its items
 *
 * Reads an `spdl-epoch` event.
 *
 * Returns: %FALSE if @event is not an `spdl-epoch` event
 *
 * Since: 0.1
 */
gboolean
gst_spdl_event_parse_epoch (
    GstEvent *event, guint32 *source, guint64 *epoch, guint64 *num_items)
{
  const GstStructure *s = gst_event_get_structure (event);
  guint src;
  guint64 number, n;

  if (!s || !gst_structure_has_name (s, EPOCH) ||
      !gst_structure_get (s, "source", G_TYPE_UINT, &src, "epoch",
          G_TYPE_UINT64, &number, "num-items", G_TYPE_UINT64, &n, NULL))
    return FALSE;
  if (source)
    *source = src;
  if (epoch)
    *epoch = number;
  if (num_items)
    *num_items = n;
  return TRUE;
}

/**
 * gst_spdl_event_new_items_dropped:
 * @source: number of the items' source
 * @epoch: epoch of the items
 * @sequences: (array length=n_sequences): sequence numbers of the items
 * @n_sequences: number of items
 * @reason: reason why they will not come
 *
 * Creates an `spdl-items-dropped` event.
 *
 * Returns: (transfer full): the event
 *
 * Since: 0.1
 */
GstEvent *
gst_spdl_event_new_items_dropped (guint32 source, guint64 epoch,
    const guint64 *sequences, guint n_sequences, GstSpdlDropReason reason)
{
  GstStructure *s = gst_structure_new (ITEMS_DROPPED, "source", G_TYPE_UINT,
      source, "epoch", G_TYPE_UINT64, epoch, "reason",
      GST_TYPE_SPDL_DROP_REASON, reason, NULL);
  GValue array = G_VALUE_INIT, number = G_VALUE_INIT;

  gst_value_array_init (&array, n_sequences);
  g_value_init (&number, G_TYPE_UINT64);
  for (guint i = 0; i < n_sequences; i++) {
    g_value_set_uint64 (&number, sequences[i]);
    gst_value_array_append_value (&array, &number);
  }
  gst_structure_take_value (s, "sequences", &array);
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, s);
}

/**
 * gst_spdl_event_parse_items_dropped:
 * @event: any event
 * @source: (out) (optional): number of the items' source
 * @epoch: (out) (optional): epoch of the items
 * @sequences: (out) (optional) (transfer full) (array length=n_sequences):
 *     sequence numbers of the items; free with g_free()
 * @n_sequences: (out) (optional): number of items
 * @reason: (out) (optional): reason why they will not come
 *
 * Reads an `spdl-items-dropped` event.
 *
 * Returns: %FALSE if @event is not an `spdl-items-dropped` event
 *
 * Since: 0.1
 */
gboolean
gst_spdl_event_parse_items_dropped (GstEvent *event, guint32 *source,
    guint64 *epoch, guint64 **sequences, guint *n_sequences,
    GstSpdlDropReason *reason)
{
  const GstStructure *s = gst_event_get_structure (event);
  const GValue *array;
  guint src;
  guint64 number;
  gint why;

  if (!s || !gst_structure_has_name (s, ITEMS_DROPPED) ||
      !gst_structure_get (s, "source", G_TYPE_UINT, &src, "epoch",
          G_TYPE_UINT64, &number, "reason", GST_TYPE_SPDL_DROP_REASON, &why,
          NULL) ||
      !(array = gst_structure_get_value (s, "sequences")) ||
      !GST_VALUE_HOLDS_ARRAY (array))
    return FALSE;

  const guint n = gst_value_array_get_size (array);
  if (source)
    *source = src;
  if (epoch)
    *epoch = number;
  if (n_sequences)
    *n_sequences = n;
  if (reason)
    *reason = why;
  if (sequences) {
    *sequences = g_new (guint64, n);
    for (guint i = 0; i < n; i++)
      (*sequences)[i] =
          g_value_get_uint64 (gst_value_array_get_value (array, i));
  }
  return TRUE;
}
