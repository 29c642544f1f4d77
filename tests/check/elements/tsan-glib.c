/* gst-spdl: what GLib and GStreamer order, made visible to ThreadSanitizer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* GMutex and GCond are futexes in a library that is not built with
 * ThreadSanitizer, so what they order looks like a race. These functions stand
 * in for GLib's in a test, for all libraries that call them: they call GLib's
 * and tell ThreadSanitizer what was acquired and released.
 *
 * So does the count of a buffer's or an event's references: who gives up the
 * last one, and with it the memory, comes behind all others. Who gives up
 * another one is done here, by an atomic that is seen. */

#include <dlfcn.h>
#include <gst/gst.h>

void __tsan_acquire (void *address);
void __tsan_release (void *address);

#define VISIBLE __attribute__ ((visibility ("default")))

#define REAL(name)                                                          \
  ({                                                                        \
    static __typeof__ (&name) real_;                                        \
    __typeof__ (&name) found_ = __atomic_load_n (&real_, __ATOMIC_RELAXED); \
    if (!found_) {                                                          \
      found_ = (__typeof__ (&name)) dlsym (RTLD_NEXT, #name);               \
      __atomic_store_n (&real_, found_, __ATOMIC_RELAXED);                  \
    }                                                                       \
    found_;                                                                 \
  })

#define LOCK(Type, prefix)                              \
  VISIBLE void prefix##_lock (Type *lock)               \
  {                                                     \
    REAL (prefix##_lock) (lock);                        \
    __tsan_acquire (lock);                              \
  }                                                     \
  VISIBLE void prefix##_unlock (Type *lock)             \
  {                                                     \
    __tsan_release (lock);                              \
    REAL (prefix##_unlock) (lock);                      \
  }                                                     \
  VISIBLE gboolean prefix##_trylock (Type *lock)        \
  {                                                     \
    const gboolean ok = REAL (prefix##_trylock) (lock); \
                                                        \
    if (ok)                                             \
      __tsan_acquire (lock);                            \
    return ok;                                          \
  }

LOCK (GMutex, g_mutex)
LOCK (GRecMutex, g_rec_mutex)

VISIBLE void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  __tsan_release (mutex);
  REAL (g_cond_wait) (cond, mutex);
  __tsan_acquire (mutex);
}

VISIBLE gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  gboolean ok;

  __tsan_release (mutex);
  ok = REAL (g_cond_wait_until) (cond, mutex, end_time);
  __tsan_acquire (mutex);
  return ok;
}

VISIBLE void
gst_mini_object_unref (GstMiniObject *object)
{
  gint n = __atomic_load_n (&object->refcount, __ATOMIC_ACQUIRE);

  while (n > 1)
    if (__atomic_compare_exchange_n (&object->refcount, &n, n - 1, FALSE,
            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return;
  REAL (gst_mini_object_unref) (object);
}
