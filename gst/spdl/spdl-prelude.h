/* gst-spdl: visibility of public functions
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_PRELUDE_H__
#define __GST_SPDL_PRELUDE_H__

#include <gst/gst.h>

/**
 * GST_SPDL_API:
 *
 * Marks a function that the library exports.
 *
 * Since: 0.1
 */
#ifndef GST_SPDL_API
#define GST_SPDL_API extern __attribute__ ((visibility ("default")))
#endif

#endif /* __GST_SPDL_PRELUDE_H__ */
