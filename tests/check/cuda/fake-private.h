/* gst-spdl: internal state of the fake CUDA Runtime
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <pthread.h>
#include <stdint.h>

#include "gst/spdl/cuda/cudaapi.h"
#include "plugins/cuda/normalizejob.h"
#include "tests/check/cuda/fake-cudart.h"

typedef struct {
  uint8_t *data;
  size_t size;
  int device;          /* -1 for CPU memory */
  gboolean registered; /* by cudaHostRegister() */
  gboolean ordered;    /* by cudaMallocAsync() */
} Piece;

typedef struct {
  int n_refs;
  int device;
  gboolean timed;
  gboolean destroyed;
  guint64 asked, done; /* numbers of records */
  gint64 time;         /* microseconds */
} Event;

typedef enum { OP_COPY, OP_RECORD, OP_WAIT, OP_FREE, OP_KERNEL, OP_USE } OpKind;

typedef struct {
  OpKind kind;
  const uint8_t *from; /* source */
  uint8_t *to;         /* destination, or the memory to free */
  size_t size, to_size;
  guint64 sum; /* checksum of the source when the operation was queued */
  gboolean has_sum;
  int value;
  Event *event;
  guint64 nth; /* number of the record of @event */
  gboolean half;
  SpdlNormalizeJob job;
} Op;

typedef struct {
  int device;
  gboolean destroyed;
  GQueue ops; /* of Op; the head is in progress */
  pthread_t thread;
} Stream;

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t cond; /* signaled on any change */
  gboolean ready;
  int n_devices, has_driver, has_pools;
  unsigned delay;
  gboolean held;
  int permits;
  gboolean capturing;
  char *fail_call;
  int fail_nth, fail_code;
  int sticky; /* the error that all calls return after a device failure */
  unsigned n_working; /* streams that read or write memory */
  GHashTable *counts;
  int misuses;
  GPtrArray *pieces, *events, *streams;
  GPtrArray *legacy; /* of Stream, one per device */
} Fake;

extern Fake fake;

#define CALL(expression)            \
  G_STMT_START                      \
  {                                 \
    const int code_ = (expression); \
    if (code_ != cudaSuccess)       \
      return fake_leave (code_);    \
  }                                 \
  G_STMT_END

/* Each function of the runtime begins with fake_lock() or fake_enter(), which
 * take the lock, and ends with fake_leave(). fake_enter() also counts the call
 * and returns the error with which it is to fail, or 0. */
void fake_lock (void);
int fake_enter (const char *call);
cudaError_t fake_leave (int code);

/* Functions that require the lock. */
void fake_note (const char *call);
void fake_set_fail (const char *call, int nth, int code);
void fake_read_environment (void);
void fake_misuse (const char *format, ...) G_GNUC_PRINTF (1, 2);
gboolean fake_is_due (const char *call);
Piece *fake_find_piece (const void *data, size_t size);
guint64 fake_sum (const uint8_t *data, size_t size);
Stream *fake_stream_new (int device);
Stream *fake_find_stream (void *handle);
gboolean fake_is_used (const void *data, size_t size, const Stream *except);
void fake_give (Stream *stream, const Op *op);
void fake_drain (Stream *stream);
void fake_drain_device (int device);
void fake_event_unref (Event *event);
void fake_drop_piece (Piece *piece);
int fake_current (void);
void fake_check_capture (const char *call);
