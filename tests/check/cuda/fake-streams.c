/* gst-spdl: streams and events of the fake CUDA Runtime
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/cuda/fake-private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns a checksum of all bytes of a small block, or of samples of a large
 * one. */
guint64
fake_sum (const uint8_t *data, size_t size)
{
  const size_t step = size > 1 << 20 ? 997 : 1;
  guint64 sum = G_GUINT64_CONSTANT (14695981039346656037);

  for (size_t i = 0; i < size; i += step)
    sum = (sum ^ data[i]) * G_GUINT64_CONSTANT (1099511628211);
  return sum;
}

void
fake_event_unref (Event *event)
{
  if (--event->n_refs == 0)
    g_free (event);
}

/* Called with the lock held; releases it while waiting. */
static void
wait_for_permit (void)
{
  while (fake.held && fake.permits == 0)
    pthread_cond_wait (&fake.cond, &fake.lock);
  if (fake.held)
    fake.permits--;
}

static void
delay (unsigned us)
{
  if (us > 0)
    usleep (us);
}

/* The arithmetic of the kernels. */

static uint16_t
half_of (float value)
{
  union {
    float f;
    uint32_t u;
  } in = { value };
  const uint32_t sign = in.u >> 16 & 0x8000;
  const int32_t exponent = (int32_t) (in.u >> 23 & 0xff) - 112;
  uint32_t bits = (in.u & 0x7fffff) | 0x800000;
  int shift = 13;

  if (exponent >= 31)
    return sign | 0x7c00;
  if (exponent < -10)
    return sign;
  if (exponent <= 0)
    shift += 1 - exponent;
  const uint32_t rest = bits & ((1u << shift) - 1);
  const uint32_t middle = 1u << (shift - 1);
  uint32_t half = bits >> shift;

  if (exponent > 0)
    half += (uint32_t) (exponent - 1) << 10;
  if (rest > middle || (rest == middle && (half & 1)))
    half++;
  return sign | half;
}

static void
run_thread (const SpdlNormalizeJob *job, gboolean half, uint32_t thread)
{
  const SpdlNormalizePlace place = spdl_normalize_place (job, thread);

  for (uint32_t i = 0; i < job->run; i++)
    for (uint32_t c = 0; c < job->n_channels; c++) {
      const size_t from = place.in + spdl_normalize_source (job, &place, i) + c;
      const size_t to = place.out + i + c * place.plane;
      const volatile float product = job->in[from] * job->scale[c];
      const float value = product + job->shift[c];

      if (half)
        ((uint16_t *) job->out)[to] = half_of (value);
      else
        ((float *) job->out)[to] = value;
    }
}

static void
run_kernel (const Op *op)
{
  const uint32_t n = spdl_normalize_count_threads (&op->job);

  for (uint32_t i = 0; i < n; i++)
    run_thread (&op->job, op->half, i);
}

static size_t
find_other (const uint8_t *data, size_t size, int value)
{
  for (size_t i = 0; i < size; i++)
    if (data[i] != value)
      return i;
  return size;
}

/* Operations. The lock is not held while memory is read and written, so that
 * ThreadSanitizer reports other accesses. */

static void
check_before (Stream *stream, const Op *op)
{
  if (op->to && fake_is_used (op->to, op->to_size, stream))
    fake_misuse (
        "%zu bytes are written while another stream uses them", op->to_size);
}

static gboolean
fail_later (const Op *op)
{
  if (!fake_is_due (op->kind == OP_COPY ? "copy" : "kernel"))
    return FALSE;
  /* A device that fails works no more: memory may be freed from now on. */
  while (fake.n_working > 0)
    pthread_cond_wait (&fake.cond, &fake.lock);
  fake.sticky = fake.fail_code;
  pthread_cond_broadcast (&fake.cond);
  return TRUE;
}

static void
do_work (Stream *stream, const Op *op)
{
  unsigned us;
  size_t other;

  wait_for_permit ();
  us = fake.delay;
  check_before (stream, op);
  if (fake.sticky || (op->kind != OP_USE && fail_later (op)))
    return;
  fake.n_working++;
  pthread_mutex_unlock (&fake.lock);
  if (op->kind == OP_USE) {
    other = find_other (op->from, op->size, op->value);
    delay (us);
    if (other == op->size)
      other = find_other (op->from, op->size, op->value);
  } else {
    const guint64 sum = op->has_sum ? fake_sum (op->from, op->size) : 0;

    delay (us);
    other = op->has_sum && sum != op->sum ? 0 : op->size;
    if (op->kind == OP_COPY)
      memcpy (op->to, op->from, op->size);
    else
      run_kernel (op);
  }
  pthread_mutex_lock (&fake.lock);
  fake.n_working--;
  pthread_cond_broadcast (&fake.cond);
  if (other != op->size && op->kind == OP_USE)
    fake_misuse (
        "at byte %zu of %zu a stream found another value", other, op->size);
  else if (other != op->size)
    fake_misuse ("%zu bytes changed before they were copied", op->size);
}

static void
do_op (Stream *stream, Op *op)
{
  switch (op->kind) {
    case OP_RECORD:
      op->event->done = MAX (op->event->done, op->nth);
      op->event->time = g_get_monotonic_time ();
      break;
    case OP_WAIT:
      while (op->event->done < op->nth && !fake.sticky)
        pthread_cond_wait (&fake.cond, &fake.lock);
      break;
    case OP_FREE:
      if (fake_is_used (op->to, op->size, stream))
        fake_misuse ("%zu bytes are freed while a stream uses them", op->size);
      free (op->to);
      break;
    default:
      do_work (stream, op);
      break;
  }
}

static void *
run_stream (void *data)
{
  Stream *stream = data;

  pthread_mutex_lock (&fake.lock);
  for (;;) {
    Op *op = g_queue_peek_head (&stream->ops);

    if (!op && stream->destroyed)
      break;
    if (!op) {
      pthread_cond_wait (&fake.cond, &fake.lock);
      continue;
    }
    do_op (stream, op);
    g_queue_pop_head (&stream->ops);
    if (op->event)
      fake_event_unref (op->event);
    g_free (op);
    pthread_cond_broadcast (&fake.cond);
  }
  g_ptr_array_remove_fast (fake.streams, stream);
  pthread_cond_broadcast (&fake.cond);
  pthread_mutex_unlock (&fake.lock);
  g_free (stream);
  return NULL;
}

Stream *
fake_stream_new (int device)
{
  Stream *stream = g_new0 (Stream, 1);

  stream->device = device;
  g_queue_init (&stream->ops);
  if (pthread_create (&stream->thread, NULL, run_stream, stream) != 0)
    abort ();
  pthread_detach (stream->thread);
  g_ptr_array_add (fake.streams, stream);
  return stream;
}

void
fake_give (Stream *stream, const Op *op)
{
  g_queue_push_tail (&stream->ops, g_memdup2 (op, sizeof *op));
  if (op->event)
    op->event->n_refs++;
  pthread_cond_broadcast (&fake.cond);
}

void
fake_drain (Stream *stream)
{
  while (stream->ops.length > 0)
    pthread_cond_wait (&fake.cond, &fake.lock);
}

static gboolean
touch (const void *a, size_t a_size, const void *b, size_t b_size)
{
  return a && b && (const uint8_t *) a < (const uint8_t *) b + b_size &&
         (const uint8_t *) b < (const uint8_t *) a + a_size;
}

/* Returns whether that memory is used by the operations in progress on streams
 * other than @except, or by any queued operation if @except is NULL. After a
 * failure of the device, none of them is executed. */
gboolean
fake_is_used (const void *data, size_t size, const Stream *except)
{
  if (fake.sticky)
    return FALSE;
  for (guint i = 0; i < fake.streams->len; i++) {
    const Stream *stream = g_ptr_array_index (fake.streams, i);

    if (stream == except)
      continue;
    for (GList *l = stream->ops.head; l; l = except ? NULL : l->next) {
      const Op *op = l->data;

      if (op->kind != OP_FREE && (touch (data, size, op->from, op->size) ||
                                     touch (data, size, op->to, op->to_size)))
        return TRUE;
    }
  }
  return FALSE;
}
