# gst-spdl: texts of augmentations
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the operations of gstspdl.ops as text, and refuses wrong values with the
same reasons as spdlaugment."""

from math import isfinite
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

#: kind, limits and default of an argument; of a word: kind, words and default
Row = Tuple[Any, ...]

_PAIR = "..", (1, 2), "a number or a range, such as 0.1..2"
_SINGLE = "", (1,), "a number"
# How many numbers a kind of value has, and what is between them.
_FORMS: Dict[str, Tuple[str, Tuple[int, ...], str]] = {
    "range": _PAIR, "integers": _PAIR, "spread": _PAIR, "jitter": _PAIR,
    "number": _SINGLE, "integer": _SINGLE, "odd": _SINGLE,
    "size": ("x", (1, 2), "a number, or WIDTHxHEIGHT"),
    "corners": ("/", (8,), "8 numbers with / between: x/y/x/y/x/y/x/y"),
    "fill": ("/", (1, 3), "a number or a color, such as 124/116/104"),
    "noise": ("/", (1, 3), "a number, a color, such as 124/116/104, or random"),
}
_WHOLE = "integers", "integer", "odd", "size"


def _read_numbers(value: Any) -> List[float]:
    """Raises TypeError if `value` is neither a number nor numbers."""
    if isinstance(value, (tuple, list)):
        return [number for part in value for number in _read_numbers(part)]
    if type(value).__name__ in ("bool", "bool_") or isinstance(value, (str, bytes)):
        raise TypeError
    number = float(value)
    if not isfinite(number):
        raise TypeError
    return [number]


def _write_number(number: float) -> str:
    if number == int(number):
        return str(int(number))
    text = repr(number)
    return f"{number:.20f}".rstrip("0") if "e" in text else text


def _find_fault(kind: str, numbers: List[float], low: float, high: float
                ) -> Optional[str]:
    """Returns the requirement that `numbers` violate, if any."""
    if kind in ("fill", "noise"):
        right = all(0 <= n <= 255 and n == int(n) for n in numbers)
        return None if right else "whole numbers between 0 and 255"
    if len(numbers) == 1 and kind == "spread":
        numbers = [-abs(numbers[0]), abs(numbers[0])]
    elif len(numbers) == 1 and kind == "jitter":
        numbers = [max(0.0, 1 - numbers[0]), 1 + numbers[0]]
    if kind not in ("size", "corners") and numbers[0] > numbers[-1]:
        return "a range that begins with the smaller number"
    for number in numbers:
        if not low <= number <= high:
            return f"between {low:g} and {high:g}"
        if kind in _WHOLE and number != int(number):
            return "a whole number"
        if kind == "odd" and number % 2 == 0:
            return "an odd number"
    return None


def _write_word(where: str, value: Any, words: Sequence[str]) -> str:
    if words == ("false", "true"):
        if type(value).__name__ not in ("bool", "bool_"):
            raise TypeError(f'{where} is "{value}", but must be True or False')
        return words[bool(value)]
    if value not in words:
        raise ValueError(f'{where} is "{value}", but must be one of '
                         + ", ".join(words))
    return str(value)


def _write_value(where: str, value: Any, row: Row) -> str:
    kind = row[0]
    if kind == "word":
        return _write_word(where, value, row[1])
    if kind == "noise" and isinstance(value, str) and value == "random":
        return value
    between, counts, expected = _FORMS[kind]
    try:
        numbers = _read_numbers(value)
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) not in counts:
        raise TypeError(f'{where} is "{value}", but must be {expected}')
    text = between.join(map(_write_number, numbers))
    fault = _find_fault(kind, numbers, row[1], row[2])
    if fault:
        raise ValueError(f'{where} is "{text}", but must be {fault}')
    return text


def _write_timm(rows: Mapping[str, Row], values: Mapping[str, Any]) -> str:
    """Returns timm's text, such as rand-m9-mstd0.5-inc1."""
    name = "rand"
    for argument in ("m", "n", "p", "mstd", "mmax", "inc"):
        text = _write_value(f"ops.timm_rand_augment(): {argument}",
                            values[argument], rows[argument])
        if argument == "m" or text != str(rows[argument][-1]):
            name += f"-{argument}{text}"
    rest = write_op("timm-rand-augment", {key: rows[key] for key in
                                          ("interpolation", "fill")}, values)
    return name + rest[len("timm-rand-augment"):]


def write_op(name: str, rows: Mapping[str, Row], values: Mapping[str, Any]) -> str:
    """Returns the text of an operation. The text omits values that equal the
    defaults. `values` may have "operations", the operations of a group."""
    if name.startswith("rand-m"):
        return _write_timm(rows, values)
    function = name.replace("-", "_")
    parts = list(values.get("operations", ()))
    if not all(isinstance(part, str) for part in parts):
        raise TypeError(f"ops.{function}(): operations must be str, as the functions "
                        "of gstspdl.ops return")
    for argument, row in rows.items():
        value = values[argument.replace("-", "_")]
        if value is None:
            continue
        text = _write_value(f"ops.{function}(): {argument}", value, row)
        default = row[-1]
        if default is None or text != _write_value("", default, row):
            parts.append(f"{argument}={text}")
    return f"{name}({','.join(parts)})" if parts else name
