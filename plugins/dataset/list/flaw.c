/* gst-spdl: what is wrong with a list
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/list/flaw.h"

#include <gst/gst.h>

#define MAX_QUOTED 60

void
spdl_flaws_add (SpdlFlaws *self, const SpdlFlaw *flaw, guint64 line)
{
  if (self->n_flaws++ > 0)
    return;
  self->first = *flaw;
  self->first_line = line;
}

gchar *
spdl_flaw_quote (const gchar *text, gsize length)
{
  gsize shown = length;
  g_autofree gchar *valid = NULL;

  if (shown > MAX_QUOTED) {
    shown = MAX_QUOTED;
    while (shown > 0 && (text[shown] & 0xc0) == 0x80)
      shown--;
  }
  valid = g_utf8_make_valid (text, shown);
  for (gchar *c = valid; *c; c++)
    if (g_ascii_iscntrl (*c))
      *c = ' ';
  return g_strconcat ("\"", valid, shown < length ? "...\"" : "\"", NULL);
}

/* @format: with the flaw's number, perhaps */
static gchar *describe_label (const SpdlFlaw *flaw, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

static gchar *
describe_label (const SpdlFlaw *flaw, const gchar *format, ...)
{
  g_autofree gchar *label = spdl_flaw_quote (flaw->text, flaw->length);
  g_autofree gchar *item = spdl_flaw_quote (flaw->item, flaw->item_length);
  g_autofree gchar *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  return g_strdup_printf ("label %s of item %s %s", label, item, what);
}

static gchar *
describe (const SpdlFlaw *flaw)
{
  g_autofree gchar *text = NULL;

  switch (flaw->kind) {
    case SPDL_FLAW_TOO_LONG:
      return g_strdup_printf (
          "it is longer than %" G_GUINT64_FORMAT " bytes", flaw->number);
    case SPDL_FLAW_NOT_UTF8:
      return g_strdup ("it is not UTF-8: save the list as UTF-8, and write "
                       "names of other bytes as URIs (file:///caf%E9.jpg)");
    case SPDL_FLAW_NO_URI:
      return g_strdup ("the path or URI is empty");
    case SPDL_FLAW_LABEL_NO_INTEGER:
      return describe_label (flaw,
          "is text, but labels before it are integers: correct it, write all "
          "labels as text, or set classes to the names of the classes");
    case SPDL_FLAW_LABEL_INTEGER:
      return describe_label (flaw,
          "is an integer, but labels before it are text: correct it, or set "
          "classes to the names of the classes");
    case SPDL_FLAW_LABEL_UNKNOWN:
      return describe_label (flaw,
          "fits none of the %" G_GUINT64_FORMAT
          " classes: correct it, or add it to classes",
          flaw->number);
    case SPDL_FLAW_LABEL_TOO_MANY:
      return describe_label (flaw,
          "is one class too many, after %" G_GUINT64_FORMAT
          ": set label=none if the labels are not classes, or use numbers",
          flaw->number);
    case SPDL_FLAW_LABEL_TOO_LARGE:
      return describe_label (flaw, "does not fit into 64 bits");
    case SPDL_FLAW_WEIGHT:
      text = spdl_flaw_quote (flaw->text, flaw->length);
      return g_strdup_printf (
          "weight %s is no number from 0 on: write a decimal number such as "
          "0.25, and 0 for an item that is never to be drawn",
          text);
    case SPDL_FLAW_N_FIELDS:
      return g_strdup_printf (
          "it has %" G_GUINT64_FORMAT " field%s, but the header names "
          "%" G_GUINT64_FORMAT ": write a field that holds a comma in quotes",
          flaw->number, flaw->number == 1 ? "" : "s", flaw->wanted);
    case SPDL_FLAW_QUOTE_UNCLOSED:
      if (flaw->number == 0)
        return g_strdup ("a quote is never closed");
      return g_strdup_printf ("a quote is not closed within %" G_GUINT64_FORMAT
                              " bytes",
          flaw->number);
    case SPDL_FLAW_QUOTE_STRAY:
      return g_strdup ("a field holds a quote: write the whole field in "
                       "quotes, and the quotes in it twice");
    default:
      g_return_val_if_reached (NULL);
  }
}

GError *
spdl_flaws_to_error (
    const SpdlFlaws *self, const gchar *location, guint64 n_lines)
{
  g_autofree gchar *what = describe (&self->first);

  if (n_lines == 0)
    return g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "\"%s\" line %" G_GUINT64_FORMAT ": %s", location, self->first_line,
        what);
  return g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "\"%s\" line %" G_GUINT64_FORMAT ": %s (%" G_GUINT64_FORMAT
      " malformed line%s, of %" G_GUINT64_FORMAT ")",
      location, self->first_line, what, self->n_flaws,
      self->n_flaws == 1 ? "" : "s", n_lines);
}
