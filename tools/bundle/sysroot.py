# gst-spdl: libraries and headers of another CPU
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A sysroot has Debian's packages for another CPU, unpacked and not installed:
many of their development packages cannot be installed next to those of this CPU."""

import os
import pathlib
import re
import shutil
import subprocess

from .debian import Downloader
from .target import Target

# As in tools/setup. python3 is for tests under qemu.
PACKAGES = """
  libc6-dev libstdc++-12-dev libglib2.0-dev libgstreamer1.0-dev
  libgstreamer-plugins-base1.0-dev libjpeg62-turbo-dev libdeflate-dev libgif-dev
  libopenjp2-7-dev libpng-dev libtiff-dev libwebp-dev libxxhash-dev zlib1g-dev
  libsoup-3.0-dev libjansson-dev libjson-glib-dev libarchive-dev nettle-dev
  libbrotli-dev libdav1d-dev libde265-dev libhwy-dev liblcms2-dev libnghttp2-dev
  libpsl-dev libsqlite3-dev libyuv-dev python3
""".split()

CROSS_FILE = """[binaries]
c = ['{triplet}-gcc', '--sysroot={sysroot}']
ar = '{triplet}-ar'
strip = '{triplet}-strip'
pkgconfig = 'pkg-config'

[properties]
needs_exe_wrapper = true
pkg_config_libdir = [{folders}]

[host_machine]
system = 'linux'
cpu_family = '{name}'
cpu = '{name}'
endian = 'little'
"""


def make_sysroot(folder: pathlib.Path, target: Target,
                 downloader: Downloader) -> None:
    """Unpacks the packages into @folder, unless it has them, and writes
    cross.ini, Meson's file for it, next to it."""
    files = downloader.get_with_dependencies(PACKAGES)
    mark = folder / "complete"
    names = "\n".join(sorted(file.name for file in files)) + f"\n{folder}\n"
    if not mark.exists() or mark.read_text("utf-8") != names:
        shutil.rmtree(folder, ignore_errors=True)
        for name in "bin", "lib", "sbin":
            (folder / "usr" / name).mkdir(parents=True)
            (folder / name).symlink_to(f"usr/{name}")
        for file in files:
            _unpack(file, folder)
        _mend_links(folder)
        _mend_pkg_config(folder)
        mark.write_text(names, "utf-8")
    (folder.parent / "cross.ini").write_text(CROSS_FILE.format(
        triplet=target.triplet, name=target.name, sysroot=folder,
        folders=", ".join(f"'{path}'" for path in find_pkg_config(
            folder, target))), "utf-8")


def find_pkg_config(sysroot: pathlib.Path, target: Target) -> "list[pathlib.Path]":
    """Returns the folders of pkg-config's files."""
    return [sysroot / target.libraries / "pkgconfig",
            sysroot / "usr/share/pkgconfig"]


def _unpack(file: pathlib.Path, folder: pathlib.Path) -> None:
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", file],
                          stdout=subprocess.PIPE) as archive:
        subprocess.run(
            ["tar", "-x", "--keep-directory-symlink", "--no-same-owner",
             "-C", folder, *(f"--exclude=./usr/share/{name}" for name in (
                 "doc", "gtk-doc", "locale", "man"))],
            stdin=archive.stdout, check=True)
    if archive.returncode:
        raise SystemExit(f"tools/wheel: dpkg-deb cannot unpack {file}")


def _mend_links(folder: pathlib.Path) -> None:
    """Makes absolute links lead into the sysroot."""
    for path in folder.rglob("*"):
        if path.is_symlink() and os.readlink(path).startswith("/"):
            to = folder / os.readlink(path).lstrip("/")
            path.unlink()
            path.symlink_to(to)


def _mend_pkg_config(folder: pathlib.Path) -> None:
    """Makes the paths in pkg-config's files absolute. With a sysroot, pkg-config
    would look for the libraries that are built here in it, too."""
    for path in folder.glob("usr/**/pkgconfig/*.pc"):
        text = path.read_text("utf-8")
        path.write_text(re.sub(r"(?<![\w}/])/usr\b", f"{folder}/usr", text), "utf-8")
