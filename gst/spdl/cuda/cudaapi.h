/* gst-spdl: functions of the CUDA Runtime
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stddef.h>

/* Uses CUDA's header if it is installed, otherwise declarations in this file,
 * which the mock runtime of the tests uses too. Nothing is linked; the
 * functions are looked up at run time. Their ABI is unchanged since CUDA 11.0,
 * except for the size of cudaPointerAttributes. */

#ifdef HAVE_CUDA_RUNTIME_API_H
#include <cuda_runtime_api.h>
#else

typedef enum {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorCudartUnloading = 4,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorSymbolNotFound = 500,
  cudaErrorHostMemoryAlreadyRegistered = 712,
  cudaErrorHostMemoryNotRegistered = 713,
  cudaErrorLaunchFailure = 719,
} cudaError_t;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
};

enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
};

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2,
};

enum cudaDeviceAttr {
  cudaDevAttrMemoryPoolsSupported = 115,
};

struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int device;
  void *devicePointer;
  void *hostPointer;
};

typedef struct {
  unsigned x, y, z;
} dim3;

#define cudaHostAllocPortable 0x01
#define cudaHostRegisterPortable 0x01
#define cudaHostRegisterReadOnly 0x08
#define cudaStreamNonBlocking 0x01
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02

cudaError_t cudaRuntimeGetVersion (int *version);
const char *cudaGetErrorString (cudaError_t error);
cudaError_t cudaGetLastError (void);
cudaError_t cudaGetDeviceCount (int *count);
cudaError_t cudaGetDevice (int *device);
cudaError_t cudaSetDevice (int device);
cudaError_t cudaDeviceSynchronize (void);
cudaError_t
cudaThreadExchangeStreamCaptureMode (enum cudaStreamCaptureMode *mode);
cudaError_t
cudaDeviceGetAttribute (int *value, enum cudaDeviceAttr attr, int device);
cudaError_t cudaStreamCreateWithFlags (cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy (cudaStream_t stream);
cudaError_t cudaStreamSynchronize (cudaStream_t stream);
cudaError_t
cudaStreamWaitEvent (cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags (cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy (cudaEvent_t event);
cudaError_t cudaEventRecord (cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize (cudaEvent_t event);
cudaError_t
cudaEventElapsedTime (float *ms, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaMalloc (void **pointer, size_t size);
cudaError_t cudaFree (void *pointer);
cudaError_t cudaHostAlloc (void **pointer, size_t size, unsigned flags);
cudaError_t cudaFreeHost (void *pointer);
cudaError_t cudaHostRegister (void *pointer, size_t size, unsigned flags);
cudaError_t cudaHostUnregister (void *pointer);
cudaError_t cudaPointerGetAttributes (
    struct cudaPointerAttributes *attributes, const void *pointer);
cudaError_t cudaMemcpyAsync (void *to, const void *from, size_t size,
    enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaLaunchKernel (const void *kernel, dim3 grid, dim3 block,
    void **arguments, size_t shared, cudaStream_t stream);

#endif

/* Functions of every supported version. */
#define GST_SPDL_CUDA_CALLS(CALL)            \
  CALL (cudaRuntimeGetVersion)               \
  CALL (cudaGetErrorString)                  \
  CALL (cudaGetLastError)                    \
  CALL (cudaGetDeviceCount)                  \
  CALL (cudaGetDevice)                       \
  CALL (cudaSetDevice)                       \
  CALL (cudaDeviceSynchronize)               \
  CALL (cudaThreadExchangeStreamCaptureMode) \
  CALL (cudaDeviceGetAttribute)              \
  CALL (cudaStreamCreateWithFlags)           \
  CALL (cudaStreamDestroy)                   \
  CALL (cudaStreamSynchronize)               \
  CALL (cudaStreamWaitEvent)                 \
  CALL (cudaEventCreateWithFlags)            \
  CALL (cudaEventDestroy)                    \
  CALL (cudaEventRecord)                     \
  CALL (cudaEventSynchronize)                \
  CALL (cudaEventElapsedTime)                \
  CALL (cudaMalloc)                          \
  CALL (cudaFree)                            \
  CALL (cudaHostAlloc)                       \
  CALL (cudaFreeHost)                        \
  CALL (cudaHostRegister)                    \
  CALL (cudaHostUnregister)                  \
  CALL (cudaPointerGetAttributes)            \
  CALL (cudaMemcpyAsync)                     \
  CALL (cudaLaunchKernel)

typedef struct {
#define CALL(name) __typeof__ (name) *name;
  GST_SPDL_CUDA_CALLS (CALL)
#undef CALL

  /* CUDA 11.2 or later, otherwise NULL. */
  cudaError_t (*cudaMallocAsync) (
      void **pointer, size_t size, cudaStream_t stream);
  cudaError_t (*cudaFreeAsync) (void *pointer, cudaStream_t stream);
  /* CUDA 12.8 or later, otherwise NULL: kernels that nvcc compiled separately.
   * Handles and options are declared as pointers. */
  cudaError_t (*cudaLibraryLoadData) (void **library, const void *code,
      void *jit_options, void **jit_values, unsigned n_jit_options,
      void *options, void **values, unsigned n_options);
  cudaError_t (*cudaLibraryGetKernel) (
      void **kernel, void *library, const char *name);
  cudaError_t (*cudaLibraryUnload) (void *library);
} GstSpdlCudart;

/* Default streams, as arguments for the stream of a call. */
#define GST_SPDL_CUDA_LEGACY ((cudaStream_t) 0x1)
#define GST_SPDL_CUDA_PER_THREAD ((cudaStream_t) 0x2)
