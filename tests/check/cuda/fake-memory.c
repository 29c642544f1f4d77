/* gst-spdl: memory functions of the fake CUDA Runtime
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "tests/check/cuda/fake-private.h"

#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

Piece *
fake_find_piece (const void *data, size_t size)
{
  for (guint i = 0; i < fake.pieces->len; i++) {
    Piece *piece = g_ptr_array_index (fake.pieces, i);

    if ((const uint8_t *) data >= piece->data &&
        (const uint8_t *) data + size <= piece->data + piece->size)
      return piece;
  }
  return NULL;
}

void
fake_drop_piece (Piece *piece)
{
  g_ptr_array_remove_fast (fake.pieces, piece);
  g_free (piece);
}

static int
add_piece (void **data, size_t size, int device, gboolean ordered)
{
  Piece *piece = g_new0 (Piece, 1);

  if (posix_memalign ((void **) &piece->data, 4096, MAX (size, 1)) != 0)
    abort ();
  memset (piece->data, 0xcd, size);
  piece->size = MAX (size, 1);
  piece->device = device;
  piece->ordered = ordered;
  g_ptr_array_add (fake.pieces, piece);
  *data = piece->data;
  return cudaSuccess;
}

static Piece *
find_to_free (const void *data, int on_device, gboolean registered)
{
  Piece *piece = fake_find_piece (data, 1);

  if (piece && piece->data == data && (piece->device >= 0) == on_device &&
      piece->registered == registered)
    return piece;
  fake_misuse ("%p is freed, but was not allocated, or is freed twice", data);
  return NULL;
}

cudaError_t
cudaMalloc (void **data, size_t size)
{
  CALL (fake_enter ("cudaMalloc"));
  fake_check_capture ("cudaMalloc");
  return fake_leave (add_piece (data, size, fake_current (), FALSE));
}

cudaError_t
cudaMallocAsync (void **data, size_t size, cudaStream_t stream)
{
  CALL (fake_enter ("cudaMallocAsync"));
  if (!fake.has_pools)
    fake_misuse ("cudaMallocAsync() on a device without pools");
  if (!fake_find_stream (stream))
    return fake_leave (cudaErrorInvalidResourceHandle);
  return fake_leave (add_piece (data, size, fake_current (), TRUE));
}

void
fake_drain_device (int device)
{
  for (guint i = 0; i < fake.streams->len; i++) {
    Stream *stream = g_ptr_array_index (fake.streams, i);

    if (stream->device != device || stream->ops.length == 0)
      continue;
    pthread_cond_wait (&fake.cond, &fake.lock);
    i = -1;
  }
}

cudaError_t
cudaFree (void *data)
{
  int code = fake_enter ("cudaFree");
  Piece *piece = find_to_free (data, TRUE, FALSE);

  fake_check_capture ("cudaFree");
  if (!piece)
    return fake_leave (cudaErrorInvalidValue);
  /* Only memory of cudaMalloc() is freed after its last use. */
  if (!piece->ordered)
    fake_drain_device (piece->device);
  else if (fake_is_used (data, piece->size, NULL))
    fake_misuse ("%zu bytes are freed while a stream uses them", piece->size);
  free (piece->data);
  fake_drop_piece (piece);
  return fake_leave (code);
}

cudaError_t
cudaFreeAsync (void *data, cudaStream_t handle)
{
  int code = fake_enter ("cudaFreeAsync");
  Stream *stream = fake_find_stream (handle);
  Piece *piece = find_to_free (data, TRUE, FALSE);
  Op op = { .kind = OP_FREE, .to = data };

  if (!piece || !stream)
    return fake_leave (cudaErrorInvalidValue);
  if (!piece->ordered)
    fake_misuse ("cudaFreeAsync() of memory of cudaMalloc()");
  op.size = piece->size;
  fake_drop_piece (piece);
  fake_give (stream, &op);
  return fake_leave (code);
}

cudaError_t
cudaHostAlloc (void **data, size_t size, unsigned flags)
{
  CALL (fake_enter ("cudaHostAlloc"));
  fake_check_capture ("cudaHostAlloc");
  return fake_leave (add_piece (data, size, -1, FALSE));
}

cudaError_t
cudaFreeHost (void *data)
{
  int code = fake_enter ("cudaFreeHost");
  Piece *piece = find_to_free (data, FALSE, FALSE);

  fake_check_capture ("cudaFreeHost");
  if (!piece)
    return fake_leave (cudaErrorInvalidValue);
  if (fake_is_used (data, piece->size, NULL))
    fake_misuse ("%zu bytes are freed before they were copied", piece->size);
  free (piece->data);
  fake_drop_piece (piece);
  return fake_leave (code);
}

cudaError_t
cudaHostRegister (void *data, size_t size, unsigned flags)
{
  Piece *piece;

  CALL (fake_enter ("cudaHostRegister"));
  fake_check_capture ("cudaHostRegister");
  if (fake_find_piece (data, 1))
    return fake_leave (cudaErrorHostMemoryAlreadyRegistered);
  piece = g_new0 (Piece, 1);
  piece->data = data;
  piece->size = size;
  piece->device = -1;
  piece->registered = TRUE;
  g_ptr_array_add (fake.pieces, piece);
  return fake_leave (cudaSuccess);
}

cudaError_t
cudaHostUnregister (void *data)
{
  int code = fake_enter ("cudaHostUnregister");
  Piece *piece = find_to_free (data, FALSE, TRUE);

  fake_check_capture ("cudaHostUnregister");
  if (!piece)
    return fake_leave (cudaErrorHostMemoryNotRegistered);
  if (fake_is_used (data, piece->size, NULL))
    fake_misuse ("%zu bytes are unlocked before they were copied", piece->size);
  fake_drop_piece (piece);
  return fake_leave (code);
}

cudaError_t
cudaPointerGetAttributes (
    struct cudaPointerAttributes *attributes, const void *data)
{
  const Piece *piece;

  CALL (fake_enter ("cudaPointerGetAttributes"));
  piece = fake_find_piece (data, 1);
  memset (attributes, 0, sizeof *attributes);
  if (piece) {
    attributes->type =
        piece->device < 0 ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    attributes->device = MAX (piece->device, 0);
  }
  return fake_leave (cudaSuccess);
}

static gboolean
check_side (const void *data, size_t size, gboolean on_device, int device)
{
  const Piece *piece = fake_find_piece (data, size);

  if (!on_device || (piece && piece->device == device))
    return TRUE;
  fake_misuse ("a copy of %zu bytes has no memory of device %d", size, device);
  return FALSE;
}

cudaError_t
cudaMemcpyAsync (void *to, const void *from, size_t size,
    enum cudaMemcpyKind kind, cudaStream_t handle)
{
  Op op = {
    .kind = OP_COPY, .from = from, .to = to, .size = size, .to_size = size
  };
  Stream *stream;
  gboolean pageable;

  CALL (fake_enter ("cudaMemcpyAsync"));
  stream = fake_find_stream (handle);
  if (!stream)
    return fake_leave (cudaErrorInvalidResourceHandle);
  if (!check_side (to, size, kind != cudaMemcpyDeviceToHost, stream->device) ||
      !check_side (from, size, kind != cudaMemcpyHostToDevice, stream->device))
    return fake_leave (cudaErrorInvalidValue);
  pageable =
      !fake_find_piece (kind == cudaMemcpyHostToDevice ? from : to, size);
  op.has_sum = kind == cudaMemcpyHostToDevice;
  op.sum = op.has_sum ? fake_sum (from, size) : 0;
  fake_give (stream, &op);
  if (pageable) {
    fake_note ("pageable");
    fake_drain (stream);
  }
  return fake_leave (cudaSuccess);
}
