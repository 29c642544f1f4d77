# gst-spdl: range of integers that go to the library
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import operator
from typing import Any

INT32_MAX = 2**31 - 1
UINT32_MAX = 2**32 - 1
INT64_MIN, INT64_MAX = -2**63, 2**63 - 1
UINT64_MAX = 2**64 - 1


def check_integer(name: str, value: Any, lowest: int, highest: int) -> int:
    """Returns the value of an argument as an int. Raises TypeError, or ValueError
    if it is out of range: ctypes would cut off its upper bits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {value!r}") from None
    if number < lowest:
        raise ValueError(f"{name} must be at least {lowest}, not {number}")
    if number > highest:
        raise ValueError(f"{name} must be at most {highest}, not {number}")
    return number
