/* gst-spdl: an element that is no stage and does as it is told, for tests
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __SPDL_TEST_FILTER_H__
#define __SPDL_TEST_FILTER_H__

#include <gst/gst.h>

G_BEGIN_DECLS

gboolean test_filter_register (GstPlugin *plugin);

G_END_DECLS

#endif /* __SPDL_TEST_FILTER_H__ */
