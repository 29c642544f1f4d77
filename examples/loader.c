/* gst-spdl: training loop in C
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Loads a folder of JPEGs for two epochs:
 *
 *     loader FOLDER
 *
 * Prints the shape and the mean of each batch, the files that failed, and the
 * statistics of each stage. Exits nonzero if the pipeline ended with an
 * error. */

#include <gst/spdl/spdl.h>

static void
print_batch (GstSpdlBatch *batch)
{
  g_autoptr (GstSpdlTensor) tensor = gst_spdl_batch_find_tensor (batch, "data");
  const guint8 *data = gst_spdl_tensor_get_address (tensor);
  const gsize size = gst_spdl_tensor_get_size (tensor);
  const gint64 *shape;
  guint64 sum = 0;
  guint n_dims;

  shape = gst_spdl_tensor_get_shape (tensor, &n_dims);
  for (gsize i = 0; i < size; i++)
    sum += data[i];
  g_print ("  data (");
  for (guint i = 0; i < n_dims; i++)
    g_print (i ? ", %d" : "%d", (int) shape[i]);
  g_print ("), mean %.1f\n", (double) sum / size);
}

static void
on_failed (GstSpdlLoader *loader, const gchar *stage, const gchar *uri,
    const GError *error, guint source, guint64 epoch, guint64 index,
    guint64 sequence, gpointer user_data)
{
  g_printerr ("%s: %s: %s\n", stage, uri, error->message);
}

static void
print_figures (GstSpdlLoader *loader)
{
  GList *stats = gst_spdl_loader_dup_stats (loader);

  for (GList *l = stats; l; l = l->next) {
    gdouble qps = 0;

    gst_structure_get_double (l->data, "qps", &qps);
    g_print (
        "%s: %.0f items/s\n", gst_structure_get_string (l->data, "stage"), qps);
  }
  g_list_free_full (stats, (GDestroyNotify) gst_structure_free);
}

int
main (int argc, char **argv)
{
  g_autofree gchar *description = NULL;
  g_autoptr (GstSpdlLoader) loader = NULL;
  g_autoptr (GError) error = NULL;

  gst_init (&argc, &argv);
  if (argc != 2) {
    g_printerr ("usage: loader FOLDER\n");
    return 2;
  }
  description = g_strdup_printf (
      "spdlsrc location=\"%s\" label=folder pattern=*.@(jpg|jpeg) epochs=2 "
      "! spdlfetch ! spdldecode width=224 height=224 ! spdlbatch batch-size=32 "
      "! spdlsink",
      argv[1]);
  if ((loader = gst_spdl_loader_new (description, &error))) {
    g_signal_connect (loader, "failed", G_CALLBACK (on_failed), NULL);
    gst_spdl_loader_start (loader, &error);
  }
  while (!error && !gst_spdl_loader_is_finished (loader)) {
    GstSpdlBatch *batch;

    g_print ("epoch %d\n", (int) gst_spdl_loader_get_epoch (loader));
    while (
        (batch = gst_spdl_loader_next (loader, GST_CLOCK_TIME_NONE, &error))) {
      print_batch (batch);
      gst_spdl_batch_unref (batch);
    }
  }
  if (error) {
    g_printerr ("error: %s\n", error->message);
    return 1;
  }
  print_figures (loader);
  return 0;
}
