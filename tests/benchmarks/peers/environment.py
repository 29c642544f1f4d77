# gst-spdl: Python environments of the peers
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two venvs of /usr/bin/python3, below build-venv-peers of the source tree,
which git ignores: `peers` sees Debian's packages and has what PyPI adds;
`newest` has PyPI's newest PyTorch instead, which is large and optional. Packages
that cannot be installed are reported, and their rows are skipped."""

import json
import pathlib
import shutil
import subprocess
from typing import Dict, List, NamedTuple, Optional, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[3]
VENVS = ROOT / "build-venv-peers"
PYTHON = "/usr/bin/python3"


class Package(NamedTuple):
    """Arguments for pip, the modules that rows need, and the distributions
    whose versions are reported."""
    requirements: str
    modules: Tuple[str, ...]
    distributions: Tuple[str, ...]


PEERS = {
    "SPDL": Package("spdl-core spdl-io", ("spdl.io", "spdl.pipeline"),
                    ("spdl-core", "spdl-io")),
    "DALI": Package("nvidia-dali-cuda120", ("nvidia.dali.fn",),
                    ("nvidia-dali-cuda120",)),
    "WebDataset": Package("webdataset", ("webdataset",), ("webdataset",)),
    "simplejpeg": Package("simplejpeg", ("simplejpeg",), ("simplejpeg",)),
}
# torchdata needs a newer PyTorch than Debian 12's.
NEWEST = {
    "PyTorch": Package("torch torchvision pillow numpy",
                       ("torch", "torchvision"), ("torch", "torchvision",
                                                  "pillow", "numpy")),
    "torchdata": Package("torchdata", ("torchdata.nodes",), ("torchdata",)),
    "torchcodec": Package("torchcodec", ("torchcodec",), ("torchcodec",)),
    "Grain": Package("grain", ("grain",), ("grain",)),
}
# Required packages of Debian: tools/setup bench.
DEBIAN = {
    "PyTorch": Package("", ("torch",), ("torch",)),
    "torchvision": Package("", ("torchvision",), ("torchvision",)),
    "Pillow": Package("", ("PIL",), ("Pillow",)),
    "NumPy": Package("", ("numpy",), ("numpy",)),
}


class Venv:
    """A virtual environment and its packages."""

    def __init__(self, name: str, packages: Dict[str, Package],
                 system: bool, parent: pathlib.Path = VENVS) -> None:
        self.name, self.packages, self.system = name, packages, system
        self.folder = parent / name
        self.python = self.folder / "bin/python"
        self.known: Dict[Tuple[str, ...], Optional[str]] = {}

    def exists(self) -> bool:
        return self.python.exists()

    def make(self, pypi: bool = True) -> None:
        """Installs missing packages; failures are retried the next time.
        Without PyPI, an existing environment is used as it is, and a new one
        has only Debian's packages."""
        if not self.exists():
            if not self.system and shutil.disk_usage(ROOT).free < 20e9:
                print(f"{self.name}: skipped: less than 20 GB on the disk")
                return
            options = ["--system-site-packages"] if self.system else []
            options += [] if pypi else ["--without-pip"]
            subprocess.run([PYTHON, "-m", "venv", *options, self.folder],
                           check=True)
        for name, package in self.packages.items() if pypi else ():
            self._install(name, package)
        self.known.clear()

    def _install(self, name: str, package: Package) -> None:
        mark = self.folder / f"installed-{name}"
        if mark.exists():
            return
        log = self.folder / f"pip-{name}.log"
        with log.open("w", encoding="utf-8") as out:
            done = subprocess.run(
                [self.python, "-m", "pip", "install", "--retries", "1",
                 *package.requirements.split()],
                stdout=out, stderr=subprocess.STDOUT, check=False)
        if done.returncode == 0:
            mark.touch()
            print(f"{self.name}: {name} is installed", flush=True)
        else:
            last = log.read_text().strip().splitlines()[-1:]
            print(f"{self.name}: {name} is skipped: {' '.join(last)} ({log})",
                  flush=True)

    def lacks(self, modules: Tuple[str, ...]) -> Optional[str]:
        """Returns the reason why a row that needs these modules cannot run, or
        None."""
        if not self.exists():
            return f"there is no venv `{self.name}`"
        if modules not in self.known:
            done = subprocess.run(
                [self.python, "-c", "import " + ", ".join(modules)],
                check=False, text=True, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE)
            self.known[modules] = None if done.returncode == 0 else (
                done.stderr.strip().splitlines() or ["it crashes"])[-1]
        return self.known[modules]

    def versions(self) -> Dict[str, str]:
        """Returns the versions of all installed distributions."""
        if not self.exists():
            return {}
        names: List[str] = []
        for package in [*self.packages.values(),
                        *(DEBIAN.values() if self.system else ())]:
            names += package.distributions
        code = ("import importlib.metadata as m, json, sys\n"
                "found = {}\n"
                "for name in sys.argv[1:]:\n"
                "    try: found[name] = m.version(name)\n"
                "    except m.PackageNotFoundError: pass\n"
                "print(json.dumps(found))")
        out = subprocess.run([self.python, "-c", code, *names], check=True,
                             text=True, stdout=subprocess.PIPE).stdout
        return dict(json.loads(out))


def venvs(parent: pathlib.Path = VENVS) -> Dict[str, Venv]:
    return {"peers": Venv("peers", PEERS, True, parent),
            "newest": Venv("newest", NEWEST, False, parent)}
