/* gst-spdl: start and end of a worker process
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/workerprocess.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gst/spdl/process/packet.h"
#include "plugins/ipc/wire/workerconfig.h"

#define PROGRAM "gst-spdl-worker"
/* First file descriptor after stdin, stdout and stderr. */
#define SOCKET SPDL_WORKER_CONFIG_SOCKET

/* Output of the process */

/* Longer lines are split. */
#define MAX_LINE 8192

/* Environment */

/* A name, or a prefix that ends in *. */
static const gchar *const passed[] = {
  /* Locations of programs, libraries, homes and caches; locale. */
  "PATH", "LD_LIBRARY_PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_*",
  "LANG", "LANGUAGE", "LC_*", "TZ",
  /* GStreamer, GLib and its modules, gst-spdl. */
  "GST_*", "G_DEBUG", "G_MESSAGES_DEBUG", "G_SLICE", "GIO_*", "ORC_*", "SPDL_*",
  /* Settings of proxies and certificates. */
  "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
  "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY",
  "REQUEST_METHOD", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE",
  "SSL_CERT_DIR", "SSLKEYLOGFILE", "NETRC",
  /* Object stores and their credentials. */
  "AWS_*", "GS_ACCESS_KEY_ID", "GS_SECRET_ACCESS_KEY", "CLOUDSDK_*",
  "GOOGLE_APPLICATION_CREDENTIALS", "GCE_METADATA_HOST",
  "STORAGE_EMULATOR_HOST", "HF_*", "HUGGING_FACE_HUB_TOKEN",
  /* Memory allocation and devices. */
  "MALLOC_*", "GLIBC_TUNABLES", "CUDA_*", "NVIDIA_*", "LIBVA_*",
  /* Settings of sanitizers and valgrind. */
  "ASAN_*", "LSAN_*", "TSAN_*", "UBSAN_*", "MSAN_*", "VALGRIND_*", NULL
};

/* Rank of the process; see spdlsrc. */
static const gchar *const ranks[] = { "RANK", "WORLD_SIZE", "SLURM_PROCID",
  "SLURM_NTASKS", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
  "JOB_COMPLETION_INDEX", NULL };

static gboolean
is_in (const gchar *const *list, const gchar *name, gsize length)
{
  for (; *list; list++) {
    const gsize n = strlen (*list);

    if ((*list)[n - 1] == '*' ? length >= n - 1 && !strncmp (*list, name, n - 1)
                              : length == n && !strncmp (*list, name, n))
      return TRUE;
  }
  return FALSE;
}

GStrv
spdl_environment_select (const gchar *const *all, gint rank, gint world_size)
{
  const gboolean given = rank >= 0 || world_size >= 0;
  GPtrArray *chosen = g_ptr_array_new ();

  for (; all && *all; all++) {
    const gsize length = strcspn (*all, "=");

    if (is_in (passed, *all, length) || (!given && is_in (ranks, *all, length)))
      g_ptr_array_add (chosen, g_strdup (*all));
  }
  if (rank >= 0)
    g_ptr_array_add (chosen, g_strdup_printf ("RANK=%d", rank));
  if (world_size >= 0)
    g_ptr_array_add (chosen, g_strdup_printf ("WORLD_SIZE=%d", world_size));
  g_ptr_array_add (chosen, NULL);
  return (GStrv) g_ptr_array_free (chosen, FALSE);
}

void
spdl_output_init (SpdlOutput *self, int fd, int pid)
{
  self->fd = fd;
  self->pid = pid;
  self->line = g_string_new (NULL);
  fcntl (fd, F_SETFL, O_NONBLOCK);
}

static void
log_output (SpdlOutput *self)
{
  g_printerr ("gst-spdl-worker[%d]: %s\n", self->pid, self->line->str);
  g_string_truncate (self->line, 0);
}

void
spdl_output_clear (SpdlOutput *self)
{
  if (self->line->len > 0)
    log_output (self);
  g_string_free (self->line, TRUE);
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
}

static void
add_output (SpdlOutput *self, const gchar *text, gsize size)
{
  const gchar *const end = text + size;

  while (text < end) {
    const gchar *newline = memchr (text, '\n', end - text);
    const gsize length = (newline ? newline : end) - text;

    g_string_append_len (self->line, text, length);
    if (newline || self->line->len >= MAX_LINE)
      log_output (self);
    text += length + (newline != NULL);
  }
}

gboolean
spdl_output_read (SpdlOutput *self)
{
  gchar text[4096];
  gssize n;

  if (self->fd < 0)
    return FALSE;
  do
    n = read (self->fd, text, sizeof text);
  while (n < 0 && errno == EINTR);
  if (n > 0) {
    add_output (self, text, n);
    return TRUE;
  }
  if (n == 0 || errno != EAGAIN) {
    close (self->fd);
    self->fd = -1;
  }
  return FALSE;
}

/* Returns the path of the program: from SPDL_WORKER, from the folder of this
 * plugin (in a build tree), or the installed one. */
static gchar *
find_program (void)
{
  const gchar *given = g_getenv ("SPDL_WORKER");
  Dl_info info;

  if (given && *given)
    return g_strdup (given);
  if (dladdr (find_program, &info) && info.dli_fname) {
    g_autofree gchar *folder = g_path_get_dirname (info.dli_fname);
    g_autofree gchar *path = g_build_filename (folder, PROGRAM, NULL);

    if (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
      return g_steal_pointer (&path);
  }
  return g_build_filename (WORKER_DIR, PROGRAM, NULL);
}

static void
set_signals (posix_spawnattr_t *attributes)
{
  sigset_t none, all;

  sigemptyset (&none);
  sigfillset (&all);
  sigdelset (&all, SIGKILL);
  sigdelset (&all, SIGSTOP);
  posix_spawnattr_setsigmask (attributes, &none);
  posix_spawnattr_setsigdefault (attributes, &all);
  posix_spawnattr_setflags (
      attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* Uses posix_spawn(): fork() would copy the page tables of a large process, and
 * locks could be held in the copy. */
static int
spawn_process (pid_t *pid, const gchar *path, int socket, int output,
    const gchar *const *environment)
{
  g_autofree gchar *parent = g_strdup_printf ("%d", (int) getpid ());
  gchar *const arguments[] = { (gchar *) path, parent, NULL };
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int problem;

  posix_spawn_file_actions_init (&actions);
  posix_spawnattr_init (&attributes);
  posix_spawn_file_actions_addopen (
      &actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2 (&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2 (&actions, output, STDERR_FILENO);
  posix_spawn_file_actions_adddup2 (&actions, socket, SOCKET);
  posix_spawn_file_actions_addclosefrom_np (&actions, SOCKET + 1);
  set_signals (&attributes);
  problem = posix_spawn (pid, path, &actions, &attributes, arguments,
      (gchar *const *) environment);
  posix_spawnattr_destroy (&attributes);
  posix_spawn_file_actions_destroy (&actions);
  return problem;
}

/* Moves a descriptor above the numbers that are used in the child. */
static int
move_up (int fd)
{
  const int moved = fcntl (fd, F_DUPFD_CLOEXEC, SOCKET + 1);

  close (fd);
  return moved;
}

static gboolean
start_process (SpdlProcess *self, int socket, int output,
    const gchar *const *environment, GError **error)
{
  g_autofree gchar *path = find_program ();
  const int problem =
      spawn_process (&self->pid, path, socket, output, environment);

  if (problem == 0) {
    self->pidfd = syscall (SYS_pidfd_open, self->pid, 0);
    return TRUE;
  }
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "Failed to start the worker process: %s: %s. If the program is "
      "elsewhere, set SPDL_WORKER in the environment to its path",
      path, g_strerror (problem));
  return FALSE;
}

/* Time for a process to end after SIGKILL. One that hangs in the kernel may
 * need longer, and is collected later. */
#define KILL_MS 500

G_LOCK_DEFINE_STATIC (unreaped);
static GArray *unreaped; /* of pid_t */

static void
reap_later (pid_t pid)
{
  G_LOCK (unreaped);
  if (!unreaped)
    unreaped = g_array_new (FALSE, FALSE, sizeof pid);
  g_array_append_val (unreaped, pid);
  G_UNLOCK (unreaped);
}

/* Collects the status of processes that have ended after all. */
static void
reap_left (void)
{
  G_LOCK (unreaped);
  for (guint i = unreaped ? unreaped->len : 0; i-- > 0;)
    if (waitpid (g_array_index (unreaped, pid_t, i), NULL, WNOHANG) != 0)
      g_array_remove_index_fast (unreaped, i);
  G_UNLOCK (unreaped);
}

gboolean
spdl_process_start (
    SpdlProcess *self, const gchar *const *environment, GError **error)
{
  int sockets[2], pipes[2];
  gboolean ok;

  reap_left ();
  if (!spdl_packet_open (sockets, error))
    return FALSE;
  if (pipe2 (pipes, O_CLOEXEC) != 0) {
    spdl_packet_set_no_connection (error);
    close (sockets[0]);
    close (sockets[1]);
    return FALSE;
  }
  *self =
      (SpdlProcess){ .pidfd = -1, .socket = sockets[0], .output = pipes[0] };
  sockets[1] = move_up (sockets[1]);
  pipes[1] = move_up (pipes[1]);
  ok = start_process (self, sockets[1], pipes[1], environment, error);
  close (sockets[1]);
  close (pipes[1]);
  if (!ok) {
    close (self->socket);
    close (self->output);
  }
  return ok;
}

/* Without a pidfd, polls the state of the process. */
static gboolean
has_ended_within (const SpdlProcess *self, gint ms)
{
  struct pollfd fd = { .fd = self->pidfd, .events = POLLIN };
  siginfo_t info = { 0 };

  if (self->pidfd >= 0)
    return poll (&fd, 1, ms) > 0;
  for (; ms > 0; ms -= 5) {
    if (waitid (P_PID, self->pid, &info, WEXITED | WNOWAIT | WNOHANG) != 0 ||
        info.si_pid != 0)
      return TRUE;
    g_usleep (5000);
  }
  return FALSE;
}

gchar *
spdl_process_wait (SpdlProcess *self, gint ms)
{
  const gboolean ended = has_ended_within (self, ms);
  g_autofree gchar *how = NULL;
  const pid_t pid = self->pid;
  int status = 0;
  pid_t waited = 0;

  if (!ended)
    kill (pid, SIGKILL);
  if (ended || has_ended_within (self, KILL_MS)) {
    do
      waited = waitpid (pid, &status, 0);
    while (waited < 0 && errno == EINTR);
  } else {
    reap_later (pid);
  }
  self->pid = 0;
  if (self->pidfd >= 0)
    close (self->pidfd);
  self->pidfd = -1;
  if (waited == 0)
    return g_strdup_printf (
        "%d was killed, but hangs in the kernel", (int) pid);
  /* The status is lost if the program ignores SIGCHLD or waits for any
   * child. */
  if (waited < 0)
    return g_strdup_printf (
        "%d ended, but another part of the program collected its status",
        (int) pid);
  if (!ended)
    return g_strdup_printf (
        "%d did not end in time, and was killed", (int) pid);
  how = spdl_process_describe_status (status);
  return g_strdup_printf ("%d %s", (int) pid, how);
}
