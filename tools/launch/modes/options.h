/* gst-spdl-launch: command line options
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "tools/launch/run/session.h"

#include <stdio.h>

G_BEGIN_DECLS

#define OPTIONS_NO_PORT G_MININT

typedef struct {
  gchar **pipeline; /* as for gst-launch */
  gchar **settings; /* nullable */
  gchar *json;      /* file names, nullable */
  gchar *report;
  gchar *sweep;
  gchar *isolate;
  gboolean headspace;
  double duration; /* s */
  double interval; /* s; 0: the default */
  double step;     /* ms */
  double cpu_budget;
  gint64 max_batches;
  gint64 max_failures;
  gint items;  /* that isolate records */
  gint rounds; /* of headspace */
  gint port;   /* or OPTIONS_NO_PORT */
  gboolean plain;
  gboolean version;
} Options;

/* Reads the command line, of which nothing is left but the pipeline. */
gboolean options_parse (Options *self, int *argc, char ***argv, GError **error);
void options_clear (Options *self);

/* Where text goes: not among the JSON or HTML, where that is written to the
 * standard output. */
FILE *options_get_out (const Options *self);

SessionLimits options_get_limits (const Options *self, gboolean live);

G_END_DECLS
