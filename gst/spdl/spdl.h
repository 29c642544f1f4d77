/* gst-spdl: all public headers
 *
 * Copyright (C) 2026 the gst-spdl developers
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#ifndef __GST_SPDL_H__
#define __GST_SPDL_H__

#include <gst/spdl/spdl-prelude.h>
#include <gst/spdl/gstspdlgroupingpolicy.h>
#include <gst/spdl/gstspdlbatch.h>
#include <gst/spdl/gstspdlbatchmeta.h>
#include <gst/spdl/gstspdlcpus.h>
#include <gst/spdl/gstspdlcudaallocator.h>
#include <gst/spdl/gstspdlcudamemory.h>
#include <gst/spdl/gstspdldecoder.h>
#include <gst/spdl/gstspdldiagnose.h>
#include <gst/spdl/gstspdlevents.h>
#include <gst/spdl/gstspdlitemmeta.h>
#include <gst/spdl/gstspdlloader.h>
#include <gst/spdl/gstspdlpartsmeta.h>
#include <gst/spdl/gstspdlpinnedallocator.h>
#include <gst/spdl/gstspdlsample.h>
#include <gst/spdl/gstspdlstage.h>
#include <gst/spdl/gstspdlstate.h>
#include <gst/spdl/gstspdltask.h>
#include <gst/spdl/gstspdltensor.h>
#include <gst/spdl/gstspdltensorsinfo.h>
#include <gst/spdl/gstspdlversion.h>

#endif /* __GST_SPDL_H__ */
