/* gst-spdl: devices and errors of the fake CUDA Runtime
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/cuda/fake-private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

Fake fake = { .lock = PTHREAD_MUTEX_INITIALIZER,
  .cond = PTHREAD_COND_INITIALIZER };

static __thread int current_device;
static __thread int last_error;
static __thread enum cudaStreamCaptureMode capture_mode;

static int
number_of (const char *name, int otherwise)
{
  const char *text = getenv (name);

  return text && *text ? atoi (text) : otherwise;
}

void
fake_set_fail (const char *call, int nth, int code)
{
  g_free (fake.fail_call);
  fake.fail_call = g_strdup (call);
  fake.fail_nth = nth;
  fake.fail_code = code;
}

void
fake_read_environment (void)
{
  const char *fail = getenv ("FAKE_CUDA_FAIL");
  g_auto (GStrv) parts = g_strsplit (fail ? fail : "", ":", -1);

  fake.n_devices = number_of ("FAKE_CUDA_DEVICES", 1);
  fake.has_driver = number_of ("FAKE_CUDA_DRIVER", 1);
  fake.has_pools = number_of ("FAKE_CUDA_POOLS", 1);
  fake.delay = number_of ("FAKE_CUDA_DELAY", 0);
  fake_set_fail (NULL, 0, 0);
  if (g_strv_length (parts) == 3)
    fake_set_fail (parts[0], atoi (parts[1]), atoi (parts[2]));
}

void
fake_lock (void)
{
  pthread_mutex_lock (&fake.lock);
  if (fake.ready)
    return;
  fake.ready = TRUE;
  fake.counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  fake.pieces = g_ptr_array_new ();
  fake.events = g_ptr_array_new ();
  fake.streams = g_ptr_array_new ();
  fake.legacy = g_ptr_array_new ();
  fake_read_environment ();
}

cudaError_t
fake_leave (int code)
{
  if (code != cudaSuccess)
    last_error = code;
  pthread_mutex_unlock (&fake.lock);
  return (cudaError_t) code;
}

void
fake_misuse (const char *format, ...)
{
  va_list args;

  va_start (args, format);
  fprintf (stderr, "fake CUDA: ");
  vfprintf (stderr, format, args);
  fprintf (stderr, "\n");
  va_end (args);
  fake.misuses++;
}

int
fake_current (void)
{
  return current_device;
}

void
fake_note (const char *call)
{
  const guint n = GPOINTER_TO_UINT (g_hash_table_lookup (fake.counts, call));

  g_hash_table_insert (fake.counts, g_strdup (call), GUINT_TO_POINTER (n + 1));
}

gboolean
fake_is_due (const char *call)
{
  return fake.fail_nth > 0 && g_strcmp0 (fake.fail_call, call) == 0 &&
         --fake.fail_nth == 0;
}

/* Takes the lock and counts a call of @call. Returns the error with which the
 * call is to fail, or 0. */
int
fake_enter (const char *call)
{
  fake_lock ();
  fake_note (call);
  if (fake_is_due (call))
    return fake.fail_code;
  return fake.sticky;
}

/* Devices */

cudaError_t
cudaRuntimeGetVersion (int *version)
{
  *version = 13000;
  return cudaSuccess;
}

const char *
cudaGetErrorString (cudaError_t error)
{
  switch ((int) error) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case 719:
      return "unspecified launch failure";
    default:
      return "as the test wanted";
  }
}

cudaError_t
cudaGetLastError (void)
{
  const int code = last_error;

  last_error = cudaSuccess;
  return (cudaError_t) code;
}

cudaError_t
cudaGetDeviceCount (int *n)
{
  CALL (fake_enter ("cudaGetDeviceCount"));
  *n = fake.n_devices;
  return fake_leave (!fake.has_driver ? cudaErrorInsufficientDriver
                     : *n == 0        ? cudaErrorNoDevice
                                      : cudaSuccess);
}

cudaError_t
cudaGetDevice (int *device)
{
  *device = current_device;
  return cudaSuccess;
}

cudaError_t
cudaSetDevice (int device)
{
  g_autofree char *name = g_strdup_printf ("device %d", device);

  CALL (fake_enter ("cudaSetDevice"));
  fake_note (name);
  if (device < 0 || device >= fake.n_devices)
    return fake_leave (cudaErrorInvalidDevice);
  current_device = device;
  return fake_leave (cudaSuccess);
}

cudaError_t
cudaDeviceSynchronize (void)
{
  CALL (fake_enter ("cudaDeviceSynchronize"));
  fake_drain_device (current_device);
  return fake_leave (fake.sticky);
}

void
fake_check_capture (const char *call)
{
  if (fake.capturing && capture_mode != cudaStreamCaptureModeRelaxed)
    fake_misuse ("%s() during the capture of a graph", call);
}

cudaError_t
cudaThreadExchangeStreamCaptureMode (enum cudaStreamCaptureMode *mode)
{
  const enum cudaStreamCaptureMode before = capture_mode;

  CALL (fake_enter ("cudaThreadExchangeStreamCaptureMode"));
  capture_mode = *mode;
  *mode = before;
  return fake_leave (cudaSuccess);
}

cudaError_t
cudaDeviceGetAttribute (int *value, enum cudaDeviceAttr attr, int device)
{
  CALL (fake_enter ("cudaDeviceGetAttribute"));
  *value = attr == cudaDevAttrMemoryPoolsSupported && fake.has_pools;
  return fake_leave (cudaSuccess);
}

/* Streams and events */

Stream *
fake_find_stream (void *handle)
{
  if ((gsize) handle > 2) {
    guint i;

    if (g_ptr_array_find (fake.streams, handle, &i) &&
        !((Stream *) handle)->destroyed)
      return handle;
    fake_misuse ("%p is no stream", handle);
    return NULL;
  }
  while (fake.legacy->len <= (guint) current_device)
    g_ptr_array_add (fake.legacy, fake_stream_new (fake.legacy->len));
  return g_ptr_array_index (fake.legacy, current_device);
}

static Event *
find_event (cudaEvent_t handle)
{
  if (g_ptr_array_find (fake.events, handle, NULL))
    return (Event *) handle;
  fake_misuse ("%p is no event", (void *) handle);
  return NULL;
}

cudaError_t
cudaStreamCreateWithFlags (cudaStream_t *stream, unsigned flags)
{
  CALL (fake_enter ("cudaStreamCreateWithFlags"));
  *stream = (cudaStream_t) fake_stream_new (current_device);
  return fake_leave (cudaSuccess);
}

cudaError_t
cudaStreamDestroy (cudaStream_t handle)
{
  int code = fake_enter ("cudaStreamDestroy");
  Stream *stream = fake_find_stream (handle);

  if (stream)
    stream->destroyed = TRUE;
  pthread_cond_broadcast (&fake.cond);
  return fake_leave (stream ? code : cudaErrorInvalidResourceHandle);
}

cudaError_t
cudaStreamSynchronize (cudaStream_t handle)
{
  Stream *stream;

  CALL (fake_enter ("cudaStreamSynchronize"));
  stream = fake_find_stream (handle);
  if (!stream)
    return fake_leave (cudaErrorInvalidResourceHandle);
  fake_drain (stream);
  return fake_leave (fake.sticky);
}

cudaError_t
cudaStreamWaitEvent (cudaStream_t handle, cudaEvent_t event, unsigned flags)
{
  Stream *stream;
  Op op = { .kind = OP_WAIT };

  CALL (fake_enter ("cudaStreamWaitEvent"));
  stream = fake_find_stream (handle);
  op.event = find_event (event);
  if (!stream || !op.event)
    return fake_leave (cudaErrorInvalidResourceHandle);
  op.nth = op.event->asked;
  fake_give (stream, &op);
  return fake_leave (cudaSuccess);
}

cudaError_t
cudaEventCreateWithFlags (cudaEvent_t *handle, unsigned flags)
{
  Event *event;

  CALL (fake_enter ("cudaEventCreateWithFlags"));
  event = g_new0 (Event, 1);
  event->n_refs = 1;
  event->device = current_device;
  event->timed = !(flags & cudaEventDisableTiming);
  g_ptr_array_add (fake.events, event);
  *handle = (cudaEvent_t) event;
  return fake_leave (cudaSuccess);
}

cudaError_t
cudaEventDestroy (cudaEvent_t handle)
{
  int code = fake_enter ("cudaEventDestroy");
  Event *event = find_event (handle);

  if (!event)
    return fake_leave (cudaErrorInvalidResourceHandle);
  g_ptr_array_remove_fast (fake.events, event);
  fake_event_unref (event);
  return fake_leave (code);
}

cudaError_t
cudaEventRecord (cudaEvent_t handle, cudaStream_t stream_handle)
{
  Op op = { .kind = OP_RECORD };
  Stream *stream;

  CALL (fake_enter ("cudaEventRecord"));
  stream = fake_find_stream (stream_handle);
  op.event = find_event (handle);
  if (!stream || !op.event)
    return fake_leave (cudaErrorInvalidResourceHandle);
  if (stream->device != op.event->device) {
    fake_misuse ("an event is recorded on another device's stream");
    return fake_leave (cudaErrorInvalidResourceHandle);
  }
  op.nth = ++op.event->asked;
  fake_give (stream, &op);
  return fake_leave (cudaSuccess);
}

cudaError_t
cudaEventSynchronize (cudaEvent_t handle)
{
  Event *event;
  guint64 nth;

  CALL (fake_enter ("cudaEventSynchronize"));
  fake_check_capture ("cudaEventSynchronize");
  event = find_event (handle);
  if (!event)
    return fake_leave (cudaErrorInvalidResourceHandle);
  event->n_refs++;
  nth = event->asked;
  while (event->done < nth && !fake.sticky)
    pthread_cond_wait (&fake.cond, &fake.lock);
  fake_event_unref (event);
  return fake_leave (fake.sticky);
}

cudaError_t
cudaEventElapsedTime (float *ms, cudaEvent_t start, cudaEvent_t end)
{
  Event *a, *b;

  CALL (fake_enter ("cudaEventElapsedTime"));
  a = find_event (start);
  b = find_event (end);
  if (!a || !b || !a->timed || !b->timed || a->done == 0 || b->done == 0 ||
      a->done < a->asked || b->done < b->asked) {
    fake_misuse ("a time between events that were not recorded");
    return fake_leave (cudaErrorInvalidResourceHandle);
  }
  *ms = (b->time - a->time) / 1000.0f;
  return fake_leave (cudaSuccess);
}
