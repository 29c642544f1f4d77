/* gst-spdl: settings of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/common/propertytable.h"

G_BEGIN_DECLS

/* Address and credentials of S3; NULL: the default of the AWS tools. */
typedef struct {
  gchar *endpoint; /* a URI of HTTP(S) */
  gchar *region;
  gchar *profile;     /* of the shared AWS files */
  gchar *addressing;  /* "auto", "virtual" or "path" */
  gboolean anonymous; /* for all stores: requests are not signed */
} SpdlStoreSettings;

void spdl_store_settings_clear (SpdlStoreSettings *self);

/* Returns the endpoint of the store of @uri from the settings or the
 * environment; NULL if neither names one. */
const gchar *spdl_store_settings_find_endpoint (
    const SpdlStoreSettings *self, const gchar *uri);

/* Returns a key that distinguishes the object at @uri from objects with the
 * same bucket and key in other stores: endpoint and profile, from the settings
 * or the environment. (transfer full) */
gchar *
spdl_store_settings_dup_store (const SpdlStoreSettings *self, const gchar *uri);

/* The properties of each element that reads object stores, for a table: @S is
 * its struct, @field the settings in it. */
#define SPDL_STORE_PROPERTIES(S, field)                                        \
  SPDL_PROPERTY_STRING (S, field.endpoint, READY, "s3-endpoint",               \
      "S3 endpoint",                                                           \
      "Address of an S3-compatible store, such as http://minio:9000 (unset = " \
      "AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the AWS config file, or AWS)",   \
      NULL),                                                                   \
      SPDL_PROPERTY_STRING (S, field.region, READY, "s3-region", "S3 region",  \
          "Region of S3 (unset = AWS_REGION, AWS_DEFAULT_REGION, the AWS "     \
          "config file, or us-east-1). The region of a bucket is detected "    \
          "if it differs",                                                     \
          NULL),                                                               \
      SPDL_PROPERTY_STRING (S, field.profile, READY, "s3-profile",             \
          "S3 profile",                                                        \
          "Profile of the AWS config and credentials files (unset = "          \
          "AWS_PROFILE, or default)",                                          \
          NULL),                                                               \
      SPDL_PROPERTY_STRING (S, field.addressing, READY, "s3-addressing",       \
          "S3 addressing",                                                     \
          "Place of the bucket in a request: virtual (in the host's name), "   \
          "path, or auto (path if an endpoint is set; unset = the AWS config " \
          "file, or auto)",                                                    \
          NULL),                                                               \
      SPDL_PROPERTY_BOOLEAN (S, field.anonymous, READY, "anonymous",           \
          "Anonymous",                                                         \
          "Send requests to object stores without credentials (for public "    \
          "buckets)",                                                          \
          FALSE)

G_END_DECLS
