/* gst-spdl: documents of which a part was delivered
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/progress/state.h"

#include <string.h>

#define FIELD ",cut="

static guint
find (const GArray *cuts, guint64 epoch, guint64 index)
{
  guint i = 0;

  while (cuts && i < cuts->len &&
         (g_array_index (cuts, SpdlCut, i).epoch != epoch ||
             g_array_index (cuts, SpdlCut, i).index != index))
    i++;
  return i;
}

guint64
spdl_cuts_find (const GArray *cuts, guint64 epoch, guint64 index)
{
  const guint i = find (cuts, epoch, index);

  return cuts && i < cuts->len ? g_array_index (cuts, SpdlCut, i).tokens : 0;
}

void
spdl_cuts_set (GArray **cuts, guint64 epoch, guint64 index, guint64 tokens)
{
  const SpdlCut cut = { epoch, index, tokens };
  const guint i = find (*cuts, epoch, index);
  const gboolean is_found = *cuts && i < (*cuts)->len;

  if (is_found && tokens > 0) {
    g_array_index (*cuts, SpdlCut, i).tokens = tokens;
  } else if (is_found) {
    g_array_remove_index (*cuts, i);
  } else if (tokens > 0) {
    if (!*cuts)
      *cuts = g_array_new (FALSE, FALSE, sizeof (SpdlCut));
    g_array_append_val (*cuts, cut);
  }
}

void
spdl_cuts_drop_before (GArray *cuts, guint64 epoch)
{
  for (guint i = cuts ? cuts->len : 0; i > 0; i--)
    if (g_array_index (cuts, SpdlCut, i - 1).epoch < epoch)
      g_array_remove_index (cuts, i - 1);
}

void
spdl_cuts_write (const GArray *cuts, guint64 epoch, GString *text)
{
  const gchar *field = FIELD;

  for (guint i = 0; cuts && i < cuts->len; i++) {
    const SpdlCut *cut = &g_array_index (cuts, SpdlCut, i);

    if (cut->epoch < epoch)
      continue;
    g_string_append (text, field);
    field = "";
    spdl_digits_write (text, cut->epoch - epoch);
    spdl_digits_write (text, cut->index);
    spdl_digits_write (text, cut->tokens);
  }
}

const gchar *
spdl_cuts_read (GArray **cuts, const gchar *text, guint64 epoch)
{
  guint64 distance, index, tokens;

  g_clear_pointer (cuts, g_array_unref);
  if (strncmp (text, FIELD, strlen (FIELD)) != 0)
    return text;
  text += strlen (FIELD);
  do {
    if (!(text = spdl_digits_read (text, &distance)) ||
        !(text = spdl_digits_read (text, &index)) ||
        !(text = spdl_digits_read (text, &tokens)) || tokens == 0 ||
        __builtin_add_overflow (distance, epoch, &distance) ||
        spdl_cuts_find (*cuts, distance, index) > 0)
      return NULL;
    spdl_cuts_set (cuts, distance, index, tokens);
  } while (spdl_digits_is_digit (*text));
  return text;
}
