/* gst-spdl: resume states as text
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "gst/spdl/progress/progress.h"

G_BEGIN_DECLS

/* A resume state is `spdl1;`, and then for each source what it read, which part
 * of it in which order, and how far it has got:
 *
 *     source=0,count=5000,hash=0123456789abcdef,shuffle=1,seed=42,rank=0,
 *     world-size=2,shard-mode=pad,epoch=1,mark=1234,done=BCBB;
 *
 * in this order, without blanks, each number in decimal but the hash. Where
 * items are drawn by weight, `weight-column=COLUMN,items-per-epoch=NUMBER,`
 * comes behind the `shard-mode`. Where labels have class names, `classes=HASH,`
 * comes before the `epoch`. Where items went missing before they came to
 * spdlmix,
 * `,dropped-upstream=NUMBER,dropped-upstream-before=NUMBER` comes behind the
 * runs: how many of the epoch's that are done, and how many of the epochs
 * before; with these spdlmix's place is known. What is changed in it gets
 * another number than 1.
 */

/* With the terminating 0. */
#define SPDL_STATE_MAX_WEIGHTS 64

/* What a state is valid for. */
typedef struct {
  guint64 count; /* the dataset's items */
  guint64 hash;  /* of what lists them */
  gboolean shuffle;
  guint64 seed;
  guint64 rank;
  guint64 world_size;
  gchar shard_mode[16];
  gchar weights[SPDL_STATE_MAX_WEIGHTS]; /* "": items are not drawn */
  guint64 items_per_epoch;               /* of an epoch, if they are */
  guint64 classes; /* hash of the class names; 0: there are none */
} SpdlIdentity;

typedef struct {
  SpdlIdentity identity;
  SpdlProgress progress;
} SpdlState;

SPDL_PRIVATE_API
void spdl_state_init (SpdlState *self);
SPDL_PRIVATE_API
void spdl_state_clear (SpdlState *self);

/* Begins a text. */
SPDL_PRIVATE_API
void spdl_state_begin (GString *text);

/* Appends the state of a source, in two steps: the first does not change while
 * it runs. */
SPDL_PRIVATE_API
void spdl_state_write_identity (
    GString *text, guint32 source, const SpdlIdentity *identity);
SPDL_PRIVATE_API
void spdl_state_write_progress (GString *text, const SpdlProgress *progress);

/* Finds a source's state in a text.
 *
 * @problem: (out) (transfer full): what is wrong with the text, if it is FALSE
 *     that is returned; to go behind a colon */
SPDL_PRIVATE_API
gboolean spdl_state_read (
    SpdlState *self, const gchar *text, guint32 source, gchar **problem);

/* Calls @visit for each source of @text, in order. FALSE: it is malformed from
 * somewhere on, or has no source. */
SPDL_PRIVATE_API
gboolean spdl_state_visit (const gchar *text,
    void (*visit) (guint32 source, SpdlState *state, gpointer user_data),
    gpointer user_data);

/* Appends the parts of @state, a whole text, but for those of the sources that
 * @is_left_out names. */
SPDL_PRIVATE_API
void spdl_state_write_others (GString *text, const gchar *state,
    gboolean (*is_left_out) (guint32 source, gconstpointer user_data),
    gconstpointer user_data);

/* Whether a text is well-formed, and of other sources only, of one at least:
 * then it was made before @source had announced itself. */
SPDL_PRIVATE_API
gboolean spdl_state_is_of_others (const gchar *text, guint32 source);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SpdlState, spdl_state_clear)

G_END_DECLS
