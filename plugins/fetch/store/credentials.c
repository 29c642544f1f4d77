/* gst-spdl: credentials of object stores
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/common/logline.h"
#include "plugins/common/fail.h"
#include "plugins/fetch/store/credentials-private.h"

#include <gst/gst.h>

#include "gst/spdl/engine/sync.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

/* Renewal begins this long before the secrets expire, or at half of their
 * lifetime. */
#define RENEWAL_TIME (5 * G_TIME_SPAN_MINUTE)

static const gchar *const kind_names[] = { "AWS", "Google Cloud",
  "Hugging Face" };

static gboolean
is_same (const SpdlSecrets *a, const SpdlSecrets *b)
{
  return g_strcmp0 (a->access_key, b->access_key) == 0 &&
         g_strcmp0 (a->secret_key, b->secret_key) == 0 &&
         g_strcmp0 (a->session_token, b->session_token) == 0 &&
         g_strcmp0 (a->bearer, b->bearer) == 0;
}

static gchar *
format_time (gint64 time)
{
  g_autoptr (GDateTime) date =
      g_date_time_new_from_unix_utc (time / G_TIME_SPAN_SECOND);

  return date ? g_date_time_format (date, "%Y-%m-%dT%H:%M:%SZ")
              : g_strdup ("an unknown time");
}

/* Credentials */

struct _SpdlCredentials {
  SpdlCredentialsKind kind;
  gchar *profile; /* nullable */

  SpdlMutex lock;       /* guards: */
  SpdlCond asked;       /* signaled when @asking becomes FALSE */
  SpdlSecrets *secrets; /* nullable: the latest ones */
  gboolean refused;     /* the store rejected @secrets, so others are needed */
  gint64 renewal;       /* time to renew @secrets, real time */
  GError *error;        /* nullable: of the last lookup */
  gint64 pause_end;     /* monotonic time before which no lookup follows a
                         * failure */
  gint64 same_until;    /* monotonic time before which a lookup returns
                         * the same */
  gboolean asking;      /* a lookup is running */
  GQueue waiters;       /* Waiter */
  gint64 clock_advance; /* for tests */
};

/* A waiting caller. Removed only by its own thread. */
typedef struct {
  SpdlCredentials *credentials;
  GMainContext *context;
  SpdlCredentialsFunc func;
  gpointer user_data;
  GSource *source; /* nullable: pending call of func */
} Waiter;

static void
waiter_free (Waiter *self)
{
  g_clear_pointer (&self->source, g_source_unref);
  g_main_context_unref (self->context);
  g_free (self);
}

static gint64
get_real_time (SpdlCredentials *self)
{
  return g_get_real_time () + self->clock_advance;
}

static gint64
get_monotonic_time (SpdlCredentials *self)
{
  return g_get_monotonic_time () + self->clock_advance;
}

static gboolean
call_waiter (gpointer data)
{
  Waiter *waiter = data;
  SpdlCredentials *self = waiter->credentials;
  SpdlCredentialsFunc func = waiter->func;
  gpointer user_data = waiter->user_data;

  spdl_mutex_lock (&self->lock);
  g_queue_remove (&self->waiters, waiter);
  spdl_mutex_unlock (&self->lock);
  waiter_free (waiter);
  func (user_data);
  return G_SOURCE_REMOVE;
}

/* Lock held. */
static void
wake_waiters (SpdlCredentials *self)
{
  for (GList *link = self->waiters.head; link; link = link->next) {
    Waiter *waiter = link->data;

    if (waiter->source)
      continue;
    waiter->source = g_idle_source_new ();
    g_source_set_priority (waiter->source, G_PRIORITY_DEFAULT);
    g_source_set_callback (waiter->source, call_waiter, waiter, NULL);
    g_source_attach (waiter->source, waiter->context);
  }
}

/* Lock held. */
static void
add_waiter (SpdlCredentials *self, SpdlCredentialsFunc func, gpointer user_data)
{
  Waiter *waiter;

  if (!func)
    return;
  waiter = g_new0 (Waiter, 1);
  waiter->credentials = self;
  waiter->context = g_main_context_ref_thread_default ();
  waiter->func = func;
  waiter->user_data = user_data;
  g_queue_push_tail (&self->waiters, waiter);
}

void
spdl_credentials_stop_waiting (SpdlCredentials *self, gpointer user_data)
{
  GList *next;

  spdl_mutex_lock (&self->lock);
  for (GList *link = self->waiters.head; link; link = next) {
    Waiter *waiter = link->data;

    next = link->next;
    if (waiter->user_data != user_data)
      continue;
    if (waiter->source)
      g_source_destroy (waiter->source);
    g_queue_delete_link (&self->waiters, link);
    waiter_free (waiter);
  }
  spdl_mutex_unlock (&self->lock);
}

/* Lookup */

/* Lock held. Returns FALSE with @error set if @secrets have expired, or are
 * about to. */
static gboolean
check_expiry (SpdlCredentials *self, const SpdlSecrets *secrets, GError **error)
{
  const gint64 now = get_real_time (self);
  g_autofree gchar *time = NULL;
  g_autofree gchar *today = NULL;

  if (secrets->expires == G_MAXINT64 ||
      secrets->expires - SPDL_CREDENTIALS_MIN_TIME > now)
    return TRUE;
  time = format_time (secrets->expires);
  today = format_time (now);
  return spdl_fail (error, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
      "%s credentials of %s are not valid after %s, and the clock shows %s: "
      "renew them, or correct the clock",
      kind_names[self->kind], secrets->source, time, today);
}

/* Lock held. */
static void
take_secrets (SpdlCredentials *self, SpdlSecrets *secrets)
{
  const gint64 now = get_real_time (self);
  const gchar *source = secrets->source;
  g_autofree gchar *time = NULL;

  if (self->refused && is_same (self->secrets, secrets))
    self->same_until = get_monotonic_time (self) + SPDL_CREDENTIALS_PAUSE;
  self->refused = FALSE;
  if (secrets->expires == G_MAXINT64) {
    self->renewal = G_MAXINT64;
    SPDL_INFO ("%s credentials of %s", kind_names[self->kind], source);
  } else {
    self->renewal =
        secrets->expires - MIN (RENEWAL_TIME, (secrets->expires - now) / 2);
    time = format_time (secrets->expires);
    SPDL_INFO ("%s credentials of %s, valid until %s", kind_names[self->kind],
        source, time);
  }
  g_clear_pointer (&self->secrets, spdl_secrets_unref);
  self->secrets = secrets;
  g_clear_error (&self->error);
  self->pause_end = 0;
}

/* Lock held. */
static void
take_failure (SpdlCredentials *self, GError *error)
{
  SPDL_INFO ("%s credentials: %s", kind_names[self->kind], error->message);
  g_clear_error (&self->error);
  self->error = error;
  self->pause_end = get_monotonic_time (self) + SPDL_CREDENTIALS_PAUSE;
}

static SpdlSecrets *
ask_sources (SpdlCredentials *self, GError **error)
{
  switch (self->kind) {
    case SPDL_CREDENTIALS_AWS:
      return spdl_aws_credentials_ask (self->profile, error);
    case SPDL_CREDENTIALS_GOOGLE:
      return spdl_google_credentials_ask (error);
    default:
      return spdl_hugging_face_credentials_ask (error);
  }
}

static gpointer
run_question (gpointer data)
{
  SpdlCredentials *self = data;
  GError *error = NULL;
  SpdlSecrets *secrets = ask_sources (self, &error);

  spdl_mutex_lock (&self->lock);
  if (secrets && !check_expiry (self, secrets, &error))
    g_clear_pointer (&secrets, spdl_secrets_unref);
  if (secrets)
    take_secrets (self, secrets);
  else
    take_failure (self, error);
  self->asking = FALSE;
  wake_waiters (self);
  spdl_cond_broadcast (&self->asked);
  spdl_mutex_unlock (&self->lock);
  return NULL;
}

/* Lock held. Starts a lookup. Returns FALSE, after recording the failure, if no
 * thread can be created. */
static gboolean
begin_question (SpdlCredentials *self)
{
  GError *error = NULL;
  GThread *thread = g_thread_try_new ("spdl-keys", run_question, self, &error);

  if (!thread) {
    take_failure (
        self, g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                  "Thread for credentials cannot start: %s", error->message));
    g_error_free (error);
    return FALSE;
  }
  g_thread_unref (thread);
  self->asking = TRUE;
  return TRUE;
}

/* Lock held. */
static gboolean
is_valid (SpdlCredentials *self, gint64 now)
{
  return self->secrets && !self->refused &&
         (self->secrets->expires == G_MAXINT64 ||
             now < self->secrets->expires - SPDL_CREDENTIALS_MIN_TIME);
}

SpdlSecrets *
spdl_credentials_dup_secrets (SpdlCredentials *self, SpdlCredentialsFunc func,
    gpointer user_data, GError **error)
{
  SpdlSecrets *secrets = NULL;
  gboolean paused;
  gint64 now;

  spdl_mutex_lock (&self->lock);
  now = get_real_time (self);
  paused = self->error && get_monotonic_time (self) < self->pause_end;
  if (is_valid (self, now)) {
    secrets = spdl_secrets_ref (self->secrets);
    if (now >= self->renewal && secrets->renewable && !self->asking && !paused)
      begin_question (self);
  } else if (self->asking || (!paused && begin_question (self))) {
    add_waiter (self, func, user_data);
  } else {
    g_propagate_error (error, g_error_copy (self->error));
  }
  spdl_mutex_unlock (&self->lock);
  return secrets;
}

gboolean
spdl_credentials_refuse (SpdlCredentials *self, const SpdlSecrets *secrets)
{
  gboolean others = TRUE;

  spdl_mutex_lock (&self->lock);
  if (self->secrets == secrets && !self->refused) {
    others =
        secrets->renewable && get_monotonic_time (self) >= self->same_until;
    self->refused = others;
  }
  spdl_mutex_unlock (&self->lock);
  return others;
}

static void
free_credentials (gpointer self)
{
  spdl_credentials_free (self);
}

/* Other plugins of the process contain this code as well, so the credentials
 * are kept with an object that all of them have, until gst_deinit(). */
SpdlCredentials *
spdl_credentials_get (SpdlCredentialsKind kind, const gchar *profile)
{
  GObject *shared = G_OBJECT (gst_registry_get ());
  g_autofree gchar *name =
      g_strdup_printf ("spdl-credentials-" PACKAGE_VERSION "-%d%s%s", kind,
          profile ? "/" : "", profile ? profile : "");
  SpdlCredentials *self;

  GST_OBJECT_LOCK (shared);
  self = g_object_get_data (shared, name);
  if (!self) {
    self = spdl_credentials_new (kind, profile);
    g_object_set_data_full (shared, name, self, free_credentials);
  }
  GST_OBJECT_UNLOCK (shared);
  return self;
}

SpdlCredentials *
spdl_credentials_new (SpdlCredentialsKind kind, const gchar *profile)
{
  SpdlCredentials *self = g_new0 (SpdlCredentials, 1);

  self->kind = kind;
  self->profile = g_strdup (profile);
  spdl_mutex_init (&self->lock);
  spdl_cond_init (&self->asked);
  return self;
}

void
spdl_credentials_free (SpdlCredentials *self)
{
  spdl_mutex_lock (&self->lock);
  while (self->asking)
    spdl_cond_wait (&self->asked, &self->lock);
  spdl_mutex_unlock (&self->lock);
  g_assert (g_queue_is_empty (&self->waiters));
  g_clear_pointer (&self->secrets, spdl_secrets_unref);
  g_clear_error (&self->error);
  spdl_cond_clear (&self->asked);
  spdl_mutex_clear (&self->lock);
  g_free (self->profile);
  g_free (self);
}

void
spdl_credentials_advance (SpdlCredentials *self, gint64 us)
{
  spdl_mutex_lock (&self->lock);
  self->clock_advance += us;
  spdl_mutex_unlock (&self->lock);
}
