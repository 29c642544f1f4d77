# gst-spdl: boxes that files beside the images have
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists of images with the boxes of YOLO's and PASCAL VOC's files. A file that is
wrong fails its item only: its line of the list has the reason in place of
boxes."""

import json
import math
import os
import pathlib
from typing import (Any, Iterable, Iterator, List, NamedTuple, Optional, Sequence,
                    Tuple, Union)
from xml.etree import ElementTree

from .elements import Path
from .pairs import check_names, list_images, read_names, write_list
from .places import check_place, make_absolute

_NUMBERS = "0123456789+-.eE"


class Boxes(NamedTuple):
    """Boxes of an image, with the label and the difficult flag of each box."""

    boxes: List[List[float]]
    labels: List[Any]
    difficult: List[int]


class _Wrong(Exception):
    """Error of a file that cannot be read as boxes."""


Found = Union[Boxes, _Wrong]


def _lines(items: Iterable[Tuple[str, Found]], required: bool,
           difficult: bool) -> Iterator[str]:
    """Returns the lines of a list. `required`: leave out images without boxes."""
    for i, (image, found) in enumerate(items):
        line = {"uri": pathlib.Path(image).as_uri(), "id": i}
        if isinstance(found, Boxes):
            if required and not found.boxes:
                continue
            line.update(boxes=found.boxes, boxes_labels=found.labels)
            if difficult:
                line.update(boxes_difficult=found.difficult)
        else:
            # A path may have bytes that are not UTF-8.
            line.update(boxes=f"error: {found}".encode(errors="replace").decode())
        yield json.dumps(line, separators=(",", ":")) + "\n"


# YOLO

def _read_images(images: str) -> List[str]:
    """Returns the images of a folder, or those of a list with a path on each
    line."""
    check_place(images)
    if os.path.isdir(images):
        found = list_images(images)
        return [found[key] for key in sorted(found, key=os.fsencode)]
    folder = os.path.dirname(images)
    return [os.path.join(folder, name[2:] if name[:2] == "./" else name)
            for name in read_names(images)]


def _find_labels(image: str) -> str:
    """Returns the path of YOLO's file: the last folder "images" becomes
    "labels"."""
    above, slash, below = image.rpartition("/images/")
    name = above + "/labels/" + below if slash else image
    return os.path.splitext(name)[0] + ".txt"


def _read_number(text: str, line: str) -> float:
    if not text.strip(_NUMBERS):  # float() takes more
        try:
            number = float(text)
            if math.isfinite(number):
                return number
        except ValueError:
            pass
    raise _Wrong(f"{text!r} of {line!r} is not a number")


def _read_yolo_line(line: str, n_classes: int) -> Tuple[int, List[float]]:
    words = line.split()
    if len(words) != 5:
        raise _Wrong(f"{line!r} has {len(words)} numbers, not the 5 of a box")
    kind, *box = (_read_number(word, line) for word in words)
    if not kind.is_integer() or not 0 <= kind < n_classes:
        raise _Wrong(f"{words[0]} is not the number of a class" + (
            f" from 0 to {n_classes - 1}" if n_classes < 2**53 else ""))
    for word, number in zip(words[1:], box):
        if not 0 <= number <= 1:
            raise _Wrong(f"{word} of {line!r} is not a share of the image, from 0 to 1")
    return int(kind), box


def _read_yolo(path: str, n_classes: int) -> Optional[Found]:
    """Returns the boxes of a file, None if it does not exist."""
    boxes = Boxes([], [], [])
    number = 0
    try:
        with open(path, encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if not line.isspace():
                    kind, box = _read_yolo_line(line.strip(), n_classes)
                    boxes.boxes.append(box)
                    boxes.labels.append(kind)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return _Wrong(f"not text, in {path}")
    except OSError as error:
        return _Wrong(f"unreadable ({error.strerror}): {path}")
    except _Wrong as error:
        return _Wrong(f"{error}, in line {number} of {path}")
    return boxes


def write_yolo(images: Path, labels: Optional[Path], classes: Optional[Sequence[str]],
               required: bool) -> str:
    """Writes a list of images with the boxes of YOLO's files, and returns its
    path."""
    root = make_absolute(os.fspath(images))
    paths = _read_images(root)
    if not paths:
        raise ValueError(f"{root} has no images")
    place = labels and make_absolute(os.fspath(labels))
    if place:
        check_place(place)
        if not os.path.isdir(root):
            raise ValueError("labels is the folder of the files of a folder of images, "
                             f"but {root} is a list: leave labels out")
    n_classes = 2**53 if classes is None else len(classes)
    n_files = 0
    file = ""

    def read() -> Iterator[Tuple[str, Found]]:
        nonlocal n_files, file
        for image in paths:
            file = os.path.splitext(os.path.join(place, os.path.relpath(image, root)))[
                0] + ".txt" if place else _find_labels(image)
            found = _read_yolo(file, n_classes)
            n_files += found is not None
            yield image, found or Boxes([], [], [])
        if n_files == 0:
            raise ValueError(
                f"no image of {root} has a file with boxes, such as {file}: name their "
                "folder in labels")

    return write_list(_lines(read(), required, False), ".jsonl")


# PASCAL VOC

class _Builder(ElementTree.TreeBuilder):
    """Refuses document types, whose entities could expand without limit."""

    def doctype(self, *_: Any) -> None:
        raise _Wrong("document type, which VOC's files do not have")


def _read_text(element: Any, name: str) -> str:
    text = (element.findtext(name) or "").strip()
    if not text:
        raise _Wrong(f"object without <{name}>")
    return str(text)


def _read_voc_object(element: Any) -> Tuple[str, List[float], int]:
    place = element.find("bndbox")
    if place is None:
        raise _Wrong("object without <bndbox>")
    box = [_read_number(text, f"<{name}>") for name, text in (
        (name, _read_text(place, name)) for name in ("xmin", "ymin", "xmax", "ymax"))]
    if not (box[0] <= box[2] and box[1] <= box[3]):
        raise _Wrong(f"box {box} that ends before it begins")
    difficult = (element.findtext("difficult") or "0").strip()
    if difficult not in ("0", "1"):
        raise _Wrong(f"<difficult> that is {difficult!r}, not 0 or 1")
    return _read_text(element, "name"), box, int(difficult)


def _read_voc(path: str) -> Found:
    boxes = Boxes([], [], [])
    try:
        root = ElementTree.parse(
            path, ElementTree.XMLParser(target=_Builder())).getroot()
        for element in root.findall("object"):
            name, box, difficult = _read_voc_object(element)
            boxes.labels.append(name)
            boxes.boxes.append(box)
            boxes.difficult.append(difficult)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        return _Wrong(f"not XML ({error}): {path}")
    except OSError as error:
        return _Wrong(f"unreadable ({error.strerror}): {path}")
    except _Wrong as error:
        return _Wrong(f"{error}, in {path}")
    return boxes


def _number(found: Found, path: str, numbers: Any) -> Found:
    """Replaces names of classes by their numbers."""
    if not isinstance(found, Boxes):
        return found
    for name in found.labels:
        if name not in numbers:
            return _Wrong(f"{name!r} is none of the {len(numbers)} classes, in {path}")
    return found._replace(labels=[numbers[name] for name in found.labels])


def write_voc(root: Path, names: Union[None, Path, Sequence[str]],
              classes: Optional[Sequence[str]], required: bool) -> Tuple[str, List[str]]:
    """Writes a list of images with the boxes of VOC's files. Returns its path and
    the names of the classes."""
    place = make_absolute(os.fspath(root))
    folders = [os.path.join(place, name) for name in ("JPEGImages", "Annotations")]
    for folder in folders:
        check_place(folder)
    images = list_images(folders[0])
    files = list_images(folders[1], ("xml",))
    wanted = sorted(files, key=os.fsencode) if names is None else read_names(names)
    if not wanted:
        raise ValueError(f"{names or folders[1]} has no {'names' if names else '.xml files'}")
    for folder, part in zip(folders, (images, files)):
        check_names(folder, part, wanted)
    # Without names of classes, the first file is numbered after the last is read.
    found: Iterator[Tuple[str, Found]] = (
        (name, _read_voc(files[name])) for name in wanted)
    if classes is None:
        everything = list(found)
        classes = sorted({label for _, one in everything if isinstance(one, Boxes)
                          for label in one.labels})
        found = iter(everything)
    numbers = {name: i for i, name in enumerate(classes)}
    return write_list(_lines((
        (images[name], _number(one, files[name], numbers)) for name, one in found),
        required, True), ".jsonl"), list(classes)
