/* gst-spdl: names that stand for many
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/dataset/archive/braces.h"

#include <gst/gst.h>
#include <string.h>

static gboolean
set_too_many (const gchar *text, GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "\"%s\" stands for more than %d names", text, SPDL_BRACES_MAX);
  return FALSE;
}

/* `FIRST..LAST`, up or down. */
static gboolean
parse_range (const gchar *inner, guint64 *first, guint64 *last, gint *width)
{
  const gchar *dots = strstr (inner, "..");
  g_autofree gchar *low = dots ? g_strndup (inner, dots - inner) : NULL;
  const gchar *high = dots ? dots + 2 : NULL;

  if (!dots ||
      !g_ascii_string_to_unsigned (low, 10, 0, G_MAXINT64, first, NULL) ||
      !g_ascii_string_to_unsigned (high, 10, 0, G_MAXINT64, last, NULL))
    return FALSE;
  *width = 0;
  if ((low[0] == '0' && low[1]) || (high[0] == '0' && high[1]))
    *width = MAX (strlen (low), strlen (high));
  return TRUE;
}

static gboolean
add_range (GPtrArray *words, guint64 first, guint64 last, gint width)
{
  const guint64 n = MAX (first, last) - MIN (first, last);

  if (n >= SPDL_BRACES_MAX)
    return FALSE;
  for (guint64 i = 0; i <= n; i++)
    g_ptr_array_add (words, g_strdup_printf ("%0*" G_GUINT64_FORMAT, width,
                                first <= last ? first + i : first - i));
  return TRUE;
}

/* What the braces around @inner stand for; empty: for themselves. */
static gboolean
read_words (const gchar *inner, GPtrArray *words)
{
  guint64 first, last;
  gint width;

  if (parse_range (inner, &first, &last, &width))
    return add_range (words, first, last, width);
  if (!strchr (inner, ','))
    return TRUE;
  g_auto (GStrv) parts = g_strsplit (inner, ",", -1);
  for (guint i = 0; parts[i]; i++)
    g_ptr_array_add (words, g_strdup (parts[i]));
  return TRUE;
}

/* Each of @texts followed by each of @words. Frees @texts. */
static GPtrArray *
multiply (GPtrArray *texts, const GPtrArray *words)
{
  GPtrArray *products = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < texts->len; i++)
    for (guint j = 0; j < words->len; j++)
      g_ptr_array_add (
          products, g_strconcat (g_ptr_array_index (texts, i),
                        (gchar *) g_ptr_array_index (words, j), NULL));
  g_ptr_array_unref (texts);
  return products;
}

/* The next piece of a text: what @words it stands for. Returns its end. */
static const gchar *
read_piece (const gchar *at, GPtrArray *words, gboolean *fits)
{
  const gsize plain = strcspn (at, "{");
  const gchar *open = at + plain;
  const gchar *end = *open ? open + 1 + strcspn (open + 1, "{}") : open;

  *fits = TRUE;
  if (plain > 0) {
    g_ptr_array_add (words, g_strndup (at, plain));
    return open;
  }
  if (*end == '}') {
    g_autofree gchar *inner = g_strndup (open + 1, end - open - 1);

    *fits = read_words (inner, words);
    end++;
  }
  if (words->len == 0)
    g_ptr_array_add (words, g_strndup (at, end - at));
  return end;
}

GPtrArray *
spdl_braces_expand (const gchar *text, GError **error)
{
  GPtrArray *texts = g_ptr_array_new_with_free_func (g_free);

  g_ptr_array_add (texts, g_strdup (""));
  for (const gchar *at = text; *at;) {
    g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
    gboolean fits;

    at = read_piece (at, words, &fits);
    if (!fits || (guint64) texts->len * words->len > SPDL_BRACES_MAX) {
      g_ptr_array_unref (texts);
      set_too_many (text, error);
      return NULL;
    }
    texts = multiply (texts, words);
  }
  return texts;
}
