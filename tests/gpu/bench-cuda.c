/* gst-spdl: benchmark of uploads to a CUDA device and of normalization there
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* bench-cuda probe             reports the device, or what is missing
 * bench-cuda upload [SMALL]    spdlcudaupload, compared with bare copies
 * bench-cuda kernel [SMALL]    the kernel, compared with copies on the device
 * bench-cuda check             checks the kernel's results against the CPU's
 *
 * Both sides are measured in alternate rounds, and the ratio is that of the
 * medians. SMALL is a number of images for quick trials. The output is one line
 * of JSON. */

#include <gst/spdl/spdl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gst/spdl/cuda/cudablock.h"
#include "plugins/cuda/normalizer.h"

#define WIDTH 224
#define HEIGHT 224
#define CHANNELS 3
#define IMAGE_SIZE (WIDTH * HEIGHT * CHANNELS)
#define IMAGES 256 /* 38.5 MB */
#define ROUNDS 7
#define BATCHES 200 /* per round */
#define SLOTS 4     /* of the bare loop, on both sides */
#define SETS 8      /* of memory, so that no cache holds all of it */
#define LAUNCHES 64 /* per round */

static const GstSpdlCudart *cudart;
static guint n_images = IMAGES;

static void
check (cudaError_t code, const gchar *what)
{
  if (code == cudaSuccess)
    return;
  fprintf (stderr, "%s: %s\n", what, cudart->cudaGetErrorString (code));
  exit (1);
}
#define CHECK(call, ...) check (cudart->call (__VA_ARGS__), #call)

static gsize
get_size (void)
{
  return (gsize) n_images * IMAGE_SIZE;
}

static int
compare (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
median (double *values, guint n)
{
  qsort (values, n, sizeof *values, compare);
  return values[n / 2];
}

static double
seconds_since (gint64 start)
{
  return (g_get_monotonic_time () - start) / 1e6;
}

/* Bare copies */

typedef struct {
  cudaStream_t stream;
  void *host[SLOTS], *device[SLOTS];
} Bare;

static void
open_bare (Bare *self)
{
  CHECK (cudaStreamCreateWithFlags, &self->stream, cudaStreamNonBlocking);
  for (guint i = 0; i < SLOTS; i++) {
    CHECK (cudaHostAlloc, &self->host[i], get_size (), cudaHostAllocPortable);
    CHECK (cudaMalloc, &self->device[i], get_size ());
    memset (self->host[i], i, get_size ());
  }
}

static double
run_bare (Bare *self, guint n)
{
  const gint64 start = g_get_monotonic_time ();

  for (guint i = 0; i < n; i++)
    CHECK (cudaMemcpyAsync, self->device[i % SLOTS], self->host[i % SLOTS],
        get_size (), cudaMemcpyHostToDevice, self->stream);
  CHECK (cudaStreamSynchronize, self->stream);
  return n * get_size () / seconds_since (start);
}

/* The element, fed from its own pool */

typedef struct {
  GstElement *element;
  GstPad *src, *sink;
  GstBufferPool *pool;
} Fed;

static GstFlowReturn
drop (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstCaps *
make_caps (void)
{
  GstSpdlTensorsInfo info;
  const guint32 dims[] = { CHANNELS, WIDTH, HEIGHT, n_images };

  gst_spdl_tensors_info_init (&info);
  gst_spdl_tensors_info_add (&info, GST_SPDL_TENSOR_UINT8, 4, dims);
  return gst_spdl_tensors_info_to_caps (&info);
}

static void
take_pool (Fed *self, GstCaps *caps)
{
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  if (!gst_pad_peer_query (self->src, query) ||
      gst_query_get_n_allocation_pools (query) == 0) {
    fprintf (stderr, "spdlcudaupload offers no pool\n");
    exit (1);
  }
  gst_query_parse_nth_allocation_pool (query, 0, &self->pool, NULL, NULL, NULL);
  gst_query_unref (query);
  gst_buffer_pool_set_active (self->pool, TRUE);
}

static void
link_pads (Fed *self)
{
  GstPad *in = gst_element_get_static_pad (self->element, "sink");
  GstPad *out = gst_element_get_static_pad (self->element, "src");

  self->src = gst_pad_new ("src", GST_PAD_SRC);
  self->sink = gst_pad_new ("sink", GST_PAD_SINK);
  gst_pad_set_chain_function (self->sink, drop);
  gst_pad_link (self->src, in);
  gst_pad_link (out, self->sink);
  gst_object_unref (in);
  gst_object_unref (out);
  gst_pad_set_active (self->sink, TRUE);
  gst_pad_set_active (self->src, TRUE);
}

static void
open_fed (Fed *self)
{
  GstCaps *caps = make_caps ();

  self->element = gst_element_factory_make ("spdlcudaupload", NULL);
  if (!self->element) {
    fprintf (stderr, "there is no spdlcudaupload\n");
    exit (1);
  }
  link_pads (self);
  if (gst_element_set_state (self->element, GST_STATE_PLAYING) ==
      GST_STATE_CHANGE_FAILURE)
    exit (1);
  take_pool (self, caps);
  gst_caps_unref (caps);
}

static void
begin_again (Fed *self)
{
  GstCaps *caps = make_caps ();
  GstSegment segment;

  gst_pad_push_event (self->src, gst_event_new_stream_start ("bench"));
  gst_pad_push_event (self->src, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (self->src, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
}

static double
run_fed (Fed *self, guint n)
{
  gint64 start;

  begin_again (self);
  start = g_get_monotonic_time ();
  for (guint i = 0; i < n; i++) {
    GstBuffer *batch = NULL;

    if (gst_buffer_pool_acquire_buffer (self->pool, &batch, NULL) !=
            GST_FLOW_OK ||
        gst_pad_push (self->src, batch) != GST_FLOW_OK) {
      fprintf (stderr, "a batch was refused\n");
      exit (1);
    }
  }
  gst_pad_push_event (self->src, gst_event_new_eos ());
  const double rate = n * get_size () / seconds_since (start);
  gst_pad_push_event (self->src, gst_event_new_flush_start ());
  gst_pad_push_event (self->src, gst_event_new_flush_stop (FALSE));
  return rate;
}

static void
close_fed (Fed *self)
{
  GstStructure *stats;
  gchar *text;

  g_object_get (self->element, "stage-stats", &stats, NULL);
  text = gst_structure_to_string (stats);
  fprintf (stderr, "%s\n", text);
  g_free (text);
  gst_structure_free (stats);
  gst_buffer_pool_set_active (self->pool, FALSE);
  gst_object_unref (self->pool);
  gst_element_set_state (self->element, GST_STATE_NULL);
  gst_object_unref (self->src);
  gst_object_unref (self->sink);
  gst_object_unref (self->element);
}

static void
bench_upload (void)
{
  const guint n = n_images == IMAGES ? BATCHES : 8;
  double bare[ROUNDS], fed[ROUNDS];
  Bare loop;
  Fed element;

  open_bare (&loop);
  open_fed (&element);
  run_bare (&loop, n / 4);
  run_fed (&element, n / 4);
  for (guint i = 0; i < ROUNDS; i++) {
    bare[i] = run_bare (&loop, n);
    fed[i] = run_fed (&element, n);
  }
  close_fed (&element);
  const double a = median (bare, ROUNDS), b = median (fed, ROUNDS);
  printf ("{\"what\": \"upload\", \"batch_bytes\": %" G_GSIZE_FORMAT
          ", \"bare_GB_per_s\": %.3f, \"spdlcudaupload_GB_per_s\": %.3f, "
          "\"ratio\": %.4f}\n",
      get_size (), a / 1e9, b / 1e9, b / a);
}

/* The kernel */

typedef struct {
  SpdlNormalizer normalizer;
  SpdlNormalizeTask task;
  cudaStream_t stream;
  cudaEvent_t begun, done;
  void *in[SETS], *out[SETS];
  gsize out_size;
} Kernel;

static void
open_kernel (Kernel *self, gboolean half)
{
  static const double mean[] = { 0.485, 0.456, 0.406 };
  static const double std[] = { 0.229, 0.224, 0.225 };
  g_autoptr (GError) error = NULL;

  *self = (Kernel){ .task = { .n_images = n_images,
                        .width = WIDTH,
                        .height = HEIGHT,
                        .n_channels = CHANNELS,
                        .half = half } };
  if (!spdl_normalizer_open (&self->normalizer, cudart, &error) ||
      !spdl_normalize_task_set_factors (&self->task, mean, 3, std, 3, &error)) {
    fprintf (stderr, "%s\n", error->message);
    exit (1);
  }
  self->out_size = get_size () * (half ? 2 : 4);
  CHECK (cudaStreamCreateWithFlags, &self->stream, cudaStreamNonBlocking);
  CHECK (cudaEventCreateWithFlags, &self->begun, 0);
  CHECK (cudaEventCreateWithFlags, &self->done, 0);
  for (guint i = 0; i < SETS; i++) {
    CHECK (cudaMalloc, &self->in[i], get_size ());
    CHECK (cudaMalloc, &self->out[i], self->out_size);
  }
}

static void
close_kernel (Kernel *self)
{
  for (guint i = 0; i < SETS; i++) {
    CHECK (cudaFree, self->in[i]);
    CHECK (cudaFree, self->out[i]);
  }
  CHECK (cudaEventDestroy, self->begun);
  CHECK (cudaEventDestroy, self->done);
  CHECK (cudaStreamDestroy, self->stream);
  spdl_normalizer_close (&self->normalizer);
}

static void
launch (Kernel *self, guint i, const guint8 *flips)
{
  g_autoptr (GError) error = NULL;

  if (spdl_normalizer_launch (&self->normalizer, &self->task,
          self->in[i % SETS], self->out[i % SETS], flips, self->stream, &error))
    return;
  fprintf (stderr, "%s\n", error->message);
  exit (1);
}

/* Copies as many bytes as the kernel reads and writes. */
static void
copy (Kernel *self, guint i)
{
  const gsize n = (get_size () + self->out_size) / 2;

  CHECK (cudaMemcpyAsync, self->out[(i + 1) % SETS], self->out[i % SETS],
      MIN (n, self->out_size), cudaMemcpyDeviceToDevice, self->stream);
}

/* Returns the bytes read and written per second, by the device's clock. */
static double
time_launches (Kernel *self, gboolean copies, guint n)
{
  const gsize moved =
      copies ? 2 * MIN ((get_size () + self->out_size) / 2, self->out_size)
             : get_size () + self->out_size;
  float ms = 0;

  CHECK (cudaEventRecord, self->begun, self->stream);
  for (guint i = 0; i < n; i++) {
    if (copies)
      copy (self, i);
    else
      launch (self, i, NULL);
  }
  CHECK (cudaEventRecord, self->done, self->stream);
  CHECK (cudaEventSynchronize, self->done);
  CHECK (cudaEventElapsedTime, &ms, self->begun, self->done);
  return n * moved / (MAX (ms, 1e-3) / 1e3);
}

static void
bench_kernel (gboolean half)
{
  const guint n = n_images == IMAGES ? LAUNCHES : 4;
  double kernels[ROUNDS], copies[ROUNDS];
  Kernel self;

  open_kernel (&self, half);
  time_launches (&self, FALSE, n);
  time_launches (&self, TRUE, n);
  for (guint i = 0; i < ROUNDS; i++) {
    kernels[i] = time_launches (&self, FALSE, n);
    copies[i] = time_launches (&self, TRUE, n);
  }
  close_kernel (&self);
  const double a = median (copies, ROUNDS), b = median (kernels, ROUNDS);
  printf ("{\"what\": \"kernel %s\", \"copy_GB_per_s\": %.1f, "
          "\"kernel_GB_per_s\": %.1f, \"ratio\": %.4f}\n",
      half ? "float16" : "float32", a / 1e9, b / 1e9, b / a);
}

/* Results in float32 for some shapes, also with flipped images */

static float
expect (const Kernel *self, const guint8 *in, guint n, guint c, guint y,
    guint x, gboolean flipped)
{
  const SpdlNormalizeTask *task = &self->task;
  const guint from = flipped ? task->width - 1 - x : x;
  const volatile float product =
      in[(((gsize) n * task->height + y) * task->width + from) *
              task->n_channels +
          c] *
      task->scale[c];

  return product + task->shift[c];
}

static guint
compare_all (
    const Kernel *self, const guint8 *in, const float *out, const guint8 *flips)
{
  const SpdlNormalizeTask *task = &self->task;
  guint n_wrong = 0;
  gsize i = 0;

  for (guint n = 0; n < task->n_images; n++)
    for (guint c = 0; c < task->n_channels; c++)
      for (guint y = 0; y < task->height; y++)
        for (guint x = 0; x < task->width; x++)
          n_wrong += out[i++] != expect (self, in, n, c, y, x, flips[n]);
  return n_wrong;
}

static guint
check_shape (guint width, guint channels)
{
  const gsize n = 5 * (gsize) width * 3 * channels;
  g_autofree guint8 *in = g_malloc (n);
  g_autofree float *out = g_new (float, n);
  static const guint8 flips[] = { 0, 1, 1, 0, 1 };
  guint n_wrong;
  Kernel self;

  n_images = 1;
  open_kernel (&self, FALSE);
  self.task.n_images = 5;
  self.task.width = width;
  self.task.height = 3;
  self.task.n_channels = channels;
  self.task.scale[3] = 0.5f;
  for (gsize i = 0; i < n; i++)
    in[i] = i * 7 + i / 251;
  CHECK (
      cudaMemcpyAsync, self.in[0], in, n, cudaMemcpyHostToDevice, self.stream);
  launch (&self, 0, flips);
  CHECK (cudaMemcpyAsync, out, self.out[0], n * sizeof *out,
      cudaMemcpyDeviceToHost, self.stream);
  CHECK (cudaStreamSynchronize, self.stream);
  n_wrong = compare_all (&self, in, out, flips);
  close_kernel (&self);
  return n_wrong;
}

static int
check_kernel (void)
{
  static const guint widths[] = { 1, 4, 7, 32, 224, 225 };
  guint n_wrong = 0;

  for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
    for (guint channels = 1; channels <= 4; channels++)
      n_wrong += check_shape (widths[i], channels);
  printf ("{\"what\": \"check\", \"wrong\": %u}\n", n_wrong);
  return n_wrong > 0;
}

static int
probe (void)
{
  g_autoptr (GError) error = NULL;
  gint version = 0;

  cudart = gst_spdl_cudart_get (&error);
  if (!cudart || !gst_spdl_cudart_check_device (cudart, 0, &error)) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  cudart->cudaRuntimeGetVersion (&version);
  fprintf (stderr, "CUDA Runtime %d.%d\n", version / 1000, version % 1000 / 10);
  return 0;
}

int
main (int argc, char **argv)
{
  const gchar *what = argc > 1 ? argv[1] : "probe";

  gst_init (NULL, NULL);
  if (argc > 2)
    n_images = MAX (atoi (argv[2]), 1);
  if (probe () != 0)
    return 77;
  if (g_str_equal (what, "upload")) {
    bench_upload ();
  } else if (g_str_equal (what, "kernel")) {
    bench_kernel (FALSE);
    bench_kernel (TRUE);
  } else if (g_str_equal (what, "check")) {
    return check_kernel ();
  } else if (!g_str_equal (what, "probe")) {
    fprintf (stderr, "bench-cuda probe | upload | kernel | check\n");
    return 2;
  }
  return 0;
}
