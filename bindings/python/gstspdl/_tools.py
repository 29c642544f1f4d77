# gst-spdl: command-line tools of a package that pip installed
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import sys
from typing import NoReturn


def _run(name: str) -> NoReturn:
    path = os.path.join(os.path.dirname(__file__), "_lib", "bin", name)
    os.execv(path, [name, *sys.argv[1:]])


def launch() -> NoReturn:
    _run("gst-spdl-launch-1.0")


def index() -> NoReturn:
    _run("gst-spdl-index")
