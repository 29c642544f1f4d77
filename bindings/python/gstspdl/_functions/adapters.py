# gst-spdl: transforms of other packages as functions of a pipeline
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Recognizes transforms by the modules of their classes, so that no package is
imported."""

import copy
import functools
import threading
import types
import warnings
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, Optional,
                    Sequence, Tuple)

from .._errors import LoaderError, LoaderWarning
from .._media.sample import Sample
from .seeds import Seed

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

#: what transform() takes
INPUTS = "pil", "chw", "hwc", "keyword"
_PROCESSOR = "processor"
# Packages whose classes take one kind of input.
_PACKAGES = {"torchvision.transforms": "pil", "timm.data": "pil",
             "albumentations": "keyword"}
# Packages whose functions and other classes take something else than a Sample.
_OTHERS = ("torch.nn", "torch.jit", "torchvision", "timm", "albumentations",
           "transformers", "kornia", "PIL", "cv2")
# Classes that normalize, or that choose the part of an image.
_NORMALIZING = {"Normalize", "ImageClassification"}
_CROPPING = {"RandomResizedCrop", "RandomResizedCropAndInterpolation",
             "CenterCrop", "ImageClassification"}
# Modes of Pillow whose arrays have a value for each channel.
_MODES = "L", "RGB", "RGBA", "LA"
_MAX_CHANNELS = 4

_WRAP = ('wrap it as gstspdl.torch.transform(f, input=...) with "pil", "chw", '
         '"hwc" or "keyword"')


class Transform:
    """Function of map() that calls a transform of images."""

    def __init__(self, function: Callable[..., Any], kind: str,
                 seed: Seed = Seed()) -> None:
        #: as of functools.partial; a pipeline names the element after it
        self.func = function
        self._kind = kind
        self._seed = seed
        self._own = threading.local()

    def __reduce__(self) -> Any:
        return type(self), (self.func, self._kind, self._seed)

    def __repr__(self) -> str:
        return f"transform({self.func!r}, input={self._kind!r})"

    def with_seed(self, seed: Seed) -> "Transform":
        return Transform(self.func, self._kind, seed)

    def __call__(self, sample: Sample) -> Any:
        return _convert(self._call(_read(sample), sample), self._kind)

    def _call(self, array: "Array", sample: Sample) -> Any:
        kind = self._kind
        if kind == "pil" and array.ndim == 4 and _kind_of(self.func) == "pil":
            kind = "chw"  # a clip, for torchvision
        if kind == "chw":
            return self.func(_to_tensor(array))
        if kind == "hwc":
            return self.func(array)
        if kind == "keyword":
            return self._call_by_keyword(array, sample)
        image = _to_pil(array)
        if kind == _PROCESSOR:
            return _process(self.func, image)
        return self.func(image)

    def _call_by_keyword(self, array: "Array", sample: Sample) -> Any:
        function: Any = self.func
        if hasattr(function, "set_random_seed"):
            # It has random generators, and keeps what it draws during a call.
            if not hasattr(self._own, "function"):
                self._own.function = copy.deepcopy(function)
            function = self._own.function
            function.set_random_seed(self._seed.of(sample) & 0xffffffff)
        result = function(image=array)
        if not isinstance(result, dict) or "image" not in result:
            raise TypeError("the transform must return a dict with \"image\", "
                            f"not {type(result).__name__}")
        return result["image"] if len(result) == 1 else {
            "data" if name == "image" else name: value
            for name, value in result.items()}


def transform(function: Callable[..., Any], input: str) -> Transform:
    """Wraps a transform of images as a function of map(). gstspdl.torch describes
    it."""
    if not callable(function):
        raise TypeError(f"transform(): {function!r} is not callable: give it a "
                        "function")
    if input not in INPUTS:
        raise ValueError(f"transform(): input={input!r} must be one of "
                         f"{', '.join(map(repr, INPUTS))}")
    return Transform(function, input)


def adapt(function: Any, seed: Seed) -> Any:
    """Returns the function that an element calls for a function of map(). Raises
    TypeError for a function whose input is not known."""
    if isinstance(function, Transform):
        return function.with_seed(seed)
    kind = _kind_of(function)
    if kind is not None:
        return Transform(function, kind, seed)
    owner = _find_owner(function)
    if owner is not None:
        raise TypeError(
            f"{_describe(function)} of {owner} does not take a Sample, and its "
            f"input is not known: {_WRAP}, or call it in your own function")
    return function


def _in_package(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def _list_modules(function: Any) -> "Iterator[str]":
    """The modules of an object's classes, the most derived first."""
    for each in type(function).__mro__:
        yield str(each.__module__)


def _kind_of(function: Any) -> Optional[str]:
    if isinstance(function, type):
        return None
    if any(each.__name__ == "ImageProcessingMixin" and
           _in_package(str(each.__module__), "transformers")
           for each in type(function).__mro__):
        return _PROCESSOR
    for module in _list_modules(function):
        for package, kind in _PACKAGES.items():
            if _in_package(module, package):
                return kind
    return None


def _find_owner(function: Any) -> Optional[str]:
    """Returns the package of a function, or of an object's class, that takes
    arguments other than a Sample."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, (types.FunctionType, types.BuiltinFunctionType, type)):
        modules: "Sequence[str]" = [str(function.__module__)]
    else:
        modules = list(_list_modules(function))
    for module in modules:
        for package in _OTHERS:
            if _in_package(module, package):
                return package
    return None


def _describe(function: Any) -> str:
    name: str = getattr(function, "__name__", type(function).__name__)
    return name


# Arguments and results

def _read(sample: Sample) -> "Array":
    """Returns the image of an item as an array of (height, width, channels)
    that a transform may change, or the clip."""
    _check_item(sample)
    names = sample.tensors.names
    if len(names) != 1:
        raise TypeError(
            f"the item has several tensors ({', '.join(names)}), and a "
            "transform would change only one of them: call it in your own "
            "function")
    array = sample[names[0]].numpy()
    if array.ndim not in (3, 4):
        raise TypeError(
            f"the item has the shape {array.shape}, but a transform needs a "
            "decoded image or clip: put map() after decode()")
    return array if array.flags.writeable else array.copy()


def _check_item(sample: Sample) -> None:
    try:
        sample._item()
    except LoaderError:
        raise TypeError("a transform gets one item at a time: put map() before "
                        "batch() and aggregate(), or call the transform in "
                        "your own function") from None


def _to_tensor(array: "Array") -> Any:
    import torch

    return torch.from_numpy(array).movedim(-1, -3)


def _to_pil(array: "Array") -> Any:
    from PIL import Image

    if array.ndim != 3 or array.dtype != "uint8" or (
            array.shape[2] not in (1, 3, 4)):
        raise TypeError(
            f"the item is {array.dtype} of the shape {array.shape}, but an image "
            "of Pillow is uint8 with 1, 3 or 4 channels: use "
            'gstspdl.torch.transform(f, input="chw") or input="hwc"')
    return Image.fromarray(array[:, :, 0] if array.shape[2] == 1 else array)


def _process(processor: Any, image: Any) -> "Array":
    """Calls an image processor of transformers."""
    import numpy

    # Those that use torchvision return only tensors of PyTorch.
    is_fast = any("Fast" in each.__name__ or "Torchvision" in each.__name__
                  for each in type(processor).__mro__)
    found = processor(image, return_tensors="pt" if is_fast else "np")
    if list(found) != ["pixel_values"]:
        raise TypeError(
            f"{type(processor).__name__} returns {', '.join(found)}, not only "
            "pixel_values: call it in your own function, which returns a dict "
            "of arrays")
    values = numpy.asarray(found["pixel_values"][0])
    if values.ndim != 3:
        raise TypeError(
            f"{type(processor).__name__} returns pixel_values of the shape "
            f"{values.shape} for an image: call it in your own function, which "
            "returns an array")
    is_last = values.shape[0] > _MAX_CHANNELS >= values.shape[2]
    return values if is_last else values.transpose(1, 2, 0)


def _convert(result: Any, kind: str) -> Any:
    """Converts the result of a transform to a result of a function of map()."""
    if isinstance(result, dict):
        return {name: _convert(value, kind) for name, value in result.items()}
    if isinstance(result, (list, tuple)):
        raise TypeError(
            f"the transform returned a {type(result).__name__} of {len(result)} "
            "values: return a dict with a name for each, from a function that "
            'is wrapped by gstspdl.torch.transform(f, input="pil")')
    if _is_of(result, "torch", "Tensor"):
        return _from_tensor(result)
    if _is_of(result, "PIL.Image", "Image"):
        return _from_pil(result)
    if kind == "chw" and getattr(result, "ndim", 0) > 2:
        raise TypeError(
            f"the transform got a tensor and returned {type(result).__name__}, "
            "whose order of dimensions is not known: return a tensor")
    return result


def _is_of(value: Any, package: str, name: str) -> bool:
    """Returns whether a value is of a class, or of one derived from it."""
    return any(each.__name__ == name and _in_package(str(each.__module__), package)
               for each in type(value).__mro__)


def _from_tensor(tensor: Any) -> Any:
    """PyTorch's images are (channels, height, width)."""
    tensor = tensor.detach()
    if tensor.ndim < 3:
        return tensor.numpy()
    if tensor.shape[-3] > _MAX_CHANNELS >= tensor.shape[-1]:
        raise TypeError(
            f"the transform returned a tensor of the shape {tuple(tensor.shape)}, "
            "but tensors are taken as (channels, height, width): return a NumPy "
            "array, or tensor.permute(2, 0, 1)")
    return tensor.movedim(-3, -1).numpy()


def _from_pil(image: Any) -> "Array":
    import numpy

    if image.mode not in _MODES:
        raise TypeError(f"the transform returned an image of the mode "
                        f'{image.mode!r}: return image.convert("RGB")')
    array = numpy.asarray(image)
    return array if array.ndim == 3 else array[:, :, None]


# Normalization and crops of a transform

def _walk(function: Any) -> "Iterator[Any]":
    """A transform and all transforms inside it."""
    if isinstance(function, Transform):
        function = function.func
    if isinstance(function, type):
        return
    yield function
    parts: Any = getattr(function, "transforms", None)
    if parts is None and _is_of(function, "torch", "Module"):
        parts = function.children()
    try:
        found = list(parts or ())
    except TypeError:
        return
    for part in found:
        yield from _walk(part)


def _find(function: Any, names: "set[str]") -> Optional[str]:
    for part in _walk(function):
        for each in type(part).__mro__:
            if each.__name__ in names and _kind_of(part):
                return each.__name__
    return None


def normalizes(function: Any) -> bool:
    """Returns whether the result of a known transform is normalized."""
    return _find(function, _NORMALIZING) is not None or any(
        _kind_of(part) == _PROCESSOR and getattr(part, "do_normalize", False)
        for part in _walk(function))


def settle(function: Any, given: Any, default: Any) -> Any:
    """Returns mean and std of a dataset: None instead of the defaults if its
    transform normalizes. Warns if a transform crops again."""
    found = _find(function, _CROPPING)
    if found is not None:
        warnings.warn(LoaderWarning(
            f"The transform has {found}, but the images are cropped and resized "
            "to `size` before it: leave it out of the transform, or build a "
            "pipeline in which decode() keeps the size"), stacklevel=6)
    is_default = given == default
    return (None, None) if is_default and normalizes(function) else given


def check_normalization(elements: "Sequence[Any]") -> None:
    """Raises ValueError if a batch would be normalized twice."""
    normalizing = None
    for element in elements:
        if element.function and normalizes(element.function):
            normalizing = element
        elif normalizing and "mean" in dict(element.properties):
            raise ValueError(
                f"{_describe(normalizing.function)} normalizes, and so does "
                f"mean={dict(element.properties)['mean']} of {element.factory}: "
                "leave out one of them")
