# gst-spdl: versions of the libraries in use
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import json
import os
from typing import Dict

from . import library as native


def versions() -> Dict[str, str]:
    """Returns the versions of gst-spdl and of the libraries that it uses, as a
    dict by name.

    With the wheel, these are the bundled libraries, with the versions of
    Debian's packages, so that they can be compared with Debian's security
    advisories. Otherwise the system's libraries are used, and only GLib and
    GStreamer are listed."""
    names = native.list_versions()
    found = dict(zip(names[::2], names[1::2]))
    bundled = os.path.join(native.folder, "versions.json")
    if os.path.exists(bundled):
        with open(bundled, encoding="utf-8") as file:
            found.update(json.load(file))
    return found
