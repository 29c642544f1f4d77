/* gst-spdl: values in messages between processes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include <string.h>

G_BEGIN_DECLS

/* Numbers lie as in memory. A string is its length, of 32 bits, and its bytes;
 * the length G_MAXUINT32 is NULL. Strings, at the end of a payload, are
 * their number, of 32 bits, and each of them, none of which is NULL; nothing is
 * none. A structure is serializervalue.c's. */

/* Writing, at the end of a byte array. */

static inline void
spdl_put (GByteArray *bytes, gconstpointer data, gsize size)
{
  if (size > 0)
    g_byte_array_append (bytes, data, size);
}

static inline void
spdl_put_u32 (GByteArray *bytes, guint32 value)
{
  spdl_put (bytes, &value, sizeof value);
}

static inline void
spdl_put_u64 (GByteArray *bytes, guint64 value)
{
  spdl_put (bytes, &value, sizeof value);
}

void spdl_put_string (GByteArray *bytes, const gchar *text);
/* @names: (nullable) */
void spdl_put_strings (GByteArray *bytes, const gchar *const *names);
void spdl_put_error (GByteArray *bytes, const GError *error);
/* Fields of types that it does not know are left out. */
void spdl_put_structure (GByteArray *bytes, const GstStructure *s);
/* @caps: fixed; what they say of memory is left out */
void spdl_put_caps (GByteArray *bytes, const GstCaps *caps);

/* Reading. What is not there, or not as it should be, is 0 or NULL, and so is
 * all that follows: a reader asks once, in the end. */
typedef struct {
  const guint8 *at;
  gsize left;
  gboolean broken;
} SpdlPayload;

static inline SpdlPayload
spdl_payload (gconstpointer data, gsize size)
{
  return (SpdlPayload){ data, size, FALSE };
}

/* Returns: where the next @size bytes are, NULL if they are not there */
static inline const guint8 *
spdl_get (SpdlPayload *self, gsize size)
{
  const guint8 *at = self->at;

  if (self->broken || self->left < size) {
    self->broken = TRUE;
    return NULL;
  }
  self->at += size;
  self->left -= size;
  return at;
}

static inline guint32
spdl_get_u32 (SpdlPayload *self)
{
  const guint8 *at = spdl_get (self, sizeof (guint32));
  guint32 value = 0;

  if (at)
    memcpy (&value, at, sizeof value);
  return value;
}

static inline guint64
spdl_get_u64 (SpdlPayload *self)
{
  const guint8 *at = spdl_get (self, sizeof (guint64));
  guint64 value = 0;

  if (at)
    memcpy (&value, at, sizeof value);
  return value;
}

/* Whether it is UTF-8 without a 0. */
gboolean spdl_is_text (const gchar *text, gsize size);

/* @text: UTF-8 without a 0, or it is broken; borrowed, not terminated.
 * Returns its length; for NULL, too, 0. */
guint32 spdl_get_text (SpdlPayload *self, const gchar **text);
/* Returns: (transfer full) (nullable) */
gchar *spdl_get_string (SpdlPayload *self);
/* Returns: (transfer full) (nullable): NULL: there are none */
GStrv spdl_get_strings (SpdlPayload *self);
/* Returns: (transfer full); NULL only if it is broken */
GError *spdl_get_error (SpdlPayload *self);
GstStructure *spdl_get_structure (SpdlPayload *self);
GstCaps *spdl_get_caps (SpdlPayload *self);

/* Whether all was there, and nothing is left. */
static inline gboolean
spdl_payload_is_read (const SpdlPayload *self)
{
  return !self->broken && self->left == 0;
}

G_END_DECLS
