/* gst-spdl: keys and tokens, and their texts in the environment and in files
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Keys or a token that requests are signed with. They do not change, and are
 * reference counted. */
typedef struct {
  gchar *access_key; /* NULL: @bearer is used; if that is NULL as well, requests
                        are anonymous */
  gchar *secret_key; /* NULL if access_key is */
  gchar *session_token; /* nullable */
  gchar *bearer;        /* nullable: token of an Authorization header */
  gint64 expires;       /* µs since 1970; G_MAXINT64: never */
  gboolean renewable;   /* whether a new lookup may return others */
  gchar *source;        /* origin, for messages */
  gint n_refs;          /* atomic */
} SpdlSecrets;

/* Returns a copy of @values with the origin @source. */
SpdlSecrets *spdl_secrets_new (const gchar *source, const SpdlSecrets *values);
SpdlSecrets *spdl_secrets_ref (SpdlSecrets *self);
void spdl_secrets_unref (SpdlSecrets *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SpdlSecrets, spdl_secrets_unref)

/* Errors are in the domain of GST_RESOURCE_ERROR. They name the variable, the
 * field or the file, and never show a value. */

/* Returns TRUE if @text can be sent in a header: printable ASCII without
 * spaces.
 *
 * @name: its name in error messages */
gboolean
spdl_secret_text_check (const gchar *text, const gchar *name, GError **error);

/* Reads a variable and checks it. *@value is NULL if it is not set, or empty.
 *
 * @value: (out) (transfer full) (nullable) */
gboolean
spdl_secret_text_read_env (const gchar *name, gchar **value, GError **error);

/* Replaces a `~/` at the beginning of @path. (transfer full) */
gchar *spdl_secret_text_expand_path (const gchar *path);

/* Returns the path that the variable @name holds, or else @path, with `~/`
 * replaced. (transfer full) */
gchar *spdl_secret_text_dup_path (const gchar *name, const gchar *path);

/* Reads a file of at most @max_size bytes. *@text is NULL if the file does not
 * exist. A named pipe or a device does not block.
 *
 * @text: (out) (transfer full) (nullable): NUL-terminated
 * @size: (out) */
gboolean spdl_secret_text_read_file (const gchar *path, gsize max_size,
    gchar **text, gsize *size, GError **error);

/* Reads a token from a file, removes white space around it and checks it.
 * *@token is NULL if the file does not exist, or is empty.
 *
 * @token: (out) (transfer full) (nullable) */
gboolean
spdl_secret_text_read_token (const gchar *path, gchar **token, GError **error);

G_END_DECLS
