# gst-spdl: keyword arguments that the datasets have in common
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each argument is here once, with its type, default and text. takes() gives a
function those of some groups: type checkers read `**options: Unpack[GROUP]`,
help() and inspect.signature() show them all."""

import functools
import inspect
from typing import (Annotated, Any, Callable, Literal, Mapping, Optional, Sequence,
                    Tuple, TypedDict, TypeVar, Union, get_args)

from .._arguments import check_names
from .elements import (BatchType, DecodeInterpolation, DecodeOnCorrupt,
                       DecodeOrientation, Function, ShardMode)
from .training import RecipeName, find_recipe
from .values import is_bool

#: mean and standard deviation of ImageNet's images, in RGB from 0 to 1
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

Size = Union[int, Tuple[int, int]]
Process = Union[bool, Mapping[str, Any]]


class RunOptions(TypedDict, total=False):
    """`batch_size`: number of items in a batch.
    `train`: True shuffles the items of each epoch and draws random values.
    False keeps the order of the dataset.
    `drop_last`: True drops the last batch of an epoch if it is not full.
    `seed`: seed of the order and of all random values. Use the same seed on
    all ranks.
    `in_order`: True also puts the same items into the same batches in each run with
    that seed. False puts items into batches in the order in which they are decoded,
    so a slow item does not delay others. Validation is always in order.
    `shard_mode`: the items of each rank if their number cannot be divided evenly.
    "pad", the default, repeats some items, so all ranks have the same number;
    "drop" leaves some out; "uneven" takes each item once.
    `transform`: function that is called with each decoded item, as
    Loader.map() describes, before the normalization. For an image it returns
    an array of (height, width, channels): uint8, or float32 from 0 to 1. It may
    also be a transform of torchvision, timm, albumentations or transformers.
    `processes`: number of worker processes that call `transform`. 0: threads.
    `concurrency`: number of threads for each of decoding, augmenting and calling
    `transform`. None: the number of cores.
    `state`, `max_failures`, `cpu_budget`, `process`: as for Loader."""

    batch_size: Annotated[int, 32]
    train: Annotated[bool, True]
    drop_last: Annotated[bool, False]
    seed: Annotated[int, 0]
    in_order: Annotated[bool, False]
    shard_mode: Annotated[Optional[ShardMode], None]
    transform: Annotated[Optional[Function], None]
    processes: Annotated[int, 0]
    concurrency: Annotated[Optional[int], None]
    state: Annotated[Optional[str], None]
    max_failures: Annotated[int, -1]
    cpu_budget: Annotated[float, 0.0]
    process: Annotated[Process, False]


class LoadOptions(RunOptions, total=False):
    """`labels`: False loads items without labels.
    `classes`: class names in the order of their numbers. None: the
    sorted names of the dataset."""

    labels: Annotated[bool, True]
    classes: Annotated[Optional[Sequence[str]], None]


class SizeOptions(TypedDict, total=False):
    """`size`: height and width of the result in pixels, or (height, width).
    `crop_scale`: smallest and largest share of the area that a random-resized-crop
    of training covers. None: the whole picture.
    `crop_ratio`: smallest and largest ratio of width to height of that crop.
    None: 3/4 to 4/3.
    `flip`: probability of mirroring a picture in training.
    `interpolation`: filter for resizing. None: bilinear.
    `augment`: operations that training applies after the crop, such as
    "rand-augment" or ["color-jitter(brightness=0.4,p=0.8)", "erase"], as for
    Pipeline.augment().
    `dtype`: "float32" or "float16", or "uint8" without normalization.
    `mean`, `std`: one number per channel, for values from 0 to 1. None leaves
    out the step, for example if `transform` normalizes. For gray pictures, the
    defaults of ImageNet are left out."""

    size: Annotated[Size, 224]
    crop_scale: Annotated[Optional[Tuple[float, float]], (0.08, 1.0)]
    crop_ratio: Annotated[Optional[Tuple[float, float]], None]
    flip: Annotated[float, 0.5]
    interpolation: Annotated[Optional[DecodeInterpolation], None]
    augment: Annotated[Union[None, str, Sequence[str]], None]
    dtype: Annotated[BatchType, "float32"]
    mean: Annotated[Optional[Sequence[float]], IMAGENET_MEAN]
    std: Annotated[Optional[Sequence[float]], IMAGENET_STD]


class PictureOptions(LoadOptions, SizeOptions, total=False):
    """Training can mix pictures and labels, as torchvision and timm do:
    `num_classes`: number of classes. The labels are then float32 rows of
    (batch, classes). None: the number of `classes` or of folders, if labels
    are mixed or smoothed.
    `label_smoothing`: share of a label that all classes get in equal parts.
    `mixup_alpha`, `cutmix_alpha`: parameter of the beta distribution from which
    Mixup and CutMix draw the share of the other picture. 0: off.
    `mix_prob`: probability that a batch is mixed.
    `mix_switch_prob`: probability of CutMix instead of Mixup, if both are on.
    `erase_prob`: probability that a random box is erased, after the normalization.
    `erase_noise`: True fills the box with noise instead of 0."""

    num_classes: Annotated[Optional[int], None]
    label_smoothing: Annotated[float, 0.0]
    mixup_alpha: Annotated[float, 0.0]
    cutmix_alpha: Annotated[float, 0.0]
    mix_prob: Annotated[float, 1.0]
    mix_switch_prob: Annotated[float, 0.5]
    erase_prob: Annotated[float, 0.0]
    erase_noise: Annotated[bool, False]


class FileOptions(TypedDict, total=False):
    """`format`: "RGB", or "GRAY8" for one channel.
    `background`: color behind transparent pixels, as 0xRRGGBB. None: black.
    `fast_scale`: True decodes large JPEGs at a part of their size. False is
    exact. None: True in training, False in validation.
    `on_corrupt`: "fail", the default, leaves out images with missing or invalid
    data. "keep" uses their decodable part.
    `orientation`: "apply", the default, rotates images by EXIF. "ignore" does not
    rotate them."""

    format: Annotated[Literal["RGB", "GRAY8"], "RGB"]
    background: Annotated[Optional[int], None]
    fast_scale: Annotated[Optional[bool], None]
    on_corrupt: Annotated[Optional[DecodeOnCorrupt], None]
    orientation: Annotated[Optional[DecodeOrientation], None]


class ImageOptions(PictureOptions, FileOptions, total=False):
    """`views`: training draws several pictures of each image, such as 2, or
    "2(size=224,scale=0.4..1); 8(size=96,scale=0.05..0.4)", as for
    Pipeline.decode(). A batch has the tensors `data`, `view1` and so on, all
    converted in the same way. `augment` draws other values for each view. None: one picture.
    `recipe`: name of a training recipe, which sets `size`, `crop`,
    `interpolation`, `augment`, the mixing and so on, for training and for
    validation. Your arguments replace those of the recipe.
    `crop`: share of each side of the resized image that validation keeps. 0.875
    corresponds to torchvision's Resize(256) and CenterCrop(224)."""

    views: Annotated[Union[None, int, str], None]
    recipe: Annotated[Optional[RecipeName], None]
    crop: Annotated[float, 0.875]


class SceneOptions(RunOptions, SizeOptions, FileOptions, total=False):
    """Options of coco_detection() and segmentation_pairs()."""


Maker = TypeVar("Maker", bound=Callable[..., Any])


def takes(*groups: Any, **defaults: Any) -> Callable[[Maker], Maker]:
    """Gives a function the arguments of groups instead of its `**options`. The
    function is called with a value for each argument.

    `groups`: the groups, the general ones last.
    `defaults`: defaults that differ from those of the groups."""
    hints = {name: get_args(hint) for group in groups
             for name, hint in group.__annotations__.items()}
    values = {**{name: hint[1] for name, hint in hints.items()}, **defaults}

    def decorate(function: Maker) -> Maker:
        signature = inspect.signature(function)
        own = [parameter for parameter in signature.parameters.values()
               if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        known = [*(parameter.name for parameter in own), *hints]

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            check_names(function.__name__, named, known)
            for name, value in named.items():
                if name in hints and hints[name][0] is bool and not is_bool(value):
                    raise TypeError(f"{function.__name__}(): {name} must be True "
                                    f"or False, not {value!r}")
            recipe = find_recipe(named.get("recipe"), named.get("train", True))
            return function(*arguments, **{**values, **recipe, **named})

        made: Any = call
        made.__signature__ = signature.replace(parameters=[*own, *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY,
                              default=values[name], annotation=hint[0])
            for name, hint in hints.items())])
        # Python 3.13 removes the indentation of docstrings itself.
        made.__doc__ = "\n\n".join([*(
            inspect.cleandoc(text) for text in (
                function.__doc__ or "", *(
                    group.__doc__ or "" for group in reversed(groups)))),
            "Raises TypeError or ValueError for wrong arguments, and LoaderError "
            "for a local\npath that does not exist."])
        return made  # type: ignore[no-any-return]

    return decorate
