# gst-spdl: loaders of the usual datasets in one call
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each function returns a Loader. `loader.description` is its line, and
Pipeline.parse(loader.description) the pipeline, which can be changed further.

The number of threads follows the cores and the CPU limit of the process. With
several ranks, each loads its part.
"""

import csv
import json
import os
from typing import (Any, List, Literal, Mapping, Optional, Sequence, Sized, Tuple,
                    Union)

from .._loader.loader import Loader
from .elements import BatchType, Function, Path, Seconds, ShardMode
from .pipeline import Pipeline

#: mean and standard deviation of ImageNet's images, in RGB from 0 to 1
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

Size = Union[int, Tuple[int, int]]
Process = Union[bool, Mapping[str, Any]]

_IMAGES = "*.@(jpg|jpeg|png|ppm|bmp|pgm|tif|tiff|webp|gif|jp2)"
_VIDEOS = "*.@(mp4|m4v|mov|mkv|webm|avi|mpg|mpeg|ts|ogv)"
_SOUNDS = "*.@(wav|flac|mp3|ogg|oga|opus|m4a|aac|aif|aiff|caf|au|mka|wma)"


def image_folder(
    root: Path,
    *,
    size: Size = 224,
    batch_size: int = 32,
    train: bool = True,
    drop_last: bool = False,
    seed: int = 0,
    in_order: bool = False,
    shard_mode: Optional[ShardMode] = None,
    crop_scale: Tuple[float, float] = (0.08, 1.0),
    flip: float = 0.5,
    crop: float = 0.875,
    augment: Optional[str] = None,
    transform: Optional[Function] = None,
    dtype: BatchType = "float32",
    mean: Optional[Sequence[float]] = IMAGENET_MEAN,
    std: Optional[Sequence[float]] = IMAGENET_STD,
    classes: Optional[Sequence[str]] = None,
    pattern: str = _IMAGES,
    state: Optional[str] = None,
    max_failures: int = -1,
    cpu_budget: float = 0.0,
    process: Process = False,
) -> Loader:
    """Loads images from a folder that has one folder per class.

        train = image_folder("train", batch_size=64, seed=1)
        val = image_folder("val", train=False, classes=train.classes)

    A batch has `data`, float32 of (batch, 3, height, width), and `labels`,
    int64 of (batch,). `loader.classes` has the names of the classes.

    `root`: the folder.
    `size`: height and width of the images in pixels, or (height, width).
    `batch_size`: number of images in a batch.
    `train`: True shuffles the images of each epoch and draws
    random-resized-crops and flips. False keeps the order of the folder,
    resizes each image and crops its center, exactly: fast-scale is off.
    `drop_last`: True drops the last batch of an epoch if it is not full.
    `seed`: seed of the order and of all random values. Use the same seed on
    all ranks.
    `in_order`: True also puts the same images into the same batches in each
    run with that seed. False puts images into batches as they complete, so
    that a slow one delays no other. Validation is always in order.
    `shard_mode`: the items of each rank if their number cannot be divided
    evenly. "pad", the default, repeats some, so that all ranks have the same
    number; "drop" leaves some out; "uneven" takes each item once.
    `crop_scale`: smallest and largest share of the area of an image that a
    random-resized-crop takes.
    `flip`: probability of mirroring an image in training.
    `crop`: share of the resized sides that validation keeps. 0.875 is
    torchvision's Resize(256) and CenterCrop(224).
    `augment`: operations that training applies to each image after the crop,
    such as "rand-augment" or "color-jitter(brightness=0.4,p=0.8); erase", as
    for Pipeline.augment().
    `transform`: function that is called with each decoded image, as
    Loader.map() describes, before the normalization. It returns an array of
    (height, width, channels): uint8, or float32 from 0 to 1.
    `dtype`: "float32" or "float16", or "uint8" without normalization.
    `mean`, `std`: one number per channel, for values from 0 to 1. None leaves
    out the step, for example if `transform` normalizes.
    `classes`: class names in the order of their numbers. None: the folders,
    sorted.
    `pattern`: glob for the names of the files that are images.
    `state`, `max_failures`, `cpu_budget`, `process`: as for Loader.

    Raises TypeError or ValueError for wrong arguments, and ValueError for a
    local folder without subfolders.
    """
    pipeline = _class_folders(root, pattern, train, seed, shard_mode)
    order = _keep_order(in_order or not train)
    pipeline = _decode_images(pipeline.fetch(**order), size, train, seed,
                              order, crop_scale, flip, crop, augment)
    return _finish(pipeline, batch_size, drop_last, order, transform, dtype,
                   mean, std, classes, state, max_failures, cpu_budget,
                   process)


def image_list(
    location: Path,
    *,
    size: Size = 224,
    batch_size: int = 32,
    train: bool = True,
    drop_last: bool = False,
    seed: int = 0,
    in_order: bool = False,
    shard_mode: Optional[ShardMode] = None,
    uri_column: Optional[str] = None,
    label_column: Optional[str] = None,
    target_columns: Union[None, str, Sequence[str]] = None,
    weight_column: Optional[str] = None,
    crop_scale: Tuple[float, float] = (0.08, 1.0),
    flip: float = 0.5,
    crop: float = 0.875,
    augment: Optional[str] = None,
    transform: Optional[Function] = None,
    dtype: BatchType = "float32",
    mean: Optional[Sequence[float]] = IMAGENET_MEAN,
    std: Optional[Sequence[float]] = IMAGENET_STD,
    classes: Optional[Sequence[str]] = None,
    state: Optional[str] = None,
    max_failures: int = -1,
    cpu_budget: float = 0.0,
    process: Process = False,
) -> Loader:
    """Loads images that a list names.

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
    images with replacement.

    Other arguments are those of image_folder().
    """
    labels = _label_settings(label_column, target_columns)
    if labels["label"] != "none":
        _check_label_column(location, label_column or "label")
    pipeline = Pipeline().files(
        location, uri_column=uri_column, **labels,
        weight_column=weight_column if train else None,
        **_order(train, seed, shard_mode))
    order = _keep_order(in_order or not train)
    pipeline = _decode_images(pipeline.fetch(**order), size, train, seed,
                              order, crop_scale, flip, crop, augment)
    return _finish(pipeline, batch_size, drop_last, order, transform, dtype,
                   mean, std, classes, state, max_failures, cpu_budget,
                   process, labels["label"] != "none")


def web_dataset(
    urls: Union[Path, Sequence[Path]],
    *,
    size: Size = 224,
    batch_size: int = 32,
    train: bool = True,
    drop_last: bool = False,
    seed: int = 0,
    in_order: bool = False,
    shard_mode: Optional[ShardMode] = None,
    extensions: Optional[str] = None,
    label_column: Optional[str] = None,
    target_columns: Union[None, str, Sequence[str]] = None,
    shuffle_buffer: int = 1000,
    crop_scale: Tuple[float, float] = (0.08, 1.0),
    flip: float = 0.5,
    crop: float = 0.875,
    augment: Optional[str] = None,
    transform: Optional[Function] = None,
    dtype: BatchType = "float32",
    mean: Optional[Sequence[float]] = IMAGENET_MEAN,
    std: Optional[Sequence[float]] = IMAGENET_STD,
    classes: Optional[Sequence[str]] = None,
    state: Optional[str] = None,
    max_failures: int = -1,
    cpu_budget: float = 0.0,
    process: Process = False,
) -> Loader:
    """Loads images from tar or ZIP shards.

        train = web_dataset("https://example.com/train-{0000..0127}.tar")

    A batch has `data`, float32 of (batch, 3, height, width), and `labels`,
    int64 of (batch,).

    `urls`: a path or URL, a pattern such as "train-{0000..0127}.tar", or a
    sequence of paths or URLs. Files with the same name up to the first dot
    are one sample, as in WebDataset. Its .cls is the label. A sample without
    a label is an error.
    `extensions`: extensions of the images, such as "jpg,png". None: the first
    media file of each sample.
    `label_column`: member of the samples' .json with the label. None: .cls.
    `target_columns`: members of the .json with numbers, as for image_list().
    `shuffle_buffer`: number of samples to shuffle among in training, if a
    server does not support byte ranges. Otherwise all samples are shuffled.
    `classes`: class names in the order of their numbers, which are required if
    labels are names.

    Other arguments are those of image_folder().
    """
    labels = _label_settings(label_column, target_columns)
    pipeline = Pipeline().files(
        _join_urls(urls), extensions=extensions, **labels,
        shuffle_buffer=shuffle_buffer if train else None,
        **_order(train, seed, shard_mode))
    order = _keep_order(in_order or not train)
    pipeline = _decode_images(pipeline.fetch(**order), size, train, seed,
                              order, crop_scale, flip, crop, augment)
    return _finish(pipeline, batch_size, drop_last, order, transform, dtype,
                   mean, std, classes, state, max_failures, cpu_budget,
                   process, labels["label"] != "none")


def video_folder(
    root: Path,
    *,
    size: Size = 112,
    num_frames: int = 16,
    frame_step: int = 2,
    batch_size: int = 8,
    train: bool = True,
    drop_last: bool = False,
    seed: int = 0,
    in_order: bool = False,
    shard_mode: Optional[ShardMode] = None,
    crop_scale: Tuple[float, float] = (0.5, 1.0),
    flip: float = 0.5,
    augment: Optional[str] = None,
    transform: Optional[Function] = None,
    dtype: BatchType = "float32",
    mean: Optional[Sequence[float]] = IMAGENET_MEAN,
    std: Optional[Sequence[float]] = IMAGENET_STD,
    classes: Optional[Sequence[str]] = None,
    pattern: str = _VIDEOS,
    state: Optional[str] = None,
    max_failures: int = -1,
    cpu_budget: float = 0.0,
    process: Process = False,
) -> Loader:
    """Loads one clip per video from a folder that has one folder per class.

        train = video_folder("videos", num_frames=16, frame_step=2)

    A batch has `data`, float32 of (batch, num_frames, 3, height, width), and
    `labels`, int64 of (batch,).

    `num_frames`: number of frames in a clip. A shorter video repeats its last
    frame.
    `frame_step`: distance between two frames of a clip, in frames of the
    video.
    `train`: True takes a clip at a random position and applies the same random
    crop and flip to all its frames. False takes the middle of the video and
    crops the center.
    `pattern`: glob for the names of the files that are videos.

    Other arguments are those of image_folder().
    """
    pipeline = _class_folders(root, pattern, train, seed, shard_mode)
    order = _keep_order(in_order or not train)
    height, width = _sides(size)
    settings: Any = {
        "augment": "random-resized-crop", "crop_scale": crop_scale,
        "flip": flip, "seed": seed, "clip_sampling": "random",
    } if train else {"resize": "cover", "clip_sampling": "center"}
    pipeline = pipeline.fetch(**order).decode(
        media="video", width=width, height=height, num_frames=num_frames,
        frame_step=frame_step, **settings, **order)
    pipeline = _augment(pipeline, augment if train else None, seed, order)
    return _finish(pipeline, batch_size, drop_last, order, transform, dtype,
                   mean, std, classes, state, max_failures, cpu_budget,
                   process)


def audio_folder(
    root: Path,
    *,
    rate: int = 16000,
    channels: int = 1,
    offset: Union[Seconds, Literal["random"]] = 0,
    duration: Optional[Seconds] = None,
    batch_size: int = 32,
    train: bool = True,
    drop_last: bool = False,
    seed: int = 0,
    in_order: bool = False,
    shard_mode: Optional[ShardMode] = None,
    transform: Optional[Function] = None,
    classes: Optional[Sequence[str]] = None,
    pattern: str = _SOUNDS,
    state: Optional[str] = None,
    max_failures: int = -1,
    cpu_budget: float = 0.0,
    process: Process = False,
) -> Loader:
    """Loads audio files from a folder that has one folder per class.

        train = audio_folder("sounds", rate=16000, duration=2.0)

    A batch has `data`, float32 of (batch, samples, channels) from -1 to 1;
    `data_lengths`, the number of samples of each file; and `labels`, int64 of
    (batch,). Files are padded with zeros to the longest one of the batch.

    `rate`: sample rate in Hz to which all files are converted.
    `channels`: number of channels to which all files are converted.
    `offset`, `duration`: part of each file to load, in seconds or as
    timedelta. `duration=None` loads to the end. `offset="random"` loads another
    part of each file in each epoch, by `seed`.
    `train`: True shuffles the files of each epoch. False loads them in order.
    `transform`: function that is called with each decoded file, as
    Loader.map() describes.
    `pattern`: glob for the names of the files that are audio.

    Other arguments are those of image_folder().
    """
    pipeline = _class_folders(root, pattern, train, seed, shard_mode)
    order = _keep_order(in_order or not train)
    pipeline = pipeline.fetch(**order).decode(
        media="audio", rate=rate, channels=channels,
        offset=-1 if offset == "random" else offset or None,
        duration=duration, seed=seed, **order)
    if transform is not None:
        pipeline = pipeline.map(transform, **order)
    pipeline = pipeline.batch(batch_size, labels=True, pad_to_longest=True,
                              drop_last=drop_last or None)
    return pipeline.loader(classes=classes, state=state,
                           max_failures=max_failures, cpu_budget=cpu_budget,
                           process=process)


# Parts of the recipes. A setting that is None keeps its default.

def _class_folders(root: Path, pattern: str, train: bool, seed: int,
                   shard_mode: Optional[ShardMode]) -> Pipeline:
    """Returns the source of a folder that has one folder per class."""
    if os.path.isdir(root):
        with os.scandir(root) as entries:
            if not any(entry.is_dir() for entry in entries):
                raise ValueError(
                    f"{os.fspath(root)} has no subfolders, so its files have no "
                    "classes: move the files of each class to one folder, or "
                    "load them without labels by Pipeline().files()")
    return Pipeline().files(root, pattern=pattern, label="folder",
                            label_missing="fail",
                            **_order(train, seed, shard_mode))


def _label_settings(label_column: Optional[str],
                    target_columns: Union[None, str, Sequence[str]]) -> Any:
    """Returns the properties of labels and targets. A dataset with targets has
    labels only if their column is named."""
    targets = target_columns if isinstance(target_columns, str) else \
        ",".join(target_columns or ())
    if targets and label_column is None:
        return {"label": "none", "target_columns": targets}
    return {"label": "manifest", "label_column": label_column,
            "label_missing": "fail", "target_columns": targets or None}


def _check_label_column(location: Path, label: str) -> None:
    """Raises if a local .csv file, or the first object of a local .jsonl file,
    has no column `label`. Errors in the file are left to the source."""
    name = os.fspath(location)
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
    """Returns the names in a JSON object; none, if the line is something else."""
    try:
        return list(json.loads(line).keys())
    except (ValueError, AttributeError, RecursionError):
        return []


def _order(train: bool, seed: int, shard_mode: Optional[ShardMode]) -> Any:
    """Returns the properties of the source."""
    order: Any = {"shuffle": True, "seed": seed} if train else {}
    return {**order, "shard_mode": shard_mode}


def _keep_order(in_order: bool) -> Any:
    """Properties of a stage."""
    return {"output_order": "input"} if in_order else {}


def _sides(size: Size) -> Tuple[int, int]:
    if isinstance(size, int):
        return size, size
    if isinstance(size, str) or not isinstance(size, Sized) or len(size) != 2:
        raise TypeError(f"size must be an int or (height, width), not {size!r}")
    height, width = size
    return height, width


def _decode_images(pipeline: Pipeline, size: Size, train: bool, seed: int,
                   order: Any, crop_scale: Tuple[float, float], flip: float,
                   crop: float, augment: Optional[str]) -> Pipeline:
    height, width = _sides(size)
    if train:
        return _augment(pipeline.decode(
            width=width, height=height, augment="random-resized-crop",
            crop_scale=crop_scale, flip=flip, seed=seed, **order),
            augment, seed, order)
    # Exact, since results of validations are compared with other loaders'.
    return pipeline.decode(width=width, height=height, resize="cover",
                           crop_fraction=crop, fast_scale=False, **order)


def _augment(pipeline: Pipeline, augment: Optional[str], seed: int,
             order: Any) -> Pipeline:
    return pipeline.augment(augment, seed=seed, **order) if augment else pipeline


def _finish(pipeline: Pipeline, batch_size: int, drop_last: bool,
            order: Any, transform: Optional[Function], dtype: BatchType,
            mean: Optional[Sequence[float]], std: Optional[Sequence[float]],
            classes: Optional[Sequence[str]], state: Optional[str],
            max_failures: int, cpu_budget: float, process: Process,
            labels: bool = True) -> Loader:
    """Adds the stacking of images or clips."""
    if transform is not None:
        pipeline = pipeline.map(transform, **order)
    is_float = dtype in ("float16", "float32")
    pipeline = pipeline.batch(
        batch_size, drop_last=drop_last or None, labels=labels, dtype=dtype,
        layout="nchw", mean=mean if is_float else None,
        std=std if is_float else None)
    return pipeline.loader(classes=classes, state=state,
                           max_failures=max_failures, cpu_budget=cpu_budget,
                           process=process)


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
    return "{" + ",".join(names) + "}"
