/* gst-spdl: failed items, errors and warnings that elements report
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/failure.h"

#include "gst/spdl/common/showntext.h"

#define ITEM_FAILED "spdl-item-failed"

GstSpdlFailure *
gst_spdl_failure_new (GstElement *element, const GstSpdlItemMeta *item,
    const GError *error, guint64 num_failures)
{
  GstSpdlFailure *self = g_new0 (GstSpdlFailure, 1);

  self->stage = gst_object_get_name (GST_OBJECT (element));
  self->error = g_error_copy (error);
  spdl_show_error (self->error);
  self->num_failures = num_failures;
  self->epoch = self->index = self->sequence = G_MAXUINT64;
  if (item) {
    self->uri = g_strdup (item->uri);
    self->source = item->source;
    self->epoch = item->epoch;
    self->index = item->index;
    self->sequence = item->sequence;
  }
  return self;
}

void
gst_spdl_failure_free (GstSpdlFailure *self)
{
  g_free (self->stage);
  g_free (self->uri);
  g_clear_error (&self->error);
  g_free (self);
}

static void
free_entry (gpointer data)
{
  g_clear_pointer (&data, gst_spdl_failure_free); /* NULL: it was taken */
}

void
gst_spdl_failure_add_to (GstSpdlFailure *self, guint place, GPtrArray **list)
{
  self->place = place;
  if (!*list)
    *list = g_ptr_array_new_with_free_func (free_entry);
  g_ptr_array_add (*list, self);
}

gchar *
gst_spdl_failure_describe (const GstSpdlFailure *self)
{
  const GstSpdlItemMeta item = {
    .uri = self->uri, .index = self->index, .epoch = self->epoch
  };
  g_autofree gchar *name = self->index == G_MAXUINT64
                               ? g_strdup ("a batch")
                               : gst_spdl_item_meta_describe (&item);

  return g_strconcat (name, ": ", self->error->message, NULL);
}

/* Messages */

void
gst_spdl_failure_post (const GstSpdlFailure *self, GstElement *element)
{
  GstStructure *s = gst_structure_new (ITEM_FAILED, "stage", G_TYPE_STRING,
      self->stage, "error", G_TYPE_ERROR, self->error, "num-failures",
      G_TYPE_UINT64, self->num_failures, NULL);

  if (self->index != G_MAXUINT64)
    gst_structure_set (s, "uri", G_TYPE_STRING, self->uri, "index",
        G_TYPE_UINT64, self->index, "source", G_TYPE_UINT, self->source,
        "epoch", G_TYPE_UINT64, self->epoch, "sequence", G_TYPE_UINT64,
        self->sequence, NULL);
  gst_element_post_message (
      element, gst_message_new_element (GST_OBJECT (element), s));
}

GstSpdlFailure *
gst_spdl_failure_parse (GstMessage *message)
{
  const GstStructure *s = gst_message_get_structure (message);
  GstSpdlFailure *self;

  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_ELEMENT || !s ||
      !gst_structure_has_name (s, ITEM_FAILED))
    return NULL;
  self = g_new0 (GstSpdlFailure, 1);
  self->epoch = self->index = self->sequence = G_MAXUINT64;
  self->stage = g_strdup (gst_structure_get_string (s, "stage"));
  self->uri = g_strdup (gst_structure_get_string (s, "uri"));
  /* The message may be of any element. */
  if (!gst_structure_get (s, "error", G_TYPE_ERROR, &self->error, NULL))
    self->error = g_error_new_literal (
        GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, "No reason given");
  spdl_show_error (self->error);
  gst_structure_get (
      s, "num-failures", G_TYPE_UINT64, &self->num_failures, NULL);
  gst_structure_get (s, "source", G_TYPE_UINT, &self->source, "epoch",
      G_TYPE_UINT64, &self->epoch, "sequence", G_TYPE_UINT64, &self->sequence,
      NULL);
  gst_structure_get (s, "index", G_TYPE_UINT64, &self->index, NULL);
  return self;
}

void
gst_spdl_post_error (GstElement *element, const GError *error)
{
  gst_element_message_full (element, GST_MESSAGE_ERROR, error->domain,
      error->code, spdl_show_text (error->message), NULL, __FILE__,
      GST_FUNCTION, __LINE__);
}

void
gst_spdl_post_warning (
    GstElement *element, GQuark domain, gint code, const gchar *text)
{
  gst_element_message_full (element, GST_MESSAGE_WARNING, domain, code,
      spdl_show_text (text), NULL, __FILE__, GST_FUNCTION, __LINE__);
}

void
gst_spdl_post_error_of_item (
    GstElement *element, const GError *error, const gchar *uri)
{
  gst_element_message_full_with_details (element, GST_MESSAGE_ERROR,
      error->domain, error->code, spdl_show_text (error->message), NULL,
      __FILE__, GST_FUNCTION, __LINE__,
      gst_structure_new ("details", "uri", G_TYPE_STRING, uri, NULL));
}

/* Failures of an epoch */

/* Number of failures of an epoch that are posted one by one. */
#define POSTED_AT_FIRST 3

static void
post_of_epoch (const GstSpdlLosses *self, GstElement *element, guint64 epoch,
    gboolean summary, GQuark domain, gint code, const gchar *text)
{
  GstStructure *details =
      gst_structure_new (GST_SPDL_LOSSES_DETAILS, "stage", G_TYPE_STRING,
          self->last->stage, "epoch", G_TYPE_UINT64, epoch, "num-items",
          G_TYPE_UINT64, self->num_items, "num-failures", G_TYPE_UINT64,
          self->num_failures, "summary", G_TYPE_BOOLEAN, summary, NULL);

  if (self->last->uri)
    gst_structure_set (details, "uri", G_TYPE_STRING, self->last->uri, NULL);
  gst_element_message_full_with_details (element, GST_MESSAGE_WARNING, domain,
      code, spdl_show_text (text), NULL, __FILE__, GST_FUNCTION, __LINE__,
      details);
}

static gboolean
is_power_of_ten (guint64 n)
{
  while (n >= 10 && n % 10 == 0)
    n /= 10;
  return n == 1;
}

void
gst_spdl_losses_add (
    GstSpdlLosses *self, GstElement *element, GstSpdlFailure *failure)
{
  g_autofree gchar *what = NULL;
  g_autofree gchar *text = NULL;

  g_clear_pointer (&self->last, gst_spdl_failure_free);
  self->last = failure;
  self->num_failures++;
  if (self->num_failures > POSTED_AT_FIRST &&
      !is_power_of_ten (self->num_failures))
    return;
  what = gst_spdl_failure_describe (failure);
  text = g_strdup_printf ("%s (failure %" G_GUINT64_FORMAT
                          " in epoch %" G_GUINT64_FORMAT ")",
      what, self->num_failures, failure->epoch);
  post_of_epoch (self, element, failure->epoch, FALSE, failure->error->domain,
      failure->error->code, text);
}

void
gst_spdl_losses_end_epoch (
    GstSpdlLosses *self, GstElement *element, guint64 epoch)
{
  if (self->last) {
    g_autofree gchar *last = gst_spdl_failure_describe (self->last);
    g_autofree gchar *text = g_strdup_printf (
        "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
        " items failed in epoch %" G_GUINT64_FORMAT "; last: %s",
        self->num_failures, self->num_items, epoch, last);
    post_of_epoch (self, element, epoch, TRUE, GST_STREAM_ERROR,
        GST_STREAM_ERROR_FAILED, text);
  }
  gst_spdl_losses_reset (self);
}

void
gst_spdl_losses_end_stream (GstSpdlLosses *self, GstElement *element)
{
  gst_spdl_losses_end_epoch (self, element, self->last ? self->last->epoch : 0);
}

void
gst_spdl_losses_reset (GstSpdlLosses *self)
{
  g_clear_pointer (&self->last, gst_spdl_failure_free);
  self->num_items = self->num_failures = 0;
}

gboolean
gst_spdl_losses_parse_warning (
    GstMessage *warning, gboolean *is_summary, guint64 *epoch)
{
  const GstStructure *details = NULL;

  *is_summary = FALSE;
  gst_message_parse_warning_details (warning, &details);
  if (!details || !gst_structure_has_name (details, GST_SPDL_LOSSES_DETAILS))
    return FALSE;
  gst_structure_get (details, "summary", G_TYPE_BOOLEAN, is_summary, "epoch",
      G_TYPE_UINT64, epoch, NULL);
  return !*is_summary;
}
