/* gst-spdl-launch: what was asked for on the command line
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __OPTIONS_H__
#define __OPTIONS_H__

#include "session.h"

G_BEGIN_DECLS

typedef struct {
  gchar **pipeline; /* as for gst-launch */
  gchar **settings; /* nullable */
  gchar *json;      /* file names, nullable */
  gchar *report;
  gchar *sweep;
  gchar *isolate;
  double duration; /* s */
  double interval; /* s; 0: the default */
  double step;     /* ms */
  gint64 max_batches;
  gint64 max_failures;
  gint items; /* that isolate records */
  gint port;  /* -1: none */
  gboolean plain;
  gboolean version;
} Options;

/* Reads the command line, of which nothing is left but the pipeline. */
gboolean options_parse (Options *self, int *argc, char ***argv, GError **error);
void options_clear (Options *self);

SessionLimits options_get_limits (const Options *self, gboolean live);

G_END_DECLS

#endif /* __OPTIONS_H__ */
