/* gst-spdl: functions of the wheel's libraries in the version of glibc 2.34
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

/* glibc 2.35 has a faster one, with which the wheel would need that version. */
__asm__ (".symver hypot, hypot@GLIBC_2.2.5");
