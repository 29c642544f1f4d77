# gst-spdl: a loader's source in the program
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import threading
import weakref
from queue import SimpleQueue
from typing import (Any, Callable, Dict, Iterable, Optional, Sequence,
                    Tuple)

from . import _native as native
from ._errors import is_timeout
from ._gi import GLib, Gst, raw
from ._labels import Labels

DOMAIN = "gst-spdl-python-source"

# The thread that pushes holds on to its loader only so long at a time, so that
# one that nobody uses any more can go.
_SLICE = 1_000_000_000


def _split(item: Any, labels: Labels,
           place: int) -> Tuple[Any, int, Optional[str]]:
    """Item, label and key of what a source gives."""
    if not isinstance(item, tuple):
        return item, -1, None
    if not 2 <= len(item) <= 3:
        raise TypeError("a source gives items, (item, label) or (item, label, "
                        f"key), not tuples of {len(item)}")
    key = str(item[2]) if len(item) > 2 and item[2] is not None else None
    name = key
    if name is None and isinstance(item[0], (str, os.PathLike)):
        name = os.fspath(item[0])
    name = f"item {place}" if name is None else f"the item {name!r}"
    return item[0], labels.number(item[1], name), key


def fill(data: bytes) -> "Gst.Buffer":
    # No bytes can be wrapped. One call of PyGObject's is faster than two.
    return Gst.Buffer.new_wrapped(data) if data else Gst.Buffer.new()


class Caps:
    """What the items are, made once for each kind."""

    def __init__(self, encoded: Optional[str]) -> None:
        self._encoded = Gst.Caps.from_string(
            encoded or "application/octet-stream")
        self._arrays: Dict[Tuple[Any, Tuple[int, ...]], Gst.Caps] = {}
        self._sample: Optional["Gst.Caps"] = None

    def of_bytes(self) -> "Gst.Caps":
        return self._encoded

    def of_array(self, dtype: Any, shape: Tuple[int, ...]) -> "Gst.Caps":
        caps = self._arrays.get((dtype, shape))
        if caps is None:
            dims = ":".join(map(str, reversed(shape))) or "1"
            caps = Gst.Caps.from_string(
                "other/tensors,format=static,num_tensors=1,"
                f'types=(string)"{dtype}",dimensions=(string)"{dims}",'
                "framerate=0/1")
            self._arrays[dtype, shape] = caps
        return caps

    def take_array(self, item: Any) -> Tuple["Gst.Caps", bytes]:
        """What a NumPy array is, and its bytes."""
        import numpy

        values = numpy.asarray(item)
        if values.dtype == bool:
            values = values.view(numpy.uint8)
        if values.dtype.kind not in "iuf" or values.dtype.itemsize > 8:
            raise TypeError(f"no tensor can be made of {values.dtype}")
        if not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        return self.of_array(values.dtype, values.shape), values.tobytes()

    def put_together(
            self, parts: Dict[str, Tuple["Gst.Buffer", Optional["Gst.Caps"]]]
    ) -> Tuple["Gst.Buffer", "Gst.Caps"]:
        """A sample of several media, and its caps."""
        if self._sample is None:
            self._sample = Gst.Caps.from_string(raw.SAMPLE_CAPS)
        sample = Gst.Buffer.new()
        for name, (part, caps) in parts.items():
            if not raw.buffer_append_part(sample, name, part, caps):
                raise ValueError(f"{name!r} is one medium more than a sample "
                                 f"can have, {raw.MAX_PARTS}")
        return sample, self._sample


class SourceThread(threading.Thread):
    """Iterates over the source and pushes what it gives, for one run of the
    loader. One pass over the source is one epoch, and begins when the trainer
    wants it."""

    def __init__(self, loader: Any, source: Iterable[Any],
                 encoded: Optional[str],
                 classes: Optional[Sequence[str]] = None) -> None:
        super().__init__(name="gst-spdl-source", daemon=True)
        self._loader = weakref.ref(loader, self._cancel)
        self._source = source
        self._caps = Caps(encoded)
        self._labels = Labels(classes)
        # True: a pass is wanted; False: no more. Unlike a condition it may be
        # called by the garbage collector, which may drop the loader anywhere.
        self._passes: "SimpleQueue[bool]" = SimpleQueue()
        #: what the source raised
        self.cause: Optional[BaseException] = None

    def begin_pass(self) -> None:
        self._passes.put(True)

    def cancel(self) -> None:
        self._cancel()

    def _cancel(self, _: Any = None) -> None:
        self._passes.put(False)

    def run(self) -> None:
        try:
            self._run()
        except BaseException as error:
            self.cause = error
            self._end(error)

    def _run(self) -> None:
        while self._passes.get():
            iterator = iter(self._source)
            for place, item in enumerate(iterator):
                if not self._push(item, place):
                    return
            if iterator is self._source:
                # It cannot begin anew.
                self._do(native.end_source)
                return
            if not self._do(raw.Loader.end_epoch):
                return

    def _push(self, item: Any, place: int) -> bool:
        """False where the loader takes no more."""
        item, label, key = _split(item, self._labels, place)
        if isinstance(item, (str, os.PathLike)):
            return self._do(raw.Loader.push_uri, _uri_of(item), label, _SLICE)
        if isinstance(item, dict):
            sample, caps = self._caps.put_together(
                {name: self._take_part(part) for name, part in item.items()})
            return self._do(raw.Loader.push, sample, caps, label, key, _SLICE)
        caps, data = self._take(item)
        if not data:
            # No bytes can be wrapped; it is for the next element to refuse.
            return self._do(raw.Loader.push, Gst.Buffer.new(), caps, label,
                            key, _SLICE)
        return self._do(raw.Loader.push_bytes, GLib.Bytes.new(data), caps,
                        label, key, _SLICE)

    def _take(self, item: Any) -> Tuple["Gst.Caps", bytes]:
        if isinstance(item, (bytes, bytearray, memoryview)):
            return self._caps.of_bytes(), bytes(item)
        if hasattr(item, "__array_interface__"):
            return self._caps.take_array(item)
        raise TypeError("a source gives paths and URIs (str), bytes, NumPy "
                        "arrays, or dicts of bytes and arrays by name, not "
                        f"{type(item).__name__}")

    def _take_part(self, part: Any) -> Tuple["Gst.Buffer", "Gst.Caps"]:
        caps, data = self._take(part)
        return fill(data), caps

    def _do(self, function: Callable[..., Any], *arguments: Any) -> bool:
        while True:
            loader = self._loader()
            if loader is None:
                return False
            try:
                function(loader, *arguments)
                return True
            except GLib.Error as error:
                if not is_timeout(error):
                    # The loader has ended, and says why itself.
                    return False
            del loader

    def _end(self, cause: BaseException) -> None:
        reason = GLib.Error.new_literal(
            GLib.quark_from_string(DOMAIN), "source: " + _describe(cause), 0)
        self._do(raw.Loader.end_source, reason)


def _uri_of(item: Any) -> str:
    text = os.fsdecode(item)
    return text if "://" in text else os.path.abspath(text)


def _describe(error: BaseException) -> str:
    text = str(error)
    name = type(error).__name__
    return f"{name}: {text}" if text else name
