/* gst-spdl: text format of resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/progress/state.h"

#include <string.h>

#define VERSION "spdl1;"

SpdlPartition
spdl_identity_get_partition (const SpdlIdentity *self)
{
  SpdlPartition partition = { self->rank, self->world_size, self->shard_run,
    SPDL_SHARD_UNEVEN };

  spdl_shard_mode_find (self->shard_mode, &partition.mode);
  return partition;
}

void
spdl_state_init (SpdlState *self)
{
  *self = (SpdlState){ .identity.shard_run = 1 };
  spdl_progress_init (&self->progress, 0);
}

void
spdl_state_clear (SpdlState *self)
{
  spdl_progress_clear (&self->progress);
  g_clear_pointer (&self->left, g_ptr_array_unref);
  g_clear_pointer (&self->cuts, g_array_unref);
}

void
spdl_state_begin (GString *text)
{
  g_string_append (text, VERSION);
}

void
spdl_state_write_identity (
    GString *text, guint32 source, const SpdlIdentity *identity)
{
  g_string_append_printf (text,
      "source=%u,count=%" G_GUINT64_FORMAT ",hash=%016" G_GINT64_MODIFIER
      "x,shuffle=%d,seed=%" G_GUINT64_FORMAT ",rank=%" G_GUINT64_FORMAT
      ",world-size=%" G_GUINT64_FORMAT ",shard-mode=%s,",
      source, identity->count, identity->hash, identity->shuffle,
      identity->seed, identity->rank, identity->world_size,
      identity->shard_mode);
  if (identity->shard_run != 1)
    g_string_append_printf (
        text, "shard-run=%" G_GUINT64_FORMAT ",", identity->shard_run);
  if (identity->streamed)
    g_string_append (text, "streamed=1,");
  if (identity->shuffle_buffer > 0)
    g_string_append_printf (text, "shuffle-buffer=%" G_GUINT64_FORMAT ",",
        identity->shuffle_buffer);
  if (*identity->weights)
    g_string_append_printf (text,
        "weight-column=%s,items-per-epoch=%" G_GUINT64_FORMAT ",",
        identity->weights, identity->items_per_epoch);
  if (identity->classes != 0)
    g_string_append_printf (
        text, "classes=%016" G_GINT64_MODIFIER "x,", identity->classes);
}

void
spdl_state_write_progress (GString *text, const SpdlProgress *progress,
    guint64 change, const GPtrArray *left, const GArray *cuts)
{
  g_string_append_printf (text,
      "epoch=%" G_GUINT64_FORMAT ",mark=%" G_GUINT64_FORMAT ",done=",
      progress->epoch, progress->mark);
  spdl_progress_write_runs (progress, text);
  if (progress->n_dropped_upstream > 0 ||
      progress->n_dropped_upstream_before > 0)
    g_string_append_printf (text,
        ",dropped-upstream=%" G_GUINT64_FORMAT
        ",dropped-upstream-before=%" G_GUINT64_FORMAT,
        progress->n_dropped_upstream, progress->n_dropped_upstream_before);
  if (progress->n_tokens > 0 || progress->n_tokens_before > 0)
    g_string_append_printf (text,
        ",tokens=%" G_GUINT64_FORMAT ",tokens-before=%" G_GUINT64_FORMAT,
        progress->n_tokens, progress->n_tokens_before);
  if (change != 0)
    g_string_append_printf (text, ",change=%016" G_GINT64_MODIFIER "x", change);
  spdl_lefts_write (left, progress->epoch, text);
  spdl_cuts_write (cuts, progress->epoch, text);
  g_string_append_c (text, ';');
}

void
spdl_state_write (GString *text, guint32 source, const SpdlState *state)
{
  spdl_state_write_identity (text, source, &state->identity);
  spdl_state_write_progress (
      text, &state->progress, state->change, state->left, state->cuts);
}

gboolean
spdl_state_is_beginning (const SpdlState *self)
{
  const SpdlLeft *last = spdl_lefts_get_last (self->left);

  return self->progress.n_done == 0 && (!self->cuts || self->cuts->len == 0) &&
         (!last || last->epoch < self->progress.epoch);
}

/* Parsers. Each skips what it names, or returns FALSE. */

static gboolean
read_text (const gchar **at, const gchar *text)
{
  const gsize length = strlen (text);

  if (strncmp (*at, text, length) != 0)
    return FALSE;
  *at += length;
  return TRUE;
}

static gboolean
read_number (const gchar **at, const gchar *name, guint base, guint64 *number)
{
  guint digit;

  if (!read_text (at, name) || !g_ascii_isxdigit (**at))
    return FALSE;
  *number = 0;
  while (g_ascii_isxdigit (**at)) {
    digit = g_ascii_xdigit_value (*(*at)++);
    if (digit >= base || __builtin_mul_overflow (*number, base, number) ||
        __builtin_add_overflow (*number, digit, number))
      return FALSE;
  }
  return TRUE;
}

static gboolean
read_word (const gchar **at, const gchar *name, gchar *word, gsize size)
{
  gsize length = 0;

  if (!read_text (at, name))
    return FALSE;
  while (g_ascii_islower ((*at)[length]))
    length++;
  if (length == 0 || length >= size)
    return FALSE;
  memcpy (word, *at, length);
  word[length] = '\0';
  *at += length;
  return TRUE;
}

/* Parses the weight column, whose name is any UTF-8 without "," and ";", and
 * the number of draws. */
static gboolean
read_weights (const gchar **at, SpdlIdentity *identity)
{
  const gsize length = strcspn (*at, ",;");

  if (length == 0 || length >= sizeof identity->weights ||
      !g_utf8_validate (*at, length, NULL))
    return FALSE;
  memcpy (identity->weights, *at, length);
  identity->weights[length] = '\0';
  *at += length;
  return read_number (at, ",items-per-epoch=", 10, &identity->items_per_epoch);
}

static gboolean
read_draws (const gchar **at, SpdlIdentity *identity)
{
  identity->weights[0] = '\0';
  identity->items_per_epoch = 0;
  return !read_text (at, ",weight-column=") || read_weights (at, identity);
}

/* Parses what ranks, streams and tables in parts need apart from rank and
 * mode. */
static gboolean
read_partition (const gchar **at, SpdlIdentity *identity)
{
  guint64 streamed = 0;

  identity->shard_run = 1;
  identity->streamed = FALSE;
  if (read_text (at, ",shard-run=") &&
      (!read_number (at, "", 10, &identity->shard_run) ||
          identity->shard_run == 1 || identity->shard_run > G_MAXINT))
    return FALSE;
  if (read_text (at, ",streamed=")) {
    identity->streamed = TRUE;
    if (!read_number (at, "", 10, &streamed) || streamed != 1)
      return FALSE;
  }
  identity->shuffle_buffer = 0;
  return !read_text (at, ",shuffle-buffer=") ||
         (read_number (at, "", 10, &identity->shuffle_buffer) &&
             identity->shuffle_buffer > 0);
}

static gboolean
read_classes (const gchar **at, SpdlIdentity *identity)
{
  identity->classes = 0;
  return !read_text (at, ",classes=") ||
         (read_number (at, "", 16, &identity->classes) &&
             identity->classes != 0);
}

/* Parses numbers of dropped items, which must not exceed the number of finished
 * items. */
static gboolean
read_dropped_upstream (const gchar **at, SpdlProgress *progress)
{
  progress->n_dropped_upstream = progress->n_dropped_upstream_before = 0;
  if (!read_text (at, ",dropped-upstream="))
    return TRUE;
  return read_number (at, "", 10, &progress->n_dropped_upstream) &&
         read_number (at, ",dropped-upstream-before=", 10,
             &progress->n_dropped_upstream_before) &&
         progress->n_dropped_upstream <= progress->n_done;
}

static gboolean
read_tokens (const gchar **at, SpdlProgress *progress)
{
  progress->n_tokens = progress->n_tokens_before = 0;
  return !read_text (at, ",tokens=") ||
         (read_number (at, "", 10, &progress->n_tokens) &&
             read_number (
                 at, ",tokens-before=", 10, &progress->n_tokens_before));
}

/* Parses what is left after a change of the number of ranks. Sequence numbers
 * of another rank's part are finished from the beginning. */
static gboolean
read_left (const gchar **at, SpdlState *self)
{
  const SpdlPartition partition = spdl_identity_get_partition (&self->identity);
  const gchar *end;

  self->change = 0;
  if (read_text (at, ",change=") &&
      (!read_number (at, "", 16, &self->change) || self->change == 0))
    return FALSE;
  if (!(end = spdl_lefts_read (&self->left, *at, &partition)))
    return FALSE;
  *at = end;
  return spdl_lefts_get_first (self->left, self->progress.epoch) <=
         self->progress.mark;
}

static gboolean
read_cuts (const gchar **at, SpdlState *self)
{
  const gchar *end = spdl_cuts_read (&self->cuts, *at, self->progress.epoch);

  if (end)
    *at = end;
  return end != NULL;
}

static gboolean
read_source (const gchar **at, guint64 *source, SpdlState *self)
{
  SpdlIdentity *identity = &self->identity;
  SpdlProgress *progress = &self->progress;
  guint64 shuffle;
  const gchar *end;

  if (!read_number (at, "source=", 10, source) ||
      !read_number (at, ",count=", 10, &identity->count) ||
      !read_number (at, ",hash=", 16, &identity->hash) ||
      !read_number (at, ",shuffle=", 10, &shuffle) ||
      !read_number (at, ",seed=", 10, &identity->seed) ||
      !read_number (at, ",rank=", 10, &identity->rank) ||
      !read_number (at, ",world-size=", 10, &identity->world_size) ||
      !read_word (at, ",shard-mode=", identity->shard_mode,
          sizeof identity->shard_mode) ||
      !read_partition (at, identity) || !read_draws (at, identity) ||
      !read_classes (at, identity) ||
      !read_number (at, ",epoch=", 10, &progress->epoch) ||
      !read_number (at, ",mark=", 10, &progress->mark) ||
      !read_text (at, ",done=") ||
      !(end = spdl_progress_read_runs (progress, *at)))
    return FALSE;
  identity->shuffle = shuffle != 0;
  *at = end;
  return *source <= G_MAXUINT32 && shuffle <= 1 &&
         read_dropped_upstream (at, progress) && read_tokens (at, progress) &&
         read_left (at, self) && read_cuts (at, self) && read_text (at, ";");
}

gboolean
spdl_state_read (
    SpdlState *self, const gchar *text, guint32 source, gchar **problem)
{
  const gchar *at = text;
  guint64 number;

  if (!read_text (&at, VERSION)) {
    g_autofree gchar *begin = g_utf8_make_valid (text, strnlen (text, 8));

    *problem = g_strdup_printf (
        "the state begins with \"%s\" instead of \"" VERSION "\"", begin);
    return FALSE;
  }
  while (*at) {
    if (!read_source (&at, &number, self)) {
      *problem = g_strdup_printf (
          "the state is malformed from byte %" G_GSIZE_FORMAT " on",
          (gsize) (at - text) + 1);
      return FALSE;
    }
    if (number == source)
      return TRUE;
  }
  *problem = g_strdup_printf ("the state has no source %u", source);
  return FALSE;
}

gboolean
spdl_state_visit (const gchar *text,
    void (*visit) (guint32 source, SpdlState *state, gpointer user_data),
    gpointer user_data)
{
  g_auto (SpdlState) state = { 0 };
  const gchar *at = text;
  guint64 source;

  spdl_state_init (&state);
  if (!read_text (&at, VERSION) || *at == '\0')
    return FALSE;
  while (*at) {
    if (!read_source (&at, &source, &state))
      return FALSE;
    visit (source, &state, user_data);
  }
  return TRUE;
}

gboolean
spdl_state_is_of_others (const gchar *text, guint32 source)
{
  g_auto (SpdlState) state = { 0 };
  const gchar *at = text;
  guint64 number = source;

  spdl_state_init (&state);
  if (!read_text (&at, VERSION) || *at == '\0')
    return FALSE;
  while (*at)
    if (!read_source (&at, &number, &state) || number == source)
      return FALSE;
  return TRUE;
}

void
spdl_state_write_others (GString *text, const gchar *state,
    gboolean (*is_left_out) (guint32 source, gconstpointer user_data),
    gconstpointer user_data)
{
  g_auto (SpdlState) part = { 0 };
  const gchar *at = state, *begin;
  guint64 number;

  spdl_state_init (&part);
  if (!read_text (&at, VERSION))
    return;
  while (*at) {
    begin = at;
    if (!read_source (&at, &number, &part))
      return;
    if (!is_left_out (number, user_data))
      g_string_append_len (text, begin, at - begin);
  }
}

gint
spdl_state_renumber (
    GString *text, const gchar *state, guint32 first, guint32 n, guint32 base)
{
  g_auto (SpdlState) part = { 0 };
  const gchar *at = state, *begin;
  guint64 number;
  gint n_taken = 0;

  spdl_state_init (&part);
  if (!read_text (&at, VERSION) || *at == '\0')
    return -1;
  spdl_state_begin (text);
  while (*at) {
    begin = at;
    if (!read_source (&at, &number, &part))
      return -1;
    if (number < first || number - first >= n)
      continue;
    begin = strchr (begin, ',');
    g_string_append_printf (
        text, "source=%" G_GUINT64_FORMAT, number - first + base);
    g_string_append_len (text, begin, at - begin);
    n_taken++;
  }
  return n_taken;
}

void
spdl_state_place_clear (SpdlStatePlace *self)
{
  spdl_state_clear (&self->state);
}

gboolean
spdl_state_place_has (
    SpdlStatePlace *self, guint32 source, guint64 epoch, guint64 sequence)
{
  g_autofree gchar *problem = NULL;

  if (!self->text)
    return FALSE;
  if (!self->is_read || self->source != source) {
    spdl_state_clear (&self->state);
    spdl_state_init (&self->state);
    if (!spdl_state_read (&self->state, self->text, source, &problem))
      spdl_progress_reset (&self->state.progress, 0);
    self->is_read = TRUE;
    self->source = source;
  }
  return spdl_progress_has (&self->state.progress, epoch, sequence);
}
