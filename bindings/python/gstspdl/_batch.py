# gst-spdl: a batch as a mapping
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union, overload

from . import _native as native
from ._gi import dict_of, raw
from ._tensor import Tensor


class Keys(Sequence):  # type: ignore[type-arg]
    """The items' keys, which are their URIs ("" where there is none). A call
    of it gives the tensors' names, as a mapping's keys() does."""

    __slots__ = ("_batch", "_uris")

    def __init__(self, batch: "Batch") -> None:
        self._batch = batch
        self._uris: Optional[List[str]] = None

    def _list(self) -> List[str]:
        if self._uris is None:
            self._uris = self._batch.get_keys()
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


class Batch(raw.Batch):  # type: ignore[misc]
    """What came out of the pipeline: tensors by name, and the items in them.

    A mapping of tensors, batch["data"]; its length is the number of tensors,
    `num_items` that of the items.
    """

    __module__ = "gi.overrides.GstSpdl"

    # PyGObject's hash of a boxed object is the address of what it boxes.

    @property
    def names(self) -> Tuple[str, ...]:
        """The tensors' names."""
        pointer = hash(self)
        return tuple(native.batch_get_name(pointer, i).decode()
                     for i in range(native.batch_get_n_tensors(pointer)))

    def __getitem__(self, name: str) -> Tensor:
        tensor = self.find_tensor(name)
        if tensor is None:
            raise KeyError(f"no tensor {name!r}: there is "
                           f"{', '.join(self.names)}")
        return tensor

    def find_tensor(self, name: str) -> Optional[Tensor]:
        if not isinstance(name, str):
            return None
        return self._view(
            native.batch_find_tensor(hash(self), name.encode()))

    def get_tensor(self, i: int) -> Optional[Tensor]:
        return self._view(native.batch_get_tensor(hash(self), i))

    def _view(self, pointer: Optional[int]) -> Optional[Tensor]:
        if not pointer:
            return None
        # This object keeps it.
        native.tensor_unref(pointer)
        return Tensor(self, pointer)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        n: int = native.batch_get_n_tensors(hash(self))
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

    # The items

    @property
    def num_items(self) -> int:
        n: int = native.batch_get_n_items(hash(self))
        return n

    @property
    def labels(self) -> "array[int]":
        """The items' classes, -1 where there is none. An array of int64, which
        NumPy views; with `spdlbatch labels=true` batch["labels"] has them
        too."""
        return array("q", native.int64_list(
            native.batch_get_labels, hash(self)))

    @property
    def indices(self) -> "array[int]":
        """The items' places in the dataset, as int64."""
        return array("q", native.int64_list(
            native.batch_get_indices, hash(self)))

    @property
    def keys(self) -> Keys:
        """The items' URIs; and keys() is the tensors' names."""
        return Keys(self)

    @property
    def extras(self) -> List[Optional[Dict[str, Any]]]:
        """What a list or an element says of each item besides."""
        found = map(self.dup_extra, range(self.num_items))
        return [dict_of(extra) if extra else None for extra in found]

    @property
    def epoch(self) -> int:
        epoch: int = self.get_epoch()
        return epoch

    @property
    def state(self) -> Optional[str]:
        """Where to begin after this batch: Loader(..., state=...)."""
        state: Optional[str] = self.get_state()
        return state


Mapping.register(Batch)
# So that the functions of the library return this class.
native.BATCH_TYPE.pytype = Batch
