/* gst-spdl: what is wrong with a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_FLAW_H__
#define __SPDL_FLAW_H__

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  SPDL_FLAW_NONE,
  SPDL_FLAW_TOO_LONG, /* number: the limit */
  SPDL_FLAW_NOT_UTF8,
  SPDL_FLAW_NO_URI,
  /* Of labels; text: the label, item: of which item. */
  SPDL_FLAW_LABEL_NO_INTEGER, /* but others are */
  SPDL_FLAW_LABEL_INTEGER,    /* but others are text */
  SPDL_FLAW_LABEL_UNKNOWN,    /* number: of how many classes it is none */
  SPDL_FLAW_LABEL_TOO_MANY,   /* number: how many classes there may be */
  SPDL_FLAW_LABEL_TOO_LARGE,
  SPDL_FLAW_WEIGHT,         /* text: the weight */
  SPDL_FLAW_N_FIELDS,       /* number: how many there are, and should be */
  SPDL_FLAW_QUOTE_UNCLOSED, /* number: within so many bytes; 0: at all */
  SPDL_FLAW_QUOTE_STRAY,
} SpdlFlawKind;

/* A parse error of a line. Owns nothing: texts belong to the list. */
typedef struct {
  SpdlFlawKind kind;
  const gchar *text;
  gsize length;
  guint64 number;
  guint64 wanted;
  const gchar *item;
  gsize item_length;
} SpdlFlaw;

/* How many lines are malformed, and which is the first: all that is kept, so
 * that a list of nothing but bad lines costs no more than a good one. */
typedef struct {
  SpdlFlaw first;
  guint64 first_line; /* from 1 */
  guint64 n_flaws;
} SpdlFlaws;

void spdl_flaws_add (SpdlFlaws *self, const SpdlFlaw *flaw, guint64 line);

/* An error of the domain of GST_RESOURCE_ERROR that names the list, the first
 * malformed line and what is wrong with it.
 *
 * @n_lines: how many lines there are, comments and empty ones not counted; 0
 *     if that is not known and only the first one is to be spoken of */
GError *spdl_flaws_to_error (
    const SpdlFlaws *self, const gchar *location, guint64 n_lines);

/* A piece of a list, in quotes, as a message can show it: short, UTF-8 and on
 * one line. */
gchar *spdl_flaw_quote (const gchar *text, gsize length);

G_END_DECLS

#endif /* __SPDL_FLAW_H__ */
