/* gst-spdl: text of augmentations that were drawn
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gst/gst.h>
#include <math.h>

#include "plugins/core/augment/opspec.h"

static void
append_arg (GString *text, const gchar *name, const gchar *value)
{
  const gchar last = text->str[text->len - 1];

  g_string_append_printf (text, "%s%s=%s", last == '(' ? "" : ",", name, value);
}

/* Formats @number with as few digits as give the same single-precision number,
 * which values are; whole numbers may be larger. */
static const gchar *
format_number (gchar *digits, gsize size, double number)
{
  for (guint n = 6; n < 10; n++) {
    gchar format[8];

    g_snprintf (format, sizeof format, "%%.%ug", n);
    g_ascii_formatd (digits, size, format, number);
    if (number != rint (number) &&
        (float) g_ascii_strtod (digits, NULL) == (float) number)
      return digits;
  }
  return g_ascii_formatd (digits, size, "%.10g", number);
}

static void
append_numbers (
    GString *text, const gchar *name, const double *numbers, guint n)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  append_arg (text, name, "");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? "/" : "",
        format_number (digits, sizeof digits, numbers[i]));
}

static void
append_fill (GString *text, const gchar *name, const SpdlFill *fill)
{
  const guint8 *c = fill->color;
  g_autofree gchar *color = g_strdup_printf ("%u/%u/%u", c[0], c[1], c[2]);

  if (fill->kind != SPDL_FILL_NONE)
    append_arg (text, name, fill->kind == SPDL_FILL_NOISE ? "random" : color);
}

static void
append_step (GString *text, const SpdlStep *step)
{
  const SpdlOpSpec *spec = &spdl_op_specs[step->kind];

  g_string_append_printf (text, "%s(", spec->name);
  for (const SpdlArg *arg = spec->args; arg->name; arg++) {
    const double *value = &step->values[arg->slot];

    if (arg->kind >= SPDL_ARG_FILL)
      append_fill (text, arg->name, &step->fill);
    else if (arg->is_alias || isnan (*value) || *value == arg->low)
      continue;
    else if (arg->kind == SPDL_ARG_WORD)
      append_arg (text, arg->name, arg->words[(guint) *value]);
    else
      append_numbers (
          text, arg->name, value, arg->kind == SPDL_ARG_CORNERS ? 8 : 1);
  }
}

gchar *
spdl_steps_to_text (const SpdlStep *steps, guint n_steps)
{
  GString *text = g_string_new (NULL);
  guint depth = 0;

  for (guint i = 0; i < n_steps; i++) {
    if (steps[i].kind == SPDL_OP_END) {
      g_string_append_c (text, ')');
      depth--;
      continue;
    }
    if (i > 0 && text->str[text->len - 1] != '(')
      g_string_append (text, depth > 0 ? "," : "; ");
    append_step (text, &steps[i]);
    if (spdl_op_specs[steps[i].kind].flags & SPDL_OP_HAS_MEMBERS)
      depth++;
    else
      g_string_append_c (text, ')');
  }
  return g_string_free (text, FALSE);
}
