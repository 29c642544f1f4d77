# gst-spdl: renaming of the wheel's shared libraries and their symbols
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A process may load other copies of GLib, GStreamer, FFmpeg or zlib, for example
with PyGObject, OpenCV or PyAV. Therefore each library of the wheel has a unique
file name and unique symbols, so that neither side can bind to the other's
functions, even if a library is in the global scope. malloc() is shared with the
process."""

import hashlib
import pathlib
import re
import shutil
import subprocess
from typing import Dict, Iterable, List, Optional, Set

from .target import Target

# System libraries that every manylinux platform has, besides the loader.
SYSTEM = {"libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6",
          "libpthread.so.0", "librt.so.1", "libresolv.so.2", "libstdc++.so.6"}
PREFIX = "spdl_"

# Symbols that are not renamed: functions that are looked up by name, those of
# gst-spdl's library, and those of C++ and the linker.
KEPT = re.compile(
    r"gst_spdl_|gst_plugin_\w+_(get_desc|register)$|g_module_(check_init|unload)$|"
    r"g_io_(module_)?\w*(load|unload|query)$|_Z|__|_init$|_fini$|_edata$|_end$|"
    r"_IO_stdin_used$")


class Relocator:
    """Copies files and the libraries that they need to a folder."""

    def __init__(self, patchelf: str, folder: pathlib.Path,
                 search: List[pathlib.Path], target: Target,
                 sysroot: Optional[pathlib.Path]) -> None:
        self.patchelf = patchelf
        self.folder = folder
        self.search = search
        self.target = target
        self.sysroot = sysroot
        self.system = SYSTEM | {target.loader}
        self.libraries: Dict[str, pathlib.Path] = {}  # by SONAME
        self.origins: Dict[pathlib.Path, pathlib.Path] = {}

    def _print(self, *command: object) -> List[str]:
        return subprocess.check_output(
            [str(word) for word in command], text=True).splitlines()

    def _find(self, soname: str, user: pathlib.Path) -> pathlib.Path:
        for folder in self.search:
            if (folder / soname).exists():
                return (folder / soname).resolve()
        raise SystemExit(f"tools/wheel: {user} needs {soname}, which no package "
                         "of packages.json has")

    def _collect(self, files: Iterable[pathlib.Path]) -> None:
        queue = list(files)
        while queue:
            file = queue.pop()
            for soname in self._print(self.patchelf, "--print-needed", file):
                if soname in self.system or soname in self.libraries:
                    continue
                self.libraries[soname] = self._find(soname, file)
                queue.append(self.libraries[soname])

    def _list_symbols(self, file: pathlib.Path) -> Set[str]:
        lines = self._print(self.target.tool("nm"), "-D", "--defined-only", "--format=posix", file)
        return {line.split()[0].split("@")[0] for line in lines}

    def _list_system_symbols(self) -> Set[str]:
        found: Set[str] = set()
        for name in self.system:
            lines = self._print(*self.target.compiler(self.sysroot),
                                f"-print-file-name={name}")
            if lines[0] != name:
                found |= self._list_symbols(pathlib.Path(lines[0]).resolve())
        return found

    @staticmethod
    def _rename(soname: str, file: pathlib.Path) -> str:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
        return re.sub(r"\.so\b", f"-spdl-{digest}.so", soname, count=1)

    def _write_symbols(self, files: Iterable[pathlib.Path],
                       path: pathlib.Path) -> None:
        symbols: Set[str] = set()
        for file in files:
            symbols |= self._list_symbols(file)
        symbols = {name for name in symbols if not KEPT.match(name)}
        symbols -= self._list_system_symbols()
        path.write_text("".join(f"{name} {PREFIX}{name}\n"
                                for name in sorted(symbols)), "utf-8")

    def run(self, files: Dict[pathlib.Path, pathlib.Path],
            kept: Dict[str, str], work: pathlib.Path) -> None:
        """Copies the keys of @files to their values, which are relative paths,
        and adds the libraries that they need. @kept: libraries whose file name
        stays fixed, by SONAME."""
        self._collect(files)
        names = {soname: kept.get(soname) or self._rename(soname, file)
                 for soname, file in self.libraries.items()}
        copies = dict(files)
        for soname, file in self.libraries.items():
            copies[file] = pathlib.Path(names[soname])
        symbols = work / "symbols"
        self._write_symbols(copies, symbols)
        replaced = [word for soname, name in names.items() if soname != name
                    for word in ("--replace-needed", soname, name)]
        for file, path in copies.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
            subprocess.run([self.target.tool("strip"), "--strip-unneeded", target],
                           check=True)
            up = "/".join([".."] * (len(path.parts) - 1))
            command: List[object] = [
                self.patchelf, "--rename-dynamic-symbols", symbols, *replaced,
                "--set-rpath", f"$ORIGIN/{up}".rstrip("/")]
            if path.name in names.values():
                command += ["--set-soname", path.name]
            subprocess.run([*map(str, command), str(target)], check=True)
            self.origins[path] = file

    def check(self) -> None:
        """Fails if a symbol or a library is missing."""
        command = ["ldd", "-r"]
        if self.sysroot:  # what ldd does, in the emulator
            command = ["env", "LD_TRACE_LOADED_OBJECTS=1", "LD_WARN=yes",
                       "LD_BIND_NOW=yes", *self.target.emulate(self.sysroot),
                       f"{self.sysroot}/lib/{self.target.loader}"]
        for path in self.origins:
            done = subprocess.run(
                [*command, self.folder / path], text=True, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            wrong = [line for line in done.stdout.splitlines()
                     if "undefined symbol" in line or "not found" in line]
            if wrong:
                raise SystemExit(f"tools/wheel: {path}: {wrong[0].strip()}")
