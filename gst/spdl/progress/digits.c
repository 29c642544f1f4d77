/* gst-spdl: short numbers in resume states
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/progress/digits.h"

#include <string.h>

static const gchar digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "abcdefghijklmnopqrstuvwxyz0123456789-_";
#define MORE 32

void
spdl_digits_write (GString *text, guint64 number)
{
  for (; number >= MORE; number /= MORE)
    g_string_append_c (text, digits[MORE + number % MORE]);
  g_string_append_c (text, digits[number]);
}

const gchar *
spdl_digits_read (const gchar *text, guint64 *number)
{
  const gchar *digit;
  guint shift = 0;
  guint value;

  *number = 0;
  do {
    if (!*text || !(digit = strchr (digits, *text++)) || shift > 60)
      return NULL;
    value = digit - digits;
    if (shift == 60 && value > 15)
      return NULL;
    *number |= (guint64) (value % MORE) << shift;
    shift += 5;
  } while (value >= MORE);
  return text;
}

gboolean
spdl_digits_is_digit (gchar c)
{
  return g_ascii_isalnum (c) || c == '-' || c == '_';
}
