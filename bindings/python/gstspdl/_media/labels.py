# gst-spdl: class names, and labels of a loader's source in the program
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import operator
from typing import Any, Iterable, List, Optional, Sequence

from .._arguments import INT64_MAX, INT64_MIN

# Characters that may surround a label in a list.
_BLANKS = " \t\n\v\f\r"


def check_classes(classes: Sequence[str]) -> List[str]:
    """Returns the class names, or raises if they cannot be used."""
    if isinstance(classes, (str, bytes)):
        raise TypeError("classes must be a list of names, such as ['cat', 'dog'], "
                        f"not {classes!r}")
    if not isinstance(classes, Iterable):
        raise TypeError("classes must be a list of names, not "
                        f"{type(classes).__name__}")
    names = list(classes)
    seen = set()
    for name in names:
        if not isinstance(name, str):
            raise TypeError("the name of a class must be a str, not "
                            f"{type(name).__name__}: {name!r}")
        if not name or name != name.strip(_BLANKS):
            raise ValueError(f"the name of a class is empty, or begins or ends "
                             f"with a blank: {name!r}")
        if name in seen:
            raise ValueError(f"two classes have the name {name!r}")
        seen.add(name)
    if not names:
        raise ValueError("classes is empty: leave it out, or list the names")
    return names


class Labels:
    """Converts the labels of a source to class numbers, as spdlsrc does for
    lists."""

    def __init__(self, classes: Optional[Sequence[str]]) -> None:
        self._n = None if classes is None else len(classes)
        self._numbers = {name: i for i, name in enumerate(classes or ())}
        self._has_integers = any(map(_is_integer, self._numbers))

    def number(self, label: Any, item: str) -> int:
        """Returns the class number of a label. `item` is for error messages."""
        if not isinstance(label, str):
            number = self._to_integer(label, item)
            if self._has_integers and number != -1:
                return self.number(str(number), item)
            return self._check(number, label, item)
        text = label.strip(_BLANKS)
        if text in self._numbers:
            return self._numbers[text]
        if not text:
            return -1
        if not _is_integer(text) or (self._has_integers and text != "-1"):
            raise ValueError(self._describe(label, item))
        return self._check(int(text), label, item)

    def _to_integer(self, label: Any, item: str) -> int:
        # int() would truncate floating point.
        value = label.item() if hasattr(label, "item") else label
        try:
            return operator.index(value)
        except TypeError:
            raise TypeError(
                f"the label {label!r} of {item} is of type "
                f"{type(label).__name__}: use an integer, or the name of a "
                "class as str") from None

    def _check(self, number: int, label: Any, item: str) -> int:
        if not INT64_MIN <= number <= INT64_MAX:
            raise ValueError(f"the label {label!r} of {item} is beyond 64 bits")
        if self._n is not None and not -1 <= number < self._n:
            raise ValueError(self._describe(label, item))
        return number

    def _describe(self, label: Any, item: str) -> str:
        if self._n is None:
            return (f"the label {label!r} of {item} is text, but the loader "
                    "has no classes: set them with Loader(..., classes=[...])"
                    ", or use numbers as labels")
        return (f"the label {label!r} of {item} is not among the {self._n} "
                "classes: correct it, or add it to classes")


def _is_integer(text: str) -> bool:
    digits = text[1:] if text[:1] in ("-", "+") else text
    return digits.isascii() and digits.isdigit()
