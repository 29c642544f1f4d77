# gst-spdl: decoding alone
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import ctypes
import os
import threading
import warnings
from collections import OrderedDict
from typing import Any, Tuple, Union

from .._arguments import UINT64_MAX, check_integer
from .._errors import LoaderError, LoaderWarning
from .._native import library as native
from .._native.gi import describe
from .batch import Batch
from .tensor import Tensor

# A thread keeps this number of decoders, for different settings.
_KEPT = 16


class _Decoder:
    def __init__(self, line: str) -> None:
        self._process = os.getpid()
        self.pointer = native.decoder_new(os.fsencode(line))

    def __del__(self, _unref: Any = native.unref_object,
                _get_process: Any = os.getpid) -> None:
        # In a forked child, freeing could wait for a lock that a thread of the
        # parent held.
        if getattr(self, "pointer", None) and _get_process() == self._process:
            _unref(self.pointer)


class _Decoders(threading.local):
    """The decoders of one thread. Threads never wait for each other, and a forked
    child finds no decoder that is in use."""

    def __init__(self) -> None:
        self.by_line: "OrderedDict[str, _Decoder]" = OrderedDict()

    def get(self, line: str) -> _Decoder:
        decoder = self.by_line.get(line)
        if decoder is None:
            decoder = _Decoder(line)
            self.by_line[line] = decoder
            if len(self.by_line) > _KEPT:
                self.by_line.popitem(last=False)
        else:
            self.by_line.move_to_end(line)
        return decoder


_decoders = _Decoders()


def _forget() -> None:
    global _decoders
    _decoders = _Decoders()


os.register_at_fork(after_in_child=_forget)


def write_property(value: Any) -> str:
    """Returns the value of a property in gst-launch syntax."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return '"<' + ",".join(map(str, value)) + '>"'
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def decode(data: Union[bytes, bytearray, memoryview], *, epoch: int = 0,
           index: int = 0, **properties: Any) -> Tensor:
    """Decodes one encoded item, without a pipeline.

        image = decode(open("a.jpg", "rb").read(), width=224, height=224)
        print(image.shape, image.dtype)     # (224, 224, 3) uint8

    `data`: the bytes of the file.
    `epoch`, `index`: numbers that determine random values, together with the
    property `seed`.

    Other arguments are properties of spdldecode: width=224, height=224,
    resize="cover", augment="random-resized-crop", flip=0.5 and so on.

    Returns a Tensor: uint8 of (height, width, 3) for an image, float32 of
    (samples, channels) for audio. A video becomes one of its frames, or with
    num_frames=16 a clip of (16, height, width, 3). NPY, and NPZ and
    safetensors with one array, become that array.

    Decodes in the calling thread with the GIL released. Threads and worker
    processes can call it, including forked ones. Raises LoaderError for data
    that cannot be decoded, for a wrong property, and for several arrays. Issues
    a LoaderWarning for the first image that loses values, such as bits of 16.
    """
    epoch = check_integer("epoch", epoch, 0, UINT64_MAX)
    index = check_integer("index", index, 0, UINT64_MAX)
    words = [f" {name.replace('_', '-')}={write_property(value)}"
             for name, value in properties.items()]
    if isinstance(data, (str, int, os.PathLike)):
        raise TypeError("data must be the bytes of a file, as "
                        "open(path, \"rb\").read() returns them, not "
                        f"{describe(data)}")
    data = bytes(data)
    try:
        decoder = _decoders.get("spdldecode" + "".join(words))
        batch = Batch._take(native.decode(decoder.pointer, data, len(data),
                                          epoch, index))
    except native.Error as error:
        raise LoaderError(error.message, code=error.nick,
                          stage="spdldecode") from error
    warning = native.decoder_take_warning(decoder.pointer)
    if warning:
        warnings.warn(LoaderWarning(warning), stacklevel=2)
    if len(batch) > 1:
        raise LoaderError(f"The file has {len(batch)} arrays, "
                          f"{', '.join(batch.names)}, more than the limit "
                          "of 1: use a Loader, which returns all of them",
                          stage="spdldecode")
    return batch[batch.names[0]]


def image_size(data: Union[bytes, bytearray, memoryview], **properties: Any
               ) -> Tuple[int, int]:
    """Returns the width and the height of an encoded image, from its header.

        width, height = image_size(open("a.jpg", "rb").read())

    This is the size that decode() gives without `width` and `height`: images are
    turned by their EXIF orientation, unless orientation="ignore" is set. Other
    arguments are properties of spdldecode. Raises LoaderError as decode()."""
    size = decode(data, size_only=True, **properties)
    height, width = (ctypes.c_int32 * 2).from_address(size.address)
    return width, height
