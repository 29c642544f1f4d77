/* gst-spdl: control functions of the fake CUDA Runtime
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/cuda/fake-private.h"

#include <string.h>

void
fake_cuda_hold (void)
{
  fake_lock ();
  fake.held = TRUE;
  fake.permits = 0;
  fake_leave (cudaSuccess);
}

void
fake_cuda_let (int n)
{
  fake_lock ();
  if (n < 0)
    fake.held = FALSE;
  else
    fake.permits += n;
  pthread_cond_broadcast (&fake.cond);
  fake_leave (cudaSuccess);
}

void
fake_cuda_set_delay (unsigned us)
{
  fake_lock ();
  fake.delay = us;
  fake_leave (cudaSuccess);
}

void
fake_cuda_capture (int begin)
{
  fake_lock ();
  fake.capturing = begin;
  fake_leave (cudaSuccess);
}

void
fake_cuda_fail (const char *call, int nth, int code)
{
  fake_lock ();
  fake_set_fail (call, nth, code);
  fake_leave (cudaSuccess);
}

void
fake_cuda_use (void *handle, const void *data, size_t size, int value)
{
  const Op op = { .kind = OP_USE, .from = data, .size = size, .value = value };
  Stream *stream;

  fake_lock ();
  stream = fake_find_stream (handle);
  if (!fake_find_piece (data, size))
    fake_misuse ("a stream uses what is no memory");
  else if (stream)
    fake_give (stream, &op);
  fake_leave (cudaSuccess);
}

static int
count_unfinished (void)
{
  int n = 0;

  for (guint i = 0; i < fake.streams->len; i++) {
    const Stream *stream = g_ptr_array_index (fake.streams, i);

    for (GList *l = stream->ops.head; l; l = l->next)
      n += ((Op *) l->data)->kind == OP_COPY;
  }
  return n;
}

int
fake_cuda_count (const char *call)
{
  int n;

  fake_lock ();
  n = strcmp (call, "unfinished") == 0
          ? count_unfinished ()
          : (int) GPOINTER_TO_UINT (g_hash_table_lookup (fake.counts, call));
  fake_leave (cudaSuccess);
  return n;
}

int
fake_cuda_misuses (void)
{
  int n;

  fake_lock ();
  n = fake.misuses;
  fake_leave (cudaSuccess);
  return n;
}

int
fake_cuda_live (void)
{
  int n;

  fake_lock ();
  n = fake.pieces->len + fake.events->len + fake.streams->len -
      fake.legacy->len;
  fake_leave (cudaSuccess);
  return n;
}

void
fake_cuda_wait (void)
{
  fake_lock ();
  for (guint i = 0; i < fake.streams->len; i++) {
    const Stream *stream = g_ptr_array_index (fake.streams, i);

    if (stream->ops.length == 0 && !stream->destroyed)
      continue;
    pthread_cond_wait (&fake.cond, &fake.lock);
    i = -1;
  }
  fake_leave (cudaSuccess);
}

void
fake_cuda_reset (void)
{
  fake_lock ();
  g_hash_table_remove_all (fake.counts);
  fake.misuses = 0;
  fake.held = FALSE;
  fake.capturing = FALSE;
  fake.sticky = 0;
  fake_read_environment ();
  pthread_cond_broadcast (&fake.cond);
  fake_leave (cudaSuccess);
}
