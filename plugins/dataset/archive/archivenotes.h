/* gst-spdl: label and metadata fields of a sample in a shard
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

#include "plugins/dataset/archive/archiveindex.h"
#include "plugins/dataset/list/datasetoptions.h"

G_BEGIN_DECLS

/* Returns (transfer full) the URI of a byte range of the shard at @uri, with
 * the parameters that spdlfetch needs to decompress it. */
gchar *
spdl_archive_notes_make_uri (const gchar *uri, const SpdlArchiveFile *file);

/* Returns the label of a sample, SPDL_NO_LABEL if it has none or it is text. No
 * file of @sample may have been read yet. */
gint64 spdl_archive_notes_get_label (
    const SpdlLabelOptions *options, const SpdlArchiveSample *sample);

/* Returns what a sample has, for a message (transfer full): its files and the
 * fields of its JSON. */
gchar *
spdl_archive_notes_describe (const SpdlArchiveSample *sample, const gchar *uri);

/* Parts of samples that their items do not have. */
typedef struct {
  gchar *name; /* (nullable): first field that has no name of a field */
  gchar *text; /* (nullable): first file whose text is not UTF-8 */
  gchar *json; /* (nullable): key of the first sample whose JSON is invalid, or
                  has values that fields cannot have */
  gboolean told_name;
  gboolean told_text;
  gboolean told_json;
} SpdlArchiveLosses;

void spdl_archive_losses_clear (SpdlArchiveLosses *self);

/* Warns of the first loss of each kind, once. */
void spdl_archive_losses_warn (SpdlArchiveLosses *self,
    const SpdlDatasetOptions *options, const gchar *location);

/* Warns of @n texts that were left out of an index because of their length. */
void spdl_archive_notes_warn_long (
    const SpdlDatasetOptions *options, guint64 n, const gchar *location);

/* Creates the `extra` structure of an item (transfer full). It has the field
 * `key`; a field with the content of each text, named by its extension; a field
 * with the URI of each other file except @payload; and a field for each string,
 * number or boolean member of the sample's JSON object.
 *
 * @sample: a sample of which no file was read yet
 * @uri: the URI of the shard
 * @losses: (inout) (optional): gets those of the sample */
GstStructure *
spdl_archive_notes_new (const SpdlArchiveSample *sample, const gchar *uri,
    const SpdlArchiveFile *payload, SpdlArchiveLosses *losses);

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

/* Warns, after spdl_archive_roles_add() returned TRUE. */
void spdl_archive_roles_warn (const SpdlArchiveRoles *self,
    const SpdlDatasetOptions *options, const gchar *location);

void spdl_archive_roles_clear (SpdlArchiveRoles *self);

G_END_DECLS
