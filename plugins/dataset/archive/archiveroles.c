/* gst-spdl: which files of the samples of a shard are payloads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/archiveroles.h"

#include <string.h>

/* Extensions of further ones are not compared. */
#define MAX_EXTENSIONS 256
/* Longer extensions are not compared. */
#define MAX_LENGTH 64

typedef struct {
  gchar *key; /* (nullable): of the first sample whose payload it is */
  gboolean is_further;
} Roles;

static void
free_roles (gpointer data)
{
  Roles *roles = data;

  g_free (roles->key);
  g_free (roles);
}

static Roles *
get_roles (SpdlArchiveRoles *self, const SpdlArchiveFile *file,
    const gchar **extension)
{
  gchar name[MAX_LENGTH];
  gpointer known, roles = NULL;

  if (file->extension_length >= MAX_LENGTH)
    return NULL;
  memcpy (name, file->extension, file->extension_length);
  name[file->extension_length] = '\0';
  if (!g_hash_table_lookup_extended (self->extensions, name, &known, &roles) &&
      g_hash_table_size (self->extensions) < MAX_EXTENSIONS) {
    known = g_strdup (name);
    roles = g_new0 (Roles, 1);
    g_hash_table_insert (self->extensions, known, roles);
  }
  *extension = roles ? known : NULL;
  return roles;
}

gboolean
spdl_archive_roles_add (SpdlArchiveRoles *self, const SpdlArchiveSample *sample)
{
  SpdlArchiveSample reading = *sample;
  SpdlArchiveFile payload, file;

  if (self->extension ||
      !spdl_archive_sample_get_payload (sample, NULL, &payload))
    return FALSE;
  if (!self->extensions)
    self->extensions =
        g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_roles);
  while (!self->extension && spdl_archive_sample_next (&reading, &file)) {
    const gchar *extension;
    Roles *roles;

    if (file.size == 0 || spdl_archive_kind_is_note (file.kind))
      continue;
    roles = get_roles (self, &file, &extension);
    if (!roles)
      continue;
    if (file.extension != payload.extension)
      roles->is_further = TRUE;
    else if (!roles->key)
      roles->key = g_strndup (sample->key, sample->key_length);
    if (roles->is_further && roles->key) {
      self->extension = extension;
      self->key = roles->key;
    }
  }
  return self->extension != NULL;
}

gchar *
spdl_archive_roles_describe (
    const SpdlArchiveRoles *self, const gchar *location)
{
  return g_strdup_printf (
      "The item \"%s\" in \"%s\" is its file \"%s\", which other samples have "
      "beside the file that is their item, so a file is missing in this sample "
      "or in others like it: set extensions to those of the items, and samples "
      "without them are skipped",
      self->key, location, self->extension);
}

void
spdl_archive_roles_clear (SpdlArchiveRoles *self)
{
  g_clear_pointer (&self->extensions, g_hash_table_unref);
  *self = (SpdlArchiveRoles){ NULL };
}
