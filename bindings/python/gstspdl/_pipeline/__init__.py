# gst-spdl: pipelines as text: methods for elements, values, recipes
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
