/* gst-spdl: renumbering of a worker's sources
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/sourcebase.h"

#include <gst/spdl/spdl.h>
#include <string.h>

#include "gst/spdl/common/sourcenumber.h"

/* Format of states; see progress/state.h. */
#define VERSION "spdl1;"
#define SOURCE "source="

void
spdl_source_base_shift_buffer (GstBuffer *buffer, guint32 base)
{
  GstSpdlBatchMeta *batch = gst_spdl_buffer_get_batch_meta (buffer);
  GstSpdlItemMeta *item = gst_spdl_buffer_get_item_meta (buffer);

  if (base == 0)
    return;
  for (guint i = 0; batch && i < batch->num_items; i++)
    batch->items[i].source += base;
  if (item)
    item->source += base;
}

/* Calls @func for the part of each source in a state. Returns FALSE if the
 * state is invalid. */
static gboolean
for_each_part (const gchar *state,
    void (*func) (guint64 number, const gchar *rest, gsize size, gpointer data),
    gpointer data)
{
  const gchar *end;
  gchar *rest;
  guint64 number;

  if (!g_str_has_prefix (state, VERSION))
    return FALSE;
  for (state += strlen (VERSION); (end = strchr (state, ';'));
       state = end + 1) {
    if (!g_str_has_prefix (state, SOURCE))
      return FALSE;
    number = g_ascii_strtoull (state + strlen (SOURCE), &rest, 10);
    if (rest > end || *rest != ',')
      return FALSE;
    func (number, rest, end + 1 - rest, data);
  }
  return *state == '\0';
}

typedef struct {
  GString *text;
  guint32 base;
} Shift;

static void
add_base (guint64 number, const gchar *rest, gsize size, gpointer data)
{
  Shift *shift = data;

  g_string_append_printf (
      shift->text, SOURCE "%" G_GUINT64_FORMAT, number + shift->base);
  g_string_append_len (shift->text, rest, size);
}

static void
take_part (guint64 number, const gchar *rest, gsize size, gpointer data)
{
  Shift *shift = data;

  if (number < shift->base || number - shift->base >= SPDL_SOURCE_NUMBER_STEP)
    return;
  g_string_append_printf (
      shift->text, SOURCE "%" G_GUINT64_FORMAT, number - shift->base);
  g_string_append_len (shift->text, rest, size);
}

gchar *
spdl_source_base_take_state (const gchar *state, guint32 base)
{
  Shift shift = { g_string_new (VERSION), base };
  gchar *text = NULL;

  if (!state) {
    g_string_free (shift.text, TRUE);
    return NULL;
  }
  if (!for_each_part (state, take_part, &shift) || g_str_equal (state, VERSION))
    text = g_strdup (state);
  else if (shift.text->len > strlen (VERSION))
    text = g_strdup (shift.text->str);
  g_string_free (shift.text, TRUE);
  return text;
}

static void
shift_state (GstStructure *s, guint32 base)
{
  const gchar *state = gst_structure_get_string (s, "resume-state");
  Shift shift = { g_string_new (VERSION), base };

  if (state && for_each_part (state, add_base, &shift))
    gst_structure_set (s, "resume-state", G_TYPE_STRING, shift.text->str, NULL);
  g_string_free (shift.text, TRUE);
}

static void
shift_sources (GstStructure *s, guint32 base)
{
  guint number;

  if (!g_str_has_prefix (gst_structure_get_name (s), "spdl-") ||
      !gst_structure_get_uint (s, "source", &number))
    return;
  gst_structure_set (s, "source", G_TYPE_UINT, number + base, NULL);
  if (gst_structure_has_name (s, "spdl-source"))
    shift_state (s, base);
}

void
spdl_source_base_shift_event (GstEvent *event, guint32 base)
{
  if (base > 0)
    shift_sources (gst_event_writable_structure (event), base);
}

void
spdl_source_base_shift_message (GstMessage *message, guint32 base)
{
  if (base > 0 && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT)
    shift_sources (gst_message_writable_structure (message), base);
}
