/* gst-spdl: annotation of synchronization in GLib and GStreamer for
 * ThreadSanitizer
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* GLib and GStreamer are not built with ThreadSanitizer. Their futexes and
 * atomic operations are invisible to it, so accesses that they order correctly
 * are reported as races. A test program defines the functions below in place of
 * the originals, for all libraries that call them. Each one calls the original
 * and reports the order that it guarantees.
 *
 * Rules for a function in this file:
 *
 * - Report exactly what the original orders: a release before the point where
 *   it publishes, an acquire after the point where it observes. A pair around
 *   the call would leave a gap in which another thread sees the original's
 *   effect but not the report.
 * - Use the address of the object, type or lock concerned. An address that many
 *   objects share would order unrelated threads and hide races in our code. The
 *   test `races` verifies that they are still found.
 * - Do not define functions that ThreadSanitizer sees: GRWLock, thread creation
 *   and joining use pthreads, and macros such as g_atomic_int_get() are
 *   compiled into the caller.
 *
 * Calls inside a library are bound at link time and do not come here. Therefore
 * types are followed from their registration instead of g_object_new(), and
 * some lines of tsan-suppressions.txt remain. */

#include <dlfcn.h>
#include <gst/gst.h>

void __tsan_acquire (void *address);
void __tsan_release (void *address);
void __tsan_ignore_thread_begin (void);
void __tsan_ignore_thread_end (void);

#define VISIBLE __attribute__ ((visibility ("default")))
/* For data of this file, which is protected by GLib's synchronization. */
#define UNCHECKED __attribute__ ((no_sanitize ("thread")))

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

/* Calls a function that runs none of our code, and ignores its memory accesses,
 * as called_from_lib does in tsan-suppressions.txt. That entry alone does not
 * suffice if the function ends with a tail call to free() or
 * pthread_mutex_lock(), which then seems to be called from here. */
#define UNWATCHED(call)            \
  ({                               \
    __tsan_ignore_thread_begin (); \
    call;                          \
    __tsan_ignore_thread_end ();   \
  })

/* Locks. GMutex is a futex. GRecMutex is a pthread mutex, but it is created on
 * first use and published by an atomic pointer. */
#define LOCK(Type, prefix)                           \
  VISIBLE void prefix##_lock (Type *lock)            \
  {                                                  \
    UNWATCHED (REAL (prefix##_lock) (lock));         \
    __tsan_acquire (lock);                           \
  }                                                  \
  VISIBLE void prefix##_unlock (Type *lock)          \
  {                                                  \
    __tsan_release (lock);                           \
    UNWATCHED (REAL (prefix##_unlock) (lock));       \
  }                                                  \
  VISIBLE gboolean prefix##_trylock (Type *lock)     \
  {                                                  \
    gboolean ok;                                     \
                                                     \
    UNWATCHED (ok = REAL (prefix##_trylock) (lock)); \
    if (ok)                                          \
      __tsan_acquire (lock);                         \
    return ok;                                       \
  }

LOCK (GMutex, g_mutex)
LOCK (GRecMutex, g_rec_mutex)

/* A condition releases and reacquires its mutex inside GLib. Signals do not
 * order anything. */
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

/* Once: the initializing thread publishes the location in leave(). Other
 * threads read it in a macro in their code, or in enter(). */
VISIBLE
gboolean (g_once_init_enter) (volatile void *location)
{
  const gboolean first = REAL (g_once_init_enter) (location);

  __tsan_acquire ((void *) location);
  return first;
}

VISIBLE void (g_once_init_leave) (volatile void *location, gsize result)
{
  __tsan_release ((void *) location);
  REAL (g_once_init_leave) (location, result);
}

#if GLIB_CHECK_VERSION(2, 80, 0)
VISIBLE
gboolean (g_once_init_enter_pointer) (void *location)
{
  const gboolean first = REAL (g_once_init_enter_pointer) (location);

  __tsan_acquire (location);
  return first;
}

VISIBLE void (g_once_init_leave_pointer) (void *location, gpointer result)
{
  __tsan_release (location);
  REAL (g_once_init_leave_pointer) (location, result);
}
#endif

typedef struct {
  GOnce *once;
  GThreadFunc func;
  gpointer arg;
} OnceCall;

/* GLib publishes the status after the function has returned. */
static gpointer
run_once (gpointer data)
{
  const OnceCall *self = data;
  const gpointer result = self->func (self->arg);

  __tsan_release (self->once);
  return result;
}

VISIBLE
gpointer (g_once_impl) (GOnce *once, GThreadFunc func, gpointer arg)
{
  OnceCall call = { once, func, arg };
  const gpointer result = REAL (g_once_impl) (once, run_once, &call);

  __tsan_acquire (once);
  return result;
}

/* Types: the first thread that needs a class initializes it under a lock and
 * publishes it by an atomic that is read inside GObject. Therefore the release
 * is in class_init, which runs under that lock, and the acquire in
 * instance_init, before our code sees the instance. The address is that of the
 * type. */
typedef struct {
  GClassInitFunc class_init;
  gconstpointer class_data;
  GInstanceInitFunc instance_init;
} TypeInit;

static void follow_pool (gpointer g_class);

static GQuark
type_init_quark (void)
{
  return g_quark_from_static_string ("gst-spdl-tsan-type-init");
}

UNCHECKED static void
init_class (gpointer g_class, gpointer class_data)
{
  const TypeInit *self = class_data;
  const GType type = G_TYPE_FROM_CLASS (g_class);

  g_type_set_qdata (type, type_init_quark (), class_data);
  if (self->class_init)
    self->class_init (g_class, (gpointer) self->class_data);
  if (g_str_equal (g_type_name (type), "GstBufferPool"))
    follow_pool (g_class);
  __tsan_release ((void *) type);
}

UNCHECKED static void
init_instance (GTypeInstance *instance, gpointer g_class)
{
  /* While GObject calls the functions of the ancestors in order, an instance
   * has the type of the current ancestor. */
  const GType type = G_TYPE_FROM_INSTANCE (instance);
  const TypeInit *self = g_type_get_qdata (type, type_init_quark ());

  __tsan_acquire ((void *) type);
  if (self->instance_init)
    self->instance_init (instance, g_class);
}

VISIBLE GType
g_type_register_static (
    GType parent, const gchar *name, const GTypeInfo *info, GTypeFlags flags)
{
  GTypeInfo followed = *info;
  TypeInit *self;

  /* Interfaces and value types have no instances to initialize. */
  if (!info->class_size || G_TYPE_FUNDAMENTAL (parent) == G_TYPE_INTERFACE ||
      !info->instance_size)
    return REAL (g_type_register_static) (parent, name, info, flags);

  self = g_new (TypeInit, 1); /* never freed, like types */
  *self = (TypeInit){ info->class_init, info->class_data, info->instance_init };
  followed.class_init = init_class;
  followed.class_data = self;
  followed.instance_init = init_instance;
  return REAL (g_type_register_static) (parent, name, &followed, flags);
}

VISIBLE GType
g_type_register_static_simple (GType parent, const gchar *name,
    guint class_size, GClassInitFunc class_init, guint instance_size,
    GInstanceInitFunc instance_init, GTypeFlags flags)
{
  const GTypeInfo info = {
    .class_size = class_size,
    .class_init = class_init,
    .instance_size = instance_size,
    .instance_init = instance_init,
  };

  return g_type_register_static (parent, name, &info, flags);
}

/* Classes used without an instance. */
#define CLASS(name)                               \
  VISIBLE gpointer name (GType type)              \
  {                                               \
    const gpointer g_class = REAL (name) (type);  \
                                                  \
    if (g_class && type > G_TYPE_FUNDAMENTAL_MAX) \
      __tsan_acquire ((void *) type);             \
    return g_class;                               \
  }

CLASS (g_type_class_ref)
CLASS (g_type_class_peek)
CLASS (g_type_class_peek_static)
#if GLIB_CHECK_VERSION(2, 84, 0)
CLASS (g_type_class_get)
#endif

/* Reference counts: dropping the last reference, which frees the memory, is
 * ordered after all others. References other than the last are dropped here;
 * nothing else is needed, since no test uses toggle references. Taking a
 * reference does not order anything.
 *
 * ThreadSanitizer does not see the atomic: it would still use what it knows of
 * the count after the operation, and crash if GStreamer, whose own calls do not
 * come here, then drops the last reference and frees it. */
__attribute__ ((noinline, no_sanitize ("thread"))) static gboolean
drop (gint *count, gint *n)
{
  return __atomic_compare_exchange_n (
      count, n, *n - 1, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

__attribute__ ((noinline, no_sanitize ("thread"))) static gint
read_count (const gint *count)
{
  return __atomic_load_n (count, __ATOMIC_ACQUIRE);
}

static gboolean
unref_not_last (gint *count)
{
  gint n = read_count (count);

  while (n > 1) {
    __tsan_release (count);
    if (drop (count, &n))
      return TRUE;
  }
  __tsan_acquire (count);
  return FALSE;
}

VISIBLE void
gst_mini_object_unref (GstMiniObject *object)
{
  if (!unref_not_last (&object->refcount))
    REAL (gst_mini_object_unref) (object);
}

/* Another thread, such as that of a queue, may free an object that is pushed.
 * This thread has done all that it does with it before. */
#define PUSH(name, Type)                                                  \
  VISIBLE __typeof__ (name (NULL, NULL)) name (GstPad *pad, Type *object) \
  {                                                                       \
    __tsan_release (&GST_MINI_OBJECT_CAST (object)->refcount);            \
    return REAL (name) (pad, object);                                     \
  }

PUSH (gst_pad_push, GstBuffer)
PUSH (gst_pad_push_list, GstBufferList)
PUSH (gst_pad_push_event, GstEvent)

/* A clock's thread may drop the last reference to an entry, or this one. */
typedef struct {
  GstClockCallback func;
  gpointer data;
  GDestroyNotify destroy;
} ClockCall;

static gboolean
run_clock_call (
    GstClock *clock, GstClockTime time, GstClockID id, gpointer data)
{
  const ClockCall *self = data;
  const gboolean again = self->func (clock, time, id, self->data);

  __tsan_release (data);
  return again;
}

static void
free_clock_call (gpointer data)
{
  ClockCall *self = data;

  __tsan_acquire (data);
  if (self->destroy)
    self->destroy (self->data);
  g_free (self);
}

VISIBLE GstClockReturn
gst_clock_id_wait_async (
    GstClockID id, GstClockCallback func, gpointer data, GDestroyNotify destroy)
{
  ClockCall *self = g_new (ClockCall, 1);

  *self = (ClockCall){ func, data, destroy };
  return REAL (gst_clock_id_wait_async) (
      id, run_clock_call, self, free_clock_call);
}

VISIBLE void (g_object_unref) (gpointer object)
{
  GObject *self = object;

  if (!self || !unref_not_last ((gint *) &self->ref_count))
    REAL (g_object_unref) (object);
}

/* These counts are stored before the memory. A clear function runs inside GLib
 * after the last reference is dropped. */
static __thread GDestroyNotify clear_box;

static void
clear_acquired (gpointer box)
{
  const GDestroyNotify clear = clear_box;

  __tsan_acquire (box);
  clear (box);
}

VISIBLE void
g_atomic_rc_box_release_full (gpointer box, GDestroyNotify clear)
{
  __tsan_release (box);
  clear_box = clear;
  REAL (g_atomic_rc_box_release_full) (box, clear ? clear_acquired : NULL);
}

VISIBLE void
g_atomic_rc_box_release (gpointer box)
{
  UNWATCHED (REAL (g_atomic_rc_box_release) (box));
}

VISIBLE void
g_ref_string_release (char *text)
{
  UNWATCHED (REAL (g_ref_string_release) (text));
}

/* Metas: a meta is freed with its buffer, including when GStreamer drops the
 * last reference. Previous references were dropped above. */
typedef struct _MetaFree MetaFree;
struct _MetaFree {
  const GstMetaInfo *info;
  GstMetaFreeFunction free;
  MetaFree *next;
};

static MetaFree *meta_frees; /* atomic */

UNCHECKED static void
free_meta (GstMeta *meta, GstBuffer *buffer)
{
  const MetaFree *self = __atomic_load_n (&meta_frees, __ATOMIC_ACQUIRE);

  while (self->info != meta->info)
    self = self->next;
  __tsan_acquire (&GST_MINI_OBJECT_CAST (buffer)->refcount);
  self->free (meta, buffer);
}

UNCHECKED VISIBLE const GstMetaInfo *
gst_meta_register (GType api, const gchar *impl, gsize size,
    GstMetaInitFunction init, GstMetaFreeFunction free_func,
    GstMetaTransformFunction transform)
{
  MetaFree *self;

  if (!free_func)
    return REAL (gst_meta_register) (api, impl, size, init, NULL, transform);
  self = g_new (MetaFree, 1);
  self->free = free_func;
  self->info =
      REAL (gst_meta_register) (api, impl, size, init, free_meta, transform);
  self->next = __atomic_load_n (&meta_frees, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n (&meta_frees, &self->next, self, FALSE,
      __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    continue;
  return self->info;
}

/* Queues: their locks are inside GLib and GStreamer. Actions before pushing are
 * ordered before actions after popping. */
typedef struct {
  GFunc func;
  gpointer user_data;
} PoolFunc;

static void
run_pushed (gpointer data, gpointer user_data)
{
  const PoolFunc *self = user_data;

  __tsan_acquire (user_data);
  self->func (data, self->user_data);
}

VISIBLE GThreadPool *
g_thread_pool_new_full (GFunc func, gpointer user_data,
    GDestroyNotify free_item, gint max_threads, gboolean exclusive,
    GError **error)
{
  PoolFunc *self = g_new (PoolFunc, 1); /* a thread may use it until the end */

  *self = (PoolFunc){ func, user_data };
  __tsan_release (self);
  return REAL (g_thread_pool_new_full) (
      run_pushed, self, free_item, max_threads, exclusive, error);
}

VISIBLE GThreadPool *
g_thread_pool_new (GFunc func, gpointer user_data, gint max_threads,
    gboolean exclusive, GError **error)
{
  return g_thread_pool_new_full (
      func, user_data, NULL, max_threads, exclusive, error);
}

VISIBLE gboolean
g_thread_pool_push (GThreadPool *pool, gpointer data, GError **error)
{
  __tsan_release (pool->user_data);
  return REAL (g_thread_pool_push) (pool, data, error);
}

/* A buffer pool keeps its free buffers in a lock-free queue. GStreamer returns
 * buffers by itself, so the order is reported in the two functions of the base
 * class that all pools chain up to. */
static GstFlowReturn (*acquire_buffer) (
    GstBufferPool *, GstBuffer **, GstBufferPoolAcquireParams *);
static void (*release_buffer) (GstBufferPool *, GstBuffer *);

UNCHECKED static GstFlowReturn
acquire_pooled (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  const GstFlowReturn ret = acquire_buffer (pool, buffer, params);

  if (ret == GST_FLOW_OK)
    __tsan_acquire (*buffer);
  return ret;
}

UNCHECKED static void
release_pooled (GstBufferPool *pool, GstBuffer *buffer)
{
  __tsan_release (buffer);
  release_buffer (pool, buffer);
}

UNCHECKED static void
follow_pool (gpointer g_class)
{
  GstBufferPoolClass *klass = g_class;

  acquire_buffer = klass->acquire_buffer;
  release_buffer = klass->release_buffer;
  klass->acquire_buffer = acquire_pooled;
  klass->release_buffer = release_pooled;
}
