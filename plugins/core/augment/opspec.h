/* gst-spdl: names and arguments of augmentations
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "plugins/core/augment/oplist.h"

G_BEGIN_DECLS

/* Grammar of an argument's value */
typedef enum {
  SPDL_ARG_RANGE,    /* a number, or two of them with .. between */
  SPDL_ARG_INTEGERS, /* a range of integers */
  SPDL_ARG_SPREAD,   /* a range; x: -x..x */
  SPDL_ARG_JITTER,   /* a range; x: max(0,1-x)..1+x */
  SPDL_ARG_NUMBER,
  SPDL_ARG_INTEGER,
  SPDL_ARG_ODD,
  SPDL_ARG_WORD,    /* its number in @words; as the first, it needs no name */
  SPDL_ARG_SIZE,    /* a number, or WIDTHxHEIGHT: two values */
  SPDL_ARG_CORNERS, /* 8 numbers with / between */
  SPDL_ARG_FILL,    /* a number, or 3 with / between: @fill */
  SPDL_ARG_NOISE,   /* the same, or random */
} SpdlArgKind;

typedef struct {
  const gchar *name;
  SpdlArgKind kind;
  guint slot;
  double min, max;
  double low, high; /* default; NaN: not set */
  const gchar *const *words;
  gboolean is_alias; /* another name for an argument's values */
} SpdlArg;

enum {
  SPDL_OP_NEEDS_ALL = 1 << 0, /* each argument must be set */
  SPDL_OP_HAS_MEMBERS = 1 << 1,
  SPDL_OP_IS_RESIZING = 1 << 2,
};

typedef struct {
  const gchar *name;
  guint flags;
  const SpdlArg *args; /* the last one has no name */
  SpdlFill fill;       /* default */
} SpdlOpSpec;

/* By kind. */
extern const SpdlOpSpec spdl_op_specs[SPDL_N_OPS];

/* Sets the values of all arguments to their defaults. */
void
spdl_op_spec_get_defaults (const SpdlOpSpec *self, double *low, double *high);

G_END_DECLS
