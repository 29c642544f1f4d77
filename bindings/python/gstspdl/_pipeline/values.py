# gst-spdl: Python values as texts of properties
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import operator
import os
import re
from numbers import Integral
from typing import Any, Callable, Dict, Iterable, Mapping, Tuple

from .._arguments import suggest
from .line import escape_text, guard_text

# Strings that need no quotes in an array and do not look like booleans.
_BARE = re.compile(r"(?!(?:true|false|yes|no|t|f|null)$)[a-z]\w*",
                   re.ASCII | re.IGNORECASE)
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9_+/:.-]*")


class _Refused(Exception):
    """Error of a value, without the name of its argument."""


def _check_text(value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise TypeError("a str")
    if "\0" in value:
        raise _Refused("has a NUL character, which no property can have")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _Refused("is not valid Unicode: rename a file whose name is not "
                       "UTF-8, or give its percent-encoded file:// URI"
                       ) from None
    return value


def _write_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a str")
    return guard_text(_check_text(value))


def _write_path(value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError("a str or a path")
    return guard_text(_check_text(value))


def _write_line(value: Any) -> str:
    if hasattr(type(value), "_write_for_element"):  # a Pipeline
        return guard_text(value._write_for_element())
    if not isinstance(value, str):
        raise TypeError("a str or a Pipeline")
    return guard_text(_check_text(value))


def _write_ops(value: Any) -> str:
    kind = "a str or a sequence of str"
    if not isinstance(value, str):
        parts = _list(value, kind)
        if not all(isinstance(part, str) for part in parts):
            raise TypeError(kind)
        value = "; ".join(parts)
    return guard_text(_check_text(value))


def _write_bool(value: Any) -> str:
    if not is_bool(value):
        raise TypeError("True or False")
    return "true" if value else "false"


def is_bool(value: Any) -> bool:
    # NumPy has another type: "bool_", since version 2 "bool".
    return type(value).__name__ in ("bool", "bool_")


def _check_range(value: Any, lowest: Any, highest: Any) -> None:
    if not lowest <= value <= highest:
        raise _Refused(f"must be from {lowest} to {highest}")


def _write_int(value: Any, lowest: int, highest: int) -> str:
    if is_bool(value):
        raise TypeError("an int")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError("an int") from None
    _check_range(number, lowest, highest)
    if number == -1 and highest == 2**64 - 1:
        number = highest
    return str(number)


def _as_float(value: Any) -> float:
    if is_bool(value) or isinstance(value, (str, bytes)):
        raise TypeError("a number")
    try:
        return float(value)
    except OverflowError:
        raise _Refused("is too large") from None
    except (TypeError, ValueError):
        raise TypeError("a number") from None


def _write_float(value: Any, lowest: float, highest: float) -> str:
    number = _as_float(value)
    _check_range(number, lowest, highest)
    return repr(number)


def _write_seconds(value: Any, factor: int, lowest: int, highest: int) -> str:
    if hasattr(value, "total_seconds"):
        number = ((value.days * 86400 + value.seconds) * 10**6 +
                  value.microseconds) * factor / 10**6
        if factor == 10**9:
            number = ((value.days * 86400 + value.seconds) * 10**9 +
                      value.microseconds * 1000)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value * factor
    else:
        try:
            number = _as_float(value) * factor
        except TypeError:
            raise TypeError("seconds or a timedelta") from None
    if number == lowest == -factor:
        return str(highest)  # GStreamer's -1
    lowest = max(lowest, 0)
    if not lowest <= number <= highest:
        raise _Refused(f"must be from {lowest / factor:g} to "
                       f"{highest / factor:g} seconds")
    if factor == 1 and number != int(number):
        raise _Refused("must be whole seconds")
    return str(round(number))


def _write_enum(value: Any, names: Tuple[str, ...]) -> str:
    if not isinstance(value, str):
        raise TypeError("one of " + ", ".join(map(repr, names)))
    if value not in names:
        raise _Refused("must be one of " + ", ".join(map(repr, names)) +
                       suggest(value, names))
    return value


def _list(value: Any, kind: str) -> "list[Any]":
    if isinstance(value, (str, bytes, Mapping)):
        raise TypeError(kind)
    try:
        return list(value)
    except TypeError:
        raise TypeError(kind) from None


def _write_array(numbers: Iterable[float]) -> str:
    texts = []
    for number in numbers:
        if not abs(number) < float("inf"):
            raise _Refused("must have finite numbers")
        texts.append(repr(number))
    return "<" + ",".join(texts) + ">"


def _write_numbers(value: Any) -> str:
    kind = "a number or a sequence of numbers"
    try:
        if hasattr(value, "__iter__"):
            return _write_array(map(_as_float, _list(value, kind)))
        return _write_array([_as_float(value)])
    except TypeError:
        raise TypeError(kind) from None


def _write_pair(value: Any) -> str:
    kind = "a pair of numbers"
    try:
        numbers = [_as_float(part) for part in _list(value, kind)]
    except TypeError:
        raise TypeError(kind) from None
    if len(numbers) != 2:
        raise _Refused("must be a pair of numbers")
    return _write_array(numbers)


def _write_string(text: Any, kind: str) -> str:
    """Returns a string as text within an array or a structure."""
    if not isinstance(text, str):
        raise TypeError(kind)
    _check_text(text)
    if _BARE.fullmatch(text):
        return text
    return "(string)" + escape_text(text)


def _write_names(value: Any) -> str:
    kind = "a sequence of str"
    return "<" + ",".join(_write_string(text, kind)
                          for text in _list(value, kind)) + ">"


def _write_headers(value: Any) -> str:
    kind = "a mapping of header names to str, or to sequences of str"
    if not isinstance(value, Mapping):
        raise TypeError(kind)
    fields = ["headers"]
    for name, text in value.items():
        if not isinstance(name, str) or not _HEADER.fullmatch(name):
            raise _Refused(f"has the header {name!r}: a name begins with a "
                           "letter and has letters, digits and _-+/:.")
        fields.append(f"{name}=" + (
            _write_string(text, kind) if isinstance(text, str)
            else "<" + ",".join(_write_string(part, kind)
                                for part in _list(text, kind)) + ">"))
    return ", ".join(fields)


_WRITERS: Dict[str, Callable[..., str]] = {
    "text": _write_text, "path": _write_path, "line": _write_line,
    "bool": _write_bool, "int": _write_int, "float": _write_float,
    "seconds": _write_seconds, "enum": _write_enum,
    "numbers": _write_numbers, "pair": _write_pair, "names": _write_names,
    "headers": _write_headers, "ops": _write_ops,
}


def write_value(where: str, name: str, value: Any,
                kind: Tuple[Any, ...]) -> str:
    """Returns the text of a property's value. `where` and `name` are the names
    in the caller's code, for errors."""
    try:
        return _WRITERS[kind[0]](value, *kind[1:])
    except TypeError as error:
        raise TypeError(f"{where}: {name} must be {error}, not {value!r}"
                        ) from None
    except _Refused as refused:
        raise ValueError(f"{where}: {name}={value!r} {refused}") from None


def write_any(where: str, name: str, value: Any) -> str:
    """Like write_value(), for a property of unknown type."""
    if is_bool(value):
        return _write_bool(value)
    if isinstance(value, (str, os.PathLike)):
        return write_value(where, name, value, ("path",))
    if isinstance(value, Integral):
        return str(int(value))
    if hasattr(value, "total_seconds"):
        return write_value(where, name, value,
                           ("seconds", 10**9, 0, 2**64 - 1))
    if isinstance(value, Mapping):
        raise TypeError(f"{where}: {name} must be text for a structure, not "
                        f"{value!r}")
    if isinstance(value, (list, tuple)):
        is_text = any(isinstance(part, str) for part in value)
        return write_value(where, name, value,
                           ("names",) if is_text else ("numbers",))
    if hasattr(value, "_write_for_element"):
        return write_value(where, name, value, ("line",))
    if hasattr(value, "__float__"):
        return repr(float(value))
    raise TypeError(f"{where}: {name} must be a bool, a number, a str, a path, "
                    f"a timedelta or a sequence, not {value!r}")


def unify_text(text: str, kind: Tuple[Any, ...]) -> str:
    """Normalizes the text of a value: returns the text of write_value() for
    the value that GStreamer parses from this one."""
    low = text.lower()
    if kind[0] == "bool":
        if low in ("true", "t", "yes", "1"):
            return "true"
        if low in ("false", "f", "no", "0"):
            return "false"
    elif kind[0] in ("int", "seconds"):
        if re.fullmatch(r"[+-]?[0-9]+", text, re.ASCII):
            number = int(text)
            if number == -1 and kind[-1] == 2**64 - 1:
                number = kind[-1]
            return str(number)
    elif kind[0] == "float":
        try:
            return repr(float(text))
        except ValueError:
            pass
    elif kind[0] in ("numbers", "pair"):
        match = re.fullmatch(r"<(.*)>", text.strip(), re.DOTALL)
        try:
            parts = match.group(1).split(",") if match else []
            return _write_array(map(float, parts)) if parts else text
        except ValueError:
            pass
    elif kind[0] == "enum":
        for name in kind[1]:
            if low == name:
                return str(name)
    return text
