/* gst-spdl: HTTP client
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/http.h"

#include <pthread.h>
#include <time.h>

#include "gst/spdl/engine/clock.h"
#include "gst/spdl/engine/sync.h"
#include "plugins/fetch/http/bodystream.h"
#include "plugins/fetch/http/hedge.h"
#include "plugins/fetch/http/request.h"
#include "plugins/fetch/io/cafile.h"
#include "plugins/fetch/io/proxy.h"

/* The stage limits the number of requests; the session must not limit it
 * further. */
#define MAX_CONNECTIONS 4096
#define MAX_THREADS 16

/* Requests that each thread has before another one starts. */
#define REQUESTS_PER_THREAD 4

/* A thread with a session. */
typedef struct {
  SpdlHttp *http;
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;
  SoupSession *session; /* used only by the thread */
  SpdlStore *store;     /* used only by the thread */
  SpdlHedge *hedge;     /* nullable */
  SpdlRequests requests;
  GSource *wakeup; /* wakes up the thread to process the inbox */

  SpdlMutex lock; /* protects the following fields: */
  GQueue inbox;   /* of SpdlRequest that have not started */
  gboolean cancelled;
  gboolean streams_changed;
  gboolean quit;
  /* Cancellable of all fetches. */
  GCancellable *cancellable;
  gulong on_cancelled;

  gint has_thread_id; /* atomic */
  pthread_t thread_id;
} Client;

struct _SpdlHttp {
  const SpdlHttpSettings *settings;
  GTlsDatabase *tls_database; /* nullable */
  SpdlProxies proxies;
  SpdlRateLimits *limits;
  SpdlMutex lock;   /* held to choose or add a client */
  gint max_clients; /* with the lock held */
  gint n_clients;   /* atomic; at least 1 */
  Client *clients[MAX_THREADS];
};

static void
add_line (const char *name, const char *value, gpointer data)
{
  /* Credentials determine access, not content, so they are not part of the
   * key. */
  if (g_ascii_strcasecmp (name, "Authorization") != 0 &&
      g_ascii_strcasecmp (name, "Proxy-Authorization") != 0)
    g_string_append_printf (data, "%s: %s\n", name, value);
}

gchar *
spdl_http_settings_list (const SpdlHttpSettings *self)
{
  SoupMessageHeaders *headers =
      soup_message_headers_new (SOUP_MESSAGE_HEADERS_REQUEST);
  GString *text = g_string_new (NULL);

  spdl_http_settings_put (self, headers);
  soup_message_headers_foreach (headers, add_line, text);
  soup_message_headers_unref (headers);
  return g_string_free (text, FALSE);
}

static SoupSession *
make_session (Client *self)
{
  SoupSession *session = soup_session_new_with_options ("max-conns",
      MAX_CONNECTIONS, "max-conns-per-host", MAX_CONNECTIONS, "user-agent",
      self->http->settings->user_agent, "timeout", 0, NULL);

  if (self->http->tls_database)
    soup_session_set_tls_database (session, self->http->tls_database);
  spdl_proxies_apply (&self->http->proxies, session);
  /* Content encodings are disabled: items are delivered as stored, and byte
   * ranges refer to the encoded bytes. */
  soup_session_remove_feature_by_type (session, SOUP_TYPE_CONTENT_DECODER);
  return session;
}

/* Calls @func for each active request. @func may remove the request from the
 * queue. */
static void
foreach_active (Client *self, void (*func) (SpdlRequest *))
{
  for (GList *link = self->requests.active.head, *next; link; link = next) {
    next = link->next;
    func (link->data);
  }
}

static void
begin_now (Client *self, SpdlRequest *request)
{
  spdl_request_begin (request, self->session, self->store, &self->requests);
}

static void
begin_hedge (gpointer data, SpdlRequest *request)
{
  Client *self = data;

  g_atomic_int_inc (&self->requests.n_unfinished);
  begin_now (self, request);
}

/* Starts the requests in the inbox, and processes cancellation and quit. */
static gboolean
process_inbox (GSource *source, GSourceFunc callback, gpointer data)
{
  Client *self = data;
  GQueue requests;
  gboolean quit, cancelled, streams;
  GList *link;

  g_source_set_ready_time (source, -1);
  spdl_mutex_lock (&self->lock);
  requests = self->inbox;
  g_queue_init (&self->inbox);
  quit = self->quit;
  cancelled = self->cancelled;
  self->cancelled = FALSE;
  streams = self->streams_changed;
  self->streams_changed = FALSE;
  spdl_mutex_unlock (&self->lock);
  while ((link = g_queue_pop_head_link (&requests)))
    begin_now (self, link->data);
  /* Requests that started after a flush ended are not cancelled. */
  if (cancelled)
    foreach_active (self, spdl_request_check_cancelled);
  if (streams)
    foreach_active (self, spdl_request_check_stream);
  if (quit)
    g_main_loop_quit (self->loop);
  return G_SOURCE_CONTINUE;
}

static void
make_wakeup (Client *self)
{
  static GSourceFuncs funcs = { NULL, NULL, process_inbox, NULL };

  self->wakeup = g_source_new (&funcs, sizeof (GSource));
  g_source_set_callback (self->wakeup, NULL, self, NULL);
  g_source_attach (self->wakeup, self->context);
}

static gpointer
run_client (gpointer data)
{
  Client *self = data;

  g_main_context_push_thread_default (self->context);
  self->thread_id = pthread_self ();
  g_atomic_int_set (&self->has_thread_id, TRUE);
  self->session = make_session (self);
  g_main_loop_run (self->loop);
  /* soup_session_abort() would cancel at an unsafe moment, see cancel_try() in
   * request.c. */
  foreach_active (self, spdl_request_cancel);
  while (!g_queue_is_empty (&self->requests.active))
    g_main_context_iteration (self->context, TRUE);
  /* Pending sources of the session refer to it. */
  while (g_main_context_iteration (self->context, FALSE))
    ;
  g_clear_object (&self->session);
  g_main_context_pop_thread_default (self->context);
  return NULL;
}

/* Sets a flag of @self for process_inbox(). */
static void
set_flag (Client *self, gboolean *flag)
{
  spdl_mutex_lock (&self->lock);
  *flag = TRUE;
  spdl_mutex_unlock (&self->lock);
  g_source_set_ready_time (self->wakeup, 0);
}

static void
on_cancelled (GCancellable *cancellable, gpointer data)
{
  Client *self = data;

  set_flag (self, &self->cancelled);
}

/* Connects to the cancellable shared by all fetches, before the first of them
 * starts. A GLib cancellable source per fetch may leak if it is destroyed while
 * another thread cancels, and g_cancellable_connect() does not connect if the
 * cancellable is already cancelled. Lock held. */
static void
watch_cancellable (Client *self, GCancellable *cancellable)
{
  if (self->cancellable == cancellable)
    return;
  g_assert (!self->cancellable);
  self->cancellable = g_object_ref (cancellable);
  self->on_cancelled = g_signal_connect (
      cancellable, "cancelled", G_CALLBACK (on_cancelled), self);
}

static void
begin_request (Client *self, SpdlRequest *request, GCancellable *cancellable)
{
  gboolean first;

  spdl_mutex_lock (&self->lock);
  watch_cancellable (self, cancellable);
  first = g_queue_is_empty (&self->inbox);
  g_queue_push_tail_link (&self->inbox, spdl_request_get_link (request));
  spdl_mutex_unlock (&self->lock);
  if (first)
    g_source_set_ready_time (self->wakeup, 0);
}

static guint64
client_get_cpu_time (Client *self)
{
  struct timespec ts;

  if (!g_atomic_int_get (&self->has_thread_id) ||
      !spdl_compat_get_thread_time (self->thread_id, &ts))
    return 0;
  return spdl_timespec_to_ns (&ts);
}

static void
client_free (Client *self)
{
  if (self->cancellable)
    g_cancellable_disconnect (self->cancellable, self->on_cancelled);
  g_clear_object (&self->cancellable);
  if (self->thread) {
    /* The loop quits itself: it may not be running yet. */
    set_flag (self, &self->quit);
    g_thread_join (self->thread);
  }
  g_source_destroy (self->wakeup);
  g_source_unref (self->wakeup);
  spdl_mutex_clear (&self->lock);
  g_clear_pointer (&self->hedge, spdl_hedge_free);
  spdl_store_free (self->store);
  g_main_loop_unref (self->loop);
  g_main_context_unref (self->context);
  g_free (self);
}

/* Returns NULL with @error set if no thread can be started. */
static Client *
client_new (SpdlHttp *http, GError **error)
{
  Client *self = g_new0 (Client, 1);

  self->http = http;
  self->requests.limits = http->limits;
  self->store = spdl_store_new (&http->settings->store);
  if (http->settings->hedge > 0)
    self->hedge = spdl_hedge_new (http->settings, begin_hedge, self);
  self->context = g_main_context_new ();
  self->loop = g_main_loop_new (self->context, FALSE);
  spdl_mutex_init (&self->lock);
  make_wakeup (self);
  self->thread = g_thread_try_new ("spdl-http", run_client, self, error);
  if (!self->thread)
    g_clear_pointer (&self, client_free);
  return self;
}

/* The group of threads */

static guint
count_requests (gpointer user_data)
{
  SpdlHttp *self = user_data;
  const gint n_clients = g_atomic_int_get (&self->n_clients);
  guint n = 0;

  for (gint i = 0; i < n_clients; i++)
    n += g_atomic_int_get (&self->clients[i]->requests.n_unfinished);
  return n;
}

SpdlHttp *
spdl_http_new (const SpdlHttpSettings *settings, GError **error)
{
  SpdlHttp *self = g_new0 (SpdlHttp, 1);

  self->settings = settings;
  self->max_clients = CLAMP (settings->max_threads, 1, MAX_THREADS);
  spdl_mutex_init (&self->lock);
  self->limits = spdl_rate_limits_new (settings->counts, count_requests, self);
  if (spdl_ca_file_open (
          settings->tls_ca_file, "tls-ca-file", &self->tls_database, error) &&
      spdl_proxies_init (&self->proxies, error) &&
      (self->clients[0] = client_new (self, error)))
    self->n_clients = 1;
  else
    g_clear_pointer (&self, spdl_http_free);
  return self;
}

void
spdl_http_free (SpdlHttp *self)
{
  for (gint i = 0; i < self->n_clients; i++)
    client_free (self->clients[i]);
  spdl_mutex_clear (&self->lock);
  g_clear_object (&self->tls_database);
  spdl_proxies_clear (&self->proxies);
  spdl_rate_limits_free (self->limits);
  g_free (self);
}

/* Returns the client for another request, which counts as unfinished. Few
 * requests stay on one thread, which then wakes up less often. If a thread
 * cannot be started, those that are there do the work from then on. */
static Client *
choose_client (SpdlHttp *self)
{
  Client *chosen = NULL, *added;
  gint n = 0, fewest = G_MAXINT;

  spdl_mutex_lock (&self->lock);
  for (; n < self->n_clients && fewest >= REQUESTS_PER_THREAD; n++) {
    const gint number =
        g_atomic_int_get (&self->clients[n]->requests.n_unfinished);

    if (number < fewest) {
      fewest = number;
      chosen = self->clients[n];
    }
  }
  if (fewest >= REQUESTS_PER_THREAD && n < self->max_clients) {
    if ((added = client_new (self, NULL))) {
      chosen = self->clients[n] = added;
      g_atomic_int_inc (&self->n_clients);
    } else {
      self->max_clients = n;
    }
  }
  g_atomic_int_inc (&chosen->requests.n_unfinished);
  spdl_mutex_unlock (&self->lock);
  return chosen;
}

void
spdl_http_fetch (SpdlHttp *self, const SpdlHttpFetch *fetch)
{
  Client *client = choose_client (self);

  begin_request (client,
      client->hedge ? spdl_hedge_add (client->hedge, fetch)
                    : spdl_request_new (self->settings, fetch),
      fetch->cancellable);
}

void
spdl_http_fetch_with_head (
    SpdlHttp *self, const SpdlHttpFetch *fetch, SpdlHttpHeadFunc head)
{
  SpdlRequest *request = spdl_request_new (self->settings, fetch);

  spdl_request_set_head (request, head);
  begin_request (choose_client (self), request, fetch->cancellable);
}

static void
on_stream_wakes (gpointer data)
{
  Client *self = data;

  set_flag (self, &self->streams_changed);
}

void
spdl_http_fetch_stream (SpdlHttp *self, const gchar *uri,
    GCancellable *cancellable, SpdlBodyStream *body_stream)
{
  Client *client = choose_client (self);

  spdl_body_stream_begin (body_stream, on_stream_wakes, client);
  begin_request (client,
      spdl_request_new_stream (self->settings, uri, cancellable, body_stream),
      cancellable);
}

guint64
spdl_http_get_cpu_time (SpdlHttp *self)
{
  const gint n = g_atomic_int_get (&self->n_clients);
  guint64 time = 0;

  for (gint i = 0; i < n; i++)
    time += client_get_cpu_time (self->clients[i]);
  return time;
}
