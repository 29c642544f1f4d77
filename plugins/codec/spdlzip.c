/* gst-spdl: the directory of a ZIP archive
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlzip.h"

#include <string.h>

#include "spdlbytes.h"

/* The parts of fixed size. */
#define LOCAL_SIZE 30
#define ENTRY_SIZE 46
#define END_SIZE 22
#define END_64_SIZE 56
#define LOCATOR_64_SIZE 20

#define MAX_COMMENT 65535
#define EXTRA_64 1

static gboolean
has_mark (const guint8 *p, gchar third, gchar fourth)
{
  return p[0] == 'P' && p[1] == 'K' && p[2] == third && p[3] == fourth;
}

gboolean
spdl_zip_is_zip (const guint8 *data, gsize size)
{
  return size >= 4 && (has_mark (data, 3, 4) || has_mark (data, 5, 6));
}

/* The end of an archive, behind which is nothing but a comment. */
static gboolean
find_end (const SpdlZip *self, gsize *end)
{
  const guint8 *data = self->data;
  gsize least;

  if (self->n_bytes < END_SIZE)
    return FALSE;
  *end = self->n_bytes - END_SIZE;
  least = *end > MAX_COMMENT ? *end - MAX_COMMENT : 0;
  for (;; (*end)--) {
    if (has_mark (data + *end, 5, 6) &&
        spdl_read_16_le (data + *end + 20) == self->n_bytes - *end - END_SIZE)
      return TRUE;
    if (*end == least)
      return FALSE;
  }
}

typedef struct {
  guint64 at, size, n_members;
  gboolean many_disks;
} Directory;

/* ZIP64's end, which lies before the other one. */
static gboolean
read_end_64 (const SpdlZip *self, gsize *end, Directory *directory)
{
  const guint8 *locator, *record;
  guint64 at;

  if (*end < LOCATOR_64_SIZE)
    return FALSE;
  locator = self->data + *end - LOCATOR_64_SIZE;
  if (!has_mark (locator, 6, 7))
    return FALSE;
  at = spdl_read_64_le (locator + 8);
  if (at > *end - LOCATOR_64_SIZE ||
      *end - LOCATOR_64_SIZE - at < END_64_SIZE ||
      !has_mark (self->data + at, 6, 6))
    return FALSE;
  record = self->data + at;
  directory->many_disks =
      spdl_read_32_le (record + 16) || spdl_read_32_le (record + 20);
  directory->n_members = spdl_read_64_le (record + 32);
  directory->size = spdl_read_64_le (record + 40);
  directory->at = spdl_read_64_le (record + 48);
  *end = at;
  return TRUE;
}

const gchar *
spdl_zip_open (SpdlZip *self, const guint8 *data, gsize size)
{
  Directory directory;
  const guint8 *record;
  gsize end;

  *self = (SpdlZip){ .data = data, .n_bytes = size };
  if (!find_end (self, &end))
    return "it ends before its directory does";
  record = data + end;
  directory = (Directory){ .at = spdl_read_32_le (record + 16),
    .size = spdl_read_32_le (record + 12),
    .n_members = spdl_read_16_le (record + 10),
    .many_disks = spdl_read_32_le (record + 4) != 0 };
  if ((directory.at == G_MAXUINT32 || directory.size == G_MAXUINT32 ||
          directory.n_members == G_MAXUINT16) &&
      !read_end_64 (self, &end, &directory))
    return "its directory in ZIP64 is missing";
  if (directory.many_disks)
    return "it is one part of several";
  if (directory.at > end || directory.size > end - directory.at)
    return "its directory is not where it is said to be";
  self->at = directory.at;
  self->end = directory.at + directory.size;
  self->n_members = directory.n_members;
  return NULL;
}

/* Where the entry says that it does not fit, an extra field says it; in this
 * order. */
static gboolean
read_extra (const guint8 *p, gsize size, guint64 **values, guint n_values)
{
  while (size >= 4) {
    const guint id = spdl_read_16_le (p), length = spdl_read_16_le (p + 2);

    p += 4;
    size -= 4;
    if (length > size)
      return FALSE;
    if (id == EXTRA_64) {
      if (length < 8 * n_values)
        return FALSE;
      for (guint i = 0; i < n_values; i++)
        *values[i] = spdl_read_64_le (p + 8 * i);
      return TRUE;
    }
    p += length;
    size -= length;
  }
  return FALSE;
}

/* Sees to it that the member's own header says the same. */
static const gchar *
find_data (const SpdlZip *self, SpdlZipMember *member, guint64 at)
{
  const guint8 *local;
  guint name_length;
  gsize skip;

  if (at > self->n_bytes || self->n_bytes - at < LOCAL_SIZE ||
      !has_mark (self->data + at, 3, 4))
    return "a member is not where its directory says";
  local = self->data + at;
  name_length = spdl_read_16_le (local + 26);
  skip = LOCAL_SIZE + name_length + spdl_read_16_le (local + 28);
  if (skip > self->n_bytes - at ||
      member->packed_size > self->n_bytes - at - skip)
    return "it ends before a member does";
  if (name_length != member->name_length ||
      memcmp (local + LOCAL_SIZE, member->name, name_length) != 0 ||
      spdl_read_16_le (local + 8) != member->method)
    return "a member is another one than its directory says";
  member->data = local + skip;
  return NULL;
}

const gchar *
spdl_zip_next (SpdlZip *self, SpdlZipMember *member)
{
  const guint8 *entry = self->data + self->at;
  const gsize left = self->end - self->at;
  guint64 at, packed_size, *values[3];
  guint extra_length, n_values = 0;
  gsize size;

  if (left < ENTRY_SIZE || !has_mark (entry, 1, 2))
    return "its directory ends before its last member";
  member->name = (const gchar *) entry + ENTRY_SIZE;
  member->name_length = spdl_read_16_le (entry + 28);
  extra_length = spdl_read_16_le (entry + 30);
  size = ENTRY_SIZE + member->name_length + extra_length +
         spdl_read_16_le (entry + 32);
  if (size > left)
    return "its directory ends before its last member";
  self->at += size;

  member->encrypted = spdl_read_16_le (entry + 8) & 1;
  member->method = spdl_read_16_le (entry + 10);
  member->checksum = spdl_read_32_le (entry + 16);
  packed_size = spdl_read_32_le (entry + 20);
  member->size = spdl_read_32_le (entry + 24);
  at = spdl_read_32_le (entry + 42);
  if (member->size == G_MAXUINT32)
    values[n_values++] = &member->size;
  if (packed_size == G_MAXUINT32)
    values[n_values++] = &packed_size;
  if (at == G_MAXUINT32)
    values[n_values++] = &at;
  if (n_values > 0 && !read_extra (entry + ENTRY_SIZE + member->name_length,
                          extra_length, values, n_values))
    return "the size of a member in ZIP64 is missing";
  if (packed_size > self->n_bytes)
    return "it ends before a member does";
  member->packed_size = packed_size;
  return find_data (self, member, at);
}
