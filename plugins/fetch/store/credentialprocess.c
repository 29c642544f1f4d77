/* gst-spdl: AWS credentials of a command
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <gst/gst.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/common/fail.h"
#include "plugins/fetch/store/awssources.h"

/* Commands may send requests or wait for user input. */
#define TIME_LIMIT (60 * G_TIME_SPAN_SECOND)
#define MAX_SIZE (64 * 1024)
#define WAIT_TIME (5 * G_TIME_SPAN_MILLISECOND)
#define SOURCE "credential_process"

static void
set_timeout_error (GError **error)
{
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      SOURCE " did not end within %d s",
      (gint) (TIME_LIMIT / G_TIME_SPAN_SECOND));
}

/* Reads until the end of the output, or @deadline. Returns FALSE with @error
 * set. */
static gboolean
read_output (gint fd, gint64 deadline, GByteArray *output, GError **error)
{
  for (;;) {
    const gint64 left = deadline - g_get_monotonic_time ();
    struct pollfd polled = { fd, POLLIN, 0 };
    guint8 block[4096];
    gssize n = -1;
    gint ready;

    if (left <= 0) {
      set_timeout_error (error);
      return FALSE;
    }
    ready = poll (&polled, 1, left / G_TIME_SPAN_MILLISECOND + 1);
    if (ready == 0 || (ready < 0 && errno == EINTR))
      continue;
    if (ready > 0)
      n = read (fd, block, sizeof block);
    if (n == 0)
      return TRUE;
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return spdl_fail (error, GST_RESOURCE_ERROR_READ,
          "Output of " SOURCE " cannot be read: %s", g_strerror (errno));
    g_byte_array_append (output, block, n);
    if (output->len > MAX_SIZE)
      return spdl_fail (error, GST_RESOURCE_ERROR_READ,
          "Output of " SOURCE " is larger than the limit of %d bytes",
          MAX_SIZE);
  }
}

/* Waits until the command has ended, and kills it at @deadline. Returns FALSE
 * with @error set if it failed. */
static gboolean
wait_for_end (GPid pid, gint64 deadline, GError **error)
{
  gint status = 0;
  pid_t ended;

  while ((ended = waitpid (pid, &status, WNOHANG)) == 0 ||
         (ended < 0 && errno == EINTR)) {
    if (g_get_monotonic_time () >= deadline) {
      kill (pid, SIGKILL);
      waitpid (pid, &status, 0);
      if (!*error)
        set_timeout_error (error);
      break;
    }
    g_usleep (WAIT_TIME);
  }
  /* If the program waits for any child, it may have reaped this one. */
  if (status == 0)
    return TRUE;
  if (!*error) {
    if (WIFEXITED (status))
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
          SOURCE " failed with exit status %d: run the command of the profile "
                 "by hand to see why",
          WEXITSTATUS (status));
    else
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
          SOURCE " was ended by signal %d: run the command of the profile by "
                 "hand to see why",
          WTERMSIG (status));
  }
  return FALSE;
}

static gboolean
check_version (const GByteArray *output, GError **error)
{
  json_t *object =
      json_loadb ((const gchar *) output->data, output->len, 0, NULL);
  const json_t *version = json_object_get (object, "Version");
  const gboolean ok = !object || json_integer_value (version) == 1;

  json_decref (object);
  if (!ok)
    g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
        "Output of " SOURCE " has no \"Version\": 1");
  return ok;
}

gboolean
spdl_aws_process_ask (
    const gchar *command, SpdlSecrets **secrets, GError **error)
{
  const gint64 deadline = g_get_monotonic_time () + TIME_LIMIT;
  g_autoptr (GByteArray) output = g_byte_array_new ();
  g_autoptr (GError) reason = NULL;
  g_auto (GStrv) args = NULL;
  GPid pid;
  gint fd;
  gboolean ok;

  /* GLib's error message could show a part of the command. */
  if (!g_shell_parse_argv (command, NULL, &args, NULL))
    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        SOURCE " of the profile is not a valid command: check its quotes");
  /* A process that another thread starts must not inherit the pipe, which would
   * then stay open after the command has ended. */
  if (!g_spawn_async_with_pipes (NULL, args, NULL,
          G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD |
              G_SPAWN_STDERR_TO_DEV_NULL | G_SPAWN_CLOEXEC_PIPES,
          NULL, NULL, &pid, NULL, &fd, NULL, &reason)) {
    g_autofree gchar *program = g_filename_display_basename (args[0]);

    return spdl_fail (error, GST_RESOURCE_ERROR_SETTINGS,
        SOURCE " cannot run the program \"%s\": check that it is installed",
        program);
  }
  ok = read_output (fd, deadline, output, &reason);
  close (fd);
  ok = wait_for_end (pid, ok ? deadline : 0, &reason) && ok;
  g_spawn_close_pid (pid);
  if (!ok) {
    g_propagate_error (error, g_steal_pointer (&reason));
    return FALSE;
  }
  if (!check_version (output, error))
    return FALSE;
  *secrets = spdl_aws_answer_read_json ((const gchar *) output->data,
      output->len, SOURCE, "SessionToken", FALSE, error);
  return *secrets != NULL;
}
