/* gst-spdl: run-time loader of the CUDA Runtime
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "gst/spdl/cuda/cudart.h"

#include <dlfcn.h>

#include "gst/spdl/engine/sync.h"

#define NAMES "libcudart.so.13, libcudart.so.12, libcudart.so.11.0"

static const gchar *const names[] = { "libcudart.so.13", "libcudart.so.12",
  "libcudart.so.11.0" };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static GstSpdlCudart table; /* guarded by the lock until `loaded` */
static gboolean loaded;     /* guarded by the lock */
static GPtrArray *folders;  /* guarded by the lock; nullable */

void
gst_spdl_cudart_add_folder (const gchar *folder)
{
  pthread_mutex_lock (&lock);
  if (!folders)
    folders = g_ptr_array_new_with_free_func (g_free);
  if (!g_ptr_array_find_with_equal_func (folders, folder, g_str_equal, NULL))
    g_ptr_array_add (folders, g_strdup (folder));
  pthread_mutex_unlock (&lock);
}

static gpointer
open_one (const gchar *name, gboolean present)
{
  return dlopen (name, RTLD_NOW | RTLD_LOCAL | (present ? RTLD_NOLOAD : 0));
}

static gpointer
open_named (const gchar *name, GError **error)
{
  gpointer library = open_one (name, FALSE);

  if (!library)
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "Failed to load the CUDA Runtime named by GST_SPDL_CUDART: %s",
        dlerror ());
  return library;
}

static gpointer
open_in_folder (const gchar *folder, const gchar *library_name)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  gpointer library = NULL;
  const gchar *name;

  while (dir && !library && (name = g_dir_read_name (dir))) {
    g_autofree gchar *path =
        g_build_filename (folder, name, "lib", library_name, NULL);

    if (g_file_test (path, G_FILE_TEST_EXISTS))
      library = open_one (path, FALSE);
  }
  return library;
}

static gpointer
open_added (void)
{
  for (guint i = 0; folders && i < folders->len; i++)
    for (guint n = 0; n < G_N_ELEMENTS (names); n++) {
      gpointer library =
          open_in_folder (g_ptr_array_index (folders, i), names[n]);

      if (library)
        return library;
    }
  return NULL;
}

static gpointer
open_by_name (gboolean present)
{
  gpointer library = NULL;

  for (guint i = 0; !library && i < G_N_ELEMENTS (names); i++)
    library = open_one (names[i], present);
  return library;
}

/* Prefers a runtime that is loaded already. Two runtimes in one process work,
 * but each has its own current device per thread. */
static gpointer
open_any (GError **error)
{
  gpointer library = open_by_name (TRUE);

  if (!library)
    library = open_added ();
  if (!library)
    library = open_by_name (FALSE);
  if (library)
    return library;
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
      "CUDA Runtime not found: none of " NAMES
      " can be loaded. Install one, or set the environment variable "
      "GST_SPDL_CUDART to its file");
  return NULL;
}

static gboolean
look_up (gpointer library, GError **error)
{
  const gchar *missing = NULL;

#define CALL(name)                                               \
  table.name = (__typeof__ (table.name)) dlsym (library, #name); \
  if (!table.name && !missing)                                   \
    missing = #name;
  GST_SPDL_CUDA_CALLS (CALL)
#undef CALL
#define OPTIONAL(name) \
  table.name = (__typeof__ (table.name)) dlsym (library, #name);
  OPTIONAL (cudaMallocAsync)
  OPTIONAL (cudaFreeAsync)
  OPTIONAL (cudaLibraryLoadData)
  OPTIONAL (cudaLibraryGetKernel)
  OPTIONAL (cudaLibraryUnload)
#undef OPTIONAL
  if (!missing)
    return TRUE;
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
      "The loaded library is not a CUDA Runtime of version 11.0 or later: "
      "symbol %s is missing",
      missing);
  return FALSE;
}

/* Lock held. The library is never closed, because it runs threads. */
static gboolean
load_library (GError **error)
{
  const gchar *named = g_getenv ("GST_SPDL_CUDART");
  gpointer library =
      named && *named ? open_named (named, error) : open_any (error);

  return library && look_up (library, error);
}

const GstSpdlCudart *
gst_spdl_cudart_get (GError **error)
{
  gboolean ok;

  pthread_mutex_lock (&lock);
  if (!loaded)
    loaded = load_library (error);
  ok = loaded;
  pthread_mutex_unlock (&lock);
  return ok ? &table : NULL;
}

/* Returns TRUE if the device cannot be used any more in this process. */
static gboolean
is_loss (cudaError_t code)
{
  switch ((gint) code) {
    case 46:  /* cudaErrorDevicesUnavailable */
    case 214: /* cudaErrorECCUncorrectable */
    case 700: /* cudaErrorIllegalAddress */
    case 702: /* cudaErrorLaunchTimeout */
    case 710: /* cudaErrorAssert */
    case 719: /* cudaErrorLaunchFailure */
    case 999: /* cudaErrorUnknown */
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
gst_spdl_cudart_check (const GstSpdlCudart *self, cudaError_t code,
    const gchar *what, GError **error)
{
  if (G_LIKELY (code == cudaSuccess))
    return TRUE;
  self->cudaGetLastError ();
  g_set_error (error, GST_RESOURCE_ERROR,
      code == cudaErrorMemoryAllocation ? GST_RESOURCE_ERROR_NO_SPACE_LEFT
                                        : GST_RESOURCE_ERROR_FAILED,
      "%s%s: %s (CUDA error %d)",
      is_loss (code) ? "The CUDA device is lost: " : "", what,
      self->cudaGetErrorString (code), (gint) code);
  return FALSE;
}

static void
say_why_none (const GstSpdlCudart *self, cudaError_t code, GError **error)
{
  gint version = 0;

  self->cudaGetLastError ();
  self->cudaRuntimeGetVersion (&version);
  if (code == cudaErrorInsufficientDriver)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "NVIDIA driver not found, or too old for the CUDA Runtime %d.%d",
        version / 1000, version % 1000 / 10);
  else if (code == cudaErrorNoDevice)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "No CUDA device found");
  else
    gst_spdl_cudart_check (
        self, code, "The CUDA devices do not respond", error);
}

gboolean
gst_spdl_cudart_check_device (
    const GstSpdlCudart *self, gint device_id, GError **error)
{
  gint n = 0;
  const cudaError_t code = self->cudaGetDeviceCount (&n);

  if (code != cudaSuccess || n == 0) {
    say_why_none (self, code != cudaSuccess ? code : cudaErrorNoDevice, error);
    return FALSE;
  }
  if (device_id >= 0 && device_id < n)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "CUDA device %d does not exist: device numbers are 0 to %d", device_id,
      n - 1);
  return FALSE;
}

/* Threads */

static enum cudaStreamCaptureMode
exchange_mode (const GstSpdlCudart *self, enum cudaStreamCaptureMode mode)
{
  if (self->cudaThreadExchangeStreamCaptureMode (&mode) != cudaSuccess)
    self->cudaGetLastError ();
  return mode;
}

GstSpdlCudartSaved
gst_spdl_cudart_enter (const GstSpdlCudart *self, gint device_id)
{
  GstSpdlCudartSaved saved = { .device_id = -1 };
  gint current = -1;

  if (self->cudaGetDevice (&current) != cudaSuccess || current != device_id) {
    self->cudaSetDevice (device_id);
    saved.device_id = current;
  }
  saved.mode = exchange_mode (self, cudaStreamCaptureModeRelaxed);
  return saved;
}

void
gst_spdl_cudart_leave (const GstSpdlCudart *self, GstSpdlCudartSaved saved)
{
  exchange_mode (self, saved.mode);
  if (saved.device_id >= 0)
    self->cudaSetDevice (saved.device_id);
}

void
gst_spdl_cudart_join (const GstSpdlCudart *self, gint device_id)
{
  self->cudaSetDevice (device_id);
  exchange_mode (self, cudaStreamCaptureModeRelaxed);
}

typedef struct {
  const GstSpdlCudart *cudart;
  gint device_id;
  void (*func) (gpointer user_data);
  gpointer user_data;
} Call;

static gpointer
run_call (gpointer data)
{
  const Call *call = data;

  gst_spdl_cudart_join (call->cudart, call->device_id);
  call->func (call->user_data);
  return NULL;
}

void
gst_spdl_cudart_call (const GstSpdlCudart *self, gint device_id,
    void (*func) (gpointer user_data), gpointer user_data)
{
  Call call = { self, device_id, func, user_data };
  gint current = -1;
  GThread *thread = NULL;

  if (self->cudaGetDevice (&current) != cudaSuccess || current != device_id)
    thread = g_thread_try_new ("spdl-cuda", run_call, &call, NULL);
  /* If there can be no thread, this one changes its device meanwhile. */
  if (!thread) {
    const GstSpdlCudartSaved saved = gst_spdl_cudart_enter (self, device_id);

    func (user_data);
    gst_spdl_cudart_leave (self, saved);
    return;
  }
  g_thread_join (thread);
}
