/* gst-spdl: common code of the fuzz targets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Entry points for libFuzzer and replay.c, called once and for each input. */
int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* An input: settings at the front, then the data to parse. */
typedef struct {
  const guint8 *data;
  gsize size;
} FuzzInput;

/* Returns the next setting, or 0 after the end. */
static inline guint8
fuzz_take (FuzzInput *self)
{
  if (self->size == 0)
    return 0;
  self->size--;
  return *self->data++;
}

static inline guint16
fuzz_take_16 (FuzzInput *self)
{
  const guint8 low = fuzz_take (self);

  return low | fuzz_take (self) << 8;
}

static inline guint32
fuzz_take_32 (FuzzInput *self)
{
  const guint16 low = fuzz_take_16 (self);

  return low | (guint32) fuzz_take_16 (self) << 16;
}

static inline guint64
fuzz_take_64 (FuzzInput *self)
{
  const guint32 low = fuzz_take_32 (self);

  return low | (guint64) fuzz_take_32 (self) << 32;
}

/* Returns a value from 1 to @most. */
static inline guint
fuzz_take_side (FuzzInput *self, guint most)
{
  return 1 + fuzz_take_16 (self) % most;
}

/* Initializes GLib and GStreamer without plugins. Critical warnings abort. */
void fuzz_init (void);

/* Checks that @text, from a parser, becomes printable where it leaves the
 * project. */
void fuzz_check_text (const gchar *text);

/* Checks the message of an error like fuzz_check_text(). */
void fuzz_check_error (const GError *error);

G_END_DECLS
