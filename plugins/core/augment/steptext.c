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
append_number (GString *text, const gchar *name, double number)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  append_arg (text, name, format_number (digits, sizeof digits, number));
}

static void
append_corners (GString *text, const SpdlStep *step)
{
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; i < 8; i++) {
    gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

    g_string_append_printf (list, "%s%s", i > 0 ? "/" : "",
        format_number (digits, sizeof digits, step->values[i]));
  }
  append_arg (text, "corners", list->str);
}

static void
append_fill (GString *text, const SpdlOpSpec *spec, const SpdlFill *fill)
{
  gchar color[16];

  if (fill->kind == SPDL_FILL_NONE)
    return;
  g_snprintf (color, sizeof color, "%u/%u/%u", fill->color[0], fill->color[1],
      fill->color[2]);
  append_arg (text, spec->flags & SPDL_OP_HAS_VALUE ? "value" : "fill",
      fill->kind == SPDL_FILL_NOISE ? "random" : color);
}

static void
append_step (GString *text, const SpdlStep *step)
{
  const SpdlOpSpec *spec = &spdl_op_specs[step->kind];

  g_string_append_printf (text, "%s(", spec->name);
  for (const SpdlArg *arg = spec->args; arg && arg->name; arg++) {
    const double value = step->values[arg->slot];

    if (arg->is_alias || isnan (value) || value == arg->low)
      continue;
    if (arg->kind == SPDL_ARG_CORNERS)
      append_corners (text, step);
    else if (arg->kind == SPDL_ARG_WORD)
      append_arg (text, arg->name, arg->words[(guint) value]);
    else
      append_number (text, arg->name, value);
  }
  if ((spec->flags & SPDL_OP_HAS_FILTER) &&
      (step->filter == SPDL_WARP_BILINEAR) !=
          !!(spec->flags & SPDL_OP_IS_BILINEAR))
    append_arg (text, "interpolation", spdl_warp_filters[step->filter]);
  if (spec->flags & (SPDL_OP_HAS_FILL | SPDL_OP_HAS_VALUE))
    append_fill (text, spec, &step->fill);
  if (spec->p < 1)
    append_number (text, "p", 1);
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
