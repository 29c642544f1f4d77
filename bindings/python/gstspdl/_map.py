# gst-spdl: Python functions as stages
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import traceback
import weakref
from typing import Any, Callable, List, Optional, Tuple

from ._errors import LoaderError
from ._gi import Gst, raw
from ._native import is_loading_thread
from ._source import Caps, fill

Function = Callable[["Gst.Sample"], Any]


class Handler:
    """What is called in the stage's threads."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._caps = Caps(None)

    def __call__(self, _: Any, sample: "Gst.Sample") -> Any:
        try:
            return self._convert(self._function(sample))
        except Exception as error:
            # The last line first, for who sees only one.
            last = traceback.format_exception_only(type(error), error)[-1]
            return raw.sample_new_failed(last + traceback.format_exc())

    def _convert(self, result: Any) -> Optional["Gst.Sample"]:
        if result is None or isinstance(result, Gst.Sample):
            return result
        if not isinstance(result, list):
            buffer, caps = self._take(result)
            return Gst.Sample.new(buffer, caps, None, None)
        parts = [self._take(part) for part in result]
        caps = parts[0][1] if parts else None
        if any(other is not caps for _, other in parts):
            raise TypeError("a list of results is of one type and shape: give "
                            "each of its own as an item of its own")
        return _sample_of([buffer for buffer, _ in parts], caps)

    def _take(self, result: Any) -> Tuple["Gst.Buffer",
                                          Optional["Gst.Caps"]]:
        if isinstance(result, Gst.Buffer):
            return result, None
        if isinstance(result, (bytes, bytearray, memoryview)):
            return fill(bytes(result)), None
        if hasattr(result, "__array_interface__"):
            caps, data = self._caps.take_array(result)
            return fill(data), caps
        if isinstance(result, dict):
            return self._caps.put_together(
                {name: self._take(part) for name, part in result.items()})
        raise TypeError("a function returns a Gst.Sample, a Gst.Buffer, bytes, "
                        "a NumPy array, a dict of media by name, a list of "
                        f"such, or None, not {type(result).__name__}")


def _sample_of(buffers: List["Gst.Buffer"],
               caps: Optional["Gst.Caps"]) -> "Gst.Sample":
    group = Gst.BufferList.new()
    for buffer in buffers:
        group.insert(-1, buffer)
    sample = Gst.Sample.new(None, caps, None, None)
    sample.set_buffer_list(group)
    return sample


def connect(loader: Any, name: str, function: Function) -> None:
    """Makes `function` the work of the spdlpipe of that name."""
    pipeline = loader.get_pipeline()
    element = pipeline.get_by_name(name)
    if element is None:
        raise LoaderError(f"The pipeline has no element named {name!r}",
                          code="map")
    factory = element.get_factory()
    if not factory or factory.get_name() != "spdlpipe":
        raise LoaderError(f"{name!r} is no spdlpipe", code="map", stage=name)
    if not callable(function):
        raise TypeError(f"{function!r} is no function")
    element.connect("process", Handler(function))
    # PyGObject drops its last reference with the GIL held, and the pipeline
    # that then stops would wait for functions that wait for the GIL.
    weakref.finalize(loader, _end, pipeline).atexit = False


def _end(pipeline: "Gst.Pipeline") -> None:
    # A garbage collection in a function cannot wait for that function: there,
    # the library ends the pipeline later.
    if not is_loading_thread():
        pipeline.set_state(Gst.State.NULL)
