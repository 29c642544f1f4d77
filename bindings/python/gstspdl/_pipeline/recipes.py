# gst-spdl: loaders of the usual datasets in one call
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each function returns a Loader. Pipeline.parse(loader) returns its pipeline,
which can be changed further.

The number of threads follows the cores and the CPU limit of the process. With
several ranks, each loads its part.
"""

import csv
import json
import os
import re
from typing import (TYPE_CHECKING, Any, List, Literal, Optional, Sequence, Sized,
                    Tuple, Union)

from .._functions.adapters import settle
from .._loader.loader import Loader
from .annotations import write_voc, write_yolo
from .elements import Function, Path, Seconds
from .options import (IMAGENET_MEAN, IMAGENET_STD, FileOptions, ImageOptions,
                      LoadOptions, PictureOptions, RunOptions, SceneOptions, Size,
                      SizeOptions, takes)
from .pairs import SUFFIXES, follow, write_pairs
from .pipeline import Pipeline
from .places import check_place, make_absolute

if TYPE_CHECKING:
    from typing_extensions import Unpack

_IMAGES = f"*.@({'|'.join(SUFFIXES)})"
_VIDEOS = "*.@(mp4|m4v|mov|mkv|webm|avi|mpg|mpeg|ts|ogv)"
_SOUNDS = "*.@(wav|flac|mp3|ogg|oga|opus|m4a|aac|aif|aiff|caf|au|mka|wma)"

# COCO's keypoints of a person are the nose, and eight on the left and on the right.
_SIDES = ",".join(f"{k}-{k + 1}" for k in range(1, 17, 2))

_SOUND_OPTIONS = LoadOptions, RunOptions
_CLIP_OPTIONS = PictureOptions, SizeOptions, *_SOUND_OPTIONS
_IMAGE_OPTIONS = ImageOptions, FileOptions, *_CLIP_OPTIONS
_SCENE_OPTIONS = SceneOptions, FileOptions, SizeOptions, RunOptions
_BOX_DEFAULTS: Any = {"size": 640, "batch_size": 8, "crop_scale": None, "mean": None,
                      "std": None}


@takes(*_IMAGE_OPTIONS)
def image_folder(root: Path, *, pattern: str = _IMAGES,
                 **options: "Unpack[ImageOptions]") -> Loader:
    """Loads images from a folder that has one folder per class.

        train = image_folder("train", batch_size=64, seed=1)
        val = image_folder("val", train=False, classes=train.classes)

    A batch has `data`, float32 of (batch, 3, height, width), and `labels`,
    int64 of (batch,). `loader.classes` has the names of the classes.

    Training draws random-resized-crops and flips. Validation resizes each image and
    crops its center. It is exact, since fast-scale is off.

    `root`: the folder.
    `pattern`: glob for the names of the files that are images."""
    return _load_images(_class_folders(root, pattern, options), options)


@takes(*_IMAGE_OPTIONS)
def image_list(location: Path, *, uri_column: Optional[str] = None,
               label_column: Optional[str] = None,
               target_columns: Union[None, str, Sequence[str]] = None,
               weight_column: Optional[str] = None,
               **options: "Unpack[ImageOptions]") -> Loader:
    """Loads the images of a list.

        train = image_list("train.csv", weight_column="weight")

    A batch has `data`, float32 of (batch, 3, height, width), and `labels`,
    int64 of (batch,).

    `location`: a .csv file with the columns uri and label, a .jsonl file with
    these members in the object on each line, or a .txt file with a path or
    URI, a tab and a label on each line. Labels are numbers or names. Paths are
    relative to the list. An image without a label is an error.
    `uri_column`: column or member with the path or URI. None: uri.
    `label_column`: column or member with the label. None: label.
    `target_columns`: columns or members with numbers, or lists of numbers, as
    for a regression. Each is a tensor of the batch, float64 of (batch,) or
    (batch, numbers). A batch then has `labels` only with `label_column`.
    `weight_column`: column or member with weights, by which training draws
    images with replacement."""
    o: Any = options
    labels = _label_settings(label_column, target_columns, o)
    if o["labels"]:
        _check_label_column(location, label_column or "label")
    return _load_images(Pipeline().files(
        location, uri_column=uri_column, **labels,
        weight_column=weight_column if o["train"] else None, **_order(o)), o)


@takes(*_IMAGE_OPTIONS)
def web_dataset(urls: Union[Path, Sequence[Path]], *,
                extensions: Optional[str] = None,
                label_column: Optional[str] = None,
                target_columns: Union[None, str, Sequence[str]] = None,
                shuffle_buffer: int = 1000,
                **options: "Unpack[ImageOptions]") -> Loader:
    """Loads images from tar or ZIP shards.

        train = web_dataset("https://example.com/train-{0000..0127}.tar")

    A batch has `data`, float32 of (batch, 3, height, width), and `labels`,
    int64 of (batch,).

    `urls`: a path or URL, a pattern such as "train-{0000..0127}.tar", or a
    sequence of paths or URLs. Files with the same name up to the first dot
    are one sample, as in WebDataset. Its .cls is the label. A sample without
    a label is an error. Its texts are in `extras` of the batch, and in
    `extra` of the item that `transform` gets. If labels are names, `classes`
    is required.
    `extensions`: extensions of the images, such as "jpg,png". None: the first
    media file of each sample.
    `label_column`: member of the samples' .json with the label. None: .cls.
    `target_columns`: members of the .json with numbers, as for image_list().
    `shuffle_buffer`: number of samples in the shuffle buffer of training, if a
    server does not support byte ranges. Otherwise, all samples are shuffled."""
    o: Any = options
    return _load_images(Pipeline().files(
        _join_urls(urls), extensions=extensions,
        **_label_settings(label_column, target_columns, o),
        shuffle_buffer=shuffle_buffer if o["train"] else None, **_order(o)), o)


@takes(*_SCENE_OPTIONS, **_BOX_DEFAULTS)
def coco_detection(annotations: Path, root: Path, *, keypoints: bool = False,
                   masks: bool = False, require_annotations: bool = False,
                   min_area: float = 0.0,
                   **options: "Unpack[SceneOptions]") -> Loader:
    """Loads images with the boxes of annotations in COCO's format.

        train = coco_detection("instances_train2017.json", "train2017")

    A batch has `data`, float32 of (batch, 3, height, width); `boxes`, float32
    of (batch, boxes, 4): left, top, right and bottom in pixels of `data`;
    `boxes_lengths`, the number of boxes of each image; `boxes_labels`,
    `boxes_crowd` and `boxes_ids` (the ids of the annotations), int64 of
    (batch, boxes); and `id`, float64 of (batch,): the ids of the images. Images
    with fewer boxes than others are padded: see gstspdl.torch.list_targets().

    Label 0 is the first of `loader.classes`, the categories in the order of
    their ids.

    Images keep their ratio of width to height, and get a border. Training mirrors
    images. With `crop_scale`, training draws random-resized-crops instead, without
    a border. Values are from 0 to 1, since torchvision's models normalize them,
    unless `mean` and `std` are set.

    A function of `transform` must not move the image.

    `annotations`: the .json file. Each annotation has `id` and `iscrowd`.
    `root`: the folder of the images.
    `keypoints`: True adds COCO's 17 keypoints of each person: `keypoints`, float32
    of (batch, boxes, 17, 3): x, y and visibility. In mirrored images, left and
    right keypoints are exchanged.
    `masks`: True adds the masks of the objects: `boxes_masks`, uint8 of
    (batch, boxes, height, width), 1 in the object. Each annotation needs a
    `segmentation`.
    `require_annotations`: True leaves out images that have no annotation.
    `min_area`: boxes whose visible part is smaller, in square pixels, are
    dropped."""
    place = make_absolute(os.fspath(root))
    check_place(place)
    points: Any = {"keypoint_column": "keypoints", "keypoint_size": 3,
                   "keypoints_per_box": 17, "keypoint_pairs": _SIDES} if keypoints else {}
    return _load_boxes(annotations, options, root=place, box_format="xywh",
                       box_label_columns="boxes_labels,boxes_crowd,boxes_ids",
                       box_mask_column="boxes_masks" if masks else None,
                       require_annotations=require_annotations or None,
                       min_area=min_area or None, **points)


@takes(*_SCENE_OPTIONS, **_BOX_DEFAULTS)
def yolo_detection(images: Path, *, labels: Optional[Path] = None,
                   classes: Optional[Sequence[str]] = None,
                   require_annotations: bool = False, min_area: float = 0.0,
                   **options: "Unpack[SceneOptions]") -> Loader:
    """Loads images with the boxes of YOLO's .txt files.

        train = yolo_detection("coco8/images/train", classes=["person", "bicycle"])

    A line of a file is the number of a class, and the center, the width and the
    height of a box as shares of the image: "0 0.5 0.5 0.25 0.1". An image
    without a file has no boxes. If a line is wrong, the image fails, and the
    error names the file and the line.

    A batch has the arrays of coco_detection() except `boxes_crowd` and `boxes_ids`.
    `id` is the position of the image in the sorted paths, or in the list.

    All files are read when this is called.

    `images`: folder of the images, or a .txt list with a path on each line.
    `labels`: folder of the files, which have the paths of their images except
    for the suffix. None: the folder of each image, in which the last folder
    "images", if there is one, is "labels".
    `classes`: names of the classes in the order of their numbers. A file with a
    larger number is wrong.
    `require_annotations`: True leaves out images without boxes.
    `min_area`: boxes whose visible part is smaller, in square pixels, are
    dropped."""
    location = write_yolo(images, labels, classes, require_annotations)
    return _load_boxes(location, {**options, "classes": classes}, label="none",
                       box_format="cxcywh", relative_coordinates=True,
                       upright_coordinates=True, box_label_columns="boxes_labels",
                       min_area=min_area or None)


@takes(*_SCENE_OPTIONS, **_BOX_DEFAULTS)
def voc_detection(root: Path, *, names: Union[None, Path, Sequence[str]] = None,
                  classes: Optional[Sequence[str]] = None,
                  require_annotations: bool = False, min_area: float = 0.0,
                  **options: "Unpack[SceneOptions]") -> Loader:
    """Loads images with the boxes of PASCAL VOC's XML files.

        train = voc_detection("VOC2012", names="VOC2012/ImageSets/Main/train.txt")
        val = voc_detection("VOC2012", names="VOC2012/ImageSets/Main/val.txt",
                            classes=train.classes, train=False)

    A batch has the arrays of coco_detection(), with `boxes_difficult` instead of
    `boxes_crowd` and `boxes_ids`. `id` is the position of the image in the
    names.

    The coordinates of boxes are those in the files, as in torchvision: xmin, ymin,
    xmax and ymax. VOC counts pixels from 1, so the first pixel of an object is xmin
    - 1.

    If a file is wrong, its image fails, and the error names the file. All files
    are read when this is called.

    `root`: folder with JPEGImages and Annotations.
    `names`: names of the images to load, without suffix, or a file that has one
    on each line. None: all annotations.
    `classes`: names of the classes in the order of their numbers. None: the
    sorted names in the files.
    `require_annotations`: True leaves out images without boxes.
    `min_area`: boxes whose visible part is smaller, in square pixels, are
    dropped."""
    location, found = write_voc(root, names, classes, require_annotations)
    return _load_boxes(location, {**options, "classes": found}, label="none",
                       box_label_columns="boxes_labels,boxes_difficult",
                       min_area=min_area or None)


@takes(*_SCENE_OPTIONS, size=480, batch_size=8, crop_scale=(0.16, 1.0),
       crop_ratio=(1.0, 1.0))
def segmentation_pairs(images: Path, masks: Optional[Path] = None, *,
                       names: Union[None, Path, Sequence[str]] = None,
                       mask_column: str = "mask",
                       mask_format: Literal["index", "GRAY16"] = "index",
                       ignore_index: int = 255,
                       **options: "Unpack[SceneOptions]") -> Loader:
    """Loads images with masks, whose pixels are class numbers.

        train = segmentation_pairs("JPEGImages", "SegmentationClass",
                                   names="ImageSets/Segmentation/train.txt")

    A batch has `data`, float32 of (batch, 3, height, width), and `mask`, uint8
    of (batch, height, width, 1).

    Training crops and mirrors an image and its mask in the same way. Validation,
    and training with `crop_scale=None`, use the whole image with a border. Masks
    are resized with the nearest neighbor filter. Geometric operations of `augment`
    also apply to masks; color operations leave masks unchanged.

    `images`: the folder of the images; if `masks` is None, a .csv or .jsonl list
    with the columns uri and mask.
    `masks`: the folder of the masks, which have the paths of their images
    except for the suffix. Images without a mask are left out.
    `names`: names of the pairs to load, without suffix, or a file that has one
    on each line. None: all masks.
    `mask_column`: column of a list with the masks, and their name in the batch.
    `mask_format`: "index" for class numbers up to 255, with or without a
    palette; "GRAY16" for 16 bits, which is uint16 in the batch.
    `ignore_index`: class of the border, and of pixels outside the image."""
    if masks is None and names is not None:
        raise ValueError("names selects files of a folder of masks, but masks "
                         "is not set: set masks, or omit names")
    o: Any = {**options, "fit": "contain", "mask": {
        "part": mask_column, "format": mask_format, "background": ignore_index}}
    location = images
    if masks is not None:
        if mask_column != "mask":
            raise ValueError("mask_column is a column of a list: leave it out")
        location = write_pairs(images, masks, names)
    return _load_images(Pipeline().files(location, label="none", **_order(o)), o)


@takes(*_CLIP_OPTIONS, size=112, batch_size=8, crop_scale=(0.5, 1.0))
def video_folder(root: Path, *, num_frames: int = 16, frame_step: int = 2,
                 pattern: str = _VIDEOS,
                 **options: "Unpack[PictureOptions]") -> Loader:
    """Loads one clip per video from a folder that has one folder per class.

        train = video_folder("videos", num_frames=16, frame_step=2)

    A batch has `data`, float32 of (batch, num_frames, 3, height, width), and
    `labels`, int64 of (batch,).

    Training takes a clip at a random position and applies the same random
    crop and flip to all its frames. Validation takes the middle of the video
    and crops the center.

    `root`: the folder.
    `num_frames`: number of frames in a clip. A shorter video repeats its last
    frame.
    `frame_step`: distance between two frames of a clip, in frames of the
    video.
    `pattern`: glob for the names of the files that are videos."""
    o: Any = options
    clip: Any = "random" if o["train"] else "center"
    pipeline = _class_folders(root, pattern, o).fetch(**_keep_order(o)).decode(
        media="video", num_frames=num_frames, frame_step=frame_step,
        clip_sampling=clip, **_picture(o))
    return _stack(pipeline, o)


@takes(*_SOUND_OPTIONS)
def audio_folder(root: Path, *, rate: int = 16000, channels: int = 1,
                 offset: Union[Seconds, Literal["random"]] = 0,
                 duration: Optional[Seconds] = None, pattern: str = _SOUNDS,
                 **options: "Unpack[LoadOptions]") -> Loader:
    """Loads audio files from a folder that has one folder per class.

        train = audio_folder("sounds", rate=16000, duration=2.0)

    A batch has `data`, float32 of (batch, samples, channels) from -1 to 1;
    `data_lengths`, the number of samples of each file; and `labels`, int64 of
    (batch,). Files are padded with zeros to the longest one of the batch.

    `root`: the folder.
    `rate`: sample rate in Hz to which all files are converted.
    `channels`: number of channels to which all files are converted.
    `offset`, `duration`: part of each file to load, in seconds or as
    timedelta. `duration=None` loads to the end. `offset="random"` loads another
    part of each file in each epoch, by `seed`.
    `pattern`: glob for the names of the files that are audio."""
    o: Any = options
    start: Any = -1 if offset == "random" else offset or None
    pipeline = _class_folders(root, pattern, o).fetch(**_keep_order(o)).decode(
        media="audio", rate=rate, channels=channels, offset=start,
        duration=duration, seed=o["seed"], **_stage(o))
    return _load(_transform(pipeline, o).batch(
        o["batch_size"], labels=o["labels"], pad_to_longest=True,
        drop_last=o["drop_last"] or None), o)


# Parts of the functions. `o` has a value for each option. A setting that is
# None keeps its default.

def _class_folders(root: Path, pattern: str, o: Any) -> Pipeline:
    """Returns the source of a folder that has one folder per class."""
    labels: Any = {"label": "folder", "label_missing": "fail"} if o["labels"] \
        else {"label": "none"}
    pipeline = Pipeline().files(root, pattern=pattern, **labels, **_order(o))
    place = os.path.expanduser(root)
    if os.path.isfile(place):
        raise ValueError(f"{os.fspath(root)} is a file, not a folder: image_list() "
                         "loads a list of images, and web_dataset() shards")
    if o["labels"] and os.path.isdir(place):
        with os.scandir(place) as entries:
            n = sum(entry.is_dir() and entry.name[:1] not in (".", b".")
                    for entry in entries)
        if n == 0:
            raise ValueError(
                f"{os.fspath(root)} has no subfolders, so its files have no "
                "classes: move the files of each class to one folder, or "
                "load them without labels by labels=False")
        o.setdefault("n_folders", n)
    return pipeline


def _load_boxes(location: Path, o: Any, **settings: Any) -> Loader:
    """Loads a list with boxes. `settings`: properties of the source."""
    return _load_images(Pipeline().files(
        location, target_columns="id", box_column="boxes", **settings, **_order(o)),
        {**o, "fit": "contain"})


def _label_settings(label_column: Optional[str],
                    target_columns: Union[None, str, Sequence[str]],
                    o: Any) -> Any:
    """Returns the properties of labels and targets. A dataset with targets has
    labels only if their column is named."""
    targets = target_columns if isinstance(target_columns, str) else \
        ",".join(target_columns or ())
    if targets and label_column is None:
        o["labels"] = False
    if not o["labels"]:
        return {"label": "none", "target_columns": targets or None}
    return {"label": "manifest", "label_column": label_column,
            "label_missing": "fail", "target_columns": targets or None}


def _check_label_column(location: Path, label: str) -> None:
    """Raises if a local .csv file, or the first object of a local .jsonl file,
    has no column `label`. Errors in the file are left to the source."""
    name = os.path.expanduser(os.fspath(location))
    if not os.path.isfile(name):
        return
    columns: List[str] = [label]
    with open(name, encoding="utf-8-sig", errors="replace", newline="") as file:
        if name.endswith(".csv"):
            columns = next(csv.reader(file), [])
        elif name.endswith((".jsonl", ".ndjson")):
            columns = _read_members(
                next(filter(str.strip, file), "")) or columns
    if label not in columns:
        raise ValueError(
            f'{name} has no column "{label}" (its columns are '
            f'{", ".join(columns)}): add one, or set label_column to the one '
            "with the labels")


def _read_members(line: str) -> List[str]:
    """Returns the names in a JSON object. Returns no names if the line is something
    else."""
    try:
        return list(json.loads(line).keys())
    except (ValueError, AttributeError, RecursionError):
        return []


def _order(o: Any) -> Any:
    """Returns the properties of the source."""
    order: Any = {"shuffle": True, "seed": o["seed"]} if o["train"] else {}
    return {**order, "shard_mode": o["shard_mode"]}


def _keep_order(o: Any) -> Any:
    """Returns the properties of each stage."""
    in_order = o["in_order"] or not o["train"]
    return {"output_order": "input"} if in_order else {}


def _stage(o: Any) -> Any:
    """Returns the properties of a stage that computes."""
    return {"concurrency": o["concurrency"], **_keep_order(o)}


def _sides(size: Size) -> Tuple[int, int]:
    if isinstance(size, int):
        return size, size
    if isinstance(size, str) or not isinstance(size, Sized) or len(size) != 2:
        raise TypeError(f"size must be an int or (height, width), not {size!r}")
    height, width = size
    return height, width


def _picture(o: Any) -> Any:
    """Returns the properties of spdldecode for images and clips."""
    height, width = _sides(o["size"])
    settings = {"width": width, "height": height,
                "interpolation": o["interpolation"], **_stage(o)}
    whole = {"resize": o["fit"]} if "fit" in o else {}
    if not o["train"]:
        return {**settings, "resize": "cover", "crop_fraction": o.get("crop"), **whole}
    if o["crop_scale"] is not None:
        settings.update(augment="random-resized-crop",
                        crop_scale=o["crop_scale"], crop_ratio=o["crop_ratio"])
    else:
        settings.update(whole)
    return {**settings, "flip": o["flip"], "seed": o["seed"]}


def _list_views(o: Any) -> List[str]:
    """Returns the names of the parts that are views of an image."""
    views = o.get("views")
    if views is None or not o["train"]:
        return []
    if isinstance(views, bool) or not isinstance(views, (int, str)):
        raise TypeError(f"views must be an int or a str, not {views!r}")
    for name in "mixup_alpha", "cutmix_alpha", "erase_prob":
        if o[name]:
            raise ValueError(f"{name}={o[name]} changes one picture of an image: "
                             "leave it or views out")
    # spdldecode reports what is wrong in a list.
    groups = [re.match(r"\s*(\d{1,2})", group) for group in str(views).split(";")]
    n = sum(int(group[1]) if group else 0 for group in groups)
    return ["data", *(f"view{k}" for k in range(1, n))]


def _load_images(pipeline: Pipeline, o: Any) -> Loader:
    is_gray = o["format"] == "GRAY8"
    if not is_gray and o["format"] != "RGB":
        raise ValueError(f"format={o['format']!r} must be 'RGB' or 'GRAY8'")
    # Results of validations are compared with other loaders'.
    exact = None if o["train"] else False
    mask = o.get("mask")
    file: Any = {name: o[name] for name in ("background", "on_corrupt", "orientation")}
    pipeline = pipeline.fetch(parts=mask and mask["part"], **_keep_order(o)).decode(
        part=mask and "data", views=str(o["views"]) if _list_views(o) else None,
        **_picture(o), format=o["format"] if is_gray else None,
        fast_scale=exact if o["fast_scale"] is None else o["fast_scale"], **file)
    if mask:
        settings: Any = {**_picture(o), **file, **mask, "interpolation": "nearest"}
        pipeline = pipeline.decode(**settings)
    if is_gray:  # ImageNet's values are for three channels.
        o = {**o, "mean": None if o["mean"] is IMAGENET_MEAN else o["mean"],
             "std": None if o["std"] is IMAGENET_STD else o["std"]}
    return _stack(pipeline, o)


def _transform(pipeline: Pipeline, o: Any) -> Pipeline:
    if o["transform"] is None:
        if o["processes"]:
            raise ValueError(f"processes={o['processes']} is the number of "
                             "processes that call transform: set transform")
        return pipeline
    return pipeline.map(o["transform"], processes=o["processes"], **_stage(o))


def _mixing(o: Any) -> Any:
    """Returns the properties of spdlbatch that change pictures and labels in
    training."""
    if not o["train"] or "num_classes" not in o:
        return {}
    defaults = PictureOptions.__annotations__
    found = {name: o[name] for name in (
        "label_smoothing", "mixup_alpha", "cutmix_alpha", "mix_prob",
        "mix_switch_prob", "erase_prob", "erase_noise")
        if o[name] != defaults[name].__metadata__[0]}
    n = o["num_classes"]
    mixes = [name for name in ("label_smoothing", "mixup_alpha", "cutmix_alpha")
             if name in found]
    if mixes and n is None:
        n = len(o["classes"] or ()) or o.get("n_folders")
        if n is None or not o["labels"]:
            raise ValueError(f"{mixes[0]}={o[mixes[0]]} changes labels: set "
                             "num_classes to the number of classes")
    return {**found, "num_classes": n, "seed": o["seed"] if found else None}


def _stack(pipeline: Pipeline, o: Any) -> Loader:
    """Adds the elements after the decoding of images or clips."""
    augment: Any = o["augment"]
    if augment and o["train"]:
        try:
            ops = augment if isinstance(augment, str) else "; ".join(augment)
        except TypeError:
            raise TypeError("augment must be a str or a sequence of str, not "
                            f"{augment!r}") from None
        mask = o.get("mask")
        # It raises first if the mask cannot follow.
        mask_ops = mask and follow(ops, mask["background"])
        for part in _list_views(o) or [mask and "data"]:
            pipeline = pipeline.augment(ops, part=part, seed=o["seed"], **_stage(o))
        if mask_ops:
            pipeline = pipeline.augment(mask_ops, part=mask["part"], seed=o["seed"],
                                        **_stage(o))
    is_float = o["dtype"] in ("float16", "float32")
    mean, std = settle(o["transform"], (o["mean"], o["std"]),
                       (IMAGENET_MEAN, IMAGENET_STD))
    return _load(_transform(pipeline, o).batch(
        o["batch_size"], drop_last=o["drop_last"] or None, labels=o.get("labels"),
        dtype=o["dtype"], layout="nchw", mean=mean if is_float else None,
        std=std if is_float else None, **_mixing(o)), o)


def _load(pipeline: Pipeline, o: Any) -> Loader:
    return pipeline.loader(classes=o.get("classes"), state=o["state"],
                           max_failures=o["max_failures"],
                           cpu_budget=o["cpu_budget"], process=o["process"])


def _join_urls(urls: Union[Path, Sequence[Path]]) -> str:
    """Returns one pattern for several shards."""
    if isinstance(urls, (str, os.PathLike)):
        return os.fspath(urls)
    names = [os.fspath(url) for url in urls]
    if not names:
        raise ValueError("urls is empty: name at least one shard")
    if len(names) == 1:
        return names[0]
    for name in names:
        if "," in name:
            raise ValueError(f"the name of a shard in a sequence has a comma: "
                             f"{name!r}. Rename it, or give one pattern")
        check_place(make_absolute(name))
    absolute = ",".join(map(make_absolute, names))
    if absolute.count(",") >= len(names):  # from the name of the folder
        absolute = ",".join(names)
    return "{" + absolute + "}"
