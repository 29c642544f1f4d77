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

/* Responses. @source: origin of the response, for messages, which show only its
 * error code */

/* Parses credentials that a process or a metadata service returned as JSON.
 *
 * @token_name: name of the session token: "SessionToken" or "Token"
 * @temporary: whether a session token and an expiry are required */
SpdlSecrets *
spdl_aws_answer_read_json (const gchar *text, gsize size, const gchar *source,
    const gchar *token_name, gboolean temporary, GError **error);

/* Parses credentials that STS returned as XML. */
SpdlSecrets *spdl_aws_answer_read_xml (
    const gchar *text, gsize size, const gchar *source, GError **error);

/* Returns the error code in a response, which is JSON or XML, or NULL.
 * (transfer full) */
gchar *spdl_aws_answer_dup_code (const gchar *text, gsize size);

/* Sets an error with the status and the error code of a response. */
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

/* Requests credentials from the container service of ECS and EKS, which the
 * environment names. */
gboolean spdl_aws_container_ask (SpdlSecrets **secrets, GError **error);

/* Requests credentials from the metadata service of EC2.
 *
 * @reason: (out) (transfer full): why there are none, for a message */
gboolean
spdl_aws_instance_ask (SpdlSecrets **secrets, gchar **reason, GError **error);

G_END_DECLS
