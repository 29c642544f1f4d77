/* gst-spdl: little- and big-endian loads
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Loads from unaligned addresses. GStreamer's macros cast to types that require
 * alignment, which is undefined in C. */

static inline guint16
spdl_read_16_le (const guint8 *p)
{
  return p[0] | p[1] << 8;
}

static inline guint32
spdl_read_24_le (const guint8 *p)
{
  return p[0] | p[1] << 8 | p[2] << 16;
}

static inline guint32
spdl_read_32_le (const guint8 *p)
{
  return spdl_read_24_le (p) | (guint32) p[3] << 24;
}

static inline guint64
spdl_read_64_le (const guint8 *p)
{
  return spdl_read_32_le (p) | (guint64) spdl_read_32_le (p + 4) << 32;
}

static inline guint16
spdl_read_16_be (const guint8 *p)
{
  return p[0] << 8 | p[1];
}

static inline guint32
spdl_read_32_be (const guint8 *p)
{
  return (guint32) spdl_read_16_be (p) << 16 | spdl_read_16_be (p + 2);
}

static inline guint64
spdl_read_64_be (const guint8 *p)
{
  return (guint64) spdl_read_32_be (p) << 32 | spdl_read_32_be (p + 4);
}

static inline void
spdl_write_24_le (guint8 *p, guint32 value)
{
  p[0] = value;
  p[1] = value >> 8;
  p[2] = value >> 16;
}

static inline void
spdl_write_32_le (guint8 *p, guint32 value)
{
  spdl_write_24_le (p, value);
  p[3] = value >> 24;
}

static inline void
spdl_write_64_le (guint8 *p, guint64 value)
{
  spdl_write_32_le (p, value);
  spdl_write_32_le (p + 4, value >> 32);
}

static inline void
spdl_write_32_be (guint8 *p, guint32 value)
{
  p[0] = value >> 24;
  p[1] = value >> 16;
  p[2] = value >> 8;
  p[3] = value;
}

G_END_DECLS
