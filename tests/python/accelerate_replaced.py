# gst-spdl: warning before Accelerate replaces a loader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""    accelerate_replaced.py [use]

Prints the number of warnings as Accelerate prepares a loader, and its class after that."""

import sys
import warnings

from accelerate import Accelerator

from gstspdl.torch import DataLoader
import gstspdl.accelerate

if sys.argv[1:] == ["use"]:
    gstspdl.accelerate.use()
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    loader = Accelerator(cpu=True).prepare(DataLoader([1, 2, 3]))
    found = [one for one in found if "gstspdl" in str(one.message)]
print(len(found), type(loader.base_dataloader).__module__)
