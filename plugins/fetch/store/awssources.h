/* gst-spdl: sources of AWS credentials
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/fetch/store/awsfiles.h"
#include "plugins/fetch/store/credentials-private.h"

G_BEGIN_DECLS

/* Answers. @source: where the answer is from, for messages, which show none of
 * it but the code of an error */

/* Reads credentials that a process or a metadata service wrote as JSON.
 *
 * @token_name: the name of the session token: "SessionToken" or "Token"
 * @temporary: whether a session token and an expiry are required */
SpdlSecrets *
spdl_aws_answer_read_json (const gchar *text, gsize size, const gchar *source,
    const gchar *token_name, gboolean temporary, GError **error);

/* Reads credentials that STS wrote as XML. */
SpdlSecrets *spdl_aws_answer_read_xml (
    const gchar *text, gsize size, const gchar *source, GError **error);

/* Returns the code of an error that a service answered, as JSON or XML, or
 * NULL. (transfer full) */
gchar *spdl_aws_answer_dup_code (const gchar *text, gsize size);

/* Sets an error that names the status of an answer and its code. */
void spdl_aws_answer_set_error (GError **error, const gchar *source,
    guint status, const gchar *text, gsize size);

/* Sources. All return FALSE with @error set if they failed, and TRUE with
 * *@secrets NULL if they do not apply. */

/* Runs the command of `credential_process` and reads its output. */
gboolean spdl_aws_process_ask (
    const gchar *command, SpdlSecrets **secrets, GError **error);

/* Exchanges the token in a file for credentials of a role. */
gboolean spdl_aws_sts_ask (const SpdlAwsProfile *profile, const gchar *role_arn,
    const gchar *session_name, const gchar *token_file, SpdlSecrets **secrets,
    GError **error);

/* Exchanges the credentials @source for those of the profile's role. */
gboolean spdl_aws_sts_assume_role (const SpdlAwsProfile *profile,
    const SpdlSecrets *source, SpdlSecrets **secrets, GError **error);

/* Asks the service that the environment names in ECS and EKS. */
gboolean spdl_aws_container_ask (SpdlSecrets **secrets, GError **error);

/* Asks the metadata service of EC2.
 *
 * @reason: (out) (transfer full): why it has none, for a message */
gboolean
spdl_aws_instance_ask (SpdlSecrets **secrets, gchar **reason, GError **error);

G_END_DECLS
