# gst-spdl: builds of Debian source packages for the wheel
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Debian's binary packages of these have dependencies that the wheel must not have:
GPL code in FFmpeg and libheif, JBIG-KIT (GPL) in libtiff, libxml2 and ICU in
libarchive, Kerberos in libsoup, encoders in libavif, and glibc 2.35 in libjxl."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import time
from typing import Any, Callable, Dict, List, Optional

from .sysroot import find_pkg_config
from .target import Target

# Keeps the wheel compatible with glibc 2.34, for example on RHEL 9.
OLD_GLIBC = f"-include {pathlib.Path(__file__).with_name('glibc234.h')}"

# Only decoders, demuxers and parsers (and the filters of packets that they need),
# without access to files, devices or the
# network.
FFMPEG_OPTIONS = [
    "--disable-autodetect", "--disable-gpl", "--disable-nonfree",
    "--enable-shared", "--disable-static", "--disable-programs",
    "--disable-doc", "--disable-debug", "--disable-network",
    "--disable-avdevice", "--disable-swscale", "--disable-postproc",
    "--disable-encoders", "--disable-muxers", "--disable-protocols",
    "--disable-filters", "--disable-bsfs", "--disable-hwaccels",
    "--disable-indevs", "--disable-outdevs", "--enable-zlib",
    # libavcodec has no decoder of AV1.
    "--enable-libdav1d",
]
ARCHIVE_OPTIONS = [
    f"-DENABLE_{name}=OFF" for name in (
        "ACL", "BZip2", "CAT", "CNG", "CPIO", "EXPAT", "ICONV", "LIBB2",
        "LIBXML2", "LZ4", "LZMA", "LZO", "NETTLE", "OPENSSL", "TAR", "TEST",
        "UNZIP", "XATTR")
]
TIFF_OPTIONS = [
    f"-D{name}=OFF" for name in (
        "cxx", "jbig", "lerc", "tiff-contrib", "tiff-docs", "tiff-tests",
        "tiff-tools")
]
AVIF_OPTIONS = ["-DAVIF_CODEC_DAV1D=ON"]
HEIF_OPTIONS = ["-DENABLE_PLUGIN_LOADING=OFF"] + [
    f"-DWITH_{name}=OFF" for name in (
        "AOM_DECODER", "AOM_ENCODER", "DAV1D", "DEFLATE_HEADER_COMPRESSION",
        "EXAMPLES", "RAV1E", "SvtEnc", "X265")
]
JXL_OPTIONS = [
    f"-DJPEGXL_ENABLE_{name}=OFF" for name in (
        "BENCHMARK", "DOXYGEN", "EXAMPLES", "FUZZERS", "JNI", "MANPAGES",
        "OPENEXR", "SJPEG", "SKCMS", "TCMALLOC", "TOOLS")
] + [
    f"-DJPEGXL_FORCE_SYSTEM_{name}=ON" for name in ("BROTLI", "HWY", "LCMS2")
] + ["-DBUILD_TESTING=OFF",
     # Only the encoder needs Little CMS.
     "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,--as-needed"]
SOUP_OPTIONS = [
    f"-D{name}=disabled" for name in (
        "docs", "gssapi", "introspection", "ntlm", "pkcs11_tests", "sysprof",
        "vapi")
] + ["-Dtests=false", "-Dautobahn=disabled", "-Dtls_check=false",
     "-Dbrotli=enabled"]


# Seconds between two lines about a command that takes long.
INTERVAL = 15


class Builder:
    """Builds source packages, each into a prefix in a cache. The name of a prefix
    contains the version and a hash of everything else that decides on its content."""

    def __init__(self, folder: pathlib.Path, cache: pathlib.Path, target: Target,
                 sysroot: Optional[pathlib.Path]) -> None:
        self.folder = folder
        self.cache = cache
        self.target = target
        # For builds for another CPU, with Meson's cross.ini next to it.
        self.sysroot = sysroot
        self.prefixes: Dict[str, pathlib.Path] = {}
        self.prefix = cache
        folder.mkdir(parents=True, exist_ok=True)
        self.jobs = f"-j{os.cpu_count() or 2}"

    def _run(self, log: pathlib.Path, where: pathlib.Path,
             *commands: List[str]) -> None:
        with open(log, "a", encoding="utf-8") as out:
            for command in commands:
                started = shown = time.monotonic()
                with subprocess.Popen(
                        command, cwd=where, text=True, errors="replace",
                        env=self._environment(),
                        stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT) as process:
                    assert process.stdout is not None
                    for line in process.stdout:
                        out.write(line)
                        now = time.monotonic()
                        if now - shown >= INTERVAL:
                            shown = now
                            print(f"  {now - started:.0f} s: {line.strip()[:72]}",
                                  flush=True)
                if process.returncode != 0:
                    raise SystemExit(f"tools/wheel: `{' '.join(command)}` "
                                     f"failed in {where}: see {log}")

    def _environment(self) -> Dict[str, str]:
        environment = dict(os.environ)
        if self.sysroot:
            environment["PKG_CONFIG_LIBDIR"] = ":".join(map(str, find_pkg_config(
                self.sysroot, self.target)))
        return environment

    def _build_ffmpeg(self, log: pathlib.Path,
                          source: pathlib.Path) -> None:
        cross = [] if not self.sysroot else [
            "--enable-cross-compile", "--target-os=linux",
            f"--arch={self.target.name}", f"--sysroot={self.sysroot}",
            f"--cross-prefix={self.target.triplet}-", "--pkg-config=pkg-config"]
        self._run(log, source,
                  ["./configure", f"--prefix={self.prefix}",
                   f"--extra-cflags={OLD_GLIBC}", *cross, *FFMPEG_OPTIONS],
                  ["make", self.jobs], ["make", "install"])

    def _build_libarchive(self, log: pathlib.Path,
                          source: pathlib.Path) -> None:
        # libarchive's arc4random_buf() conflicts with the declaration in glibc
        # 2.36 and later.
        file = source / "libarchive" / "archive_random.c"
        file.write_text(file.read_text("utf-8").replace(
            "arc4random_buf", "archive_arc4random_buf"), "utf-8")
        self._run_cmake([*ARCHIVE_OPTIONS, "-DHAVE_ARC4RANDOM_BUF=0"])(
            log, source)

    def _build_libheif(self, log: pathlib.Path,
                       source: pathlib.Path) -> None:
        # A loader for GdkPixbuf, which is built where its headers are installed.
        (source / "gdk-pixbuf" / "CMakeLists.txt").write_text("", "utf-8")
        self._run_cmake(HEIF_OPTIONS)(log, source)

    def _build_libjxl(self, log: pathlib.Path, source: pathlib.Path) -> None:
        """Builds libjxl without its encoder."""
        file = source / "lib" / "jxl.cmake"
        file.write_text(file.read_text("utf-8").replace(
            "  $<TARGET_OBJECTS:jxl_enc-obj>\n", "").replace(
                "add_library(jxl_enc-obj OBJECT",
                "add_library(jxl_enc-obj OBJECT EXCLUDE_FROM_ALL"), "utf-8")
        self._run_cmake(JXL_OPTIONS)(log, source)

    def _run_cmake(self, options: List[str]
                   ) -> Callable[[pathlib.Path, pathlib.Path], None]:
        cross = [] if not self.sysroot else [
            "-DCMAKE_SYSTEM_NAME=Linux",
            f"-DCMAKE_SYSTEM_PROCESSOR={self.target.name}",
            f"-DCMAKE_C_COMPILER={self.target.tool('gcc')}",
            f"-DCMAKE_CXX_COMPILER={self.target.tool('g++')}",
            f"-DCMAKE_LIBRARY_PATH=/{self.target.libraries}",
            f"-DCMAKE_SYSROOT={self.sysroot}",
            f"-DCMAKE_FIND_ROOT_PATH={self.sysroot}",
            "-DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER",
            "-DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY",
            "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY"]

        def run(log: pathlib.Path, source: pathlib.Path) -> None:
            self._run(log, source,
                      ["cmake", "-B", "build-wheel", "-DBUILD_SHARED_LIBS=ON",
                       "-DCMAKE_BUILD_TYPE=Release",
                       f"-DCMAKE_INSTALL_PREFIX={self.prefix}",
                       "-DCMAKE_INSTALL_LIBDIR=lib",
                       f"-DCMAKE_CXX_FLAGS={OLD_GLIBC}", *cross, *options],
                      ["cmake", "--build", "build-wheel", self.jobs],
                      ["cmake", "--install", "build-wheel"])
        return run

    def _run_meson(self, log: pathlib.Path, source: pathlib.Path) -> None:
        cross = [] if not self.sysroot else [
            f"--cross-file={self.sysroot.parent / 'cross.ini'}"]
        self._run(log, source,
                  ["meson", "setup", "build-wheel", "--buildtype=release",
                   f"--prefix={self.prefix}", "--libdir=lib", *cross,
                   *SOUP_OPTIONS],
                  ["meson", "install", "-C", "build-wheel"])

    def find_copyright(self, name: str) -> pathlib.Path:
        return self.prefixes[name] / "copyright"

    def build(self, name: str, control: pathlib.Path, pin: Dict[str, Any]) -> None:
        """Builds a source package, unless the cache has it."""
        recipes: Dict[str, Callable[[pathlib.Path, pathlib.Path], None]] = {
            "ffmpeg": self._build_ffmpeg,
            "jpeg-xl": self._build_libjxl,
            "libarchive": self._build_libarchive,
            "libavif": self._run_cmake(AVIF_OPTIONS),
            "libheif": self._build_libheif,
            "libsoup3": self._run_meson,
            "tiff": self._run_cmake(TIFF_OPTIONS),
        }
        decides = [json.dumps(pin, sort_keys=True).encode(),
                   pathlib.Path(__file__).read_bytes(),
                   pathlib.Path(OLD_GLIBC.split()[-1]).read_bytes(),
                   subprocess.check_output([self.target.tool("gcc"), "-v"],
                                           stderr=subprocess.STDOUT)]
        key = hashlib.sha256(b"".join(decides)).hexdigest()[:12]
        version = pin["version"].rpartition(":")[2]
        self.prefix = self.cache / f"{name}-{version}-{key}"
        self.prefixes[name] = self.prefix
        done = self.prefix / "complete"
        if done.exists():
            print(f"  {name} {version} is in {self.cache}", flush=True)
            return
        print(f"  {name} {version}", flush=True)
        source = self.folder / name
        shutil.rmtree(source, ignore_errors=True)
        shutil.rmtree(self.prefix, ignore_errors=True)
        self.prefix.mkdir(parents=True)
        log = self.folder / f"{name}.log"
        log.unlink(missing_ok=True)
        self._run(log, self.folder, ["dpkg-source", "--no-check", "-x",
                                     str(control), str(source)])
        recipes[name](log, source)
        shutil.copy(source / "debian" / "copyright", self.prefix)
        shutil.rmtree(source)
        done.touch()
