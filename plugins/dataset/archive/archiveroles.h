/* gst-spdl: which files of the samples of a shard are payloads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/dataset/archive/archiveindex.h"

G_BEGIN_DECLS

/* Finds samples without their main file, whose mask would be taken for the
 * image: an extension that is the payload of one sample is that of a further
 * file in another one. Zeros are one without samples. */
typedef struct {
  GHashTable *extensions; /* (nullable) */
  const gchar *extension; /* (nullable): the first that has both roles */
  const gchar *key;       /* of the first sample whose payload it is */
} SpdlArchiveRoles;

/* Adds a sample of which no file was read yet. Returns TRUE if it is the first
 * that shows an extension with both roles. */
gboolean spdl_archive_roles_add (
    SpdlArchiveRoles *self, const SpdlArchiveSample *sample);

/* Returns a warning (transfer full), after spdl_archive_roles_add() returned
 * TRUE. */
gchar *spdl_archive_roles_describe (
    const SpdlArchiveRoles *self, const gchar *location);

void spdl_archive_roles_clear (SpdlArchiveRoles *self);

G_END_DECLS
