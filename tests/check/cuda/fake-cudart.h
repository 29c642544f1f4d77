/* gst-spdl: a CUDA Runtime of the CPU's memory, for tests
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

/* A library with the Runtime's functions, which GST_SPDL_CUDART names. Devices'
 * memory is the CPU's, a stream is a thread that does what it was given, in its
 * order, as late as the test likes. What a program must not do is counted and
 * told on stderr: memory that is freed twice or while it is used, a source that
 * changes before it was copied, a destination that is written while a stream
 * uses it, streams and events of another device or that are gone.
 *
 * From the environment, at the first call: FAKE_CUDA_DEVICES (1),
 * FAKE_CUDA_DRIVER (0: there is none), FAKE_CUDA_POOLS (0: memory is not
 * ordered by streams), FAKE_CUDA_DELAY (us a copy or kernel, 0), FAKE_CUDA_FAIL
 * (CALL:N:CODE, as fake_cuda_fail()). */

#define FAKE_API __attribute__ ((visibility ("default")))

/* Copies and kernels wait until they are let through: @n of them, or with -1
 * all from now on; fake_cuda_hold() lets none through. */
FAKE_API void fake_cuda_hold (void);
FAKE_API void fake_cuda_let (int n);
FAKE_API void fake_cuda_set_delay (unsigned us);

/* The @nth (from 1) call of that name from now on returns @code. A @call of
 * "copy" or "kernel" is one that fails on the device later: from then on all is
 * @code. */
FAKE_API void fake_cuda_fail (const char *call, int nth, int code);

/* A stream's work that reads @size bytes at @data, all of which have to be
 * @value while it does; like a copy it is held and delayed. */
FAKE_API void
fake_cuda_use (void *stream, const void *data, size_t size, int value);

/* How often a call was made since the last reset; "pageable" counts copies from
 * memory that is not locked, "unfinished" those that are not done. */
FAKE_API int fake_cuda_count (const char *call);
FAKE_API int fake_cuda_misuses (void);
/* Streams, events, allocations and registrations that are there. */
FAKE_API int fake_cuda_live (void);
/* Waits until all streams are idle. */
FAKE_API void fake_cuda_wait (void);
/* Forgets counts, misuses, delays, errors and holds, and reads the environment
 * again. */
FAKE_API void fake_cuda_reset (void);

#ifdef __cplusplus
}
#endif
