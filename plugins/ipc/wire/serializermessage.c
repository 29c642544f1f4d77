/* gst-spdl: serialization of bus messages
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/wire/serializermessage.h"

typedef enum {
  KIND_ELEMENT,
  KIND_ERROR,
  KIND_WARNING,
  KIND_INFO,
} Kind;

/* Writes a message with a GError, debug text, and optional details. */
static void
put_report (GByteArray *bytes, GstMessage *message, Kind kind)
{
  const GstStructure *details = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree gchar *debug = NULL;

  if (kind == KIND_ERROR) {
    gst_message_parse_error (message, &error, &debug);
    gst_message_parse_error_details (message, &details);
  } else if (kind == KIND_WARNING) {
    gst_message_parse_warning (message, &error, &debug);
    gst_message_parse_warning_details (message, &details);
  } else {
    gst_message_parse_info (message, &error, &debug);
    gst_message_parse_info_details (message, &details);
  }
  spdl_put_error (bytes, error);
  spdl_put_string (bytes, debug);
  if (details)
    spdl_put_structure (bytes, details);
}

static gboolean
find_kind (GstMessage *message, Kind *kind)
{
  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ELEMENT:
      *kind = KIND_ELEMENT;
      return gst_message_get_structure (message) != NULL;
    case GST_MESSAGE_ERROR:
      *kind = KIND_ERROR;
      return TRUE;
    case GST_MESSAGE_WARNING:
      *kind = KIND_WARNING;
      return TRUE;
    case GST_MESSAGE_INFO:
      *kind = KIND_INFO;
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
spdl_put_message (GByteArray *bytes, GstMessage *message)
{
  Kind kind;

  if (!find_kind (message, &kind))
    return FALSE;
  spdl_put_u32 (bytes, kind);
  spdl_put_string (bytes,
      GST_MESSAGE_SRC (message) ? GST_MESSAGE_SRC_NAME (message) : "unknown");
  if (kind == KIND_ELEMENT)
    spdl_put_structure (bytes, gst_message_get_structure (message));
  else
    put_report (bytes, message, kind);
  return TRUE;
}

static GstMessage *
get_element (SpdlPayload *self, GstObject *source, guint pid)
{
  GstStructure *s = spdl_get_structure (self);

  if (!s)
    return NULL;
  if (gst_structure_has_name (s, "spdl-stage-stats"))
    gst_structure_set (s, "pid", G_TYPE_UINT, pid, NULL);
  return gst_message_new_element (source, s);
}

static GstMessage *
get_report (SpdlPayload *self, GstObject *source, guint pid, Kind kind,
    const gchar *stage)
{
  g_autoptr (GError) error = spdl_get_error (self);
  g_autofree gchar *debug = spdl_get_string (self);
  GstStructure *details = NULL;

  if (self->left > 0)
    details = spdl_get_structure (self);
  if (self->broken)
    return NULL;
  if (!details)
    details = gst_structure_new_empty ("details");
  gst_structure_set (
      details, "stage", G_TYPE_STRING, stage, "pid", G_TYPE_UINT, pid, NULL);
  switch (kind) {
    case KIND_ERROR:
      return gst_message_new_error_with_details (source, error, debug, details);
    case KIND_WARNING:
      return gst_message_new_warning_with_details (
          source, error, debug, details);
    default:
      return gst_message_new_info_with_details (source, error, debug, details);
  }
}

GstMessage *
spdl_get_message (SpdlPayload *self, GstObject *source, guint pid)
{
  const guint32 kind = spdl_get_u32 (self);
  g_autofree gchar *stage = spdl_get_string (self);
  GstMessage *message;

  self->broken |= kind > KIND_INFO || !stage;
  if (self->broken)
    return NULL;
  message = kind == KIND_ELEMENT ? get_element (self, source, pid)
                                 : get_report (self, source, pid, kind, stage);
  if (!spdl_payload_is_read (self))
    gst_clear_message (&message);
  return message;
}
