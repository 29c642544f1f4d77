/* gst-spdl: serialization of basic values
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/wire/serializer.h"

#define NO_TEXT G_MAXUINT32

void
spdl_put_string (GByteArray *bytes, const gchar *text)
{
  const gsize length = text ? strlen (text) : 0;

  spdl_put_u32 (bytes, text ? (guint32) length : NO_TEXT);
  spdl_put (bytes, text, length);
}

void
spdl_put_strings (GByteArray *bytes, const gchar *const *names)
{
  const guint n = names ? g_strv_length ((GStrv) names) : 0;

  if (n > 0)
    spdl_put_u32 (bytes, n);
  for (guint i = 0; i < n; i++)
    spdl_put_string (bytes, names[i]);
}

void
spdl_put_error (GByteArray *bytes, const GError *error)
{
  spdl_put_string (bytes, g_quark_to_string (error->domain));
  spdl_put_u32 (bytes, error->code);
  spdl_put_string (bytes, error->message);
}

gboolean
spdl_is_text (const gchar *text, gsize size)
{
  const guint64 ones = 0x0101010101010101, highs = 0x8080808080808080;
  gsize at = 0;

  /* Most text is ASCII: checks eight bytes at a time for zeros and values above
   * 127. */
  for (guint64 word; at + sizeof word <= size; at += sizeof word) {
    memcpy (&word, text + at, sizeof word);
    if (((word - ones) | word) & highs)
      break;
  }
  return !memchr (text + at, '\0', size - at) &&
         g_utf8_validate_len (text + at, size - at, NULL);
}

guint32
spdl_get_text (SpdlPayload *self, const gchar **text)
{
  const guint32 length = spdl_get_u32 (self);

  *text = NULL;
  if (self->broken || length == NO_TEXT)
    return 0;
  *text = (const gchar *) spdl_get (self, length);
  if (*text && !spdl_is_text (*text, length)) {
    self->broken = TRUE;
    *text = NULL;
  }
  return *text ? length : 0;
}

gchar *
spdl_get_string (SpdlPayload *self)
{
  const gchar *text;
  const guint32 length = spdl_get_text (self, &text);

  return text ? g_strndup (text, length) : NULL;
}

GStrv
spdl_get_strings (SpdlPayload *self)
{
  const guint32 n = self->left > 0 ? spdl_get_u32 (self) : 0;
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint32 i = 0; i < n && !self->broken; i++) {
    gchar *name = spdl_get_string (self);

    self->broken |= !name;
    g_ptr_array_add (names, name);
  }
  if (self->broken || n == 0) {
    g_ptr_array_unref (names);
    return NULL;
  }
  g_ptr_array_add (names, NULL);
  return (GStrv) g_ptr_array_free (names, FALSE);
}

GError *
spdl_get_error (SpdlPayload *self)
{
  g_autofree gchar *domain = spdl_get_string (self);
  const gint code = spdl_get_u32 (self);
  g_autofree gchar *text = spdl_get_string (self);

  if (self->broken || !text || !domain || !*domain) {
    self->broken = TRUE;
    return NULL;
  }
  return g_error_new_literal (g_quark_from_string (domain), code, text);
}
