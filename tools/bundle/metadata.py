# gst-spdl: metadata of the wheel: licences, SBOM and archive
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import base64
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import time
import tomllib
import zipfile
from typing import Any, Dict, List

from .licences import find_licence
from .target import Target

OWN_LICENCE = "LGPL-2.1-or-later"
# Names in gstspdl.versions(), and the packages that determine the versions.
VERSIONS = {"glib": "libglib2.0-0", "gstreamer": "libgstreamer1.0-0",
            "gst-plugins-base": "gstreamer1.0-plugins-base",
            "gst-plugins-good": "gstreamer1.0-plugins-good",
            "gst-plugins-bad": "gstreamer1.0-plugins-bad",
            "gst-libav": "gstreamer1.0-libav", "ffmpeg": "ffmpeg",
            "libsoup": "libsoup3", "gnutls": "libgnutls30",
            "libjpeg-turbo": "libjpeg62-turbo", "libpng": "libpng16-16",
            "libtiff": "tiff", "libwebp": "libwebp7",
            "openjpeg": "libopenjp2-7", "libavif": "libavif",
            "libheif": "libheif", "libjxl": "jpeg-xl",
            "libarchive": "libarchive"}


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
            "licenses": [{"expression": find_licence(name)}],
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
            "licenses": [{"expression": OWN_LICENCE}]}},
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
    """Writes the copyright files of the packages, and the licences that they
    refer to; LICENSE is the LGPL 2.1. A file that packages share has the names
    of all, with "_" between them."""
    texts: Dict[bytes, List[str]] = {}
    for name in packages:
        texts.setdefault(find(name).read_bytes(), []).append(name)
    folder.mkdir(parents=True, exist_ok=True)
    for text, names in texts.items():
        (folder / f"{'_'.join(names)}.txt").write_bytes(text)
    common = pathlib.Path("/usr/share/common-licenses")
    for name in "Apache-2.0", "GPL-2", "GPL-3", "LGPL-2", "LGPL-3":
        shutil.copy(common / name, folder / f"common-{name}.txt")


def make_description(readme: str, base: str, version: str) -> str:
    """Makes the links of README.md absolute, which PyPI shows without the other
    files. @base: address of the repository"""
    def link(match: "re.Match[str]") -> str:
        picture, text, path = match.groups()
        if re.match(r"[a-z]+:|#", path):
            return match[0]
        kind = "raw" if picture else "blob"
        return f"{picture}[{text}]({base}/{kind}/v{version}/{path})"

    return re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", link, readme)


def make_fields(source: pathlib.Path, version: str, licence: str,
                files: List[str]) -> str:
    """Returns the content of METADATA and PKG-INFO, from pyproject.toml and
    README.md in @source. @files: paths of the licences"""
    project = tomllib.loads(
        (source / "pyproject.toml").read_text("utf-8"))["project"]
    base = project["urls"]["Source"]
    readme = (source / project["readme"]).read_text("utf-8")
    fields = [
        ("Metadata-Version", "2.4"), ("Name", project["name"]),
        ("Version", version), ("Summary", project["description"]),
        ("Keywords", ",".join(project["keywords"])),
        ("Author", ", ".join(who["name"] for who in project["authors"])),
        ("License-Expression", licence),
        *(("License-File", file) for file in files),
        *(("Classifier", name) for name in project["classifiers"]),
        ("Project-URL", f"Source, {base}"),
        ("Project-URL",
         f"Documentation, {base}/blob/v{version}/docs/README.md"),
        ("Project-URL", f"Changelog, {base}/blob/v{version}/CHANGELOG.md"),
        ("Project-URL", f"Issues, {base}/issues"),
        ("Requires-Python", project["requires-python"].replace(" ", ""))]
    for extra, names in project["optional-dependencies"].items():
        fields.append(("Provides-Extra", extra))
        fields += [("Requires-Dist", f'{name} ; extra == "{extra}"')
                   for name in names]
    fields.append(("Description-Content-Type", "text/markdown"))
    return "".join(f"{name}: {value}\n" for name, value in fields) + "\n" + (
        make_description(readme, base, version))


def write_metadata(folder: pathlib.Path, version: str, source: pathlib.Path,
                   licence: str, tag: str) -> None:
    """Writes METADATA, WHEEL and entry_points.txt, when the licences are in
    @folder."""
    project = tomllib.loads(
        (source / "pyproject.toml").read_text("utf-8"))["project"]
    files = sorted(path.relative_to(folder / "licenses").as_posix()
                   for path in (folder / "licenses").rglob("*"))
    (folder / "METADATA").write_text(
        make_fields(source, version, licence, files), "utf-8")
    (folder / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: gst-spdl tools/wheel\n"
        f"Root-Is-Purelib: false\nTag: {tag}\n", "utf-8")
    scripts = "".join(f"{name} = {function}\n"
                      for name, function in project["scripts"].items())
    (folder / "entry_points.txt").write_text(
        f"[console_scripts]\n{scripts}", "utf-8")


def read_commit_time() -> int:
    """Returns the time of the last commit, which makes the build
    reproducible."""
    try:
        return int(subprocess.check_output(
            ["git", "log", "-1", "--format=%ct"], text=True,
            cwd=pathlib.Path(__file__).parent, stderr=subprocess.DEVNULL))
    except (OSError, subprocess.CalledProcessError):
        return 1577836800  # not a checkout


def pack(tree: pathlib.Path, target: pathlib.Path, info: str) -> None:
    """Writes a wheel with all files in @tree, and RECORD in @info."""
    records = []
    stamp = time.gmtime(read_commit_time())[:6]
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
