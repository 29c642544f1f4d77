/* gst-spdl: failed items of an epoch and the warnings about them
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/stage/losses.h"

#include "gst/spdl/common/showntext.h"

/* Number of failures of an epoch that are posted one by one. */
#define POSTED_AT_FIRST 3

GstSpdlLoss *
gst_spdl_loss_new (const GstSpdlItemMeta *item, const gchar *name,
    guint64 epoch, const GError *error)
{
  GstSpdlLoss *self = g_new0 (GstSpdlLoss, 1);

  self->epoch = item ? item->epoch : epoch;
  self->uri = item ? g_strdup (item->uri) : NULL;
  self->name = item ? gst_spdl_item_meta_describe (item)
                    : g_strdup (name ? name : "an item");
  self->error = g_error_copy (error);
  return self;
}

void
gst_spdl_loss_free (GstSpdlLoss *self)
{
  g_free (self->uri);
  g_free (self->name);
  g_error_free (self->error);
  g_free (self);
}

static void
post_error (const GstSpdlLosses *self, GstElement *element, guint64 epoch,
    gboolean summary, GQuark domain, gint code, const gchar *text)
{
  g_autofree gchar *stage = gst_object_get_name (GST_OBJECT (element));
  GstStructure *details = gst_structure_new (GST_SPDL_LOSSES_DETAILS, "stage",
      G_TYPE_STRING, stage, "epoch", G_TYPE_UINT64, epoch, "num-items",
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
    GstSpdlLosses *self, GstElement *element, GstSpdlLoss *loss)
{
  g_autofree gchar *text = NULL;

  g_clear_pointer (&self->last, gst_spdl_loss_free);
  self->last = loss;
  self->num_failures++;
  if (self->num_failures > POSTED_AT_FIRST &&
      !is_power_of_ten (self->num_failures))
    return;
  text = g_strdup_printf ("%s: %s (failure %" G_GUINT64_FORMAT
                          " in epoch %" G_GUINT64_FORMAT ")",
      loss->name, loss->error->message, self->num_failures, loss->epoch);
  post_error (self, element, loss->epoch, FALSE, loss->error->domain,
      loss->error->code, text);
}

void
gst_spdl_losses_end_epoch (
    GstSpdlLosses *self, GstElement *element, guint64 epoch)
{
  g_autofree gchar *text = NULL;

  if (self->last) {
    text = g_strdup_printf ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                            " items failed in epoch %" G_GUINT64_FORMAT
                            "; last: %s: %s",
        self->num_failures, self->num_items, epoch, self->last->name,
        self->last->error->message);
    post_error (self, element, epoch, TRUE, GST_STREAM_ERROR,
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
  g_clear_pointer (&self->last, gst_spdl_loss_free);
  self->num_items = self->num_failures = 0;
}
