/* gst-spdl: what the directory of a ZIP says that libarchive does not
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_ZIP_MEMBERS_H__
#define __SPDL_ZIP_MEMBERS_H__

#include "spdlreader.h"

G_BEGIN_DECLS

/* The members by their places. libarchive tells where the bytes of one begin,
 * but not how many there are while they are packed. */
typedef struct _SpdlZipMembers SpdlZipMembers;

typedef struct {
  guint64 offset; /* of its head */
  guint32 packed_size;
  guint32 size;
  guint32 checksum;
  guint16 method;
  guint16 flags;
} SpdlZipMember;

/* Reads the directory, at the end of what @reader reads.
 *
 * @flaw: (out): why there is none, if NULL is returned without @error set; to
 * go behind a colon */
SpdlZipMembers *
spdl_zip_members_new (SpdlReader *reader, const gchar **flaw, GError **error);

void spdl_zip_members_free (SpdlZipMembers *self);

/* The member whose bytes begin at @first; NULL: there is none. */
const SpdlZipMember *
spdl_zip_members_find (const SpdlZipMembers *self, guint64 first);

G_END_DECLS

#endif /* __SPDL_ZIP_MEMBERS_H__ */
