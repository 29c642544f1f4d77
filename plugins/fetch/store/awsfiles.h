/* gst-spdl: shared config and credentials files of AWS
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* AWS's files have sections such as `[default]`, `[profile x]` or `[services
 * x]` with lines of `name = value`. Indented lines below a name without a value
 * are a nested section, which has settings such as "s3.addressing_style" here.
 * A `#` or `;` at the beginning of a line or after white space begins a
 * comment. Names are not case-sensitive, and the last of two settings of the
 * same name is valid. */

typedef struct _SpdlAwsFile SpdlAwsFile;

/* Returns NULL with @error set, which names @name and the line, if the text is
 * none of such a file. */
SpdlAwsFile *spdl_aws_file_parse (
    const gchar *text, gsize size, const gchar *name, GError **error);

/* A file that does not exist is empty. */
SpdlAwsFile *spdl_aws_file_load (const gchar *path, GError **error);
void spdl_aws_file_free (SpdlAwsFile *self);

gboolean spdl_aws_file_has (const SpdlAwsFile *self, const gchar *section);

/* Returns NULL if there is none, or an empty one. */
const gchar *spdl_aws_file_get (
    const SpdlAwsFile *self, const gchar *section, const gchar *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlAwsFile, spdl_aws_file_free)

/* Both files and one profile of theirs. */
typedef struct {
  gchar *config_path;      /* for messages */
  gchar *credentials_path; /* for messages */
  SpdlAwsFile *config;
  SpdlAwsFile *credentials;
  gchar *profile;
} SpdlAwsProfile;

/* Loads the files that AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name, or
 * those in ~/.aws.
 *
 * @profile: (nullable): NULL: that of AWS_PROFILE, or "default" */
gboolean spdl_aws_profile_load (
    SpdlAwsProfile *self, const gchar *profile, GError **error);
void spdl_aws_profile_clear (SpdlAwsProfile *self);

gboolean spdl_aws_profile_exists (const SpdlAwsProfile *self);

/* Returns a setting, of the credentials file if it is in both; or, for
 * "SERVICE.NAME", also of the section of services that the profile names. NULL
 * if there is none. */
const gchar *
spdl_aws_profile_get (const SpdlAwsProfile *self, const gchar *name);

/* Returns the profile's section in the config file. (transfer full) */
gchar *spdl_aws_profile_dup_config_section (const SpdlAwsProfile *self);

/* Returns the region of the environment, or else of @self (nullable); NULL if
 * there is none. */
const gchar *spdl_aws_profile_find_region (const SpdlAwsProfile *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlAwsProfile, spdl_aws_profile_clear)

G_END_DECLS
