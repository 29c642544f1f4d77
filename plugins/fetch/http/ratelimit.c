/* gst-spdl: requests to servers that limit their rate
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/fetch/http/ratelimit.h"

#include <gst/gst.h>
#include <string.h>

#include "gst/spdl/common/logline.h"
#include "gst/spdl/engine/sync.h"
#include "plugins/fetch/http/origin.h"
#include "plugins/fetch/http/response.h"

GST_DEBUG_CATEGORY_EXTERN (spdl_fetch_debug);
#define GST_CAT_DEFAULT spdl_fetch_debug

/* Time within which two requests must be rejected with 503 and without a delay
 * to slow all others. A single one may have another reason. */
#define TOGETHER (2 * G_TIME_SPAN_SECOND)

struct _SpdlRateOrigin {
  gboolean limited;
  guint limit; /* requests in flight */
  guint most;  /* at this limit, there is none any more */
  guint in_flight;
  guint round;       /* number of times that the limit was halved */
  guint n_succeeded; /* since the limit changed */
  guint n_pauses;    /* since a request succeeded */
  gint64 paused_until;
  gboolean resumes; /* no request was sent since the last pause */
  GQueue waiting;   /* of SpdlRateSlot */
  /* The last rejection, not dereferenced. */
  const SpdlRateSlot *rejected;
  gint64 rejected_at;
};

struct _SpdlRateLimits {
  SpdlCounts *counts; /* nullable */
  guint (*count_requests) (gpointer user_data);
  gpointer user_data;
  gint n_limited; /* atomic: origins that are limited */

  SpdlMutex lock;      /* protects the following fields and the slots: */
  GHashTable *origins; /* name to SpdlRateOrigin */
};

/* Headers */

/* Returns the number after @name, which is a parameter of @text, or -1. */
static gint64
get_parameter (const gchar *text, const gchar *name)
{
  const gsize n = strlen (name);

  while (text && *text) {
    text += strspn (text, "; \t");
    if (g_ascii_strncasecmp (text, name, n) == 0 && text[n] == '=' &&
        g_ascii_isdigit (text[n + 1]))
      return MIN (g_ascii_strtoull (text + n + 1, NULL, 10), G_MAXINT32);
    text = strchr (text, ';');
  }
  return -1;
}

/* The forms are those of draft-ietf-httpapi-ratelimit-headers: `"name";r=0;t=9`
 * (from 08 on, and of Hugging Face), `limit=5, remaining=0, reset=9` (07), and
 * one header for each number (before). */
gint64
spdl_rate_get_asked (SoupMessageHeaders *headers)
{
  const gchar *text = soup_message_headers_get_list (headers, "RateLimit");
  const gchar *reset =
      soup_message_headers_get_one (headers, "RateLimit-Reset");
  const gchar *left =
      soup_message_headers_get_one (headers, "RateLimit-Remaining");
  g_auto (GStrv) members = text ? g_strsplit (text, ",", -1) : NULL;
  gint64 remaining = -1, seconds = 0;

  for (guint i = 0; members && members[i]; i++) {
    const gint64 old = get_parameter (members[i], "remaining");

    /* In the old form, each number is a member. */
    if (old >= 0)
      remaining = old;
    if (get_parameter (members[i], "r") <= 0)
      seconds = MAX (seconds, get_parameter (members[i], "t"));
    if (remaining <= 0)
      seconds = MAX (seconds, get_parameter (members[i], "reset"));
  }
  if (!text && reset && (!left || g_ascii_strtoull (left, NULL, 10) == 0))
    seconds = MIN (g_ascii_strtoull (reset, NULL, 10), G_MAXINT32);
  return seconds * G_TIME_SPAN_SECOND;
}

/* Returns the limit in words. */
static gchar *
describe_limit (const gchar *name, SoupMessage *message, gint64 asked)
{
  SoupMessageHeaders *headers = soup_message_get_response_headers (message);
  const gchar *policy =
      soup_message_headers_get_list (headers, "RateLimit-Policy");
  const gint64 quota = get_parameter (policy, "q");
  const gint64 window = get_parameter (policy, "w");

  if (quota > 0 && window > 0)
    return g_strdup_printf ("%s permits %" G_GINT64_FORMAT
                            " requests in %" G_GINT64_FORMAT " s",
        name, quota, window);
  if (asked > 0)
    return g_strdup_printf ("%s responds with %u, retry after %g s", name,
        soup_message_get_status (message),
        asked / (gdouble) G_TIME_SPAN_SECOND);
  return g_strdup_printf (
      "%s responds with %u", name, soup_message_get_status (message));
}

/* Places. The lock is held. */

static void
set_timer (SpdlRateSlot *self, gint64 time)
{
  const gint64 ready = MIN (time, self->deadline);

  g_source_set_ready_time (self->timer, ready == G_MAXINT64 ? -1 : ready);
}

/* Gives places to slots that wait, or makes the first one look again when the
 * pause ends. */
static void
give_places (SpdlRateOrigin *self)
{
  const gint64 now = g_get_monotonic_time ();
  SpdlRateSlot *slot;

  while ((slot = g_queue_peek_head (&self->waiting)) &&
         self->in_flight < self->limit) {
    if (now < self->paused_until) {
      set_timer (slot, self->paused_until);
      return;
    }
    g_queue_unlink (&self->waiting, &slot->link);
    slot->waits = FALSE;
    slot->round = self->round;
    slot->first = self->resumes;
    self->resumes = FALSE;
    self->in_flight++;
    set_timer (slot, 0);
  }
}

static void
set_limit (SpdlRateLimits *self, SpdlRateOrigin *origin, guint limit)
{
  const gboolean limited = limit < origin->most;

  if (limited != origin->limited)
    g_atomic_int_add (&self->n_limited, limited ? 1 : -1);
  origin->limited = limited;
  origin->limit = limited ? limit : G_MAXUINT;
  origin->n_succeeded = 0;
}

static void
pause_origin (SpdlRateLimits *self, SpdlRateOrigin *origin, gint64 time)
{
  const gint64 now = g_get_monotonic_time ();
  const gint64 begin = MAX (now, origin->paused_until);

  if (now + time <= begin)
    return;
  spdl_counts_add (
      self->counts, SPDL_COUNT_RATE_TIME, (now + time - begin) * 1000);
  origin->paused_until = now + time;
  origin->resumes = TRUE;
}

/* Slots */

gboolean
spdl_rate_limits_enter (SpdlRateLimits *self, SpdlRateSlot *slot, GUri *uri,
    GSource *timer, gint64 deadline, gboolean again)
{
  g_autofree gchar *name = NULL;
  SpdlRateOrigin *origin;

  if (g_atomic_int_get (&self->n_limited) == 0)
    return TRUE;
  name = spdl_origin_dup (uri);
  spdl_mutex_lock (&self->lock);
  origin = g_hash_table_lookup (self->origins, name);
  if (origin && origin->limited) {
    *slot = (SpdlRateSlot){ self, origin, { .data = slot }, timer, deadline,
      .waits = TRUE };
    set_timer (slot, G_MAXINT64);
    if (again)
      g_queue_push_head_link (&origin->waiting, &slot->link);
    else
      g_queue_push_tail_link (&origin->waiting, &slot->link);
    give_places (origin);
  }
  spdl_mutex_unlock (&self->lock);
  return !slot->origin;
}

gboolean
spdl_rate_slot_may_go (SpdlRateSlot *slot)
{
  gboolean may_go;

  spdl_mutex_lock (&slot->limits->lock);
  if (slot->waits)
    set_timer (slot, G_MAXINT64);
  give_places (slot->origin);
  may_go = !slot->waits;
  spdl_mutex_unlock (&slot->limits->lock);
  return may_go;
}

void
spdl_rate_slot_leave (SpdlRateSlot *slot)
{
  SpdlRateLimits *limits = slot->limits;

  if (!slot->origin)
    return;
  spdl_mutex_lock (&limits->lock);
  if (slot->waits)
    g_queue_unlink (&slot->origin->waiting, &slot->link);
  else
    slot->origin->in_flight--;
  give_places (slot->origin);
  spdl_mutex_unlock (&limits->lock);
  *slot = (SpdlRateSlot){ NULL };
}

void
spdl_rate_slot_succeed (SpdlRateSlot *slot, SoupMessage *message)
{
  SpdlRateOrigin *origin = slot->origin;
  gint64 asked;

  if (!origin)
    return;
  asked = spdl_rate_get_asked (soup_message_get_response_headers (message));
  spdl_mutex_lock (&slot->limits->lock);
  origin->n_pauses = 0;
  if (asked > 0)
    pause_origin (slot->limits, origin, asked);
  if (origin->limited && ++origin->n_succeeded >= origin->limit) {
    set_limit (slot->limits, origin, origin->limit + 1);
    give_places (origin);
  }
  spdl_mutex_unlock (&slot->limits->lock);
}

/* Returns whether the rejection concerns all requests to the origin. */
static gboolean
concerns_all (
    SpdlRateOrigin *self, const SpdlRateSlot *slot, guint status, gint64 asked)
{
  const gint64 now = g_get_monotonic_time ();
  const gboolean together = self->rejected && self->rejected != slot &&
                            now - self->rejected_at < TOGETHER;

  self->rejected = slot;
  self->rejected_at = now;
  return status == 429 || asked > 0 || together || self->limited;
}

SpdlRateReaction
spdl_rate_limits_reject (SpdlRateLimits *self, SpdlRateSlot *slot,
    SoupMessage *message, gint64 asked)
{
  g_autofree gchar *name = spdl_origin_dup (soup_message_get_uri (message));
  SpdlRateReaction reaction = SPDL_RATE_COUNTED;
  SpdlRateOrigin *origin;

  spdl_mutex_lock (&self->lock);
  origin = g_hash_table_lookup (self->origins, name);
  if (!origin) {
    origin = g_new0 (SpdlRateOrigin, 1);
    g_hash_table_insert (self->origins, g_strdup (name), origin);
  }
  spdl_counts_add (self->counts, SPDL_COUNT_RATE_LIMITED, 1);
  if (!concerns_all (origin, slot, soup_message_get_status (message), asked)) {
    spdl_mutex_unlock (&self->lock);
    return SPDL_RATE_ALONE;
  }
  if (!origin->limited) {
    const guint n = self->count_requests (self->user_data);
    g_autofree gchar *limit = describe_limit (name, message, asked);

    SPDL_INFO ("%s: %u requests are in flight", limit, n);
    if (self->counts)
      __atomic_store_n (
          &self->counts->rate_limit, g_intern_string (limit), __ATOMIC_RELAXED);
    origin->most = MAX (n, 2);
    origin->round++;
    set_limit (self, origin, MAX (n / 2, 1));
    pause_origin (self, origin,
        asked > 0 ? asked : spdl_retry_get_delay (++origin->n_pauses));
  } else {
    const gboolean current =
        slot->origin == origin && slot->round == origin->round;

    /* The first request after a pause is rejected if the server does not
     * answer at all, or not this request. The others were too many. */
    if (!slot->first)
      reaction = SPDL_RATE_FOR_FREE;
    if (current) {
      origin->round++;
      set_limit (self, origin, MAX (origin->limit / 2, 1));
    }
    if (current || asked > 0)
      pause_origin (self, origin,
          asked > 0 ? asked : spdl_retry_get_delay (++origin->n_pauses));
  }
  give_places (origin);
  spdl_mutex_unlock (&self->lock);
  return reaction;
}

static void
origin_free (gpointer data)
{
  SpdlRateOrigin *self = data;

  g_assert (g_queue_is_empty (&self->waiting));
  g_free (self);
}

SpdlRateLimits *
spdl_rate_limits_new (SpdlCounts *counts,
    guint (*count_requests) (gpointer user_data), gpointer user_data)
{
  SpdlRateLimits *self = g_new0 (SpdlRateLimits, 1);

  self->counts = counts;
  self->count_requests = count_requests;
  self->user_data = user_data;
  spdl_mutex_init (&self->lock);
  self->origins =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, origin_free);
  return self;
}

void
spdl_rate_limits_free (SpdlRateLimits *self)
{
  g_hash_table_unref (self->origins);
  spdl_mutex_clear (&self->lock);
  g_free (self);
}
