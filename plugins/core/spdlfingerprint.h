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

/* The same in steps: first all whole words of eight bytes, as many at a time
 * as you like, then the rest.
 *
 * @rest: the bytes behind the last whole word
 * @size: of all, in bytes */
guint64 spdl_fingerprint_add_words (guint64 hash, gconstpointer data, gsize n);
guint64 spdl_fingerprint_end (guint64 hash, gconstpointer rest, guint64 size);

G_END_DECLS

#endif /* __SPDL_FINGERPRINT_H__ */
