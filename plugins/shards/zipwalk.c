/* gst-spdl: indexing of a ZIP shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/shards/archivewalk.h"

#include <gst/gst.h>
#include <string.h>

#include "plugins/common/fail.h"
#include "plugins/common/zip.h"
#include "plugins/shards/archivemember.h"

/* The central directory is read into memory as a whole. */
#define MAX_DIRECTORY ((guint64) 1 << 30)
/* Upper bound for the compressed size of incompressible data. */
#define MAX_GROWTH(size) ((size) / 8 + 1024)

typedef struct {
  SpdlReader *reader;
  SpdlArchiveWriter *writer;
  SpdlZip zip;
  guint8 *directory;
  GArray *members; /* SpdlZipMember, sorted by offset */

  /* The last block that was read, which often contains the next member. */
  guint8 *block;
  gsize block_room;
  guint64 block_at;
  gsize block_size;
} Walk;

static gboolean
refuse_archive (const Walk *self, const gchar *why, GError **error)
{
  return spdl_archive_refuse (self->reader->name, error, why, "");
}

static gboolean
set_no_memory (const Walk *self, guint64 size, GError **error)
{
  return spdl_fail (error, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Not enough memory for %" G_GUINT64_FORMAT " bytes of \"%s\"", size,
      self->reader->name);
}

/* Returns @size bytes at @at, which are valid until the next call, or NULL with
 * @error set. */
static const guint8 *
look_at (Walk *self, guint64 at, gsize size, GError **error)
{
  const guint64 whole = self->reader->stamp.size;
  const gsize wanted = MIN (MAX (size, self->reader->block), whole - at);

  if (self->block_size > 0 && at >= self->block_at &&
      at - self->block_at <= self->block_size &&
      size <= self->block_size - (at - self->block_at))
    return self->block + (at - self->block_at);
  self->block_size = 0;
  if (wanted > self->block_room) {
    g_free (self->block);
    self->block = g_try_malloc (wanted);
    self->block_room = self->block ? wanted : 0;
  }
  if (!self->block && wanted > 0) {
    set_no_memory (self, wanted, error);
    return NULL;
  }
  if (!spdl_reader_read (self->reader, at, self->block, wanted, error))
    return NULL;
  self->block_at = at;
  self->block_size = wanted;
  return self->block;
}

/* Directory */

/* Finds the central directory. Returns FALSE without @error if the file is not
 * a ZIP. */
static gboolean
find_directory (Walk *self, SpdlZipDirectory *directory, GError **error)
{
  const guint64 whole = self->reader->stamp.size;
  const gsize sizes[] = { MIN (whole, SPDL_ZIP_SMALL_TAIL),
    MIN (whole, SPDL_ZIP_TAIL) };
  const gchar *problem = NULL;
  gboolean has_end = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const guint8 *tail = look_at (self, whole - sizes[i], sizes[i], error);

    if (!tail)
      return FALSE;
    problem =
        spdl_zip_find_directory (directory, tail, sizes[i], whole, &has_end);
    if (!problem)
      return TRUE;
  }
  return has_end && refuse_archive (self, problem, error);
}

static gboolean
read_directory (Walk *self, SpdlZipDirectory *directory, GError **error)
{
  if (directory->size > MAX_DIRECTORY)
    return refuse_archive (self, "the directory is larger than 1 GiB", error);
  self->directory = g_try_malloc (MAX (directory->size, 1));
  if (!self->directory)
    return set_no_memory (self, directory->size, error);
  if (!spdl_reader_read (
          self->reader, directory->at, self->directory, directory->size, error))
    return FALSE;
  return spdl_zip_is_directory (directory, self->directory) ||
         !spdl_zip_shift_directory (directory) ||
         spdl_reader_read (self->reader, directory->at, self->directory,
             directory->size, error);
}

static gint
compare_offsets (gconstpointer a, gconstpointer b)
{
  const SpdlZipMember *x = a, *y = b;

  return x->head < y->head ? -1 : x->head > y->head;
}

static gboolean
read_members (Walk *self, const SpdlZipDirectory *directory, GError **error)
{
  const gchar *problem = NULL;

  spdl_zip_begin (&self->zip, directory, self->directory);
  while (self->zip.left > 0 && !problem) {
    SpdlZipMember member;

    problem = spdl_zip_next (&self->zip, &member);
    if (!problem && member.is_file)
      g_array_append_val (self->members, member);
  }
  if (problem)
    return refuse_archive (self, problem, error);
  g_array_sort (self->members, compare_offsets);
  return TRUE;
}

/* Members */

/* Returns why a member cannot be used, or NULL if it can. */
static const gchar *
find_obstacle (const SpdlZipMember *member)
{
  if (member->encrypted)
    return "the member is encrypted";
  if (member->method == SPDL_ZIP_STORED)
    return member->size == member->packed_size
               ? NULL
               : "the member has two different sizes, although it is stored";
  return member->method == SPDL_ZIP_DEFLATED
             ? NULL
             : "the compression method is not supported: deflate or store the "
               "member (zip -0), or use a tar";
}

/* Reads a note, which is short, into @text. */
static gboolean
read_text (Walk *self, const SpdlZipMember *member, guint64 first, gchar *text,
    GError **error)
{
  const gboolean fits =
      member->packed_size <= member->size + MAX_GROWTH (member->size);
  const guint8 *packed =
      look_at (self, first, fits ? member->packed_size : 0, error);
  const gchar *problem = NULL;

  if (!packed)
    return FALSE;
  if (!fits)
    problem = "has an impossible compressed size";
  else if (member->method == SPDL_ZIP_STORED)
    memcpy (text, packed, member->size);
  else
    problem = spdl_zip_inflate (member, packed, (guint8 *) text);
  if (!problem && !spdl_zip_check_sum (member, (guint8 *) text))
    problem = "has a wrong checksum";
  if (!problem)
    return TRUE;
  return spdl_fail (error, GST_RESOURCE_ERROR_READ, "\"%.*s\" in \"%s\" %s",
      (int) member->name_length, member->name, self->reader->name, problem);
}

/* Converts a name to UTF-8. Names are UTF-8 or CP437 according to a flag, which
 * some programs do not set. */
static gchar *
dup_path (const SpdlZipMember *member)
{
  gchar *path = NULL;

  if (!g_utf8_validate (member->name, member->name_length, NULL))
    path = g_convert (
        member->name, member->name_length, "UTF-8", "CP437", NULL, NULL, NULL);
  return path ? path : g_utf8_make_valid (member->name, member->name_length);
}

static gboolean
refuse_member (
    Walk *self, const SpdlZipMember *member, const gchar *why, GError **error)
{
  g_autofree gchar *path = dup_path (member);

  return spdl_archive_refuse_member (self->reader->name, error, path, why);
}

/* Finds the offset of a member's data, which its local header determines. */
static gboolean
find_data (
    Walk *self, const SpdlZipMember *member, guint64 *first, GError **error)
{
  const gsize size = spdl_zip_get_head_size (&self->zip, member);
  const guint8 *head = look_at (self, member->head, size, error);
  g_autofree gchar *why = NULL;
  const gchar *problem;

  if (!head)
    return FALSE;
  if (!(problem = spdl_zip_find_data (&self->zip, member, head, first)))
    return TRUE;
  why = g_strconcat ("the member ", problem, NULL);
  return refuse_member (self, member, why, error);
}

static gboolean
add_member (Walk *self, const SpdlZipMember *member, GError **error)
{
  const SpdlArchivePacking packing = { member->packed_size, member->checksum };
  g_autofree gchar *path = dup_path (member);
  g_autofree gchar *text = NULL;
  const gchar *why = find_obstacle (member);
  guint64 first;

  if (why)
    return refuse_member (self, member, why, error);
  if (!find_data (self, member, &first, error))
    return FALSE;
  if (spdl_archive_writer_wants (path, member->size)) {
    text = g_malloc (member->size + 1);
    if (!read_text (self, member, first, text, error))
      return FALSE;
  }
  why = spdl_archive_writer_add (self->writer, path, first, member->size,
      member->method == SPDL_ZIP_DEFLATED ? &packing : NULL, text,
      member->size);
  return !why || refuse_member (self, member, why, error);
}

SpdlZipWalkResult
spdl_zip_walk (SpdlReader *reader, SpdlArchiveWriter *writer, GError **error)
{
  Walk self = { .reader = reader, .writer = writer };
  SpdlZipWalkResult result = SPDL_ZIP_WALK_NO_ZIP;
  SpdlZipDirectory directory;
  GError *reason = NULL;

  self.members = g_array_new (FALSE, FALSE, sizeof (SpdlZipMember));
  if (find_directory (&self, &directory, &reason) &&
      read_directory (&self, &directory, &reason) &&
      read_members (&self, &directory, &reason)) {
    result = SPDL_ZIP_WALK_OK;
    for (guint i = 0; i < self.members->len && !reason; i++)
      add_member (
          &self, &g_array_index (self.members, SpdlZipMember, i), &reason);
  }
  if (reason) {
    g_propagate_error (error, reason);
    result = SPDL_ZIP_WALK_FAILED;
  }
  g_array_unref (self.members);
  g_free (self.directory);
  g_free (self.block);
  return result;
}
