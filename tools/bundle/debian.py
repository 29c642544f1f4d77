# gst-spdl: Debian packages of the wheel, pinned by hash
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""packages.json lists the packages with version and SHA-256. apt downloads them and
verifies Debian's signatures; the files are then compared with the pinned hashes."""

import functools
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, NoReturn

from .target import TARGETS, Target

PINS = pathlib.Path(__file__).with_name("packages.json")

# Exit status if a pinned version cannot be downloaded.
UNAVAILABLE = 3

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


def hash_file(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_pins() -> Dict[str, Any]:
    pins: Dict[str, Any] = json.loads(PINS.read_text("utf-8"))
    return pins


def _run(*command: str, where: pathlib.Path) -> str:
    done = subprocess.run(command, cwd=where, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise SystemExit(f"tools/wheel: `{' '.join(command)}` failed: "
                         f"{done.stderr.strip()[-2000:]}")
    return done.stdout


def _give_up(name: str, version: str, error: object) -> NoReturn:
    print(f"{error}\ntools/wheel: {name} {version} of {PINS.name} cannot be "
          "downloaded. The wheel is built on Debian 12, after apt-get update. If "
          "Debian has a newer version, run tools/wheel --update",
          file=sys.stderr)
    raise SystemExit(UNAVAILABLE)


def _check(path: pathlib.Path, pin: str) -> None:
    found = hash_file(path)
    if found != pin:
        raise SystemExit(
            f"tools/wheel: {path.name} has the SHA-256 {found}, not {pin} of "
            f"{PINS.name}; if Debian has a new version, run tools/wheel "
            "--update, and look at the changes before you commit them")


class Downloader:
    """Downloads packages for a CPU into a folder, and keeps them there."""

    def __init__(self, folder: pathlib.Path, target: Target) -> None:
        self.folder = folder
        self.target = target
        folder.mkdir(parents=True, exist_ok=True)

    # Packages

    def _find(self, name: str, version: str) -> pathlib.Path:
        return self.folder / (f"{name}_{version.replace(':', '%3a')}"
                              f"_{self.target.debian}.deb")

    @functools.cached_property
    def _options(self) -> List[str]:
        """Returns apt options for packages of the CPU. Those of another CPU have
        their own lists, so that the system's configuration stays as it is."""
        if not self.target.is_cross:
            return []
        state = self.folder / f"apt-{self.target.debian}"
        (state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        (state / "status").touch()
        options = ["-o", f"APT::Architecture={self.target.debian}",
                   "-o", f"APT::Architectures={self.target.debian}",
                   "-o", f"Dir::State={state}",
                   "-o", f"Dir::State::status={state}/status"]
        _run("apt-get", *options, "update", "-q", where=self.folder)
        return options

    def get_with_dependencies(self, names: List[str]) -> List[pathlib.Path]:
        """Downloads packages of another CPU with all that they depend on."""
        (self.folder / "partial").mkdir(exist_ok=True)
        words = [*self._options, "-o", f"Dir::Cache::archives={self.folder}",
                 "install", "-qy", "--no-install-recommends"]
        _run("apt-get", *words, "--download-only", *names, where=self.folder)
        # APT prints "Inst NAME (VERSION ...".
        printed = _run("apt-get", *words, "--simulate", *names, where=self.folder)
        found = re.findall(r"^Inst (\S+) \((\S+) ", printed, re.MULTILINE)
        every = [self._find(name, version) for name, version in found]
        return [path if path.exists() else path.with_name(
            path.name.replace(f"_{self.target.debian}.", "_all.")) for path in every]

    def get_package(self, name: str, pin: Dict[str, str]) -> pathlib.Path:
        """Downloads a package if necessary, and returns the .deb file."""
        path = self._find(name, pin["version"])
        if not path.exists():
            try:
                _run("apt-get", *self._options, "download", "-q",
                     f"{name}={pin['version']}", where=self.folder)
            except SystemExit as error:
                _give_up(name, pin["version"], error)
        _check(path, pin["sha256"])
        return path

    def pin_package(self, name: str) -> Dict[str, str]:
        """Downloads the version that apt would install, and returns its pin."""
        _run("apt-get", *self._options, "download", "-q", name, where=self.folder)
        policy = _run("apt-cache", *self._options, "policy", name,
                      where=self.folder)
        match = re.search(r"Candidate: (\S+)", policy)
        if match is None:
            raise SystemExit(f"tools/wheel: apt has no package {name}")
        version = match[1]
        return {"version": version,
                "sha256": hash_file(self._find(name, version))}

    # Source packages

    def _source_options(self) -> List[str]:
        """Returns apt options that add source packages for all configured
        repositories, without changing the system's configuration."""
        lists = self.folder / "lists"
        targets = _run("apt-get", "indextargets", "--format",
                       "$(SITE) $(RELEASE) $(COMPONENT)",
                       "Identifier: Packages", where=self.folder)
        signed = f"[signed-by={KEYS}] " if pathlib.Path(KEYS).exists() else ""
        lines = {f"deb-src {signed}{target}\n"
                 for target in targets.splitlines()}
        sources = self.folder / "sources.list"
        text = "".join(sorted(lines))
        options = ["-o", f"Dir::Etc::SourceList={sources}",
                   "-o", "Dir::Etc::SourceParts=/dev/null",
                   "-o", f"Dir::State::Lists={lists}"]
        if not sources.exists() or sources.read_text("utf-8") != text:
            shutil.rmtree(lists, ignore_errors=True)
            (lists / "partial").mkdir(parents=True)
            sources.write_text(text, "utf-8")
            _run("apt-get", *options, "update", "-q", where=self.folder)
        return options

    def get_source(self, name: str, pin: Dict[str, Any]) -> pathlib.Path:
        """Downloads a source package if necessary. Returns the .dsc file; the other
        files are in the same folder."""
        files = {self.folder / file: pin["files"][file]
                 for file in pin["files"]}
        if not all(path.exists() for path in files):
            try:
                _run("apt-get", *self._source_options(), "source", "-q",
                     "--download-only", f"{name}={pin['version']}",
                     where=self.folder)
            except SystemExit as error:
                _give_up(name, pin["version"], error)
        for path, sha256 in files.items():
            _check(path, sha256)
        return next(path for path in files if path.suffix == ".dsc")

    def pin_source(self, name: str) -> Dict[str, Any]:
        """Downloads the newest version, and returns its pin."""
        shutil.rmtree(self.folder / "lists", ignore_errors=True)
        (self.folder / "sources.list").unlink(missing_ok=True)
        options = self._source_options()
        # APT prints only files that the folder lacks.
        with tempfile.TemporaryDirectory() as empty:
            printed = _run("apt-get", *options, "source", "-q", "--print-uris",
                           name, where=pathlib.Path(empty))
        names = [line.split()[1] for line in printed.splitlines()
                 if line.startswith("'")]
        _run("apt-get", *options, "source", "-q", "--download-only", name,
             where=self.folder)
        control = next(file for file in names if file.endswith(".dsc"))
        match = re.search(r"^Version: (\S+)$", (
            self.folder / control).read_text("utf-8"), re.MULTILINE)
        assert match is not None
        return {"version": match[1],
                "files": {file: hash_file(self.folder / file)
                          for file in sorted(names)}}

    def unpack(self, root: pathlib.Path) -> None:
        """Unpacks each package into a folder with its name in @root."""
        for name, pin in read_pins()["packages"][self.target.debian].items():
            mark = root / name / pin["sha256"]
            if mark.exists():
                continue
            shutil.rmtree(root / name, ignore_errors=True)
            (root / name).mkdir(parents=True)
            _run("dpkg-deb", "-x", str(self.get_package(name, pin)),
                 str(root / name), where=self.folder)
            mark.touch()


def update(folder: pathlib.Path) -> None:
    """Pins the current versions of all packages, for each CPU."""
    pins = read_pins()
    for target in TARGETS.values():
        downloader = Downloader(folder, target)
        packages = pins["packages"][target.debian]
        for name in packages:
            packages[name] = downloader.pin_package(name)
    for name in pins["sources"]:
        pins["sources"][name] = downloader.pin_source(name)
    PINS.write_text(json.dumps(pins, indent=2, sort_keys=True) + "\n", "utf-8")
