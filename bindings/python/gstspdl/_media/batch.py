# gst-spdl: batches
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union, overload

from .._detached import DetachedBatch
from .._errors import LoaderError
from .._native import library as native
from .._native.gi import address_of, bridge
from .sheet import make_sheet
from .tensor import Tensor


class Keys(Sequence):  # type: ignore[type-arg]
    """Sequence of the items' URIs, "" for an item without one. A call returns
    the names of the tensors, as keys() of a mapping does."""

    __slots__ = ("_batch", "_uris")

    def __init__(self, batch: "Batch") -> None:
        self._batch = batch
        self._uris: Optional[List[str]] = None

    def _list(self) -> List[str]:
        if self._uris is None:
            self._uris = native.batch_dup_keys(
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
    """Mapping of the tensors of a batch by name.

        for batch in loader:
            images = batch["data"].numpy()      # no copy
            print(images.shape, list(batch.labels), list(batch.keys))

    len(batch) is the number of tensors, and `num_items` the number of items.
    `spdlbatch` calls its first tensor "data". Other names come from arrays
    and from samples of several media.

    The memory stays valid as long as the batch, a tensor or an array of it
    exists, also after the loader was stopped. The batch may be written into.
    Loaders, decode() and Batch.new() make batches.
    """

    __slots__ = ("_pointer", "__weakref__")

    # Batches are made by loaders, decode() and new().
    _pointer: int

    @classmethod
    def _take(cls, pointer: int) -> "Batch":
        """Takes ownership of a reference to the library's batch."""
        self = cls.__new__(cls)
        self._pointer = pointer
        return self

    @classmethod
    def new(cls, buffer: Any, caps: Any) -> "Batch":
        """Makes a batch of a GStreamer buffer, without a copy. Needs PyGObject.

        `buffer`: the Gst.Buffer.
        `caps`: its Gst.Caps, or None for bytes.

        Raises LoaderError for caps that describe no tensor."""
        try:
            return cls._take(native.batch_new(
                address_of(buffer, "Buffer"),
                None if caps is None else address_of(caps, "Caps")))
        except native.Error as error:
            raise LoaderError(error.message, code=error.nick) from error

    def __del__(self, _unref: Any = native.batch_unref) -> None:
        try:
            _unref(self._pointer)
        except AttributeError:
            pass  # The constructor failed.

    def copy(self) -> "Batch":
        """Returns a batch with a copy of all tensors."""
        return Batch._take(native.batch_copy(self._pointer))

    def __deepcopy__(self, memo: Any) -> "Batch":
        return self.copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickles as a DetachedBatch. With protocol 5 and a buffer_callback,
        the tensors are not copied. Needs NumPy."""
        return DetachedBatch, (
            {name: tensor.numpy() for name, tensor in self.items()},
            self.labels.tobytes(), self.indices.tobytes(), list(self.keys),
            self.extras, self.epoch, self.state)

    # Tensors

    @property
    def names(self) -> Tuple[str, ...]:
        """The names of the tensors, in order."""
        pointer = self._pointer
        return tuple(native.batch_get_name(pointer, i).decode()
                     for i in range(native.batch_get_n_tensors(pointer)))

    def __getitem__(self, name: str) -> Tensor:
        tensor = self.find_tensor(name)
        if tensor is None:
            hint = (". Set labels=True of batch(), or use batch.labels"
                    if name == "labels" else "")
            raise KeyError(f"the batch has no tensor {name!r}; it has "
                           f"{', '.join(self.names)}{hint}")
        return tensor

    def find_tensor(self, name: str) -> Optional[Tensor]:
        """Returns the tensor with that name, or None."""
        info = native.TensorInfo()
        if isinstance(name, str) and native.batch_find_tensor(
                self._pointer, name.encode(), info):
            return Tensor(self, info)
        return None

    def get_tensor(self, i: int) -> Optional[Tensor]:
        """Returns tensor number `i`, from 0, or None."""
        info = native.TensorInfo()
        if 0 <= i < len(self) and native.batch_get_tensor(
                self._pointer, i, info):
            return Tensor(self, info)
        return None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return int(native.batch_get_n_tensors(self._pointer))

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __repr__(self) -> str:
        tensors = ", ".join(f"{t.name}: {t.dtype} {t.shape}"
                            for t in self.values())
        return f"<Batch of {self.num_items} items: {tensors}>"

    def _repr_html_(self) -> Optional[str]:
        """Returns the pictures with their labels, for a notebook."""
        return make_sheet(self)

    def get(self, name: str, default: Any = None) -> Any:
        """Returns the tensor with that name, or `default`."""
        tensor = self.find_tensor(name)
        return default if tensor is None else tensor

    def values(self) -> List[Tensor]:
        """Returns all tensors, in order."""
        return [self[name] for name in self.names]

    def items(self) -> List[Tuple[str, Tensor]]:
        """Returns (name, tensor) of all tensors, in order."""
        return [(name, self[name]) for name in self.names]

    # Items

    @property
    def num_items(self) -> int:
        """The number of items."""
        return int(native.batch_get_n_items(self._pointer))

    @property
    def labels(self) -> "array[int]":
        """The class of each item, -1 for none: an array of int64, which NumPy
        and PyTorch can view. With `spdlbatch labels=true`, batch["labels"] has the
        same values."""
        return array("q", native.batch_get_numbers(
            native.batch_dup_labels, self._pointer))

    @property
    def indices(self) -> "array[int]":
        """The place of each item in the dataset, from 0: an array of int64."""
        return array("q", native.batch_get_numbers(
            native.batch_dup_indices, self._pointer))

    @property
    def keys(self) -> Keys:
        """The URI of each item, "" for none. *** replaces credentials. keys()
        returns the names of the tensors."""
        return Keys(self)

    @property
    def extras(self) -> List[Optional[Dict[str, Any]]]:
        """Further fields of each item, or None: other columns of a list, and
        values that an element drew at random, such as the crop."""
        import json

        found = (native.batch_dup_extra(self._pointer, i)
                 for i in range(self.num_items))
        return [json.loads(extra) if extra else None for extra in found]

    @property
    def epoch(self) -> int:
        """The epoch of the first item, from 0."""
        return int(native.batch_get_epoch(self._pointer))

    @property
    def state(self) -> Optional[str]:
        """The state to resume after this batch, for Loader(..., state=...): a
        text of some hundred bytes. None if it is unknown or too long."""
        state: Optional[bytes] = native.batch_get_state(self._pointer)
        return state.decode() if state is not None else None

    # PyGObject

    def get_buffer(self) -> Any:
        """Returns the Gst.Buffer. Needs PyGObject, else raises ImportError."""
        gi = bridge()
        return gi.new_boxed(gi.Gst.Buffer,
                            native.batch_get_buffer(self._pointer))

    def get_caps(self) -> Any:
        """Returns the Gst.Caps. Needs PyGObject, else raises ImportError."""
        gi = bridge()
        return gi.new_boxed(gi.Gst.Caps,
                            native.batch_get_caps(self._pointer))


Mapping.register(Batch)
