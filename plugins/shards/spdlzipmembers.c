/* gst-spdl: what the directory of a ZIP says that libarchive does not
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spdlzipmembers.h"

#include <string.h>

/* The parts of fixed size. */
#define LOCAL_SIZE 30
#define ENTRY_SIZE 46
#define END_SIZE 22
#define MAX_COMMENT 65535
/* It is read as a whole. */
#define MAX_DIRECTORY ((guint32) 1 << 30)

struct _SpdlZipMembers {
  GArray *members; /* SpdlZipMember, by their offsets */
};

static guint16
read_16 (const guint8 *p)
{
  return p[0] | p[1] << 8;
}

static guint32
read_32 (const guint8 *p)
{
  return read_16 (p) | (guint32) read_16 (p + 2) << 16;
}

typedef struct {
  guint n_members;
  guint32 size;
  guint32 offset;
} Directory;

/* The last end in @tail, behind which is nothing but a comment. */
static const gchar *
parse_end (const guint8 *tail, gsize size, Directory *directory)
{
  for (gsize at = size; at >= END_SIZE; at--) {
    const guint8 *end = tail + at - END_SIZE;

    if (memcmp (end, "PK\5\6", 4) != 0 || read_16 (end + 20) != size - at)
      continue;
    *directory = (Directory){ read_16 (end + 10), read_32 (end + 12),
      read_32 (end + 16) };
    if (directory->n_members == G_MAXUINT16 || directory->size == G_MAXUINT32 ||
        directory->offset == G_MAXUINT32)
      return "its directory is in ZIP64, which has to be stored (zip -0)";
    return directory->size > MAX_DIRECTORY ? "its directory is too large"
                                           : NULL;
  }
  return "it has no directory";
}

static const gchar *
find_directory (SpdlReader *reader, Directory *directory, GError **error)
{
  const guint64 whole = reader->stamp.size;
  const gsize size = MIN (whole, END_SIZE + MAX_COMMENT);
  g_autofree guint8 *tail = g_malloc (MAX (size, 1));
  gsize some = MIN (size, END_SIZE);
  const gchar *flaw = NULL;

  /* Mostly there is no comment. */
  do {
    if (!spdl_reader_read (reader, whole - some, tail, some, error))
      return NULL;
    flaw = parse_end (tail, some, directory);
    if (!flaw || some == size)
      return flaw;
    some = size;
  } while (TRUE);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const SpdlZipMember *x = a, *y = b;

  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Returns why not all of it makes sense; NULL: it does. */
static const gchar *
parse_entries (
    SpdlZipMembers *self, const guint8 *data, gsize size, guint n_members)
{
  for (guint i = 0; i < n_members; i++) {
    SpdlZipMember member;
    gsize length;

    if (size < ENTRY_SIZE || memcmp (data, "PK\1\2", 4) != 0)
      return "its directory is damaged";
    length = ENTRY_SIZE + read_16 (data + 28) + read_16 (data + 30) +
             read_16 (data + 32);
    if (size < length)
      return "its directory is damaged";
    member = (SpdlZipMember){ .offset = read_32 (data + 42),
      .packed_size = read_32 (data + 20),
      .size = read_32 (data + 24),
      .checksum = read_32 (data + 16),
      .method = read_16 (data + 10),
      .flags = read_16 (data + 8) };
    g_array_append_val (self->members, member);
    data += length;
    size -= length;
  }
  g_array_sort (self->members, compare);
  return NULL;
}

SpdlZipMembers *
spdl_zip_members_new (SpdlReader *reader, const gchar **flaw, GError **error)
{
  GError *reason = NULL;
  Directory directory = { 0 };
  SpdlZipMembers *self = NULL;
  g_autofree guint8 *data = NULL;

  *flaw = find_directory (reader, &directory, &reason);
  if (!*flaw && !reason && !(data = g_try_malloc (directory.size + 1)))
    *flaw = "its directory is too large";
  if (data && spdl_reader_read (
                  reader, directory.offset, data, directory.size, &reason)) {
    self = g_new (SpdlZipMembers, 1);
    self->members = g_array_new (FALSE, FALSE, sizeof (SpdlZipMember));
    *flaw = parse_entries (self, data, directory.size, directory.n_members);
    if (*flaw)
      g_clear_pointer (&self, spdl_zip_members_free);
  }
  if (reason)
    g_propagate_error (error, reason);
  return self;
}

void
spdl_zip_members_free (SpdlZipMembers *self)
{
  g_array_unref (self->members);
  g_free (self);
}

const SpdlZipMember *
spdl_zip_members_find (const SpdlZipMembers *self, guint64 first)
{
  guint low = 0, high = self->members->len;

  /* The last one whose head lies wholly before. */
  while (low < high) {
    const guint middle = low + (high - low) / 2;

    if (g_array_index (self->members, SpdlZipMember, middle).offset +
            LOCAL_SIZE <=
        first)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 ? &g_array_index (self->members, SpdlZipMember, low - 1)
                 : NULL;
}
