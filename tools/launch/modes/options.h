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
  gchar **pipeline; /* in gst-launch syntax */
  gchar **settings; /* nullable */
  gchar *json;      /* nullable: file names */
  gchar *report;
  gchar *trace;
  gchar *sweep;
  gchar *isolate;
  gboolean headspace;
  double duration; /* seconds */
  double interval; /* seconds; 0: the default */
  double step;     /* ms per training step */
  double cpu_budget;
  gint64 max_batches;
  gint max_failures;
  gint items;  /* number of items to record for --isolate */
  gint rounds; /* number of rounds for --headspace */
  gint port;   /* or OPTIONS_NO_PORT */
  gboolean digest;
  gboolean plain;
  gboolean version;
} Options;

/* Parses the command line and removes the options. */
gboolean options_parse (Options *self, int *argc, char ***argv, GError **error);
void options_clear (Options *self);

/* Returns the stream for text: stderr if JSON or HTML is written to stdout. */
FILE *options_get_out (const Options *self);

SessionLimits options_get_limits (const Options *self, gboolean live);

G_END_DECLS
