# gst-spdl: changes of the extra fields of items
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import json
import struct
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

# Kinds of serializervalue.c.
_BOOLEAN, _INT64, _UINT64, _DOUBLE, _STRING, _STRUCTURE, _ARRAY = (
    0, 3, 4, 5, 6, 7, 8)


def find_changes(text: str, extra: Dict[str, Any]
                 ) -> "Optional[Tuple[bytes, List[str]]]":
    """Compares the fields with those of a JSON object. Returns the new fields, as
    the library reads them, and the names of removed fields; None without any
    changes. Raises TypeError or ValueError for a value that cannot be a field."""
    before = json.loads(text)
    after = {_check_name(name): _simplify(name, value)
             for name, value in extra.items()}
    gone = [name for name, value in before.items()
            if value is not None and after.get(name) is None]
    changed = {name: value for name, value in after.items()
               if value is not None and (
                   name not in before or
                   json.dumps(value) != json.dumps(before[name]))}
    if not changed and not gone:
        return None
    return _encode_structure(changed), gone


def _check_name(name: Any) -> str:
    if not isinstance(name, str) or not name or "\0" in name:
        raise TypeError(f"a field of extra must have a name, not {name!r}")
    return name


def _simplify(name: str, value: Any) -> Any:
    """Returns the value as JSON's types."""
    if hasattr(value, "tolist"):  # of NumPy or PyTorch
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, float, str)):
        if isinstance(value, str) and "\0" in value:
            raise ValueError(f"extra[{name!r}] has a NUL character")
        return value
    if isinstance(value, dict):
        return {_check_name(key): _simplify(name, member)
                for key, member in value.items() if member is not None}
    if isinstance(value, (list, tuple)):
        return _unify(name, [_simplify(name, member) for member in value])
    raise TypeError(f"extra[{name!r}] is a {type(value).__name__}: use numbers, "
                    "texts, lists, dicts and arrays")


def _leaves(values: List[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from _leaves(value)
        else:
            yield value


def _unify(name: str, values: List[Any]) -> List[Any]:
    """Makes all numbers of a list real if one of them is."""
    kinds = {type(leaf) for leaf in _leaves(values)}
    if kinds == {int, float}:
        return _map_leaves(float, values)
    if len(kinds) > 1 or len({isinstance(v, list) for v in values}) > 1:
        raise TypeError(f"extra[{name!r}] is a list of values of different "
                        "types: use one type, or a dict")
    return values


def _map_leaves(function: Callable[[Any], Any], values: List[Any]) -> List[Any]:
    return [_map_leaves(function, value) if isinstance(value, list)
            else function(value) for value in values]


def _encode_text(text: str) -> bytes:
    data = text.encode(errors="replace")
    return struct.pack("=I", len(data)) + data


def _encode_structure(fields: Dict[str, Any]) -> bytes:
    return (_encode_text("extra") + struct.pack("=I", len(fields)) +
            b"".join(_encode_text(name) + _encode(value)
                     for name, value in fields.items()))


def _encode(value: Any) -> bytes:
    if isinstance(value, bool):
        return struct.pack("=II", _BOOLEAN, value)
    if isinstance(value, int):
        if -2**63 <= value < 2**63:
            return struct.pack("=Iq", _INT64, value)
        if 0 <= value < 2**64:
            return struct.pack("=IQ", _UINT64, value)
        raise ValueError(f"{value} has more than 64 bits")
    if isinstance(value, float):
        return struct.pack("=Id", _DOUBLE, value)
    if isinstance(value, str):
        return struct.pack("=I", _STRING) + _encode_text(value)
    if isinstance(value, dict):
        return struct.pack("=I", _STRUCTURE) + _encode_structure(value)
    return struct.pack("=II", _ARRAY, len(value)) + b"".join(
        map(_encode, value))
