/* gst-spdl: reader of a ZIP's central directory
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/common/zip.h"

#include <libdeflate.h>
#include <string.h>

#include "plugins/common/bytes.h"

/* Sizes of the fixed parts of the headers. */
#define LOCAL_SIZE 30
#define ENTRY_SIZE 46
#define END_SIZE 22
#define END_64_SIZE 56
#define LOCATOR_64_SIZE 20

#define EXTRA_64 1

/* Host system of an entry ("version made by"), and the file type bits of its
 * external attributes. */
#define MADE_BY_UNIX 3
#define UNIX_KIND 0170000
#define UNIX_FILE 0100000

G_STATIC_ASSERT (
    END_SIZE + LOCATOR_64_SIZE + END_64_SIZE == SPDL_ZIP_SMALL_TAIL);

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

/* Finds the end record of an archive, which is followed by its comment and,
 * with @more, by other data. */
static gboolean
find_end (const guint8 *tail, gsize size, gboolean more, gsize *end)
{
  for (gsize left = END_SIZE; left <= size; left++) {
    const guint8 *at = tail + size - left;

    *end = size - left;
    if (has_mark (at, 5, 6) &&
        (more ? spdl_read_16_le (at + 20) <= left - END_SIZE
              : spdl_read_16_le (at + 20) == left - END_SIZE))
      return TRUE;
  }
  return FALSE;
}

/* Reads the ZIP64 end record, which precedes the end record at @end of
 * @tail. */
static gboolean
read_end_64 (SpdlZipDirectory *self, const guint8 *tail, guint64 tail_at,
    gsize end, gboolean *many_disks)
{
  const guint8 *locator, *record;
  guint64 at;

  if (end < LOCATOR_64_SIZE + END_64_SIZE)
    return FALSE;
  end -= LOCATOR_64_SIZE;
  locator = tail + end;
  if (!has_mark (locator, 6, 7))
    return FALSE;
  at = spdl_read_64_le (locator + 8);
  if (at > tail_at + end - END_64_SIZE)
    return FALSE;
  /* Data before the archive shifts the record. */
  if (at < tail_at || !has_mark (tail + (at - tail_at), 6, 6))
    at = tail_at + end - END_64_SIZE;
  record = tail + (at - tail_at);
  if (!has_mark (record, 6, 6))
    return FALSE;
  *many_disks = spdl_read_32_le (record + 16) || spdl_read_32_le (record + 20);
  self->n_members = spdl_read_64_le (record + 32);
  self->size = spdl_read_64_le (record + 40);
  self->at = spdl_read_64_le (record + 48);
  self->end = at;
  return TRUE;
}

const gchar *
spdl_zip_find_directory (SpdlZipDirectory *self, const guint8 *tail, gsize size,
    guint64 whole, gboolean *has_end)
{
  const gboolean is_all = size == MIN (whole, SPDL_ZIP_TAIL);
  const guint8 *record;
  gboolean many_disks, is_large;
  gsize end;

  *has_end = find_end (tail, size, FALSE, &end) ||
             (is_all && find_end (tail, size, TRUE, &end));
  if (!*has_end)
    return "the file ends before the end of its directory";
  record = tail + end;
  *self = (SpdlZipDirectory){ .whole = whole,
    .at = spdl_read_32_le (record + 16),
    .size = spdl_read_32_le (record + 12),
    .n_members = spdl_read_16_le (record + 10),
    .end = whole - size + end };
  many_disks = spdl_read_32_le (record + 4) != 0;
  is_large = self->at == G_MAXUINT32 || self->size == G_MAXUINT32;
  /* An archive may have exactly 65535 members and no ZIP64 directory. */
  if ((is_large || self->n_members == G_MAXUINT16) &&
      !read_end_64 (self, tail, whole - size, end, &many_disks) && is_large)
    return "the ZIP64 directory is missing";
  if (many_disks)
    return "the archive is one part of several";
  if (self->size > self->end)
    return "the directory is not at the declared position";
  if (self->at > self->end - self->size && !spdl_zip_shift_directory (self))
    return "the directory is not at the declared position";
  return NULL;
}

gboolean
spdl_zip_is_directory (const SpdlZipDirectory *self, const guint8 *data)
{
  return self->size == 0 || (self->size >= 4 && has_mark (data, 1, 2));
}

gboolean
spdl_zip_shift_directory (SpdlZipDirectory *self)
{
  const guint64 at = self->end - self->size;

  if (at <= self->at)
    return FALSE;
  self->shift = at - self->at;
  self->at = at;
  return TRUE;
}

void
spdl_zip_begin (
    SpdlZip *self, const SpdlZipDirectory *directory, const guint8 *data)
{
  *self = (SpdlZip){ data, directory->size, directory->whole, directory->shift,
    directory->n_members };
}

const gchar *
spdl_zip_open (SpdlZip *self, const guint8 *data, gsize size)
{
  const gsize n_tail = MIN (size, SPDL_ZIP_TAIL);
  SpdlZipDirectory directory;
  const gchar *problem;
  gboolean has_end;

  if (size < END_SIZE)
    return "the file ends before the end of its directory";
  problem = spdl_zip_find_directory (
      &directory, data + size - n_tail, n_tail, size, &has_end);
  if (problem)
    return problem;
  if (!spdl_zip_is_directory (&directory, data + directory.at))
    spdl_zip_shift_directory (&directory);
  spdl_zip_begin (self, &directory, data + directory.at);
  return NULL;
}

/* Reads the extra field with the values that do not fit into the entry, in this
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

static gboolean
is_file (const guint8 *entry, const SpdlZipMember *member)
{
  const guint kind = spdl_read_16_le (entry + 40) & UNIX_KIND;

  if (member->name_length > 0 && member->name[member->name_length - 1] == '/')
    return FALSE;
  return entry[5] != MADE_BY_UNIX || kind == 0 || kind == UNIX_FILE;
}

const gchar *
spdl_zip_next (SpdlZip *self, SpdlZipMember *member)
{
  const guint8 *entry = self->next;
  guint64 *values[3];
  guint extra_length, n_values = 0;
  gsize size;

  if (self->left < ENTRY_SIZE || !has_mark (entry, 1, 2))
    return "the directory ends before its last member";
  member->name = (const gchar *) entry + ENTRY_SIZE;
  member->name_length = spdl_read_16_le (entry + 28);
  extra_length = spdl_read_16_le (entry + 30);
  size = ENTRY_SIZE + member->name_length + extra_length +
         spdl_read_16_le (entry + 32);
  if (size > self->left)
    return "the directory ends before its last member";
  self->next += size;
  self->left -= size;

  member->encrypted = spdl_read_16_le (entry + 8) & 1;
  member->method = spdl_read_16_le (entry + 10);
  member->checksum = spdl_read_32_le (entry + 16);
  member->packed_size = spdl_read_32_le (entry + 20);
  member->size = spdl_read_32_le (entry + 24);
  member->head = spdl_read_32_le (entry + 42);
  member->is_file = is_file (entry, member);
  if (member->size == G_MAXUINT32)
    values[n_values++] = &member->size;
  if (member->packed_size == G_MAXUINT32)
    values[n_values++] = &member->packed_size;
  if (member->head == G_MAXUINT32)
    values[n_values++] = &member->head;
  if (n_values > 0 && !read_extra (entry + ENTRY_SIZE + member->name_length,
                          extra_length, values, n_values))
    return "the ZIP64 size of a member is missing";
  /* Offsets after the end of the archive are limited to its end, where no
   * header is found. */
  member->head = MIN (member->head, self->whole) + self->shift;
  member->head = MIN (member->head, self->whole);
  return NULL;
}

gsize
spdl_zip_get_head_size (const SpdlZip *self, const SpdlZipMember *member)
{
  const gsize size = LOCAL_SIZE + member->name_length;

  return MIN (size, self->whole - member->head);
}

const gchar *
spdl_zip_find_data (const SpdlZip *self, const SpdlZipMember *member,
    const guint8 *head, guint64 *first)
{
  const gsize size = spdl_zip_get_head_size (self, member);
  guint name_length;
  gsize skip;

  if (size < LOCAL_SIZE || !has_mark (head, 3, 4))
    return "is not where the directory declares";
  name_length = spdl_read_16_le (head + 26);
  skip = LOCAL_SIZE + name_length + spdl_read_16_le (head + 28);
  if (skip > self->whole - member->head ||
      member->packed_size > self->whole - member->head - skip)
    return "extends past the end of the archive";
  if (name_length != member->name_length ||
      memcmp (head + LOCAL_SIZE, member->name, name_length) != 0 ||
      spdl_read_16_le (head + 8) != member->method)
    return "differs from the entry in the directory";
  *first = member->head + skip;
  return NULL;
}

const gchar *
spdl_zip_inflate (
    const SpdlZipMember *member, const guint8 *packed, guint8 *out)
{
  struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor ();
  enum libdeflate_result result;
  size_t n_in = 0, n_out = 0;

  if (!inflater)
    return "cannot be inflated for lack of memory";
  result = libdeflate_deflate_decompress_ex (
      inflater, packed, member->packed_size, out, member->size, &n_in, &n_out);
  libdeflate_free_decompressor (inflater);
  if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
    return "is longer than its archive declares";
  if (result != LIBDEFLATE_SUCCESS)
    return "has invalid compressed data, or ends too early";
  if (n_out < member->size)
    return "is shorter than its archive declares";
  return n_in < member->packed_size ? "has bytes after its end" : NULL;
}

gboolean
spdl_zip_check_sum (const SpdlZipMember *member, const guint8 *data)
{
  return libdeflate_crc32 (0, data, member->size) == member->checksum;
}
