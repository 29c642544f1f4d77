# gst-spdl: items in the pipeline
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import json
import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple

from .._errors import LoaderError
from .._native import library as native
from .._native.gi import address_of, bridge, get_attribute, is_a
from .batch import Batch
from .extra import find_changes
from .tensor import Tensor


# GST_SPDL_MAX_RANK
_MAX_RANK = 16
# As spdl_uri_has_scheme().
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class Sample:
    """Argument of a function in the pipeline: an item, a group of items after
    spdlaggregate, or a batch after spdlbatch.

        def brighten(sample):
            image = sample["data"].numpy()      # (height, width, 3), no copy
            return image // 2 + 127

    sample["data"] is a Tensor of an array, a decoded image or a batch.
    bytes(sample) is a copy of the bytes, for example of an encoded file. With
    PyGObject, a Sample also has the attributes of a Gst.Sample, such as
    get_buffer().
    """

    __slots__ = ("_pointer", "_batch", "_gst", "_extra", "_extra_before",
                 "__weakref__")

    _pointer: int

    def __init__(self, pointer: int) -> None:
        """Takes ownership of a reference."""
        self._pointer = pointer
        self._batch: Optional[Batch] = None
        self._gst: Any = None
        self._extra: Optional[Dict[str, Any]] = None
        self._extra_before = "{}"

    def __del__(self, _unref: Any = native.unref) -> None:
        _unref(self._pointer)

    def __copy__(self) -> "Sample":
        return Sample(native.ref(self._pointer))

    def __deepcopy__(self, _memo: Any) -> "Sample":
        return self.__copy__()  # the contents never change

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise TypeError("a Sample cannot be pickled: send bytes(sample), or "
                        "sample[\"data\"].numpy()")

    @property
    def caps(self) -> str:
        """The format as text, such as "image/jpeg"."""
        return native.sample_dup_caps(self._pointer) or ""

    @property
    def items(self) -> List["Sample"]:
        """The items of a group, or a list with the sample itself."""
        n = native.sample_get_n_items(self._pointer)
        if n is None:
            return [self]
        return [Sample(native.sample_dup_item(self._pointer, i))
                for i in range(n)]

    @property
    def tensors(self) -> Batch:
        """All tensors by name, without a copy. Raises LoaderError if the
        sample cannot be read as tensors."""
        if self._batch is None:
            try:
                self._batch = Batch._take(native.sample_view(self._pointer))
            except native.Error as error:
                raise LoaderError(error.message, code=error.nick) from error
        return self._batch

    def __getitem__(self, name: str) -> Tensor:
        tensors = self.tensors
        if name not in tensors:
            raise KeyError(f"the sample has no tensor {name!r}; it has "
                           f"{', '.join(tensors.names)}")
        return tensors[name]

    def __bytes__(self) -> bytes:
        return native.sample_dup_data(self._pointer)

    def _item(self) -> native.Item:
        item = native.sample_get_item(self._pointer)
        if item is None:
            raise LoaderError("The sample is not a single item of a dataset, "
                              "so it has no number: use the samples in items")
        return item

    @property
    def epoch(self) -> int:
        """The epoch of the item, from 0. Raises LoaderError for a group or a
        batch."""
        return int(self._item().epoch)

    @property
    def index(self) -> int:
        """The place of the item in the dataset, from 0. Raises LoaderError for
        a group or a batch."""
        return int(self._item().index)

    @property
    def label(self) -> int:
        """The class of the item, -1 for none. Raises LoaderError for a group
        or a batch."""
        return int(self._item().label)

    @property
    def key(self) -> str:
        """The URI of the item, "" for none. Raises LoaderError for a group or
        a batch."""
        uri: Optional[bytes] = self._item().uri
        return (uri or b"").decode(errors="replace")

    @property
    def extra(self) -> Dict[str, Any]:
        """The extra fields of the item: columns of a list, members of JSON, texts
        of a shard, and values that elements have recorded, such as a random crop.
        The item keeps the changes that a function of map() or route() makes in this
        dict, whatever the function returns. Values are numbers, texts, arrays,
        lists of values of one type, and dicts. None removes a field. Raises
        LoaderError for a group or a batch: change the samples in items, and return
        them."""
        if self._extra is None:
            self._item()
            self._extra_before = (
                native.sample_dup_extra(self._pointer) or "{}")
            self._extra = json.loads(self._extra_before)
        return self._extra

    @extra.setter
    def extra(self, fields: Mapping[str, Any]) -> None:
        if not isinstance(fields, Mapping):
            raise TypeError("extra must be a dict, not "
                            f"{type(fields).__name__}")
        self.extra  # what was there before
        self._extra = dict(fields)

    def _give_extra(self, result: "Sample") -> "Sample":
        """Returns a result of a function with the changes of extra."""
        changes = (find_changes(self._extra_before, self._extra)
                   if self._extra is not None else None)
        if changes is None:
            return result
        return Sample(native.sample_with_extra(
            result._pointer, self._pointer, *changes))

    def _keep_extra(self) -> None:
        """Leaves changes of extra with the library's sample."""
        changes = (find_changes(self._extra_before, self._extra)
                   if self._extra is not None else None)
        if changes is not None:
            native.sample_keep_extra(self._pointer, *changes)

    @property
    def gst_sample(self) -> Any:
        """The Gst.Sample. Needs PyGObject, else raises ImportError."""
        if self._gst is None:
            gi = bridge()
            self._gst = gi.new_boxed(gi.Gst.Sample, self._pointer)
        return self._gst

    # Type checkers would otherwise accept any name.
    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            return get_attribute(
                self, "gst_sample", name,
                '. A sample is not an image: use sample["data"].numpy(), or '
                "wrap the function with gstspdl.torch.transform()")


class _Caps:
    """Caps of the library, which are freed with this object."""

    def __init__(self, description: str) -> None:
        self.pointer = native.caps_new(description)

    def __del__(self, _unref: Any = native.unref) -> None:
        pointer = getattr(self, "pointer", None)
        if pointer:
            _unref(pointer)


_keep_caps = lru_cache(maxsize=64)(_Caps)


@lru_cache(maxsize=64)
def _caps_of_array(dtype: Any, shape: Tuple[int, ...]) -> _Caps:
    dims = ":".join(map(str, reversed(shape))) or "1"
    # As gst_spdl_tensors_info_to_caps() writes them.
    name = "uint8" if dtype == bool else dtype
    return _Caps("other/tensors,format=static,num_tensors=1,"
                 f'types=(string)"{name}",dimensions=(string)"{dims}",'
                 "framerate=0/1" + ("" if shape and 0 not in shape else
                                    f",rank=(int)<{len(shape)}>")
                 + (",bool=(boolean)<true>" if dtype == bool else ""))


def _of_array(item: Any, link: Optional[int]) -> Sample:
    import numpy

    values = numpy.asarray(item)
    if values.dtype.name != "bfloat16" and (
            values.dtype.kind not in "biuf" or values.dtype.itemsize > 8):
        raise TypeError(f"{values.dtype} cannot be a tensor: convert "
                        "the array to bool, integers or floating point of at "
                        "most 64 bits")
    # Caps cannot describe these, which would end the run instead of the item.
    if values.ndim > _MAX_RANK:
        raise TypeError(f"an array of {values.ndim} dimensions cannot be a "
                        f"tensor, which has at most {_MAX_RANK}: reshape it")
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    shape = values.shape
    values = numpy.ascontiguousarray(values)
    caps = _caps_of_array(values.dtype, shape)
    return Sample(native.sample_new_at(
        values.ctypes.data, values.nbytes, caps.pointer, link))


def of_bytes(data: Any, caps: Optional[str],
             link: Optional[int] = None) -> Sample:
    """Returns a sample with a copy of bytes; without caps, it has the format
    of the item that it replaces."""
    data = bytes(data)
    kept = _keep_caps(caps) if caps else None
    return Sample(native.sample_new(
        data, len(data), kept.pointer if kept else None, link))


def of_parts(parts: Mapping[str, Sample]) -> Sample:
    """Returns one item of several media."""
    for name in parts:
        if not isinstance(name, str) or not name:
            raise TypeError(f"the name of a medium must be text, not {name!r}")
    pointer = native.sample_new_from_parts(
        list(parts), [part._pointer for part in parts.values()])
    if pointer is None:
        raise ValueError(
            f"{len(parts)} media cannot be one item: use at most 16, each with "
            "a different name")
    return Sample(pointer)


def of_items(items: List[Sample]) -> Sample:
    """A group."""
    pointer = native.sample_new_from_items([i._pointer for i in items])
    if pointer is None:
        raise TypeError("the results in a list have different types or "
                        "shapes: return them as separate items")
    return Sample(pointer)


def of_data(item: Any, caps: Optional[str],
            link: Optional[int] = None) -> Optional[Sample]:
    """Returns a sample of bytes, of a number, of an array, or of an object that
    NumPy reads as an array, such as a PyTorch tensor; None for anything else.
    `link`: to the process that gets it, which shares the copy."""
    if isinstance(item, (bytes, bytearray, memoryview)):
        return of_bytes(item, caps, link)
    if hasattr(item, "__array_interface__") or hasattr(item, "__array__"):
        return _of_array(item, link)
    if isinstance(item, (int, float)):
        import numpy

        # As PyTorch's default_collate. A larger integer raises OverflowError.
        dtype = ("bool" if isinstance(item, bool) else
                 "int64" if isinstance(item, int) else "float64")
        return _of_array(numpy.array(item, dtype), link)
    return None


def of_gst(item: Any) -> Optional[Sample]:
    """Returns a sample of a Gst.Sample or of a Gst.Buffer; None for anything
    else."""
    if is_a(item, "Sample"):
        return Sample(native.ref(address_of(item, "Sample")))
    if is_a(item, "Buffer"):
        return Sample(native.sample_new_from_buffer(
            address_of(item, "Buffer")))
    return None


def uri_of(item: Any) -> str:
    """Returns a str with a scheme, which is a URI, unchanged, and another path
    as an absolute one."""
    text: str = os.fsdecode(item)
    if "\0" in text:
        raise ValueError(f"the path {text!r} has a NUL character, which no "
                         "file name can contain")
    if isinstance(item, str) and _SCHEME.match(text):
        return text
    # Not abspath(), which takes "link/../a" for "a".
    return text if text.startswith("/") else os.path.join(os.getcwd(), text)
