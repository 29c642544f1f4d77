/* gst-spdl: text format of resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/progress/left.h"
#include "gst/spdl/progress/progress.h"

G_BEGIN_DECLS

/* A resume state is `spdl1;`, followed for each source by its dataset, its part
 * and order, and its progress:
 *
 *     source=0,count=5000,hash=0123456789abcdef,shuffle=1,seed=42,rank=0,
 *     world-size=2,shard-mode=pad,epoch=1,mark=1234,done=BCBB;
 *
 * The fields have this order, without blanks. Numbers are decimal, except
 * hashes. After `shard-mode` may follow `shard-run=NUMBER,` if runs are longer
 * than 1, `streamed=1,` for streams, and with weighted draws
 * `weight-column=COLUMN,items-per-epoch=NUMBER,`. If labels have class names,
 * `classes=HASH,` precedes `epoch`. If items were lost before spdlmix,
 * `,dropped-upstream=NUMBER,dropped-upstream-before=NUMBER` follows the runs:
 * the number of such items among the finished ones of the epoch, and in all
 * previous epochs. The position of spdlmix is derived from them. After a change
 * of the number of ranks, `,change=HASH` is the same on all of them, and
 * `,left=EPOCHS` has the places that are left (left.h).
 *
 * The states of several ranks may be in one text, after each other.
 *
 * Any change of the format needs another number than 1. */

/* Includes the terminating 0. */
#define SPDL_STATE_MAX_WEIGHTS 64

/* Identity of the dataset and order for which a state is valid. */
typedef struct {
  guint64 count; /* number of items in the dataset */
  guint64 hash;  /* of the dataset */
  gboolean shuffle;
  guint64 seed;
  guint64 rank;
  guint64 world_size;
  gchar shard_mode[16];
  gchar weights[SPDL_STATE_MAX_WEIGHTS]; /* weight column; "": no weighted draws
                                          */
  guint64 items_per_epoch;               /* number of draws per epoch */
  guint64 classes;                       /* hash of the class names; 0: none */
  guint64 shard_run;                     /* 0: a single one per rank */
  guint64 shuffle_buffer;                /* of the order of a table in parts */
  gboolean streamed; /* sequence numbers count items of a stream */
} SpdlIdentity;

/* Returns the rank's partition; an unknown mode counts as uneven. */
SPDL_PRIVATE_API
SpdlPartition spdl_identity_get_partition (const SpdlIdentity *self);

typedef struct {
  SpdlIdentity identity;
  SpdlProgress progress;
  guint64 change;  /* hash of the last change of the number of ranks; 0: none */
  GPtrArray *left; /* SpdlLeft: of interrupted epochs; nullable */
} SpdlState;

SPDL_PRIVATE_API
void spdl_state_init (SpdlState *self);
SPDL_PRIVATE_API
void spdl_state_clear (SpdlState *self);

/* Starts a text. */
SPDL_PRIVATE_API
void spdl_state_begin (GString *text);

/* Append the state of a source in two steps. The first part does not change
 * during a run. */
SPDL_PRIVATE_API
void spdl_state_write_identity (
    GString *text, guint32 source, const SpdlIdentity *identity);
SPDL_PRIVATE_API
void spdl_state_write_progress (GString *text, const SpdlProgress *progress,
    guint64 change, const GPtrArray *left);

/* Appends both. */
SPDL_PRIVATE_API
void spdl_state_write (GString *text, guint32 source, const SpdlState *state);

/* Returns TRUE if nothing of the epoch or of a later one is finished. */
SPDL_PRIVATE_API
gboolean spdl_state_is_beginning (const SpdlState *self);

/* Finds the state of a source in a text.
 *
 * @problem: (out) (transfer full): the reason if FALSE is returned, to follow a
 *     colon in a message */
SPDL_PRIVATE_API
gboolean spdl_state_read (
    SpdlState *self, const gchar *text, guint32 source, gchar **problem);

/* Calls @visit for each part of @text, in order. @visit may take `left`.
 * Returns FALSE if a part is malformed, or if there is no source. */
SPDL_PRIVATE_API
gboolean spdl_state_visit (const gchar *text,
    void (*visit) (guint32 source, SpdlState *state, gpointer user_data),
    gpointer user_data);

/* Appends the sources in @state, except those for which @is_left_out returns
 * TRUE. */
SPDL_PRIVATE_API
void spdl_state_write_others (GString *text, const gchar *state,
    gboolean (*is_left_out) (guint32 source, gconstpointer user_data),
    gconstpointer user_data);

/* Writes a state with those of the @n sources from @first on that are in
 * @state, numbered from @base on. Returns the number of these sources, or -1 if
 * @state is malformed or has no source at all.
 *
 * @text: empty */
SPDL_PRIVATE_API
gint spdl_state_renumber (
    GString *text, const gchar *state, guint32 first, guint32 n, guint32 base);

/* Progress of one source at a time, read from a state. Begins with the text,
 * and zeros. */
typedef struct {
  const gchar *text; /* nullable */
  SpdlState state;
  guint32 source;
  gboolean is_read;
} SpdlStatePlace;

SPDL_PRIVATE_API
void spdl_state_place_clear (SpdlStatePlace *self);
/* Returns TRUE if the state counts the item as done. */
SPDL_PRIVATE_API
gboolean spdl_state_place_has (
    SpdlStatePlace *self, guint32 source, guint64 epoch, guint64 sequence);

/* Returns TRUE if the text is valid and contains at least one source, but not
 * @source. Such a state was saved before @source was announced. */
SPDL_PRIVATE_API
gboolean spdl_state_is_of_others (const gchar *text, guint32 source);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlState, spdl_state_clear)

G_END_DECLS
