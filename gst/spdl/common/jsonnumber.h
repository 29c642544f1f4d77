/* gst-spdl: numbers in JSON, for lists that have many of them
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

static inline const gchar *
spdl_json_skip_blanks (const gchar *at)
{
  while (*at && (guchar) *at <= ' ')
    at++;
  return at;
}

static inline const gchar *
spdl_json_read_digits (const gchar *at, guint64 *digits)
{
  while (*at >= '0' && *at <= '9')
    *digits = *digits * 10 + (*at++ - '0');
  return at;
}

static inline gboolean
spdl_json_read_word (const gchar **at, double *number)
{
  const gboolean is_true = g_str_has_prefix (*at, "true");

  if (!is_true && !g_str_has_prefix (*at, "false"))
    return FALSE;
  *at += is_true ? 4 : 5;
  *number = is_true;
  return TRUE;
}

/* Reads a number, or `true` as 1. Up to 15 digits are exact as a whole number,
 * and so is the power of ten: their quotient is rounded once, like the result
 * of strtod(), which takes ten times as long. Returns FALSE for anything
 * else. */
static inline gboolean
spdl_json_read_number (const gchar **at, double *number)
{
  static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8,
    1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
  const gboolean is_negative = **at == '-';
  const gchar *begin = *at + is_negative;
  guint64 digits = 0;
  const gchar *end = spdl_json_read_digits (begin, &digits), *point = end;
  gchar *last;

  if (end == begin)
    return spdl_json_read_word (at, number);
  if (*end == '.')
    end = spdl_json_read_digits (end + 1, &digits);
  if (end - begin <= 15 && *end != 'e' && *end != 'E') {
    *number = digits / powers[end > point ? end - point - 1 : 0];
    *number = is_negative ? -*number : *number;
    *at = end;
    return TRUE;
  }
  *number = g_ascii_strtod (*at, &last);
  *at = last;
  return TRUE;
}

G_END_DECLS
