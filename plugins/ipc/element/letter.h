/* gst-spdl: what came from a worker process for the stream
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/ipc/element/shelf.h"
#include "plugins/ipc/wire/wirereader.h"

G_BEGIN_DECLS

typedef enum {
  SPDL_LETTER_BUFFER, /* of the lease, or without memory */
  SPDL_LETTER_CAPS,
  SPDL_LETTER_EVENT,
  SPDL_LETTER_ERROR, /* a message, which ends the stream */
  SPDL_LETTER_EOS,
  SPDL_LETTER_DEATH, /* the process ended as it should not have: a text */
} SpdlLetterKind;

typedef struct {
  SpdlLetterKind kind;
  gpointer object;  /* a mini object of the kind */
  SpdlLease *lease; /* nullable */
  SpdlPlaces places;
  gchar *text;
} SpdlLetter;

SpdlLetter *spdl_letter_new (SpdlLetterKind kind, gpointer object);
/* Gives a lease back that was not given on. */
void spdl_letter_free (SpdlLetter *self);

/* Opens one for the stream: a buffer, caps, an event, or the end.
 *
 * Returns: NULL if it is broken, with @error set */
SpdlLetter *spdl_letter_open (
    const SpdlWireMessage *message, SpdlShelf *shelf, GError **error);

/* Adds @base to the numbers of sources. */
void spdl_letter_shift (SpdlLetter *self, guint32 base);

/* Whether it takes no slab, and so may come only as others were taken. */
gboolean spdl_letter_needs_credit (const SpdlLetter *self);

/* For all messages that are broken. */
void spdl_letter_set_broken (GError **error, const gchar *what);

G_END_DECLS
