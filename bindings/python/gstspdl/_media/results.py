# gst-spdl: what functions return, as items
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import traceback
from typing import Any, Callable, Optional

from .._native import library as native
from .sample import Sample, of_data, of_gst, of_items, of_parts


def _convert_one(result: Any, link: Optional[int] = None) -> Sample:
    if isinstance(result, dict):
        return of_parts({name: _convert_one(part)
                         for name, part in result.items()})
    if isinstance(result, Sample):
        return result._give_extra(result)
    sample = of_data(result, None, link) or of_gst(result)
    if sample is None:
        raise TypeError("the function returned an object of type "
                        f"{type(result).__name__}: return a NumPy array, a "
                        "PyTorch tensor, a number, bytes, the sample, a "
                        "Gst.Buffer, a dict of these by name, a list of these "
                        "for a group, or None")
    return sample


def _convert(result: Any, link: Optional[int], item: Sample) -> Sample:
    """`item`: the argument of the function, which gives its results the changes
    of its extra fields."""
    if isinstance(result, bool):
        raise TypeError(f"the function returned {result}, which would replace "
                        "the item: return the sample to keep it, None to leave "
                        "it out, or a dict with the value")
    if isinstance(result, list):
        if any(type(part) in (bool, int, float) for part in result):
            raise TypeError("the function returned a list of numbers, but a "
                            "list is a group of items: return a NumPy array, "
                            "or NumPy scalars for a group")
        return of_items([item._give_extra(_convert_one(part))
                         for part in result])
    return item._give_extra(_convert_one(result, link))


def make_failure(reason: str) -> int:
    """Returns a new sample that denotes a failure."""
    return int(native.sample_new_failed(reason.encode(errors="replace")))


def call(function: Callable[[], Any], item: Sample,
         link: Optional[int] = None) -> Optional[int]:
    """Calls a function, which processes an item, and returns a reference to the
    result. `link`: to the process that gets the result."""
    try:
        result = function()
        if result is None:
            return None
        result = _convert(result, link, item)
        return int(native.ref(result._pointer))
    except BaseException as error:
        return make_failure(describe_error(error))


def describe_error(error: BaseException) -> str:
    # The last line comes first, because some views show only one line.
    last = traceback.format_exception_only(type(error), error)[-1]
    return last + traceback.format_exc()
