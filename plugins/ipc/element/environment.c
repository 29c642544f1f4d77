/* gst-spdl: what of the environment a worker process gets
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "plugins/ipc/element/environment.h"

#include <string.h>

/* A name, or the beginning of names where it ends in *. */
static const gchar *const passed[] = {
  /* Where programs, libraries, homes and caches are, and the language. */
  "PATH", "LD_LIBRARY_PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_*",
  "LANG", "LANGUAGE", "LC_*", "TZ",
  /* GStreamer, GLib and its modules, this project. */
  "GST_*", "G_DEBUG", "G_MESSAGES_DEBUG", "G_SLICE", "GIO_*", "ORC_*", "SPDL_*",
  /* Servers and their certificates, credentials of S3 and such. */
  "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy",
  "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY",
  "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE", "NETRC",
  /* Memory, and devices. */
  "MALLOC_*", "GLIBC_TUNABLES", "CUDA_*", "NVIDIA_*", "LIBVA_*",
  /* The sanitizers and valgrind. */
  "ASAN_*", "LSAN_*", "TSAN_*", "UBSAN_*", "MSAN_*", "VALGRIND_*", NULL
};

/* Which part of the data is this process's; see spdlsrc. */
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
