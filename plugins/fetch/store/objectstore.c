/* gst-spdl: requests to object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/store/objectstore.h"

#include <gst/gst.h>
#include <string.h>

#include "gst/spdl/common/logline.h"
#include "gst/spdl/common/redact.h"
#include "gst/spdl/common/storeuri.h"
#include "plugins/common/fail.h"
#include "plugins/fetch/store/awsfiles.h"
#include "plugins/fetch/store/credentials.h"
#include "plugins/fetch/store/sigv4.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

#define DEFAULT_REGION "us-east-1"
#define BUCKET_CHARS           \
  "abcdefghijklmnopqrstuvwxyz" \
  "ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
  "0123456789._-"
#define GOOGLE_ENDPOINT "https://storage.googleapis.com"
#define HUGGING_FACE_ENDPOINT "https://huggingface.co"

typedef enum {
  STORE_S3,
  STORE_GS,
  STORE_HF,
  N_STORES,
} Kind;

typedef struct {
  gboolean known;
  GUri *endpoint;   /* (nullable): NULL: AWS, in the bucket's region */
  gboolean virtual; /* the bucket's name is a part of the host's */
  gchar *problem;   /* (nullable): why the settings are invalid */
  SpdlCredentials *credentials; /* (nullable): NULL until first use */
} Place;

struct _SpdlStore {
  const SpdlStoreSettings *settings;
  gchar *region; /* of S3; valid if its place is known */
  Place places[N_STORES];
  GHashTable *regions; /* bucket to region, from responses of S3 */
  gint64 skew;         /* seconds that the stores' clocks are ahead */
  /* Secrets and region of `key`, which is derived once a day. */
  SpdlSecrets *secrets; /* nullable */
  gchar *signed_region; /* nullable */
  SpdlSigV4Key key;
};

struct _SpdlObject {
  SpdlStore *store;
  Kind kind;
  gchar *bucket;
  gchar *path;  /* escaped, with leading slash; HF: the whole path */
  gchar *query; /* nullable */
  gboolean anonymous;
  SpdlSecrets *secrets; /* (nullable): of this attempt */
  gchar *region;        /* (nullable): of this attempt */
  gboolean region_mended;
  gboolean clock_mended;
  gboolean secrets_mended;
};

/* Settings */

SpdlStore *
spdl_store_new (const SpdlStoreSettings *settings)
{
  SpdlStore *self = g_new0 (SpdlStore, 1);

  self->settings = settings;
  self->regions =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

void
spdl_store_free (SpdlStore *self)
{
  for (guint i = 0; i < N_STORES; i++) {
    g_clear_pointer (&self->places[i].endpoint, g_uri_unref);
    g_free (self->places[i].problem);
  }
  g_clear_pointer (&self->secrets, spdl_secrets_unref);
  g_free (self->signed_region);
  g_free (self->region);
  g_hash_table_unref (self->regions);
  g_free (self);
}

static gboolean
is_set (const gchar *text)
{
  return text && *text;
}

static void
set_endpoint (Place *place, const gchar *text, const gchar *source)
{
  place->endpoint = g_uri_parse (text, SOUP_HTTP_URI_FLAGS, NULL);
  if (place->endpoint && is_set (g_uri_get_host (place->endpoint)) &&
      !g_uri_get_userinfo (place->endpoint) &&
      !g_uri_get_query (place->endpoint) &&
      (g_str_equal (g_uri_get_scheme (place->endpoint), "http") ||
          g_str_equal (g_uri_get_scheme (place->endpoint), "https")))
    return;
  g_clear_pointer (&place->endpoint, g_uri_unref);
  place->problem = g_strdup_printf (
      "%s is not the address of a server: write https://host or http://host, "
      "with a port if necessary, and without a user or query",
      source);
}

/* Sets the region and the addressing style from the properties, or else from
 * @files (nullable) and the environment. */
static void
find_s3 (SpdlStore *self, Place *place, const SpdlAwsProfile *files)
{
  const SpdlStoreSettings *settings = self->settings;
  const gchar *endpoint = settings->endpoint;
  const gchar *region = settings->region, *addressing = settings->addressing;

  if (!is_set (endpoint))
    endpoint = spdl_aws_profile_find_endpoint (files, "s3");
  if (!is_set (region))
    region = spdl_aws_profile_find_region (files);
  if (!is_set (addressing))
    addressing =
        files ? spdl_aws_profile_get (files, "s3.addressing_style") : NULL;
  self->region = g_strdup (region ? region : DEFAULT_REGION);
  /* Stores other than AWS need a DNS name per bucket for the virtual style. */
  place->virtual = is_set (endpoint) ? g_strcmp0 (addressing, "virtual") == 0
                                     : g_strcmp0 (addressing, "path") != 0;
  if (is_set (endpoint))
    set_endpoint (place, endpoint,
        is_set (settings->endpoint)
            ? "s3-endpoint"
            : "The endpoint of S3 in the environment or the AWS files");
  if (addressing && !g_str_equal (addressing, "auto") &&
      !g_str_equal (addressing, "virtual") && !g_str_equal (addressing, "path"))
    place->problem = g_strdup (
        "The addressing style of S3 must be auto, virtual or path: set "
        "s3-addressing, or addressing_style in the AWS files, to one of them");
}

/* Returns the AWS profile, or NULL for that of the environment. */
static const gchar *
get_profile (const SpdlStore *self)
{
  return is_set (self->settings->profile) ? self->settings->profile : NULL;
}

static Place *
get_place (SpdlStore *self, Kind kind)
{
  Place *place = &self->places[kind];
  g_auto (SpdlAwsProfile) files = { 0 };
  g_autoptr (GError) error = NULL;
  const gchar *named;

  if (place->known)
    return place;
  place->known = TRUE;
  if (kind == STORE_S3) {
    const gboolean loaded =
        spdl_aws_profile_load (&files, get_profile (self), &error);

    if (!loaded)
      SPDL_WARNING ("%s", error->message);
    find_s3 (self, place, loaded ? &files : NULL);
    return place;
  }
  named = spdl_store_settings_find_endpoint (
      self->settings, kind == STORE_GS ? "gs:" : "hf:");
  set_endpoint (place,
      named              ? named
      : kind == STORE_GS ? GOOGLE_ENDPOINT
                         : HUGGING_FACE_ENDPOINT,
      kind == STORE_GS ? "STORAGE_EMULATOR_HOST" : "HF_ENDPOINT");
  return place;
}

/* URIs */

static gboolean
set_no_object (const gchar *uri, const gchar *form, GError **error)
{
  g_autofree gchar *shown = spdl_redact_dup_uri (uri);

  return spdl_fail (error, GST_RESOURCE_ERROR_OPEN_READ,
      "\"%s\" is not the URI of an object: write %s", shown, form);
}

/* Returns TRUE if the bucket's name can be a part of the host's name, under the
 * certificate of the store. */
static gboolean
is_host_name (const gchar *bucket)
{
  const gsize n = strlen (bucket);

  return n >= 3 && n <= 63 && *bucket != '-' && bucket[n - 1] != '-' &&
         strspn (bucket, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

/* Checks that a query, which is sent unchanged, is escaped. */
static gboolean
is_escaped (const gchar *query)
{
  return strspn (query, BUCKET_CHARS "~%&=/") == strlen (query);
}

static gboolean
parse_bucket (SpdlObject *self, const gchar *uri, GError **error)
{
  const gchar *begin = uri + strlen ("s3://");
  const gsize n = strcspn (begin, "/?");

  if (n == 0 || !begin[n] || (begin[n] == '?' && !is_escaped (begin + n + 1)) ||
      strspn (begin, BUCKET_CHARS) < n || (begin[n] == '/' && !begin[n + 1]))
    return set_no_object (uri,
        self->kind == STORE_S3 ? "s3://bucket/key" : "gs://bucket/key", error);
  self->bucket = g_strndup (begin, n);
  if (begin[n] == '?')
    self->query = g_strdup (begin + n + 1);
  self->path = spdl_sigv4_escape (begin[n] == '/' ? begin + n : "/", TRUE);
  return TRUE;
}

/* hf://datasets/OWNER/NAME[@REVISION]/PATH, or ?QUERY for the listing of a
 * folder, which is the path of the API. */
static gboolean
parse_dataset (SpdlObject *self, const gchar *uri, GError **error)
{
  static const gchar form[] = "hf://datasets/owner/name/path, or "
                              "hf://datasets/owner/name@revision/path";
  const gchar *owner, *at;
  g_autofree gchar *repository = NULL, *revision = NULL, *path = NULL;
  gsize n;

  if (!g_str_has_prefix (uri + strlen ("hf://"), "datasets/"))
    return set_no_object (uri, form, error);
  owner = uri + strlen ("hf://datasets/");
  at = uri + spdl_store_measure_bucket (uri);
  repository = g_strndup (owner, at - owner);
  n = spdl_store_measure_revision (at);
  if (n > 0)
    revision = g_strndup (at + 1, n - 1);
  at += n;
  if (*repository == '/' || g_str_has_suffix (repository, "/") || !*at ||
      (*at == '?' && !is_escaped (at + 1)) || (*at == '/' && !at[1]) ||
      (revision && !*revision))
    return set_no_object (uri, form, error);
  self->bucket = spdl_sigv4_escape (repository, TRUE);
  path = revision ? spdl_sigv4_escape (revision, FALSE) : g_strdup ("main");
  if (*at == '?') {
    /* The query begins with the folder. */
    const gsize folder = strcspn (at + 1, "&");

    self->query = g_strdup (at + 1 + folder + (at[1 + folder] == '&'));
    self->path = g_strdup_printf ("/api/datasets/%s/tree/%s%s%.*s",
        self->bucket, path, folder > 0 ? "/" : "", (int) folder, at + 1);
  } else {
    g_autofree gchar *key = spdl_sigv4_escape (at, TRUE);

    self->path =
        g_strdup_printf ("/datasets/%s/resolve/%s%s", self->bucket, path, key);
  }
  return TRUE;
}

SpdlObject *
spdl_object_new (
    SpdlStore *store, const gchar *uri, gboolean anonymous, GError **error)
{
  SpdlObject *self = g_new0 (SpdlObject, 1);
  const Place *place;
  gboolean ok;

  self->store = store;
  self->anonymous = anonymous || store->settings->anonymous;
  self->kind = *uri == 's' || *uri == 'S'   ? STORE_S3
               : *uri == 'g' || *uri == 'G' ? STORE_GS
                                            : STORE_HF;
  place = get_place (store, self->kind);
  if (self->kind == STORE_HF)
    ok = parse_dataset (self, uri, error);
  else
    ok = parse_bucket (self, uri, error);
  if (ok && place->problem)
    g_set_error_literal (
        error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, place->problem);
  if (ok && !place->problem)
    return self;
  spdl_object_free (self);
  return NULL;
}

void
spdl_object_free (SpdlObject *self)
{
  g_clear_pointer (&self->secrets, spdl_secrets_unref);
  g_free (self->bucket);
  g_free (self->path);
  g_free (self->query);
  g_free (self->region);
  g_free (self);
}

static const gchar *
get_region (const SpdlObject *self)
{
  const gchar *region;

  if (self->kind != STORE_S3)
    return "auto";
  region = g_hash_table_lookup (self->store->regions, self->bucket);
  return region ? region : self->store->region;
}

/* Returns a path in the store, with the path of the endpoint as prefix. */
static gchar *
make_path (const SpdlObject *self, const GUri *endpoint, gboolean bucket)
{
  const gchar *prefix = endpoint ? g_uri_get_path ((GUri *) endpoint) : "";
  const gsize n = strlen (prefix);
  g_autofree gchar *folder =
      bucket ? spdl_sigv4_escape (self->bucket, FALSE) : NULL;

  return g_strdup_printf ("%.*s%s%s%s",
      (int) (n > 0 && prefix[n - 1] == '/' ? n - 1 : n), prefix,
      bucket ? "/" : "", bucket ? folder : "", self->path);
}

GUri *
spdl_object_get_http_uri (SpdlObject *self)
{
  const Place *place = get_place (self->store, self->kind);
  const gchar *region = get_region (self);
  const gboolean virtual = place->virtual && is_host_name (self->bucket);
  g_autofree gchar *aws =
      place->endpoint ? NULL
                      : g_strdup_printf ("s3.%s.amazonaws.com%s", region,
                            g_str_has_prefix (region, "cn-") ? ".cn" : "");
  const gchar *host = aws ? aws : g_uri_get_host (place->endpoint);
  g_autofree gchar *full = virtual ? g_strconcat (self->bucket, ".", host, NULL)
                                   : g_strdup (host);
  g_autofree gchar *path =
      make_path (self, place->endpoint, self->kind != STORE_HF && !virtual);

  g_free (self->region);
  self->region = g_strdup (region);
  return g_uri_build (SOUP_HTTP_URI_FLAGS,
      place->endpoint ? g_uri_get_scheme (place->endpoint) : "https", NULL,
      full, place->endpoint ? g_uri_get_port (place->endpoint) : -1, path,
      self->query, NULL);
}

/* Credentials */

static SpdlCredentials *
get_credentials (SpdlStore *self, Kind kind)
{
  static const SpdlCredentialsKind kinds[] = { SPDL_CREDENTIALS_AWS,
    SPDL_CREDENTIALS_GOOGLE, SPDL_CREDENTIALS_HUGGING_FACE };
  Place *place = get_place (self, kind);

  if (!place->credentials)
    place->credentials = spdl_credentials_get (
        kinds[kind], kind == STORE_S3 ? get_profile (self) : NULL);
  return place->credentials;
}

SpdlObjectStatus
spdl_object_prepare (SpdlObject *self, void (*func) (gpointer user_data),
    gpointer user_data, GError **error)
{
  GError *reason = NULL;

  g_clear_pointer (&self->secrets, spdl_secrets_unref);
  if (self->anonymous)
    return SPDL_OBJECT_READY;
  self->secrets = spdl_credentials_dup_secrets (
      get_credentials (self->store, self->kind), func, user_data, &reason);
  if (self->secrets)
    return SPDL_OBJECT_READY;
  if (!reason)
    return SPDL_OBJECT_WAITS;
  g_propagate_error (error, reason);
  return SPDL_OBJECT_FAILED;
}

void
spdl_object_stop_waiting (SpdlObject *self, gpointer user_data)
{
  spdl_credentials_stop_waiting (
      get_credentials (self->store, self->kind), user_data);
}

/* Returns the signing key for @secrets and @region, which is cached. */
static SpdlSigV4Key *
get_key (SpdlStore *self, SpdlSecrets *secrets, const gchar *region)
{
  if (self->secrets == secrets && g_str_equal (self->signed_region, region))
    return &self->key;
  g_clear_pointer (&self->secrets, spdl_secrets_unref);
  g_free (self->signed_region);
  self->secrets = spdl_secrets_ref (secrets);
  self->signed_region = g_strdup (region);
  self->key = (SpdlSigV4Key){ .access_key = secrets->access_key,
    .secret_key = secrets->secret_key,
    .session_token = secrets->session_token,
    .region = self->signed_region,
    .service = "s3" };
  return &self->key;
}

static gint64
get_time (const SpdlStore *self)
{
  return g_get_real_time () / G_USEC_PER_SEC + self->skew;
}

void
spdl_object_sign (SpdlObject *self, SoupMessage *message)
{
  GUri *uri = soup_message_get_uri (message);
  SoupMessageHeaders *headers = soup_message_get_request_headers (message);
  const SpdlSecrets *secrets = self->secrets;
  g_autofree gchar *text = NULL;

  if (!secrets)
    return;
  if (secrets->bearer) {
    text = g_strconcat ("Bearer ", secrets->bearer, NULL);
    soup_message_headers_replace (headers, "Authorization", text);
  } else if (secrets->access_key) {
    text = spdl_sigv4_dup_host (uri);
    spdl_sigv4_sign (get_key (self->store, self->secrets, self->region), "GET",
        text, g_uri_get_path (uri), g_uri_get_query (uri),
        get_time (self->store), headers);
  }
}

/* Responses */

/* Records that the bucket is in @region, of @n bytes. Returns FALSE if the
 * request already used that region. */
static gboolean
correct_region (SpdlObject *self, const gchar *region, gsize n)
{
  g_autofree gchar *name = NULL;

  if (self->kind != STORE_S3 || self->region_mended || n == 0 || n > 32 ||
      strspn (region, "abcdefghijklmnopqrstuvwxyz0123456789-") < n)
    return FALSE;
  name = g_strndup (region, n);
  if (g_strcmp0 (name, self->region) == 0)
    return FALSE;
  SPDL_INFO ("the bucket \"%s\" is in the region %s", self->bucket, name);
  self->region_mended = TRUE;
  g_hash_table_insert (
      self->store->regions, g_strdup (self->bucket), g_steal_pointer (&name));
  return TRUE;
}

gboolean
spdl_object_correct_region (SpdlObject *self, SoupMessage *message)
{
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  const guint status = soup_message_get_status (message);
  const gchar *region =
      soup_message_headers_get_one (headers, "x-amz-bucket-region");

  return region && status >= 300 && status < 500 &&
         correct_region (self, region, strlen (region));
}

static gboolean
correct_clock (SpdlObject *self, SoupMessage *message)
{
  const gchar *text = soup_message_headers_get_one (
      soup_message_get_response_headers (message), "Date");
  g_autoptr (GDateTime) date =
      text ? soup_date_time_new_from_http_string (text) : NULL;

  if (!date || self->clock_mended)
    return FALSE;
  self->clock_mended = TRUE;
  self->store->skew =
      g_date_time_to_unix (date) - g_get_real_time () / G_USEC_PER_SEC;
  SPDL_WARNING ("this machine's clock differs by %" G_GINT64_FORMAT
                " s from the object store's, whose time is used",
      self->store->skew);
  return TRUE;
}

static gboolean
is_one_of (const gchar *code, const gchar *const *codes)
{
  return code && g_strv_contains (codes, code);
}

/* Returns the content of the first element with that name, and its length. */
static const gchar *
find_element (const gchar *body, gsize size, const gchar *name, gsize *n)
{
  g_autofree gchar *open = g_strconcat ("<", name, ">", NULL);
  const gchar *begin = size > 0 ? g_strstr_len (body, size, open) : NULL;
  const gchar *end;

  if (!begin)
    return NULL;
  begin += strlen (open);
  end = memchr (begin, '<', size - (begin - body));
  *n = end ? end - begin : 0;
  return end ? begin : NULL;
}

gboolean
spdl_object_correct (SpdlObject *self, SoupMessage *message, const gchar *code,
    const gchar *body, gsize size)
{
  static const gchar *const skewed[] = { "RequestTimeTooSkewed",
    "RequestExpired", NULL };
  static const gchar *const expired[] = { "ExpiredToken", "InvalidToken",
    "TokenRefreshRequired", "ExpiredTokenException", NULL };

  const gchar *region;
  gsize n;

  if (!self->secrets)
    return FALSE;
  if (g_strcmp0 (code, "AuthorizationHeaderMalformed") == 0)
    return (region = find_element (body, size, "Region", &n)) &&
           correct_region (self, region, n);
  if (is_one_of (code, skewed))
    return correct_clock (self, message);
  if (self->secrets_mended ||
      (!is_one_of (code, expired) &&
          soup_message_get_status (message) != SOUP_STATUS_UNAUTHORIZED))
    return FALSE;
  self->secrets_mended = TRUE;
  return spdl_credentials_refuse (
      get_credentials (self->store, self->kind), self->secrets);
}

static gchar *
check_code (const gchar *code, gsize n)
{
  for (gsize i = 0; i < n; i++)
    if (!g_ascii_isalnum (code[i]) && code[i] != '.')
      return NULL;
  return n > 0 && n <= 64 ? g_strndup (code, n) : NULL;
}

/* Ignores the rest of the body, which may quote the signed request. */
gchar *
spdl_object_parse_code (SoupMessage *message, const gchar *body, gsize size)
{
  const gchar *named = soup_message_headers_get_one (
      soup_message_get_response_headers (message), "X-Error-Code");
  const gchar *code;
  gsize n;

  if (named)
    return check_code (named, strlen (named));
  code = find_element (body, size, "Code", &n);
  return code ? check_code (code, n) : NULL;
}

gboolean
spdl_object_is_temporary (const gchar *code)
{
  /* Those that botocore retries for S3, in its modes standard and legacy, and
   * the clock's, which is corrected once per request before. */
  static const gchar *const codes[] = { "RequestTimeout",
    "RequestTimeoutException", "PriorRequestNotComplete", "BadDigest",
    "Throttling", "ThrottlingException", "ThrottledException",
    "RequestThrottled", "RequestThrottledException", "RequestLimitExceeded",
    "TooManyRequestsException", "TransactionInProgressException",
    "ProvisionedThroughputExceededException", "BandwidthLimitExceeded",
    "LimitExceededException", "SlowDown", "RequestTimeTooSkewed", NULL };

  return is_one_of (code, codes);
}

const gchar *
spdl_object_get_advice (
    const SpdlObject *self, SoupMessage *message, const gchar *code)
{
  static const struct {
    const gchar *code;
    const gchar *advice;
  } known[] = {
    { "SignatureDoesNotMatch",
        "the secret key is wrong, or a proxy changes requests" },
    { "InvalidAccessKeyId", "the store does not know the access key" },
    { "InvalidToken", "the session token is invalid: get new credentials" },
    { "ExpiredToken", "the credentials have expired: get new ones" },
    { "RequestTimeTooSkewed", "set this machine's clock" },
    { "NoSuchBucket", "check the bucket's name, and s3-endpoint" },
    { "NoSuchKey", "no object has this key" },
    { "GatedRepo",
        "accept the dataset's conditions on its page, and set HF_TOKEN" },
    { "AccessDenied", "the credentials do not permit reading this object or "
                      "listing its bucket" },
  };
  const guint status = soup_message_get_status (message);

  if (!self->secrets || (!self->secrets->access_key && !self->secrets->bearer))
    return status == SOUP_STATUS_UNAUTHORIZED || status == SOUP_STATUS_FORBIDDEN
               ? "the request was made without credentials"
               : NULL;
  for (guint i = 0; code && i < G_N_ELEMENTS (known); i++)
    if (g_str_equal (code, known[i].code))
      return known[i].advice;
  return NULL;
}
