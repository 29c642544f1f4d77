# gst-spdl: images and masks
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import hashlib
import itertools
import os
import pathlib
import re
import tempfile
from typing import Dict, Iterable, List, Optional, Sequence, Union

from .elements import Path
from .places import check_place, make_absolute

#: suffixes of images
SUFFIXES = ("jpg", "jpeg", "png", "ppm", "bmp", "pgm", "tif", "tiff", "webp",
            "gif", "jp2", "avif", "heic", "heif", "jxl")

_MOVING = {"affine", "rotate", "perspective", "pad", "crop", "random-crop",
           "center-crop", "horizontal-flip", "vertical-flip"}
_WARPING = {"affine", "rotate", "perspective"}
_FILLING = {*_WARPING, "pad", "random-crop"}
_COLORS = {"brightness", "contrast", "saturation", "hue", "color-jitter",
           "grayscale", "autocontrast", "equalize", "invert", "posterize",
           "solarize", "solarize-add", "sharpness", "gaussian-blur", "erase"}
_GROUPS = {"choice", "sequence", "mix"}
_NAME = re.compile(r"(?<![=\w./-])[a-z][a-z0-9.-]*(?=\s*(?:[(,)]|$))")


def _leads_above(folder: str) -> bool:
    """Returns whether a folder is a link to one that contains it."""
    return (os.path.realpath(os.path.dirname(folder)) + os.sep).startswith(
        os.path.realpath(folder) + os.sep)


def list_images(place: str, suffixes: Sequence[str] = SUFFIXES) -> Dict[str, str]:
    """Returns the images of a folder, or the files with other suffixes, by their
    path in it without suffix."""
    def fail(error: OSError) -> None:
        raise error

    found: Dict[str, str] = {}
    for folder, folders, files in os.walk(place, onerror=fail, followlinks=True):
        folders[:] = [name for name in folders if name[0] != "." and
                      not _leads_above(os.path.join(folder, name))]
        for file in files:
            name, suffix = os.path.splitext(os.path.join(folder, file))
            if suffix[1:].lower() not in suffixes or file[0] == ".":
                continue
            key = os.path.relpath(name, place)
            if key in found:
                raise ValueError(
                    f"{found[key]} and {name}{suffix} differ only in their "
                    "suffix, so it is not clear which one belongs to a pair: "
                    "remove one, or write a list")
            found[key] = name + suffix
    return found


def read_names(names: Union[Path, Sequence[str]]) -> List[str]:
    if not isinstance(names, (str, os.PathLike)):
        return list(names)
    with open(os.path.expanduser(names), encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def check_names(folder: str, files: Dict[str, str], names: Sequence[str]) -> None:
    """Raises ValueError for names without a file in the folder."""
    missing = [name for name in names if name not in files]
    if missing:
        raise ValueError(
            f"{folder} has no file for {len(missing)} of {len(names)} pairs, "
            f"such as {missing[0]!r}: an image and its annotation have the same "
            "name except for the suffix. For other names, write a list")


def write_pairs(images: Path, masks: Path,
                names: Union[None, Path, Sequence[str]]) -> str:
    """Writes a list of the masks of a folder with their images, and returns its
    path. The same pairs have the same path."""
    folders = [make_absolute(os.fspath(path)) for path in (images, masks)]
    for folder in folders:
        check_place(folder)
    parts = [list_images(folder) for folder in folders]
    wanted = sorted(parts[1], key=os.fsencode) if names is None else read_names(names)
    if not wanted:
        raise ValueError(f"{names or folders[1]} has no "
                         f"{'names' if names else 'masks'}")
    for folder, part in zip(folders, parts):
        check_names(folder, part, wanted)
    # URIs need no quotes.
    return write_list(itertools.chain(["uri,mask\n"], (
        ",".join(pathlib.Path(part[name]).as_uri() for part in parts) + "\n"
        for name in wanted)), ".csv")


def write_list(lines: Iterable[str], suffix: str) -> str:
    """Writes a list as its lines come, and returns its path. The same lines have
    the same path."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(cache, "gst-spdl")
    os.makedirs(folder, exist_ok=True)
    digest = hashlib.sha256()
    made, place = tempfile.mkstemp(dir=folder)
    try:
        with open(made, "wb") as file:
            for line in lines:
                data = line.encode()
                digest.update(data)
                file.write(data)
        path = os.path.join(folder, digest.hexdigest()[:32] + suffix)
        if not os.path.exists(path):  # Another rank may read it.
            os.replace(place, path)
            return path
    except BaseException:
        os.unlink(place)
        raise
    os.unlink(place)
    return path


def _split(ops: str) -> List[str]:
    """Returns the operations of a list."""
    found, depth = [""], 0
    for letter in ops:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == ";" and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [op.strip() for op in found if op.strip()]


def follow(ops: str, fill: int) -> Optional[str]:
    """Returns the operations by which a mask follows its image; None if there are
    none. Operations draw random values by their number, so an operation without
    effect replaces each color operation. `fill`: class of pixels outside the mask.

    Raises ValueError for operations that masks cannot follow."""
    found = [_follow_one(op, fill) for op in _split(ops)]
    return "; ".join(op or "invert(p=0)" for op in found) if any(found) else None


def _follow_one(op: str, fill: int) -> Optional[str]:
    names = _NAME.findall(op)
    name = op.partition("(")[0].strip()
    if name not in _MOVING:
        wrong = [each for each in names if each not in _COLORS | _GROUPS]
        if wrong:
            raise ValueError(
                f'augment: masks cannot follow "{wrong[0]}" in "{op}". Possible '
                f"are {', '.join(sorted(_MOVING))}, and, for the image only, "
                f"{', '.join(sorted(_COLORS))}, also within "
                f"{', '.join(sorted(_GROUPS))}")
        return None
    arguments = re.sub(r"(?:fill|interpolation)\s*=[^,]*(?:,|$)", "",
                       op.partition("(")[2].rpartition(")")[0])
    more = [f"fill={fill}"] if name in _FILLING else []
    more += ["interpolation=nearest"] if name in _WARPING else []
    return f"{name}({','.join(filter(None, [arguments.strip(' ,'), *more]))})"
