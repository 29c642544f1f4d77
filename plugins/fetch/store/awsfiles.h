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
 * are a nested section, whose settings have names such as
 * "s3.addressing_style". A `#` or `;` at the beginning of a line or after white
 * space begins a comment. Names are case-insensitive, and the last of several
 * settings with the same name is used. */

typedef struct _SpdlAwsFile SpdlAwsFile;

/* Returns NULL if @text is not such a file, with @error set, which names @name
 * and the line. */
SpdlAwsFile *spdl_aws_file_parse (
    const gchar *text, gsize size, const gchar *name, GError **error);

/* Treats a missing file as an empty one. */
SpdlAwsFile *spdl_aws_file_load (const gchar *path, GError **error);
void spdl_aws_file_free (SpdlAwsFile *self);

gboolean spdl_aws_file_has (const SpdlAwsFile *self, const gchar *section);

/* Returns NULL if the setting is missing or empty. */
const gchar *spdl_aws_file_get (
    const SpdlAwsFile *self, const gchar *section, const gchar *name);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlAwsFile, spdl_aws_file_free)

/* Both files and the selected profile. */
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

/* Returns a setting of the profile, or NULL. The credentials file takes
 * precedence. A name "SERVICE.NAME" is also searched for in the services
 * section that the profile names. */
const gchar *
spdl_aws_profile_get (const SpdlAwsProfile *self, const gchar *name);

/* Returns the profile's section in the config file. (transfer full) */
gchar *spdl_aws_profile_dup_config_section (const SpdlAwsProfile *self);

/* Returns the region from the environment, or else from @self (nullable); NULL
 * if neither has one. */
const gchar *spdl_aws_profile_find_region (const SpdlAwsProfile *self);

/* Returns the endpoint of a service such as "s3" from the environment, or else
 * from @self (nullable); NULL if there is none, or if it is to be ignored. */
const gchar *spdl_aws_profile_find_endpoint (
    const SpdlAwsProfile *self, const gchar *service);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlAwsProfile, spdl_aws_profile_clear)

G_END_DECLS
