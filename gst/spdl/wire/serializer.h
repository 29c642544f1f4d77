/* gst-spdl: serialization for messages between processes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>
#include <string.h>

#include "gst/spdl/engine/visibility.h"

G_BEGIN_DECLS

/* Numbers are stored in native byte order. A string is its length, 32 bits, and
 * its bytes; the length G_MAXUINT32 means NULL. A list of strings, at the end
 * of a payload, is its length, 32 bits, and the strings, none of which is NULL;
 * an empty list is omitted. Structures are described in serializervalue.c. */

/* Writers. They append to a byte array. */

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

/* Sets the number that spdl_put_u32() appended at @at, once it is known. */
static inline void
spdl_set_u32 (GByteArray *bytes, guint at, guint32 value)
{
  memcpy (bytes->data + at, &value, sizeof value);
}

static inline void
spdl_put_u64 (GByteArray *bytes, guint64 value)
{
  spdl_put (bytes, &value, sizeof value);
}

SPDL_PRIVATE_API
void spdl_put_string (GByteArray *bytes, const gchar *text);
/* @names: (nullable) */
SPDL_PRIVATE_API
void spdl_put_strings (GByteArray *bytes, const gchar *const *names);
SPDL_PRIVATE_API
void spdl_put_error (GByteArray *bytes, const GError *error);
/* Fields of unsupported types are omitted. */
SPDL_PRIVATE_API
void spdl_put_structure (GByteArray *bytes, const GstStructure *s);
/* @caps: fixed; caps features are omitted */
SPDL_PRIVATE_API
void spdl_put_caps (GByteArray *bytes, const GstCaps *caps);

/* Readers. Missing or invalid data sets `broken` and gives 0 or NULL, as do all
 * following reads, so callers check only once at the end. */
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

/* Returns: the next @size bytes, or NULL if there are fewer */
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

/* Returns whether @text is UTF-8 without NUL. */
SPDL_PRIVATE_API
gboolean spdl_is_text (const gchar *text, gsize size);

/* @text: (out): borrowed, not terminated; must be UTF-8 without NUL
 * Returns the length; 0 if @text is NULL. */
SPDL_PRIVATE_API
guint32 spdl_get_text (SpdlPayload *self, const gchar **text);
/* Returns: (transfer full) (nullable) */
SPDL_PRIVATE_API
gchar *spdl_get_string (SpdlPayload *self);
/* Returns: (transfer full) (nullable): NULL if there are none */
SPDL_PRIVATE_API
GStrv spdl_get_strings (SpdlPayload *self);
/* Returns: (transfer full): NULL only if the data is invalid */
SPDL_PRIVATE_API
GError *spdl_get_error (SpdlPayload *self);
SPDL_PRIVATE_API
GstStructure *spdl_get_structure (SpdlPayload *self);
SPDL_PRIVATE_API
GstCaps *spdl_get_caps (SpdlPayload *self);

/* Returns whether all data was valid and read. */
static inline gboolean
spdl_payload_is_read (const SpdlPayload *self)
{
  return !self->broken && self->left == 0;
}

G_END_DECLS
