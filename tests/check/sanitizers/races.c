/* gst-spdl: data races, and accesses that GLib synchronizes
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*     races CASE
 *
 * Two threads access plain memory. In the case `unordered` nothing synchronizes
 * them, although both use every function that tsan-glib.c annotates. In each
 * other case, the part of GLib or GStreamer that names the case synchronizes
 * them. */

#include <gst/gst.h>

typedef struct {
  GObject parent;
  gint seen;
  gboolean adds;
} Probe;
typedef struct {
  GObjectClass parent_class;
} ProbeClass;

static GType probe_get_type (void);
static gint class_value; /* set by class_init */
static gint shared[2];   /* one per thread */
static gint both;        /* used by both threads */
static GMutex mutex;

G_DEFINE_TYPE (Probe, probe, G_TYPE_OBJECT)

static void
probe_init (Probe *self)
{
  self->seen = class_value;
}

static void
add_shared (void)
{
  both = shared[0] + shared[1];
}

static void
probe_finalize (GObject *object)
{
  if (((Probe *) object)->adds)
    add_shared ();
  G_OBJECT_CLASS (probe_parent_class)->finalize (object);
}

static void
probe_class_init (ProbeClass *klass)
{
  class_value = 1;
  G_OBJECT_CLASS (klass)->finalize = probe_finalize;
}

typedef struct {
  gint place;
  gpointer object; /* used by both threads, or NULL */
} Job;

static gpointer
use_mutex (gpointer data)
{
  g_mutex_lock (&mutex);
  both++;
  g_mutex_unlock (&mutex);
  return NULL;
}

static gpointer
use_once (gpointer data)
{
  static gsize done;

  if (g_once_init_enter (&done)) {
    both = 1;
    g_once_init_leave (&done, 1);
  }
  return GINT_TO_POINTER (both);
}

static gpointer
use_class (gpointer data)
{
  Probe *probe = g_object_new (probe_get_type (), NULL);

  g_assert_cmpint (probe->seen, ==, class_value);
  g_object_unref (probe);
  return NULL;
}

static gpointer
use_object (gpointer data)
{
  const Job *self = data;

  shared[self->place] = 1;
  g_object_unref (self->object);
  return NULL;
}

static gpointer
use_mini_object (gpointer data)
{
  const Job *self = data;

  shared[self->place] = 1;
  gst_buffer_unref (self->object);
  return NULL;
}

static void
clear_box (gpointer box)
{
  add_shared ();
}

static gpointer
use_box (gpointer data)
{
  const Job *self = data;

  shared[self->place] = 1;
  g_atomic_rc_box_release_full (self->object, clear_box);
  return NULL;
}

static gint n_worked; /* atomic */

static void
work (gpointer data, gpointer user_data)
{
  both += shared[0];
  g_atomic_int_inc (&n_worked);
}

static gpointer
use_thread_pool (gpointer data)
{
  const Job *self = data;
  GThreadPool *pool;

  if (self->place == 1)
    return NULL;
  pool = g_thread_pool_new (work, NULL, 1, FALSE, NULL);
  shared[0] = 1;
  g_thread_pool_push (pool, &shared[0], NULL);
  /* The thread that runs the second job exists already. */
  while (g_atomic_int_get (&n_worked) == 0)
    g_thread_yield ();
  shared[0] = 2;
  g_thread_pool_push (pool, &shared[0], NULL);
  g_thread_pool_free (pool, FALSE, TRUE);
  return NULL;
}

/* Only one thread has the only buffer of the pool at a time. */
static gpointer
use_buffer_pool (gpointer data)
{
  const Job *self = data;
  GstBuffer *buffer;

  g_assert_cmpint (gst_buffer_pool_acquire_buffer (self->object, &buffer, NULL),
      ==, GST_FLOW_OK);
  both++;
  gst_buffer_unref (buffer);
  return NULL;
}

/* Uses all functions, but on objects of each thread's own. */
static gpointer
use_own (gpointer data)
{
  GMutex own;
  Probe *probe = g_object_new (probe_get_type (), NULL);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 16, NULL);
  gpointer box = g_atomic_rc_box_new0 (gint);

  g_mutex_init (&own);
  g_mutex_lock (&own);
  g_type_class_unref (g_type_class_ref (probe_get_type ()));
  gst_buffer_unref (gst_buffer_ref (buffer));
  g_object_unref (g_object_ref (probe));
  both++;
  gst_buffer_unref (buffer);
  g_object_unref (probe);
  g_atomic_rc_box_release (box);
  g_mutex_unlock (&own);
  g_mutex_clear (&own);
  return NULL;
}

static void
free_sum (gpointer data)
{
  add_shared ();
}

static gpointer
new_object (void)
{
  Probe *probe = g_object_new (probe_get_type (), NULL);

  probe->adds = TRUE;
  return g_object_ref (probe);
}

static gpointer
new_mini_object (void)
{
  GstBuffer *buffer =
      gst_buffer_new_wrapped_full (0, g_malloc (1), 1, 0, 1, NULL, free_sum);

  return gst_buffer_ref (buffer);
}

static gpointer
new_buffer_pool (void)
{
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, NULL, 1, 1, 1);
  gst_buffer_pool_set_config (pool, config);
  gst_buffer_pool_set_active (pool, TRUE);
  return pool;
}

static gpointer
new_box (void)
{
  return g_atomic_rc_box_acquire (g_atomic_rc_box_new0 (gint));
}

static const struct {
  const gchar *name;
  GThreadFunc func;
  gpointer (*new_object) (void);
} cases[] = {
  { "unordered", use_own, NULL },
  { "mutex", use_mutex, NULL },
  { "once", use_once, NULL },
  { "class", use_class, NULL },
  { "object", use_object, new_object },
  { "mini-object", use_mini_object, new_mini_object },
  { "box", use_box, new_box },
  { "thread-pool", use_thread_pool, NULL },
  { "buffer-pool", use_buffer_pool, new_buffer_pool },
};

int
main (int argc, char **argv)
{
  g_assert_cmpint (argc, ==, 2);
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_init (NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gpointer object;
    Job jobs[2];
    GThread *threads[2];

    if (!g_str_equal (cases[i].name, argv[1]))
      continue;
    object = cases[i].new_object ? cases[i].new_object () : NULL;
    for (gint j = 0; j < 2; j++) {
      jobs[j] = (Job){ j, object };
      threads[j] = g_thread_new (NULL, cases[i].func, &jobs[j]);
    }
    for (gint j = 0; j < 2; j++)
      g_thread_join (threads[j]);
    return 0;
  }
  g_error ("No case %s", argv[1]);
}
