# gst-spdl: metadata of the wheel: licences, SBOM and archive
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import base64
import hashlib
import json
import pathlib
import shutil
import subprocess
import time
import tomllib
import zipfile
from typing import Any, Dict, List

from .target import Target

# Names in gstspdl.versions(), and the packages that determine the versions.
VERSIONS = {"glib": "libglib2.0-0", "gstreamer": "libgstreamer1.0-0",
            "gst-plugins-base": "gstreamer1.0-plugins-base",
            "gst-plugins-good": "gstreamer1.0-plugins-good",
            "gst-plugins-bad": "gstreamer1.0-plugins-bad",
            "gst-libav": "gstreamer1.0-libav", "ffmpeg": "ffmpeg",
            "libsoup": "libsoup3", "gnutls": "libgnutls30",
            "libjpeg-turbo": "libjpeg62-turbo", "libpng": "libpng16-16",
            "libtiff": "tiff", "libwebp": "libwebp7",
            "openjpeg": "libopenjp2-7", "libarchive": "libarchive"}


def make_components(pins: Dict[str, Any], packages: List[str],
                    target: Target) -> List[Dict[str, Any]]:
    """Returns CycloneDX components, one per package."""
    components = []
    for name in sorted(packages):
        pin = pins["packages"][target.debian].get(name)
        qualifier = "distro=debian-12&arch=" + (
            target.debian if pin else "source")
        version = (pin or pins["sources"][name])["version"]
        component = {
            "type": "library", "name": name, "version": version,
            "purl": f"pkg:deb/debian/{name}@{version}?{qualifier}",
        }
        if pin:
            component["hashes"] = [{"alg": "SHA-256",
                                    "content": pin["sha256"]}]
        components.append(component)
    return components


def write_sbom(path: pathlib.Path, version: str,
               components: List[Dict[str, Any]]) -> None:
    """Writes a CycloneDX 1.5 SBOM of the wheel."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {
            "type": "library", "name": "gst-spdl", "version": version,
            "licenses": [{"license": {"id": "LGPL-2.1-or-later"}}]}},
        "components": components}, indent=1) + "\n", "utf-8")


def write_versions(path: pathlib.Path, pins: Dict[str, Any],
                   packages: List[str], target: Target) -> None:
    """Writes the version file for gstspdl.versions()."""
    everything = {**pins["packages"][target.debian], **pins["sources"]}
    path.write_text(json.dumps(
        {name: everything[package]["version"]
         for name, package in VERSIONS.items() if package in packages},
        indent=1) + "\n", "utf-8")


def copy_licences(folder: pathlib.Path, packages: List[str],
                  find: Any) -> None:
    """Copies the copyright files of the packages and of the project."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in packages:
        shutil.copy(find(name), folder / f"{name}.txt")
    # Referenced by Debian's copyright files.
    common = pathlib.Path("/usr/share/common-licenses")
    for name in "Apache-2.0", "GPL-2", "GPL-3", "LGPL-2", "LGPL-2.1", "LGPL-3":
        shutil.copy(common / name, folder / f"common-{name}.txt")


def write_metadata(folder: pathlib.Path, version: str, source: pathlib.Path,
                   tag: str) -> None:
    """Writes METADATA, WHEEL and entry_points.txt."""
    folder.mkdir(parents=True, exist_ok=True)
    project = tomllib.loads(
        (source / "pyproject.toml").read_text("utf-8"))["project"]
    readme = (source / project["readme"]).read_text("utf-8")
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\n"
        f"Version: {version}\nSummary: {project['description']}\n"
        f"Requires-Python: {project['requires-python'].replace(' ', '')}\n"
        f"License: {project['license']['text']}\n"
        "Classifier: Operating System :: POSIX :: Linux\n"
        "Description-Content-Type: text/markdown\n\n" + readme, "utf-8")
    (folder / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: gst-spdl tools/wheel\n"
        f"Root-Is-Purelib: false\nTag: {tag}\n", "utf-8")
    scripts = "".join(f"{name} = {function}\n"
                      for name, function in project["scripts"].items())
    (folder / "entry_points.txt").write_text(
        f"[console_scripts]\n{scripts}", "utf-8")


def _commit_time() -> time.struct_time:
    """Returns the time of the last commit, which makes the build
    reproducible."""
    try:
        seconds = int(subprocess.check_output(
            ["git", "log", "-1", "--format=%ct"], text=True))
    except (OSError, subprocess.CalledProcessError):
        seconds = 1577836800  # not a checkout
    return time.gmtime(seconds)


def pack(tree: pathlib.Path, target: pathlib.Path, info: str) -> None:
    """Writes a wheel with all files in @tree, and RECORD in @info."""
    records = []
    stamp = _commit_time()[:6]
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED,
                         compresslevel=9) as archive:
        def add(name: str, data: bytes, mode: int) -> None:
            entry = zipfile.ZipInfo(name, stamp)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data)

        for path in files:
            name = path.relative_to(tree).as_posix()
            data = path.read_bytes()
            add(name, data, 0o755 if path.stat().st_mode & 0o100 else 0o644)
            digest = base64.urlsafe_b64encode(
                hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{name},sha256={digest},{len(data)}\n")
        records.append(f"{info}/RECORD,,\n")
        add(f"{info}/RECORD", "".join(records).encode(), 0o644)
