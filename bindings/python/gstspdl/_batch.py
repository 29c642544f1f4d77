# gst-spdl: batches
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union, overload

from . import _native as native
from ._errors import LoaderError
from ._gi import address_of, bridge
from ._tensor import Tensor


class Keys(Sequence):  # type: ignore[type-arg]
    """The items' URIs, "" for none. A call returns the tensors' names, as a
    mapping's keys() does."""

    __slots__ = ("_batch", "_uris")

    def __init__(self, batch: "Batch") -> None:
        self._batch = batch
        self._uris: Optional[List[str]] = None

    def _list(self) -> List[str]:
        if self._uris is None:
            self._uris = native.batch_get_keys(
                self._batch._pointer, self._batch.num_items)
        return self._uris

    def __call__(self) -> Tuple[str, ...]:
        return self._batch.names

    def __len__(self) -> int:
        return self._batch.num_items

    @overload
    def __getitem__(self, i: int) -> str: ...

    @overload
    def __getitem__(self, i: slice) -> List[str]: ...

    def __getitem__(self, i: Union[int, slice]) -> Union[str, List[str]]:
        return self._list()[i]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return self._list() == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._list())


class Batch:
    """A batch from the pipeline: tensors by name, and the items in them.

    A mapping of tensors, batch["data"]. Its length is the number of tensors;
    `num_items` is the number of items.
    """

    __slots__ = ("_pointer", "__weakref__")

    # Batches are made by loaders, decode() and new().
    _pointer: int

    @classmethod
    def _take(cls, pointer: int) -> "Batch":
        """Takes over a reference to the library's batch."""
        self = cls.__new__(cls)
        self._pointer = pointer
        return self

    @classmethod
    def new(cls, buffer: Any, caps: Any) -> "Batch":
        """Makes a batch of a Gst.Buffer and its Gst.Caps, without a copy. caps
        may be None, for bytes."""
        try:
            return cls._take(native.batch_new(
                address_of(buffer),
                None if caps is None else address_of(caps)))
        except native.Error as error:
            raise LoaderError(error.message, code=error.nick) from error

    def __del__(self, _unref: Any = native.batch_unref) -> None:
        try:
            _unref(self._pointer)
        except AttributeError:
            pass  # It could not be made.

    def copy(self) -> "Batch":
        """Returns a batch with a copy of all tensors."""
        return Batch._take(native.batch_copy(self._pointer))

    # Tensors

    @property
    def names(self) -> Tuple[str, ...]:
        """The tensors' names."""
        pointer = self._pointer
        return tuple(native.batch_get_name(pointer, i).decode()
                     for i in range(native.batch_get_n_tensors(pointer)))

    def __getitem__(self, name: str) -> Tensor:
        tensor = self.find_tensor(name)
        if tensor is None:
            raise KeyError(f"the batch has no tensor {name!r}; it has "
                           f"{', '.join(self.names)}")
        return tensor

    def find_tensor(self, name: str) -> Optional[Tensor]:
        info = native.TensorInfo()
        if isinstance(name, str) and native.batch_find_tensor(
                self._pointer, name.encode(), info):
            return Tensor(self, info)
        return None

    def get_tensor(self, i: int) -> Optional[Tensor]:
        info = native.TensorInfo()
        if native.batch_get_tensor(self._pointer, i, info):
            return Tensor(self, info)
        return None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        n: int = native.batch_get_n_tensors(self._pointer)
        return n

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __repr__(self) -> str:
        tensors = ", ".join(f"{t.name}: {t.dtype} {t.shape}"
                            for t in self.values())
        return f"<Batch of {self.num_items} items: {tensors}>"

    def get(self, name: str, default: Any = None) -> Any:
        tensor = self.find_tensor(name)
        return default if tensor is None else tensor

    def values(self) -> List[Tensor]:
        return [self[name] for name in self.names]

    def items(self) -> List[Tuple[str, Tensor]]:
        return [(name, self[name]) for name in self.names]

    # Items

    @property
    def num_items(self) -> int:
        n: int = native.batch_get_n_items(self._pointer)
        return n

    @property
    def labels(self) -> "array[int]":
        """The items' classes, -1 for none, as an array of int64 that NumPy
        views. With `spdlbatch labels=true`, batch["labels"] has them too."""
        return array("q", native.batch_get_numbers(
            native.batch_get_labels, self._pointer))

    @property
    def indices(self) -> "array[int]":
        """The items' places in the dataset, as an array of int64."""
        return array("q", native.batch_get_numbers(
            native.batch_get_indices, self._pointer))

    @property
    def keys(self) -> Keys:
        """The items' URIs. keys() returns the tensors' names."""
        return Keys(self)

    @property
    def extras(self) -> List[Optional[Dict[str, Any]]]:
        """Further fields of each item, from a list or an element, or None."""
        import json

        found = (native.batch_dup_extra(self._pointer, i)
                 for i in range(self.num_items))
        return [json.loads(extra) if extra else None for extra in found]

    @property
    def epoch(self) -> int:
        """The epoch of the first item."""
        epoch: int = native.batch_get_epoch(self._pointer)
        return epoch

    @property
    def state(self) -> Optional[str]:
        """The state to resume after this batch, for Loader(..., state=...)."""
        state: Optional[bytes] = native.batch_get_state(self._pointer)
        return state.decode() if state is not None else None

    # PyGObject

    def get_buffer(self) -> Any:
        """The Gst.Buffer, which needs PyGObject."""
        gi = bridge()
        return gi.new_boxed(gi.Gst.Buffer,
                            native.batch_get_buffer(self._pointer))

    def get_caps(self) -> Any:
        """The Gst.Caps, which needs PyGObject."""
        gi = bridge()
        return gi.new_boxed(gi.Gst.Caps,
                            native.batch_get_caps(self._pointer))


Mapping.register(Batch)
