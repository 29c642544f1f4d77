/* gst-spdl: definition of metas
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gst/gst.h>

/* Defines the function @prefix_api_get_type() of a meta of the API @NameAPI,
 * with its tags, and @prefix_get_info() of the implementation @Name. */
#define SPDL_DEFINE_META_API(Name, prefix, ...)                   \
  GType prefix##_api_get_type (void)                              \
  {                                                               \
    static gsize type = 0;                                        \
    static const gchar *tags[] = { __VA_ARGS__, NULL };           \
                                                                  \
    if (g_once_init_enter (&type))                                \
      g_once_init_leave (                                         \
          &type, gst_meta_api_type_register (#Name "API", tags)); \
    return type;                                                  \
  }

#define SPDL_DEFINE_META_INFO(Name, prefix, size, init, free, transform)     \
  const GstMetaInfo *prefix##_get_info (void)                                \
  {                                                                          \
    static gsize info = 0;                                                   \
                                                                             \
    if (g_once_init_enter (&info))                                           \
      g_once_init_leave (                                                    \
          &info, (gsize) gst_meta_register (prefix##_api_get_type (), #Name, \
                     size, init, free, transform));                          \
    return (const GstMetaInfo *) info;                                       \
  }
