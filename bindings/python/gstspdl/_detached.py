# gst-spdl: batches that were pickled
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from array import array
from typing import (TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional,
                    Tuple)

if TYPE_CHECKING:
    import numpy


class _Keys(List[str]):
    """The items' URIs. A call returns the names of the tensors."""

    def __init__(self, uris: List[str], names: Tuple[str, ...]) -> None:
        super().__init__(uris)
        self._names = names

    def __call__(self) -> Tuple[str, ...]:
        return self._names


class DetachedBatch(Mapping[str, "numpy.ndarray[Any, Any]"]):
    """Mapping of the NumPy arrays of a batch by name. A pickled Batch becomes a
    DetachedBatch.

        buffers = []
        data = pickle.dumps(batch, protocol=5, buffer_callback=buffers.append)
        ...
        batch = pickle.loads(data, buffers=buffers)
        images = batch["data"]              # a NumPy array, not copied

    It has the attributes of a Batch. It needs NumPy, but neither the C library nor
    GStreamer, so other processes and machines can use it.
    """

    def __init__(self, arrays: "Dict[str, numpy.ndarray[Any, Any]]",
                 labels: bytes, indices: bytes, uris: List[str],
                 extras: List[Optional[Dict[str, Any]]], epoch: int,
                 state: Optional[str]) -> None:
        self._arrays = arrays
        #: the class of each item, -1 for none: an array of int64
        self.labels = array("q", labels)
        #: the place of each item in the dataset, from 0: an array of int64
        self.indices = array("q", indices)
        self._uris = _Keys(uris, tuple(arrays))
        #: further fields of each item, or None
        self.extras = extras
        #: the epoch of the first item, from 0
        self.epoch = epoch
        #: the state to resume after this batch, or None
        self.state = state

    @property
    def keys(self) -> _Keys:  # type: ignore[override]
        """The URI of each item, "" for none. keys() returns the names of the
        arrays."""
        return self._uris

    @property
    def num_items(self) -> int:
        """The number of items."""
        return len(self.indices)

    @property
    def names(self) -> Tuple[str, ...]:
        """The names of the arrays, in order."""
        return tuple(self._arrays)

    def __getitem__(self, name: str) -> "numpy.ndarray[Any, Any]":
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        arrays = ", ".join(f"{name}: {array.dtype} {array.shape}"
                           for name, array in self._arrays.items())
        return f"<DetachedBatch of {self.num_items} items: {arrays}>"

    def _repr_html_(self) -> Optional[str]:
        from ._media.sheet import make_sheet

        return make_sheet(self)

    def __reduce__(self) -> Any:
        return DetachedBatch, (
            self._arrays, self.labels.tobytes(), self.indices.tobytes(),
            list(self._uris), self.extras, self.epoch, self.state)

    # Equality of arrays has no single answer.
    __eq__ = object.__eq__
    __hash__ = object.__hash__
