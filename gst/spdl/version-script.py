# gst-spdl: the linker's version script of the library
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the version script. Functions that an installed header marks by GST_SPDL_API
have the version GSTSPDL_1.0. All others that are exported are private: they have a
version of this release alone, so that plugins of another release are not loaded.

    version-script.py VERSION HEADER...
"""

import pathlib
import re
import sys

FUNCTION = re.compile(r"^GST_SPDL_API\s[^;(]*?(gst_spdl_\w+)\s*\(", re.MULTILINE)
TYPE = re.compile(r"^GST_SPDL_API\s+G_DECLARE_\w+\s*\(\s*\w+,\s*(\w+)", re.MULTILINE)
text = "".join(pathlib.Path(header).read_text("utf-8") for header in sys.argv[2:])
names = sorted({*FUNCTION.findall(text),
                *(f"{name}_get_type" for name in TYPE.findall(text))})
public = "\n".join(f"    {name};" for name in names)
print(f"""GSTSPDL_1.0 {{
  global:
{public}
}};
GSTSPDL_PRIVATE_{sys.argv[1]} {{
  global:
    gst_spdl_*;
    spdl_*;
  local:
    *;
}};""")
