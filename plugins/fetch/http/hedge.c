/* gst-spdl: second requests to servers that respond late
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/hedge.h"

#include <stdlib.h>

/* Number of recent responses that determine the delay. */
#define N_RECENT 512
/* Number of responses before the delay is first computed, and computed again.
 */
#define MIN_RECENT 100
#define UPDATE_AFTER 128
/* Minimum delay, in us: a request that takes less is not worth a second one. */
#define MIN_DELAY 1000
/* Number of second requests that may follow each other, if few were sent
 * before. */
#define MAX_CREDIT 16
/* Pause after a response of an overloaded server, in us. */
#define PAUSE (60 * G_TIME_SPAN_SECOND)

typedef struct _Race Race;

/* One of the two requests of a fetch. */
typedef struct {
  Race *race;
  gint64 begun;         /* monotonic time, us */
  SpdlRequest *request; /* NULL: has ended, or was not sent */
} Copy;

struct _Race {
  SpdlHedge *hedge;
  GList link;     /* in hedge->waiting, while `waits` */
  gboolean waits; /* for a response, without a second request */
  Copy copies[2];
  Copy *winner;          /* nullable: was answered first */
  GError *error;         /* nullable: of the first request */
  gchar *uri;
  SpdlHttpFetch fetch;
};

struct _SpdlHedge {
  const SpdlHttpSettings *settings;
  SpdlHedgeBeginFunc begin;
  gpointer user_data;

  /* used by one thread of the client only */
  GQueue waiting; /* of Race, in the order of their beginnings */
  GSource *timer; /* nullable */
  gint64 delay;   /* in us; G_MAXINT64: unknown */
  gint64 paused_until;
  gdouble credit; /* number of second requests that may be sent */
  guint n_recent;
  guint next;
  guint32 recent[N_RECENT]; /* us from the beginning to the response */
};

/* The delay */

static int
compare (gconstpointer a, gconstpointer b)
{
  const guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return x < y ? -1 : x > y;
}

static void
update_delay (SpdlHedge *self)
{
  g_autofree guint32 *sorted =
      g_memdup2 (self->recent, self->n_recent * sizeof *sorted);
  /* Half of the second requests are left for responses that are really late. */
  const guint at = self->n_recent * (1 - self->settings->hedge / 2);

  qsort (sorted, self->n_recent, sizeof *sorted, compare);
  self->delay = MAX (sorted[MIN (at, self->n_recent - 1)], MIN_DELAY);
}

static void
add_time (SpdlHedge *self, gint64 time)
{
  self->recent[self->next] = CLAMP (time, 0, G_MAXUINT32);
  self->next = (self->next + 1) % N_RECENT;
  self->n_recent = MIN (self->n_recent + 1, N_RECENT);
  if (self->n_recent == MIN_RECENT || self->next % UPDATE_AFTER == 0)
    update_delay (self);
}

/* Races */

static void
set_timer (SpdlHedge *self)
{
  const Race *first = g_queue_peek_head (&self->waiting);

  g_source_set_ready_time (
      self->timer, !first || self->delay == G_MAXINT64 || self->credit < 1
                       ? -1
                       : first->copies[0].begun + self->delay);
}

static void
stop_waiting (Race *self)
{
  if (!self->waits)
    return;
  self->waits = FALSE;
  g_queue_unlink (&self->hedge->waiting, &self->link);
}

static void
race_free (Race *self)
{
  g_clear_error (&self->error);
  g_object_unref (self->fetch.cancellable);
  g_free (self->uri);
  g_free (self);
}

static void
on_ended (gpointer data, GstBuffer *content, GError *error)
{
  Copy *copy = data;
  Race *race = copy->race;
  const gboolean is_first = copy == &race->copies[0];
  Copy *other = &race->copies[is_first];
  const SpdlHttpFunc func = race->fetch.func;
  const gpointer user_data = race->fetch.user_data;
  const gboolean is_last = !other->request;
  gboolean counts;

  copy->request = NULL;
  stop_waiting (race);
  if (!race->winner && is_last) {
    /* Neither was answered. The first one has made more attempts. */
    race->winner = copy;
    if (race->error) {
      g_error_free (error);
      error = g_steal_pointer (&race->error);
    }
  } else if (!race->winner && is_first) {
    race->error = g_steal_pointer (&error);
  }
  counts = race->winner == copy;
  if (is_last)
    race_free (race);
  if (counts) {
    func (user_data, content, error);
    return;
  }
  gst_clear_buffer (&content);
  g_clear_error (&error);
}

/* Returns whether it is the request that was answered first or, before that,
 * the first one. The caller of a fetch may free what it passed in, such as
 * validators, once the request that was answered has ended. */
static gboolean
may_retry (gpointer copy)
{
  const Race *race = ((const Copy *) copy)->race;

  return copy == (race->winner ? race->winner : &race->copies[0]);
}

static void
on_answered (gpointer data, guint status, gboolean is_final)
{
  Copy *copy = data;
  Race *race = copy->race;
  SpdlHedge *self = race->hedge;
  Copy *other = &race->copies[copy == &race->copies[0]];
  const gint64 now = g_get_monotonic_time ();

  if (status == 429 || status == 503)
    self->paused_until = now + PAUSE;
  if (race->winner)
    return;
  stop_waiting (race);
  if (!is_final)
    return;
  race->winner = copy;
  /* Late responses must not raise the delay after which they count as late. */
  add_time (self, now - copy->begun);
  if (copy == &race->copies[1])
    spdl_counts_add (self->settings->counts, SPDL_COUNT_HEDGES_WON, 1);
  if (other->request)
    spdl_request_cancel (other->request);
}

static void on_begun (gpointer copy);

static SpdlRequest *
make_request (Race *self, guint i)
{
  static const SpdlRequestRace funcs = { on_begun, may_retry, on_answered };
  Copy *copy = &self->copies[i];
  SpdlHttpFetch fetch = self->fetch;

  fetch.func = on_ended;
  fetch.user_data = copy;
  copy->race = self;
  copy->request = spdl_request_new (self->hedge->settings, &fetch);
  spdl_request_set_race (copy->request, &funcs, copy);
  return copy->request;
}

/* Sends the second request of the oldest fetch that waits. */
static void
hedge_first (SpdlHedge *self, gint64 now)
{
  Race *race = g_queue_peek_head (&self->waiting);

  stop_waiting (race);
  if (now < self->paused_until ||
      g_cancellable_is_cancelled (race->fetch.cancellable))
    return;
  self->credit--;
  spdl_counts_add (self->settings->counts, SPDL_COUNT_HEDGES, 1);
  self->begin (self->user_data, make_request (race, 1));
}

static gboolean
on_timer (GSource *source, GSourceFunc callback, gpointer data)
{
  SpdlHedge *self = data;
  const gint64 now = g_get_monotonic_time ();
  const Race *race;

  while (self->credit >= 1 && (race = g_queue_peek_head (&self->waiting)) &&
         race->copies[0].begun + self->delay <= now)
    hedge_first (self, now);
  set_timer (self);
  return G_SOURCE_CONTINUE;
}

static void
on_begun (gpointer data)
{
  static GSourceFuncs funcs = { NULL, NULL, on_timer, NULL };
  Copy *copy = data;
  Race *race = copy->race;
  SpdlHedge *self = race->hedge;

  copy->begun = g_get_monotonic_time ();
  if (copy != &race->copies[0])
    return;
  if (!self->timer) {
    self->timer = g_source_new (&funcs, sizeof (GSource));
    g_source_set_callback (self->timer, NULL, self, NULL);
    g_source_attach (self->timer, g_main_context_get_thread_default ());
  }
  self->credit = MIN (self->credit + self->settings->hedge, MAX_CREDIT);
  race->waits = TRUE;
  race->link.data = race;
  g_queue_push_tail_link (&self->waiting, &race->link);
  set_timer (self);
}

SpdlHedge *
spdl_hedge_new (const SpdlHttpSettings *settings, SpdlHedgeBeginFunc begin,
    gpointer user_data)
{
  SpdlHedge *self = g_new0 (SpdlHedge, 1);

  self->settings = settings;
  self->begin = begin;
  self->user_data = user_data;
  self->delay = G_MAXINT64;
  return self;
}

void
spdl_hedge_free (SpdlHedge *self)
{
  g_assert (g_queue_is_empty (&self->waiting));

  if (self->timer) {
    g_source_destroy (self->timer);
    g_source_unref (self->timer);
  }
  g_free (self);
}

SpdlRequest *
spdl_hedge_add (SpdlHedge *self, const SpdlHttpFetch *fetch)
{
  Race *race = g_new0 (Race, 1);

  race->hedge = self;
  race->fetch = *fetch;
  race->uri = g_strdup (fetch->uri);
  race->fetch.uri = race->uri;
  g_object_ref (race->fetch.cancellable);
  return make_request (race, 0);
}
