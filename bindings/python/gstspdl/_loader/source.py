# gst-spdl: a loader's source in the program
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import threading
import weakref
from queue import SimpleQueue
from typing import (Any, Callable, Iterable, Optional, Sequence, Tuple)

from .._media.labels import Labels
from .._media.sample import Sample, of_bytes, of_data, of_parts, uri_of
from .._native import library as native

# The thread that pushes holds its loader for at most this time, in ns, so that
# an unused loader can be freed.
_SLICE = 1_000_000_000
_ENCODED = "application/octet-stream"
_URIS = "text/uri-list"


def _split(item: Any, labels: Labels,
           place: int) -> Tuple[Any, int, Optional[str]]:
    """Returns the item, label and key of a source's value."""
    if not isinstance(item, tuple):
        return item, -1, None
    if not 2 <= len(item) <= 3:
        raise TypeError("a source must yield items, (item, label) or (item, label, "
                        f"key), not tuples of {len(item)}")
    key = str(item[2]) if len(item) > 2 and item[2] is not None else None
    if key and "\0" in key:
        raise ValueError(f"the key {key!r} of item {place} has a NUL character")
    name = key
    if name is None and isinstance(item[0], (str, os.PathLike)):
        name = os.fspath(item[0])
    name = f"item {place}" if name is None else f"the item {name!r}"
    return item[0], labels.number(item[1], name), key


class SourceThread(threading.Thread):
    """Iterates over the source and pushes its items, for one run of the
    loader. One pass over the source is one epoch, and begins when the trainer
    requests it."""

    def __init__(self, loader: Any, source: Iterable[Any],
                 encoded: Optional[str],
                 classes: Optional[Sequence[str]] = None) -> None:
        super().__init__(name="gst-spdl-source", daemon=True)
        self._loader = weakref.ref(loader, self._cancel)
        self._source = source
        self._encoded = encoded or _ENCODED
        self._labels = Labels(classes)
        # True: start a pass; False: end. Unlike a condition, the queue may be
        # used during garbage collection, which may drop the loader at any
        # point.
        self._passes: "SimpleQueue[bool]" = SimpleQueue()
        #: the exception that the source raised
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
            reason = "source: " + _describe(error)
            self._do(native.loader_fail_source,
                     reason.encode(errors="replace"))

    def _run(self) -> None:
        while self._passes.get():
            iterator = iter(self._source)
            for place, item in enumerate(iterator):
                if not self._push(item, place):
                    return
            if iterator is self._source:
                # An iterator cannot be restarted.
                self._do(native.loader_end_source, None)
                return
            if not self._do(native.loader_end_epoch):
                return

    def _push(self, item: Any, place: int) -> bool:
        """Returns False if the loader takes no more items."""
        item, label, key = _split(item, self._labels, place)
        if isinstance(item, (str, os.PathLike)):
            uri = os.fsencode(uri_of(item))
            if key is None:
                return self._do(native.loader_push_uri, uri, label, _SLICE)
            sample = of_bytes(uri, _URIS)
        elif isinstance(item, dict):
            sample = of_parts({name: self._convert(part)
                               for name, part in item.items()})
        else:
            sample = self._convert(item)
        return self._do(native.loader_push, sample._pointer, label,
                        native.encode_text(key), _SLICE)

    def _convert(self, item: Any) -> Sample:
        sample = of_data(item, self._encoded)
        if sample is None:
            raise TypeError("a source must yield paths and URIs (str), bytes, NumPy "
                            "arrays, PyTorch tensors, numbers, or dicts of "
                            f"these by name, not {type(item).__name__}")
        return sample

    def _do(self, function: Callable[..., Any], *arguments: Any) -> bool:
        while True:
            loader = self._loader()
            if loader is None:
                return False
            try:
                function(loader._pointer, *arguments)
                return True
            except native.Error as error:
                if error.nick != "timed-out":
                    # The loader has ended, and reports the reason itself.
                    return False
            del loader


def _describe(error: BaseException) -> str:
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # the class has a faulty __str__()
        text = "(its text cannot be read)"
    return f"{name}: {text}" if text else name
