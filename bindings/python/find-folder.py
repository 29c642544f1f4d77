# gst-spdl: the folder below a prefix in which Python finds packages
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Usage: find-folder.py FOLDER PREFIX

Prints FOLDER if this Python searches it, else the folder of PREFIX/lib* that
Python searches. If there is none, prints FOLDER, which PYTHONPATH must then
name.
"""

import os.path
import site
import sys

folder, prefix = map(os.path.normpath, sys.argv[1:])
searched = site.getsitepackages()
below = [path for path in searched
         if path.startswith(os.path.join(prefix, "lib"))]
print(folder if folder in searched or not below else below[0])
