/* gst-spdl: fake CUDA Runtime in CPU memory, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A shared library with the functions of the CUDA Runtime, which the tests load
 * through GST_SPDL_CUDART. Device memory is CPU memory, and a stream is a
 * thread that executes its operations in order, with a delay that the test
 * sets. The library counts misuse and reports it on stderr: memory freed twice
 * or while in use, a source that changes before it is copied, a destination
 * written while a stream uses it, and streams and events of another device or
 * after their destruction.
 * The first call reads the environment: FAKE_CUDA_DEVICES (default 1),
 * FAKE_CUDA_DRIVER (0: no driver), FAKE_CUDA_POOLS (0: no stream-ordered
 * allocation), FAKE_CUDA_DELAY (microseconds per copy or kernel, default 0),
 * FAKE_CUDA_FAIL (CALL:N:CODE, as in fake_cuda_fail()). */

#define FAKE_API __attribute__ ((visibility ("default")))

/* fake_cuda_hold() blocks copies and kernels. fake_cuda_let() lets @n of them
 * run, or all from now on if @n is -1. */
FAKE_API void fake_cuda_hold (void);
FAKE_API void fake_cuda_let (int n);
FAKE_API void fake_cuda_set_delay (unsigned us);

/* Makes the @nth call (from 1) of that name from now on return @code. For a
 * @call of "copy" or "kernel", the operation fails on the device, and all later
 * calls return @code. */
FAKE_API void fake_cuda_fail (const char *call, int nth, int code);

/* Queues an operation on @stream that reads @size bytes at @data and expects
 * each to be @value. It is held and delayed like a copy. */
FAKE_API void
fake_cuda_use (void *stream, const void *data, size_t size, int value);

/* Begins or ends the capture of a CUDA graph in another thread. While it lasts,
 * calls that are unsafe then are misuse, except in a thread whose capture mode
 * is relaxed. */
FAKE_API void fake_cuda_capture (int begin);

/* Returns the number of calls since the last reset. "pageable" counts copies
 * from memory that is not page-locked, "unfinished" those that have not run
 * yet, "device N" the calls cudaSetDevice (N). */
FAKE_API int fake_cuda_count (const char *call);
FAKE_API int fake_cuda_misuses (void);
/* Returns the number of streams, events, allocations and registrations that
 * exist. */
FAKE_API int fake_cuda_live (void);
/* Waits until all streams are idle. */
FAKE_API void fake_cuda_wait (void);
/* Clears counts, misuse, delays, errors and holds, and reads the environment
 * again. */
FAKE_API void fake_cuda_reset (void);

#ifdef __cplusplus
}
#endif
