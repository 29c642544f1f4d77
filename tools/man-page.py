# gst-spdl: manual pages of the tools
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the manual page of a tool, which is made from what its --help-all prints.

    man-page.py TOOL VERSION OTHER-TOOL
"""

import os
import re
import subprocess
import sys

OPTION = re.compile(r"  (?:(-\w), )?(--[\w-]+)(?:=(.*?))?(?:\s{2,}(.*))?$")
FOOTER = """.SH ENVIRONMENT
GStreamer's variables, such as
.B GST_DEBUG
and
.BR GST_PLUGIN_PATH ,
are described in
.BR gst-launch-1.0 (1).
.SH SEE ALSO
.BR {other} (1),
.BR gst-launch-1.0 (1),
.BR gst-inspect-1.0 (1)"""


def escape(text):
    """Returns text in which nothing is a command of troff."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("\u2026", "...")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def show_option(short, name, value, text):
    names = ", ".join(f"\\fB{escape(part)}\\fR" for part in (short, name) if part)
    value = f"=\\fI{escape(value)}\\fR" if value else ""
    return f".TP\n{names}{value}\n{escape(text or '')}"


def show_block(block):
    """Returns a paragraph, a section of options, or an example."""
    first, *lines = block.split("\n")
    options = [OPTION.match(line) for line in lines]
    if lines and all(options):
        # GStreamer's are described where they belong.
        return "" if first.startswith("GStreamer") else "\n".join(
            [f".SS {escape(first.rstrip(':'))}",
             *(show_option(*match.groups()) for match in options)])
    if first == "Examples:":
        return "\n".join([".SH EXAMPLES", ".nf", *(escape(line[2:]) for line in lines),
                          ".fi"])
    return ".PP\n" + escape(block)


def main():
    tool, version, other = sys.argv[1:]
    name = os.path.basename(tool)
    text = subprocess.run([tool, "--help-all"], check=True, capture_output=True,
                          text=True, encoding="utf-8",
                          env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout
    usage, about, *blocks = text.strip().split("\n\n")
    synopsis = usage.split("\n")[1].split(maxsplit=1)[1]
    purpose = about.split(". ")[0].rstrip(".")
    shown = [show_block(block) for block in blocks]
    options = [block for block in shown if block.startswith(".SS")]
    # Those of the tool itself come last.
    rest = [block for block in shown if block and not block.startswith(".SS")]
    print("\n".join([
        f".TH {name.upper()} 1 \"\" \"gst\\-spdl {version}\" \"User Commands\"",
        f".SH NAME\n{escape(name)} \\- {escape(purpose[0].lower() + purpose[1:])}",
        f".SH SYNOPSIS\n.B {escape(name)}\n{escape(synopsis)}",
        f".SH DESCRIPTION\n{escape(about)}",
        *(block for block in rest if not block.startswith(".SH")),
        ".SH OPTIONS", *reversed(options),
        *(block for block in rest if block.startswith(".SH")),
        FOOTER.format(other=escape(other))]))


main()
