/* gst-spdl: by what a dataset is known again
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_FINGERPRINT_H__
#define __SPDL_FINGERPRINT_H__

#include <glib.h>

G_BEGIN_DECLS

/* The hash of @data behind what @hash, at first 0, stands for: the same on
 * every machine and for ever. It tells what was changed by accident, at some
 * gigabytes a second; it is no protection against what was made to deceive. */
guint64 spdl_fingerprint_add (guint64 hash, gconstpointer data, gsize size);

G_END_DECLS

#endif /* __SPDL_FINGERPRINT_H__ */
