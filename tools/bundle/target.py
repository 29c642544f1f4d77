# gst-spdl: the CPU that the wheel is built for
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import pathlib
from typing import List, NamedTuple, Optional


class Target(NamedTuple):
    """A CPU, with Debian's names for it."""

    name: str  # as in `uname -m` and in the file name of the wheel
    debian: str
    loader: str  # of dynamic programs

    @property
    def triplet(self) -> str:
        return f"{self.name}-linux-gnu"

    @property
    def libraries(self) -> str:
        return f"usr/lib/{self.triplet}"

    @property
    def tag(self) -> str:
        return f"py3-none-manylinux_2_34_{self.name}"

    @property
    def is_cross(self) -> bool:
        return self.name != os.uname().machine

    def tool(self, name: str) -> str:
        """Returns the name of a program of GCC or of GNU's binutils."""
        return f"{self.triplet}-{name}" if self.is_cross else name

    def compiler(self, sysroot: Optional[pathlib.Path]) -> List[str]:
        return [self.tool("gcc")] + ([f"--sysroot={sysroot}"] if sysroot else [])

    def emulate(self, sysroot: Optional[pathlib.Path]) -> List[str]:
        """Returns the words to put before a program for the CPU."""
        return ["qemu-" + self.name, "-L", str(sysroot)] if sysroot else []


TARGETS = {target.name: target for target in (
    Target("x86_64", "amd64", "ld-linux-x86-64.so.2"),
    Target("aarch64", "arm64", "ld-linux-aarch64.so.1"))}
