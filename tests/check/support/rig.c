/* gst-spdl: test harness for one element
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/support/rig.h"
#include "tests/check/support/errors.h"

#include <string.h>

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* Appends to the log. Lock held. */
static void
write_down (Rig *rig, gchar *text)
{
  g_ptr_array_add (rig->log, text);
  g_cond_broadcast (&rig->cond);
}

static void
append_name (GString *text, GstBuffer *buffer)
{
  const GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);

  if (text->len > 0 && text->str[text->len - 1] != '[')
    g_string_append_c (text, ' ');
  if (item)
    g_string_append_printf (text, "%" G_GUINT64_FORMAT, item->index);
  else
    g_string_append (
        text, gst_spdl_buffer_get_batch_meta (buffer) ? "batch" : "?");
}

/* Waits while the sink is blocked. Lock held. */
static GstFlowReturn
wait_while_held (Rig *rig)
{
  while (rig->held && !rig->flushing)
    g_cond_wait (&rig->cond, &rig->lock);
  return rig->flushing ? GST_FLOW_FLUSHING : rig->answer;
}

static GstFlowReturn
sink_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Rig *rig = gst_pad_get_element_private (pad);
  GString *text = g_string_new (NULL);
  GstFlowReturn ret;

  append_name (text, buffer);
  g_mutex_lock (&rig->lock);
  ret = wait_while_held (rig);
  if (ret == GST_FLOW_OK) {
    rig->n_items++;
    g_ptr_array_add (rig->buffers, gst_buffer_ref (buffer));
    write_down (rig, g_string_free (text, FALSE));
  } else {
    g_string_free (text, TRUE);
  }
  g_mutex_unlock (&rig->lock);
  gst_buffer_unref (buffer);
  return ret;
}

static GstFlowReturn
sink_chain_list (GstPad *pad, GstObject *parent, GstBufferList *list)
{
  Rig *rig = gst_pad_get_element_private (pad);
  GString *text = g_string_new ("[");
  GstFlowReturn ret;

  for (guint i = 0; i < gst_buffer_list_length (list); i++)
    append_name (text, gst_buffer_list_get (list, i));
  g_string_append_c (text, ']');
  g_mutex_lock (&rig->lock);
  ret = wait_while_held (rig);
  if (ret == GST_FLOW_OK) {
    rig->n_items += gst_buffer_list_length (list);
    for (guint i = 0; i < gst_buffer_list_length (list); i++)
      g_ptr_array_add (
          rig->buffers, gst_buffer_ref (gst_buffer_list_get (list, i)));
    write_down (rig, g_string_free (text, FALSE));
  } else {
    g_string_free (text, TRUE);
  }
  g_mutex_unlock (&rig->lock);
  gst_buffer_list_unref (list);
  return ret;
}

static gchar *
describe_event (GstEvent *event)
{
  guint64 epoch, *sequences;
  GstSpdlDropReason reason;
  guint n, parts;

  if (gst_spdl_event_parse_epoch (event, NULL, &epoch, NULL))
    return g_strdup_printf ("epoch %" G_GUINT64_FORMAT, epoch);
  if (!gst_spdl_event_parse_items_dropped (
          event, NULL, NULL, &sequences, &n, &reason))
    return g_strdup (GST_EVENT_TYPE_NAME (event));

  GEnumClass *klass = g_type_class_ref (GST_TYPE_SPDL_DROP_REASON);
  GString *text = g_string_new ("gone ");

  g_string_append (text, g_enum_get_value (klass, reason)->value_nick);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, " %" G_GUINT64_FORMAT, sequences[i]);
  if (gst_structure_get_uint (gst_event_get_structure (event), "parts", &parts))
    g_string_append_printf (text, "/%u", parts);
  g_type_class_unref (klass);
  g_free (sequences);
  return g_string_free (text, FALSE);
}

static gboolean
sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  Rig *rig = gst_pad_get_element_private (pad);

  g_mutex_lock (&rig->lock);
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START)
    rig->flushing = TRUE;
  else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    rig->flushing = rig->eos = FALSE;
  else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    rig->eos = TRUE;
  write_down (rig, describe_event (event));
  g_mutex_unlock (&rig->lock);
  gst_event_unref (event);
  return TRUE;
}

/* Returns: (transfer none) (nullable): details of a warning about failed
 * items */
static const GstStructure *
get_losses (GstMessage *message)
{
  const GstStructure *details = NULL;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning_details (message, &details);
  return details && gst_structure_has_name (details, "spdl-items-failed")
             ? details
             : NULL;
}

static GstBusSyncReply
on_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  Rig *rig = user_data;
  const GstStructure *s = gst_message_get_structure (message);
  guint64 index = 0;

  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR &&
      GST_MESSAGE_TYPE (message) != GST_MESSAGE_WARNING &&
      GST_MESSAGE_TYPE (message) != GST_MESSAGE_ELEMENT) {
    /* A dropped message is owned by the handler. */
    gst_message_unref (message);
    return GST_BUS_DROP;
  }
  g_mutex_lock (&rig->lock);
  g_ptr_array_add (get_losses (message) ? rig->losses : rig->messages, message);
  if (s && gst_structure_has_name (s, "spdl-item-failed")) {
    gst_structure_get_uint64 (s, "index", &index);
    write_down (rig, g_strdup_printf ("failed %" G_GUINT64_FORMAT, index));
  } else if (s && gst_structure_has_name (s, "spdl-stage-stats")) {
    write_down (rig, g_strdup ("stats"));
  } else if (!get_losses (message)) {
    write_down (rig, g_strdup (GST_MESSAGE_TYPE_NAME (message)));
  }
  g_mutex_unlock (&rig->lock);
  return GST_BUS_DROP;
}

static void
unref_message (gpointer message)
{
  gst_message_unref (message);
}

static void
unref_buffer (gpointer buffer)
{
  gst_buffer_unref (buffer);
}

Rig *
rig_new_for (GstElement *element)
{
  Rig *rig = g_new0 (Rig, 1);
  GstPad *in = gst_element_get_static_pad (element, "sink");
  GstPad *out = gst_element_get_static_pad (element, "src");

  g_mutex_init (&rig->lock);
  g_cond_init (&rig->cond);
  rig->log = g_ptr_array_new_with_free_func (g_free);
  rig->buffers = g_ptr_array_new_with_free_func (unref_buffer);
  rig->messages = g_ptr_array_new_with_free_func (unref_message);
  rig->losses = g_ptr_array_new_with_free_func (unref_message);
  rig->element = gst_object_ref_sink (element);
  rig->bus = gst_bus_new ();
  gst_bus_set_sync_handler (rig->bus, on_message, rig, NULL);
  gst_element_set_bus (element, rig->bus);

  rig->src = gst_pad_new_from_static_template (&src_template, "rigsrc");
  rig->sink = gst_pad_new_from_static_template (&sink_template, "rigsink");
  gst_pad_set_element_private (rig->sink, rig);
  gst_pad_set_chain_function (rig->sink, sink_chain);
  gst_pad_set_chain_list_function (rig->sink, sink_chain_list);
  gst_pad_set_event_function (rig->sink, sink_event);
  fail_unless (gst_pad_link (rig->src, in) == GST_PAD_LINK_OK);
  fail_unless (gst_pad_link (out, rig->sink) == GST_PAD_LINK_OK);
  gst_object_unref (in);
  gst_object_unref (out);
  return rig;
}

Rig *
rig_new (const gchar *name, const gchar *first_property, ...)
{
  GstElement *element = gst_element_factory_make (name, "stage");
  va_list args;

  fail_unless (element != NULL, "no element %s", name);
  va_start (args, first_property);
  g_object_set_valist (G_OBJECT (element), first_property, args);
  va_end (args);
  return rig_new_for (element);
}

void
rig_free (Rig *rig)
{
  g_mutex_lock (&rig->lock);
  rig->flushing = TRUE;
  g_cond_broadcast (&rig->cond);
  g_mutex_unlock (&rig->lock);
  gst_element_set_state (rig->element, GST_STATE_NULL);
  gst_pad_set_active (rig->src, FALSE);
  gst_pad_set_active (rig->sink, FALSE);
  gst_element_set_bus (rig->element, NULL);
  gst_bus_set_sync_handler (rig->bus, NULL, NULL, NULL);
  gst_object_unref (rig->bus);
  gst_object_unref (rig->src);
  gst_object_unref (rig->sink);
  gst_object_unref (rig->element);
  g_ptr_array_unref (rig->log);
  g_ptr_array_unref (rig->buffers);
  g_ptr_array_unref (rig->messages);
  g_ptr_array_unref (rig->losses);
  g_mutex_clear (&rig->lock);
  g_cond_clear (&rig->cond);
  g_free (rig);
}

void
rig_start (Rig *rig, const gchar *caps_string)
{
  GstSegment segment;

  rig->flushing = rig->eos = FALSE;
  gst_pad_set_active (rig->sink, TRUE);
  fail_unless (gst_element_set_state (rig->element, GST_STATE_PLAYING) !=
               GST_STATE_CHANGE_FAILURE);
  gst_pad_set_active (rig->src, TRUE);
  gst_pad_push_event (rig->src, gst_event_new_stream_start ("rig"));
  if (caps_string) {
    GstCaps *caps = gst_caps_from_string (caps_string);

    gst_pad_push_event (rig->src, gst_event_new_caps (caps));
    gst_caps_unref (caps);
  }
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (rig->src, gst_event_new_segment (&segment));
}

GstBuffer *
rig_make_item (guint64 number, gsize size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  GstSpdlItemMeta *item = gst_spdl_buffer_add_item_meta (buffer);
  g_autofree gchar *uri = g_strdup_printf ("test:%" G_GUINT64_FORMAT, number);

  gst_buffer_memset (buffer, 0, number & 0xff, size);
  item->index = item->sequence = number;
  item->label = number % 10;
  item->uri = g_ref_string_new (uri);
  item->created = gst_util_get_timestamp ();
  return buffer;
}

GstBuffer *
rig_make_uri_item (guint64 number, const gchar *base, const gchar *path)
{
  GstBuffer *buffer = rig_make_item (number, 0);
  gchar *uri = g_strconcat (base, path, NULL);

  gst_buffer_append_memory (
      buffer, gst_memory_new_wrapped (
                  0, uri, strlen (uri), 0, strlen (uri), uri, g_free));
  return buffer;
}

GstFlowReturn
rig_push (Rig *rig, guint64 number)
{
  return gst_pad_push (rig->src, rig_make_item (number, 16));
}

GstFlowReturn
rig_push_range (Rig *rig, guint64 first, guint64 last)
{
  GstFlowReturn ret = GST_FLOW_OK;

  for (guint64 i = first; i <= last && ret == GST_FLOW_OK; i++)
    ret = rig_push (rig, i);
  return ret;
}

GstFlowReturn
rig_push_group (Rig *rig, guint64 first, guint64 last)
{
  GstBufferList *list = gst_buffer_list_new ();

  for (guint64 i = first; i <= last; i++)
    gst_buffer_list_add (list, rig_make_item (i, 16));
  return gst_pad_push_list (rig->src, list);
}

void
rig_push_eos (Rig *rig)
{
  gst_pad_push_event (rig->src, gst_event_new_eos ());
}

gpointer
rig_push_many (gpointer rig)
{
  rig_push_range (rig, 0, 999);
  rig_push_eos (rig);
  return NULL;
}

void
rig_hold (Rig *rig, gboolean held)
{
  g_mutex_lock (&rig->lock);
  rig->held = held;
  g_cond_broadcast (&rig->cond);
  g_mutex_unlock (&rig->lock);
}

void
rig_wait_eos (Rig *rig)
{
  const gint64 end = g_get_monotonic_time () + 60 * G_TIME_SPAN_SECOND;

  g_mutex_lock (&rig->lock);
  while (!rig->eos)
    fail_unless (g_cond_wait_until (&rig->cond, &rig->lock, end),
        "no end of the stream came");
  g_mutex_unlock (&rig->lock);
}

void
rig_wait_items (Rig *rig, guint n)
{
  const gint64 end = g_get_monotonic_time () + 60 * G_TIME_SPAN_SECOND;

  g_mutex_lock (&rig->lock);
  while (rig->n_items < n)
    fail_unless (g_cond_wait_until (&rig->cond, &rig->lock, end),
        "%u of %u items came", rig->n_items, n);
  g_mutex_unlock (&rig->lock);
}

guint
rig_count_items (Rig *rig)
{
  guint n;

  g_mutex_lock (&rig->lock);
  n = rig->n_items;
  g_mutex_unlock (&rig->lock);
  return n;
}

gchar *
rig_take_log (Rig *rig)
{
  GString *text = g_string_new (NULL);

  g_mutex_lock (&rig->lock);
  for (guint i = 0; i < rig->log->len; i++) {
    const gchar *entry = g_ptr_array_index (rig->log, i);

    if (g_str_equal (entry, "stream-start") || g_str_equal (entry, "caps") ||
        g_str_equal (entry, "segment") || g_str_equal (entry, "stats"))
      continue;
    if (text->len > 0)
      g_string_append_c (text, ' ');
    g_string_append (text, entry);
  }
  g_ptr_array_set_size (rig->log, 0);
  g_mutex_unlock (&rig->lock);
  return g_string_free (text, FALSE);
}

static void
describe_losses (const GstStructure *s, GString *text)
{
  const gchar *uri = gst_structure_get_string (s, "uri");
  guint64 epoch, n_items, n_failures;
  gboolean summary;

  fail_unless (gst_structure_get (s, "epoch", G_TYPE_UINT64, &epoch,
      "num-items", G_TYPE_UINT64, &n_items, "num-failures", G_TYPE_UINT64,
      &n_failures, "summary", G_TYPE_BOOLEAN, &summary, NULL));
  fail_unless_equals_string (gst_structure_get_string (s, "stage"), "stage");
  g_string_append_printf (
      text, "%s%" G_GUINT64_FORMAT, text->len > 0 ? ", " : "", n_failures);
  if (summary)
    g_string_append_printf (text, "/%" G_GUINT64_FORMAT, n_items);
  g_string_append_printf (
      text, "@%" G_GUINT64_FORMAT " %s", epoch, uri ? uri : "-");
}

gchar *
rig_list_losses (Rig *rig)
{
  GString *text = g_string_new (NULL);

  g_mutex_lock (&rig->lock);
  for (guint i = 0; i < rig->losses->len; i++)
    describe_losses (get_losses (g_ptr_array_index (rig->losses, i)), text);
  g_mutex_unlock (&rig->lock);
  return g_string_free (text, FALSE);
}

const GstStructure *
rig_find_message (Rig *rig, const gchar *name)
{
  const GstStructure *found = NULL;

  g_mutex_lock (&rig->lock);
  for (guint i = rig->messages->len; i > 0 && !found; i--) {
    const GstStructure *s =
        gst_message_get_structure (g_ptr_array_index (rig->messages, i - 1));

    if (s && gst_structure_has_name (s, name))
      found = s;
  }
  g_mutex_unlock (&rig->lock);
  return found;
}

const gchar *
rig_get_error (Rig *rig)
{
  const gchar *text = NULL;

  g_mutex_lock (&rig->lock);
  for (guint i = 0; i < rig->messages->len && !text; i++) {
    GstMessage *message = g_ptr_array_index (rig->messages, i);

    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
      GError *error = NULL;
      g_autofree gchar *formatted = NULL;

      gst_message_parse_error (message, &error, NULL);
      formatted = errors_format (error);
      text = g_intern_string (formatted);
      g_error_free (error);
    }
  }
  g_mutex_unlock (&rig->lock);
  return text;
}

guint64
rig_get_stat (GstElement *element, const gchar *field)
{
  GstStructure *stats;
  guint64 value = G_MAXUINT64;

  g_object_get (element, "stage-stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, field, &value), "no %s", field);
  gst_structure_free (stats);
  return value;
}
