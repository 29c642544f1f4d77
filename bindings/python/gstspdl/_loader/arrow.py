# gst-spdl: Arrow tables as the dataset of a loader
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import ctypes
import sys
from ctypes import c_void_p
from typing import Any, List, Optional, Tuple

from .._functions import stages
from .._native import library as native
from . import parquet


def is_table(source: Any) -> bool:
    """Returns whether spdlsrc can send the rows of the source: a table of
    Arrow's C stream interface, or a Dataset of Hugging Face or pyarrow."""
    return (hasattr(type(source), "__arrow_c_stream__") or
            _is_dataset(source) or parquet.is_dataset(source))


def has_columns(source: Any) -> bool:
    """Returns whether the source is a table, which yields no rows when it is
    iterated over."""
    return parquet.is_dataset(source) or (
        hasattr(type(source), "__arrow_c_stream__") and
        hasattr(source, "columns"))


class _Opener:
    """Opens streams of a source."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self._opened = False

    def open(self) -> Any:
        """Returns the capsule of a new stream."""
        if self._opened and is_one_pass(self._source):
            raise ValueError(
                f"a {type(self._source).__name__} can be read once: set "
                "epochs=1, or pass an object whose __arrow_c_stream__() "
                "returns a new stream for each epoch")
        self._opened = True
        return self._source.__arrow_c_stream__()


def is_one_pass(source: Any) -> bool:
    """Returns whether the source can be read once, as a RecordBatchReader."""
    return hasattr(type(source), "__next__")


def _open(address: int, number: int, problem: int) -> None:
    """Moves a stream to an address. Called by a thread of the library."""
    try:
        _move(stages.get(number).open(), address)
    except BaseException as error:
        _report(problem, f"{type(error).__name__}: {error}")


def _open_part(part: int, columns: Any, address: int, number: int,
               problem: int) -> None:
    """Moves a stream of a part of a table to an address."""
    try:
        groups = stages.get(number)
        _move(groups.open(part, native.read_strings(columns)), address)
    except BaseException as error:
        _report(problem, f"{groups.describe(part)}: "
                f"{type(error).__name__}: {error}")


def _report(problem: int, text: str) -> None:
    native.set_problem(problem, text.encode(errors="replace"))


def _move(capsule: Any, address: int) -> None:
    stream = _Stream.from_address(_address_of(capsule) or 0)
    ctypes.memmove(address, ctypes.addressof(stream), ctypes.sizeof(stream))
    stream.release = None


class _Stream(ctypes.Structure):
    """struct ArrowArrayStream"""

    _fields_ = [(name, c_void_p) for name in (
        "get_schema", "get_next", "get_last_error", "release", "private_data")]


# Lives as long as the interpreter, so that no pipeline can outlive it.
_callback = native.OpenCallback(_open)
_part_callback = native.OpenPartCallback(_open_part)


def set_table(loader: int, source: Any, name: Optional[str] = None) -> None:
    """Makes the source the dataset of the loader's spdlsrc.

    `name`: name of the table, which is the location of the spdlsrc if it has
    one. None: the name of the type."""
    if parquet.is_dataset(source):
        groups = parquet.RowGroups(source)
        native.loader_set_arrow_parts(
            loader, groups.sizes, _part_callback, stages.keep(groups),
            name or _name_of(source))
        return
    if not hasattr(type(source), "__len__"):
        native.loader_set_arrow_stream(
            loader, _callback, stages.keep(_Opener(source)),
            _name_of(source).encode())
        return
    rows, order = _split(source)
    # The library moves the streams out of the capsules, which then free
    # nothing.
    stream = rows.__arrow_c_stream__()
    indices = None if order is None else order.__arrow_c_stream__()
    native.loader_set_arrow_table(loader, _address_of(stream),
                                  _address_of(indices),
                                  _name_of(source).encode())


def _address_of(capsule: Any) -> Optional[int]:
    return None if capsule is None else native.read_capsule(
        capsule, b"arrow_array_stream")


def get_classes(source: Any, label: str) -> Optional[List[str]]:
    """Returns the class names of a Dataset's label, or None. `label`: the column
    of the label. "" stands for "label"."""
    label = label or "label"
    if parquet.is_dataset(source):
        return parquet.get_classes(source, label)
    if not _is_dataset(source):
        return None
    names = getattr(source.features.get(label), "names", None)
    return list(names) if names else None


def _is_dataset(source: Any) -> bool:
    datasets = sys.modules.get("datasets")
    return datasets is not None and isinstance(source, datasets.Dataset)


def _split(source: Any) -> Tuple[Any, Any]:
    """Returns the table of rows and the table of their order, or None. A shuffled
    or filtered Dataset of Hugging Face has a table of the indices of its rows."""
    if not _is_dataset(source):
        return source, None
    if source.format["type"] == "custom":
        raise TypeError(
            "the dataset has a Python transform, which the pipeline cannot apply "
            "to its rows: call reset_format(), and pass the function to map() of "
            "the loader")
    rows = source.data.table
    if len(source.format["columns"]) < len(rows.column_names):
        rows = rows.select(source.format["columns"])
    indices = source._indices
    return rows, None if indices is None else indices.table


def _name_of(source: Any) -> str:
    kind = type(source)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
