/* gst-spdl: URIs of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <libsoup/soup.h>

#include "plugins/common/storesettings.h"

G_BEGIN_DECLS

/* Addresses and signatures of requests to object stores. */

/* The stores that a thread of a client uses: their addresses, from settings,
 * environment and shared files, which are read once, and facts from their
 * responses, such as the region of a bucket. Use it only in that thread. */
typedef struct _SpdlStore SpdlStore;

/* @settings: must outlive the store */
SpdlStore *spdl_store_new (const SpdlStoreSettings *settings);
void spdl_store_free (SpdlStore *self);

/* An object, or a page of a listing, to request. */
typedef struct _SpdlObject SpdlObject;

/* Returns NULL with @error set, in the domain of GST_RESOURCE_ERROR, if @uri
 * does not name an object or if the settings of its store are invalid.
 *
 * @store: must outlive the object
 * @anonymous: whether requests are never signed */
SpdlObject *spdl_object_new (
    SpdlStore *store, const gchar *uri, gboolean anonymous, GError **error);
void spdl_object_free (SpdlObject *self);

/* Returns the HTTP(S) URI of the next request. (transfer full) */
GUri *spdl_object_get_http_uri (SpdlObject *self);

typedef enum {
  SPDL_OBJECT_READY,
  SPDL_OBJECT_WAITS, /* for credentials; @func will be called */
  SPDL_OBJECT_FAILED,
} SpdlObjectStatus;

/* Gets credentials; call it before each attempt. @func is called in the
 * thread-default main context of the caller, once. */
SpdlObjectStatus spdl_object_prepare (SpdlObject *self,
    void (*func) (gpointer user_data), gpointer user_data, GError **error);
/* Cancels the wait for credentials. */
void spdl_object_stop_waiting (SpdlObject *self, gpointer user_data);

/* Signs @message, whose other headers are complete. */
void spdl_object_sign (SpdlObject *self, SoupMessage *message);

/* Returns TRUE if the response says that the bucket is in another region, which
 * the next request uses. Each problem is corrected once per object. */
gboolean spdl_object_correct_region (SpdlObject *self, SoupMessage *message);

/* Returns TRUE if the same request may succeed now: the clock differed from the
 * store's, the credentials had expired, or the body names another region.
 *
 * @code: (nullable): see spdl_object_parse_code()
 * @body: beginning of the body of the error, of @size bytes */
gboolean spdl_object_correct (SpdlObject *self, SoupMessage *message,
    const gchar *code, const gchar *body, gsize size);

/* Returns the store's error code, such as "NoSuchKey", from the body's XML or
 * from a header. (transfer full) (nullable) */
gchar *
spdl_object_parse_code (SoupMessage *message, const gchar *body, gsize size);

/* Returns whether the same request may succeed later although its status is
 * permanent by the rules of HTTP. */
gboolean spdl_object_is_temporary (const gchar *code);

/* Returns a hint for the user about an error of the store. (nullable) */
const gchar *spdl_object_get_advice (
    const SpdlObject *self, SoupMessage *message, const gchar *code);

G_END_DECLS
