# gst-spdl: loaders of the usual datasets in one call
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each recipe returns a Loader. `loader.description` is its line, and
Pipeline.parse(loader.description) the pipeline, to be changed further.

The number of threads follows the cores and the CPU limits of the process, and
is tuned while batches are loaded. With several ranks each one loads its part.
"""

import os
from typing import Any, Mapping, Optional, Sequence, Tuple, Union

from ._elements import BatchType, Function, Path, Seconds
from ._loader import Loader
from ._pipeline import Pipeline

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
    crop_scale: Tuple[float, float] = (0.08, 1.0),
    flip: float = 0.5,
    crop: float = 0.875,
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
    """Loads the images of a folder that has a folder for each class.

    A batch has `data`, float32 of (batch, 3, height, width), and `labels`,
    the numbers of the classes. `loader.classes` has their names.

    `size`: of the images, or (height, width).
    `batch_size`: The number of images in a batch.
    `drop_last`: True drops the last batch of an epoch if it is not full.
    `train`: True shuffles the images and draws random-resized-crops and flips.
    False resizes each image and takes its center, in the order of the folder.
    `seed`: of the order and of all that is drawn. It is the same on all ranks.
    `crop_scale`: The smallest and largest share of an image's area that a
    random-resized-crop takes.
    `flip`: The probability of mirroring an image in training.
    `crop`: The share of the resized sides that validation keeps: 0.875 is
    torchvision's Resize(256) and CenterCrop(224).
    `transform`: A function that is called with each decoded image, as
    Loader.map() describes it.
    `dtype`: float32 or float16, or uint8 without normalization.
    `mean`, `std`: for each channel, of values from 0 to 1. None leaves a step
    out.
    `classes`: Names in the order of their numbers. Give validation those of
    training: classes=train.classes. By default the folders, sorted.
    `pattern`: Glob for the names of files that are images.
    Other arguments are those of Loader.
    """
    pipeline = Pipeline().files(root, pattern=pattern, label="folder",
                                **_order(train, seed))
    pipeline = _decode_images(pipeline.fetch(**_keep_order(train)), size,
                              train, seed, crop_scale, flip, crop)
    return _finish(pipeline, batch_size, drop_last, train, transform, dtype,
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
    weight_column: Optional[str] = None,
    crop_scale: Tuple[float, float] = (0.08, 1.0),
    flip: float = 0.5,
    crop: float = 0.875,
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
    """Loads the images that a list names, as image_folder() does.

    `location`: a .csv file with the columns uri and label, or a .txt file with
    a path or URI on each line and, after a tab, a label. Labels are numbers or
    names. Paths are relative to the list.
    `weight_column`: The column of a .csv with weights, by which training draws
    images with replacement.
    Other arguments are those of image_folder().
    """
    pipeline = Pipeline().files(
        location, weight_column=weight_column if train else None,
        **_order(train, seed))
    pipeline = _decode_images(pipeline.fetch(**_keep_order(train)), size,
                              train, seed, crop_scale, flip, crop)
    return _finish(pipeline, batch_size, drop_last, train, transform, dtype,
                   mean, std, classes, state, max_failures, cpu_budget,
                   process)


def web_dataset(
    urls: Union[Path, Sequence[Path]],
    *,
    size: Size = 224,
    batch_size: int = 32,
    train: bool = True,
    drop_last: bool = False,
    seed: int = 0,
    extensions: Optional[str] = None,
    shuffle_buffer: int = 1000,
    crop_scale: Tuple[float, float] = (0.08, 1.0),
    flip: float = 0.5,
    crop: float = 0.875,
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
    """Loads the images of tar or ZIP shards, as image_folder() does.

    `urls`: paths or URLs of shards, such as "train-{0000..0127}.tar", or a
    sequence of them. A sample is the files that share a name, as in
    WebDataset; its .cls is the label.
    `extensions`: of the images, such as "jpg,png". By default a sample's first
    media file.
    `shuffle_buffer`: The number of samples to shuffle among in training, where
    a server supports no byte ranges. Elsewhere all samples are shuffled.
    `classes`: needed if labels are names.
    Other arguments are those of image_folder().
    """
    pipeline = Pipeline().files(
        _join_urls(urls), extensions=extensions,
        shuffle_buffer=shuffle_buffer if train else None,
        **_order(train, seed))
    pipeline = _decode_images(pipeline.fetch(**_keep_order(train)), size,
                              train, seed, crop_scale, flip, crop)
    return _finish(pipeline, batch_size, drop_last, train, transform, dtype,
                   mean, std, classes, state, max_failures, cpu_budget,
                   process)


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
    crop_scale: Tuple[float, float] = (0.5, 1.0),
    flip: float = 0.5,
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
    """Loads a clip of each video of a folder that has a folder for each class.

    A batch has `data`, float32 of (batch, num_frames, 3, height, width), and
    `labels`.

    `num_frames`: The number of frames of a clip. A shorter video repeats its
    last frame.
    `frame_step`: The distance between two frames of a clip.
    `train`: True takes a clip at a random place, crops all its frames equally
    at random, and flips them. False takes the middle of the video and of its
    frames.
    Other arguments are those of image_folder().
    """
    pipeline = Pipeline().files(root, pattern=pattern, label="folder",
                                **_order(train, seed))
    height, width = _sides(size)
    settings: Any = {
        "augment": "random-resized-crop", "crop_scale": crop_scale,
        "flip": flip, "seed": seed, "clip_sampling": "random",
    } if train else {
        "resize": "cover", "clip_sampling": "center", **_keep_order(train)}
    pipeline = pipeline.fetch(**_keep_order(train)).decode(
        width=width, height=height, num_frames=num_frames,
        frame_step=frame_step, **settings)
    return _finish(pipeline, batch_size, drop_last, train, transform, dtype,
                   mean, std, classes, state, max_failures, cpu_budget,
                   process)


def audio_folder(
    root: Path,
    *,
    rate: int = 16000,
    channels: int = 1,
    offset: Seconds = 0,
    duration: Optional[Seconds] = None,
    batch_size: int = 32,
    train: bool = True,
    drop_last: bool = False,
    seed: int = 0,
    transform: Optional[Function] = None,
    classes: Optional[Sequence[str]] = None,
    pattern: str = _SOUNDS,
    state: Optional[str] = None,
    max_failures: int = -1,
    cpu_budget: float = 0.0,
    process: Process = False,
) -> Loader:
    """Loads the audio files of a folder that has a folder for each class.

    A batch has `data`, float32 of (batch, samples, channels) from -1 to 1;
    `data_lengths`, the number of samples of each file; and `labels`. Shorter
    files are padded with zeros to the longest one of the batch.

    `rate`: The sample rate in Hz that all files are converted to.
    `channels`: The number of channels that all files are converted to.
    `offset`, `duration`: The part of each file to load, in seconds or
    timedeltas. None loads files to their ends.
    `train`: True shuffles the files. False loads them in order.
    Other arguments are those of image_folder().
    """
    pipeline = Pipeline().files(root, pattern=pattern, label="folder",
                                **_order(train, seed))
    pipeline = pipeline.fetch(**_keep_order(train)).decode(
        rate=rate, channels=channels, offset=offset or None,
        duration=duration, **_keep_order(train))
    if transform is not None:
        pipeline = pipeline.map(transform, **_keep_order(train))
    pipeline = pipeline.batch(batch_size, labels=True, pad_to_longest=True,
                              drop_last=drop_last or None)
    return pipeline.loader(classes=classes, state=state,
                           max_failures=max_failures, cpu_budget=cpu_budget,
                           process=process)


# Parts of the recipes. A setting that is None keeps its default.

def _order(train: bool, seed: int) -> Any:
    return {"shuffle": True, "seed": seed} if train else {}


def _keep_order(train: bool) -> Any:
    """Properties of a stage. Validation keeps the order of the dataset."""
    return {} if train else {"output_order": "input"}


def _sides(size: Size) -> Tuple[int, int]:
    if isinstance(size, int):
        return size, size
    try:
        height, width = size
    except (TypeError, ValueError):
        raise TypeError("size must be an int or (height, width), not "
                        f"{size!r}") from None
    return height, width


def _decode_images(pipeline: Pipeline, size: Size, train: bool, seed: int,
                   crop_scale: Tuple[float, float], flip: float,
                   crop: float) -> Pipeline:
    height, width = _sides(size)
    if train:
        return pipeline.decode(
            width=width, height=height, augment="random-resized-crop",
            crop_scale=crop_scale, flip=flip, seed=seed)
    return pipeline.decode(width=width, height=height, resize="cover",
                           crop_fraction=crop, output_order="input")


def _finish(pipeline: Pipeline, batch_size: int, drop_last: bool,
            train: bool, transform: Optional[Function], dtype: BatchType,
            mean: Optional[Sequence[float]], std: Optional[Sequence[float]],
            classes: Optional[Sequence[str]], state: Optional[str],
            max_failures: int, cpu_budget: float, process: Process) -> Loader:
    """Stacks images or clips."""
    if transform is not None:
        pipeline = pipeline.map(transform, **_keep_order(train))
    is_float = dtype in ("float16", "float32")
    pipeline = pipeline.batch(
        batch_size, drop_last=drop_last or None, labels=True, dtype=dtype,
        layout="nchw", mean=mean if is_float else None,
        std=std if is_float else None)
    return pipeline.loader(classes=classes, state=state,
                           max_failures=max_failures, cpu_budget=cpu_budget,
                           process=process)


def _join_urls(urls: Union[Path, Sequence[Path]]) -> str:
    """The pattern of several shards."""
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
