# gst-spdl: datasets of the comparison: images, lists, shards, audio, video
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each dataset is made once, below a folder outside of the source tree. Its name
gives the kind and the number of items. Lists are shuffled with a seed."""

import io
import pathlib
import random
import subprocess
import sys
import tarfile
from typing import Any, Dict, List, NamedTuple, Tuple

from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import sounds as sound_files  # noqa: E402

MAKE_DATASET = HERE.parents[2] / "tools/make-dataset"
# Multiples of a batch of 32.
COUNTS = {"imagenet": 640, "web": 640, "camera": 64}
QUICK_COUNTS = {"imagenet": 128, "web": 128, "camera": 32}
N_SHARDS = 8
LONG_LIST = 100_000
# File name's end and Pillow's settings. With quality="keep", a JPEG's
# coefficients stay the same.
FORMATS: Dict[str, Tuple[str, Dict[str, Any]]] = {
    "progressive": ("jpg", {"format": "JPEG", "quality": "keep",
                            "progressive": True}),
    "png": ("png", {"format": "PNG"}),
    "webp": ("webp", {"format": "WebP", "quality": 90})}
VIDEO_SECONDS = 10
N_VIDEOS = 8


class ImageSet(NamedTuple):
    folder: pathlib.Path
    list: pathlib.Path
    count: int


class Sets:
    def __init__(self, folder: pathlib.Path, quick: bool) -> None:
        self.folder = folder
        self.counts = QUICK_COUNTS if quick else COUNTS
        folder.mkdir(parents=True, exist_ok=True)

    def images(self, name: str) -> ImageSet:
        """Returns a folder and its list, which is shuffled once. The files are
        read once, so that they are in the page cache."""
        count = self.counts[name]
        folder = self.folder / f"gst-spdl-{name}-{count}"
        subprocess.run(["/usr/bin/python3", MAKE_DATASET, "--set", name,
                        "--count", str(count), folder], check=True,
                       stdout=subprocess.DEVNULL)
        paths = sorted(folder.glob("*/*.jpg"))
        classes = sorted({path.parent.name for path in paths})
        random.Random(1).shuffle(paths)
        for path in paths:
            path.read_bytes()
        made = folder.with_suffix(".txt")
        made.write_text("".join(f"{path}\t{classes.index(path.parent.name)}\n"
                                for path in paths), encoding="utf-8")
        return ImageSet(folder, made, count)

    def saved_as(self, name: str) -> ImageSet:
        """Returns the images of the set `imagenet`, saved by Pillow in another
        format."""
        images = self.images("imagenet")
        folder = images.folder.with_name(f"{images.folder.name}-{name}")
        end, settings = FORMATS[name]
        rows = []
        for i, line in enumerate(images.list.read_text().splitlines()):
            path, label = line.split("\t")
            made = folder / f"{i:04d}.{end}"
            rows.append(f"{made}\t{label}\n")
            if not made.exists():
                folder.mkdir(exist_ok=True)
                data = io.BytesIO()
                with Image.open(path) as image:
                    image.save(data, **settings)
                made.write_bytes(data.getvalue())
            made.read_bytes()
        made = folder.with_suffix(".txt")
        made.write_text("".join(rows), encoding="utf-8")
        return ImageSet(folder, made, images.count)

    def long_list(self) -> pathlib.Path:
        """Returns a list that repeats the files of one batch, so that the
        first batch and a later one, which is subtracted, have the same files."""
        lines = self.images("imagenet").list.read_text().splitlines(True)[:32]
        made = self.folder / f"long-{len(lines)}.txt"
        made.write_text("".join(lines[i % len(lines)]
                                for i in range(LONG_LIST)))
        return made

    def flat(self, name: str) -> pathlib.Path:
        """Returns the images of a set in a single folder."""
        images = self.images(name)
        folder = images.folder.with_name(images.folder.name + "-flat")
        folder.mkdir(exist_ok=True)
        for path in images.folder.glob("*/*.jpg"):
            link = folder / path.name
            if not link.exists():
                link.hardlink_to(path)
        return folder

    def urls(self, name: str, port: int) -> pathlib.Path:
        """Returns the URLs at an http-server that serves flat(), which has no
        subfolders."""
        rows = (line.split("\t") for line in
                self.images(name).list.read_text().splitlines())
        made = self.folder / f"urls-{name}-{port}.txt"
        made.write_text("".join(
            f"http://127.0.0.1:{port}/file/0/0/{pathlib.Path(path).name}"
            f"\t{label}\n" for path, label in rows))
        return made

    def shards(self, name: str) -> pathlib.Path:
        """Writes the images to tars, in the order of the list."""
        images = self.images(name)
        folder = self.folder / f"shards-{name}-{images.count}"
        if not (folder / "made").exists():
            folder.mkdir(exist_ok=True)
            rows = [line.split("\t")
                    for line in images.list.read_text().splitlines()]
            for i in range(N_SHARDS):
                self._write_shard(folder / f"{i:03d}.tar", rows,
                                  i * len(rows) // N_SHARDS,
                                  (i + 1) * len(rows) // N_SHARDS)
            (folder / "made").touch()
        return folder

    @staticmethod
    def _write_shard(path: pathlib.Path, rows: List[List[str]], first: int,
                     end: int) -> None:
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
            for index in range(first, end):
                image, label = rows[index]
                files = {"jpg": pathlib.Path(image).read_bytes(),
                         "cls": label.encode(),
                         "index": str(index).encode()}
                for end_of_name, data in files.items():
                    info = tarfile.TarInfo(f"{index:06d}.{end_of_name}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))

    def numbers(self, count: int) -> pathlib.Path:
        """Returns a list with a number of lines that are never opened."""
        made = self.folder / f"numbers-{count}.txt"
        if not made.exists():
            with made.open("w", encoding="utf-8") as out:
                out.writelines(f"/i/{i:08d}\t{i % 1000}\n"
                               for i in range(count))
        return made

    def sounds(self, end: str) -> pathlib.Path:
        folder = self.folder / f"sounds-{end}"
        made = folder / f"{end}.txt"
        if not made.exists():
            folder.mkdir(exist_ok=True)
            paths = sound_files.make_list(
                folder, end, sound_files.FORMATS[end]).read_text().split()
            made.write_text("".join(f"{path}\t{i}\n"
                                    for i, path in enumerate(paths)))
        return made

    def videos(self) -> pathlib.Path:
        """Makes H.264 videos of 640x360 with a key frame every 2 seconds."""
        folder = self.folder / "videos"
        made = folder / "list.txt"
        if not made.exists():
            folder.mkdir(exist_ok=True)
            paths = [folder / f"{i}.mp4" for i in range(N_VIDEOS)]
            for i, path in enumerate(paths):
                subprocess.run(
                    ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi",
                     "-i", f"mandelbrot=s=640x360:r=25:start_scale={2 - i / 8}",
                     "-t", str(VIDEO_SECONDS), "-c:v", "libx264", "-preset",
                     "veryfast", "-g", "50", "-pix_fmt", "yuv420p", path],
                    check=True)
            made.write_text("".join(f"{path}\t{i}\n"
                                    for i, path in enumerate(paths)))
        return made
