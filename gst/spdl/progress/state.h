/* gst-spdl: text format of resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/progress/progress.h"

G_BEGIN_DECLS

/* A resume state is `spdl1;`, followed for each source by its dataset, its part
 * and order, and its progress:
 *
 *     source=0,count=5000,hash=0123456789abcdef,shuffle=1,seed=42,rank=0,
 *     world-size=2,shard-mode=pad,epoch=1,mark=1234,done=BCBB;
 *
 * The fields have this order, without blanks. Numbers are decimal, except
 * hashes. With weighted draws, `weight-column=COLUMN,items-per-epoch=NUMBER,`
 * follows `shard-mode`. If labels have class names, `classes=HASH,` precedes
 * `epoch`. If items were lost before spdlmix,
 * `,dropped-upstream=NUMBER,dropped-upstream-before=NUMBER` follows the runs:
 * the number of such items among the finished ones of the epoch, and in all
 * previous epochs. The position of spdlmix is derived from them.
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
} SpdlIdentity;

typedef struct {
  SpdlIdentity identity;
  SpdlProgress progress;
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
void spdl_state_write_progress (GString *text, const SpdlProgress *progress);

/* Finds the state of a source in a text.
 *
 * @problem: (out) (transfer full): the reason if FALSE is returned, to follow a
 *     colon in a message */
SPDL_PRIVATE_API
gboolean spdl_state_read (
    SpdlState *self, const gchar *text, guint32 source, gchar **problem);

/* Calls @visit for each source in @text, in order. Returns FALSE if a part is
 * malformed, or if there is no source. */
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

/* Returns TRUE if the text is valid and contains at least one source, but not
 * @source. Such a state was saved before @source was announced. */
SPDL_PRIVATE_API
gboolean spdl_state_is_of_others (const gchar *text, guint32 source);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlState, spdl_state_clear)

G_END_DECLS
