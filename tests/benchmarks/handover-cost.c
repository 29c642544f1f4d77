/* gst-spdl: CPU time of the transfer of batches between processes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*     handover-cost ITEMS SIDE N
 *
 * Sends N batches of ITEMS images of SIDE by SIDE pixels, in slabs that are
 * filled once, to a loader that drops them after reading a byte of each page.
 * It prints the CPU time of both processes per batch, in microseconds. */

#include <gst/spdl/spdl.h>
#include <stdlib.h>
#include <time.h>

#include "tests/benchmarks/cpu-seconds.h"

#define N_WARM 64

static double
child_seconds (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

static guint
read_pages (GstSpdlBatch *batch)
{
  g_autoptr (GstSpdlTensor) data = gst_spdl_batch_dup_tensor (batch, 0);
  const guint8 *bytes = gst_spdl_tensor_get_address (data);
  guint sum = 0;

  for (gsize i = 0; i < gst_spdl_tensor_get_size (data); i += 4096)
    sum += bytes[i];
  return sum;
}

static guint
take (GstSpdlLoader *loader, guint n, gboolean read)
{
  guint sum = 0;

  for (guint i = 0; i < n; i++) {
    g_autoptr (GError) error = NULL;
    GstSpdlBatch *batch =
        gst_spdl_loader_next (loader, GST_CLOCK_TIME_NONE, &error);

    if (!batch)
      g_error ("%s", error ? error->message : "no batch");
    if (read)
      sum += read_pages (batch);
    gst_spdl_batch_unref (batch);
  }
  return sum;
}

static clockid_t
find_clock (GstSpdlLoader *loader)
{
  GstBin *pipeline = GST_BIN (gst_spdl_loader_get_pipeline (loader));
  GstElement *worker = gst_bin_get_by_name (pipeline, "worker");
  GstStructure *figures;
  clockid_t clock;
  guint pid;

  g_object_get (worker, "stage-stats", &figures, NULL);
  if (!gst_structure_get_uint (figures, "pid", &pid) ||
      clock_getcpuclockid (pid, &clock) != 0)
    g_error ("there is no process");
  gst_structure_free (figures);
  gst_object_unref (worker);
  return clock;
}

int
main (int argc, char **argv)
{
  const guint items = argc > 1 ? atoi (argv[1]) : 256;
  const guint side = argc > 2 ? atoi (argv[2]) : 224;
  const guint n = argc > 3 ? atoi (argv[3]) : 10000;
  g_autofree gchar *line =
      g_strdup_printf ("spdlworkersrc name=worker pipeline=\"spdltestbatches "
                       "items=%u side=%u\" ! spdlsink",
          items, side);
  g_autoptr (GError) error = NULL;
  GstSpdlLoader *loader = gst_spdl_loader_new (line, &error);
  double here, there;
  clockid_t clock;

  if (!loader || !gst_spdl_loader_start (loader, &error))
    g_error ("%s", error->message);
  g_debug ("%u", take (loader, N_WARM, TRUE));
  clock = find_clock (loader);
  here = cpu_seconds ();
  there = child_seconds (clock);
  take (loader, n, FALSE);
  here = cpu_seconds () - here;
  there = child_seconds (clock) - there;
  g_print ("%.2f %.2f\n", here / n * 1e6, there / n * 1e6);
  g_object_unref (loader);
  return 0;
}
