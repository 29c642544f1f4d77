/* gst-spdl: file format of a disk cache entry
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/diskcache/diskentry.h"

#include <string.h>

#include "plugins/common/bytes.h"
#include "plugins/common/fingerprint.h"

#define MARK "spdlitm\1"

/* Offsets of the header fields. */
enum {
  AT_NAME = 8,
  AT_PLACE = 40,
  AT_SIZE = 72,
  AT_HASH = 80,
  AT_KIND = 88,
  AT_TEXT_SIZE = 92,
  AT_HEAD_HASH = 96,
};

static guint64
hash_head (const guint8 *data, gsize text_size)
{
  const guint64 hash = spdl_fingerprint_add (0, data, AT_HEAD_HASH);

  return spdl_fingerprint_add (hash, data + SPDL_DISK_ENTRY_HEADER, text_size);
}

guint64
spdl_disk_entry_hash (gconstpointer content, gsize size)
{
  return spdl_fingerprint_add (0, content, size);
}

gboolean
spdl_disk_entry_fits (const SpdlDiskEntry *self)
{
  return !self->validator.text ||
         strlen (self->validator.text) <= SPDL_DISK_ENTRY_MAX_TEXT;
}

gsize
spdl_disk_entry_write (const SpdlDiskEntry *self, guint8 *data)
{
  const SpdlValidator *validator = &self->validator;
  const gsize n = validator->text ? strlen (validator->text) : 0;

  memcpy (data, MARK, AT_NAME);
  memcpy (data + AT_NAME, self->name, SPDL_DIGEST_SIZE);
  memcpy (data + AT_PLACE, validator->place, SPDL_DIGEST_SIZE);
  spdl_write_64_le (data + AT_SIZE, self->size);
  spdl_write_64_le (data + AT_HASH, self->hash);
  spdl_write_32_le (data + AT_KIND, validator->kind);
  spdl_write_32_le (data + AT_TEXT_SIZE, n);
  if (n > 0)
    memcpy (data + SPDL_DISK_ENTRY_HEADER, validator->text, n);
  spdl_write_64_le (data + AT_HEAD_HASH, hash_head (data, n));
  return SPDL_DISK_ENTRY_HEADER + n;
}

static const gchar *
check_header (
    const guint8 *data, gsize n, guint64 file_size, const guint8 *name)
{
  guint32 kind, text_size;

  if (n < SPDL_DISK_ENTRY_HEADER)
    return "the entry is cut off";
  if (memcmp (data, MARK, AT_NAME) != 0)
    return "the file is not an entry, or has another version";
  kind = spdl_read_32_le (data + AT_KIND);
  text_size = spdl_read_32_le (data + AT_TEXT_SIZE);
  if (text_size > n - SPDL_DISK_ENTRY_HEADER ||
      text_size > SPDL_DISK_ENTRY_MAX_TEXT)
    return "the validator is cut off";
  if (spdl_read_64_le (data + AT_HEAD_HASH) != hash_head (data, text_size))
    return "the header is damaged";
  if (memcmp (data + AT_NAME, name, SPDL_DIGEST_SIZE) != 0)
    return "the entry belongs to another URI";
  if (kind > SPDL_VALIDATOR_DATE ||
      (kind == SPDL_VALIDATOR_NONE) != (text_size == 0) ||
      memchr (data + SPDL_DISK_ENTRY_HEADER, '\0', text_size))
    return "the validator is invalid";
  if (spdl_read_64_le (data + AT_SIZE) !=
      file_size - SPDL_DISK_ENTRY_HEADER - text_size)
    return "the length differs from the declared one";
  return NULL;
}

gsize
spdl_disk_entry_read (SpdlDiskEntry *self, const guint8 *data, gsize n,
    guint64 file_size, const guint8 name[SPDL_DIGEST_SIZE],
    const gchar **problem)
{
  SpdlValidator *validator = &self->validator;
  gsize text_size;

  memset (self, 0, sizeof *self);
  *problem = check_header (data, n, file_size, name);
  if (*problem)
    return 0;
  text_size = spdl_read_32_le (data + AT_TEXT_SIZE);
  memcpy (self->name, name, SPDL_DIGEST_SIZE);
  memcpy (validator->place, data + AT_PLACE, SPDL_DIGEST_SIZE);
  validator->kind = spdl_read_32_le (data + AT_KIND);
  if (text_size > 0)
    validator->text =
        g_strndup ((const gchar *) data + SPDL_DISK_ENTRY_HEADER, text_size);
  self->size = spdl_read_64_le (data + AT_SIZE);
  self->hash = spdl_read_64_le (data + AT_HASH);
  return SPDL_DISK_ENTRY_HEADER + text_size;
}
