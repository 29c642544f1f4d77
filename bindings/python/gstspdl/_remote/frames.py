# gst-spdl: format of batches on a connection between machines
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A frame is a header of fixed size, a text in JSON, and the arrays, each at a
multiple of 64 bytes. A receiver checks all of it: nothing is unpickled, and no
size is trusted before it is compared with a limit."""

import json
import struct
import zlib
from typing import Any, Callable, Dict, List, NamedTuple, Tuple, Union

import numpy

from .._detached import DetachedBatch
from .._errors import LoaderError
from .._failure import Failure
from .answers import Reply

# Magic with the version of the format, kind, size of the text, size of the
# arrays, and CRC-32 of these.
_HEADER = struct.Struct("<8sB3xIQ")
_CRC = struct.Struct("<I")
HEADER_SIZE = _HEADER.size + _CRC.size
_MAGIC = b"spdlray1"
_REPLY, _ERROR, _PONG = 1, 2, 3

_MAX_TEXT = 1 << 28
_MAX_ARRAYS = 1 << 40
_ALIGNMENT = 64

# By name, since NumPy's codes do not tell bfloat16.
_DTYPES = {name: numpy.dtype(name).newbyteorder("<") for name in (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
    "uint64", "float16", "float32", "float64")}
_NAMES = {*_DTYPES, "bfloat16"}


class FrameError(Exception):
    """The data does not follow the format."""


class Header(NamedTuple):
    kind: int
    #: size of the text in bytes
    text_size: int
    #: size of the arrays in bytes, with the gaps between them
    arrays_size: int


def parse_header(data: Union[bytes, bytearray, memoryview]) -> Header:
    """Checks and returns a header of HEADER_SIZE bytes."""
    if len(data) != HEADER_SIZE:
        raise FrameError(f"a header of {len(data)} bytes")
    magic, kind, text_size, arrays_size = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise FrameError(f"no header, or one of another version: {magic!r}")
    if _CRC.unpack_from(data, _HEADER.size)[0] != zlib.crc32(
            data[:_HEADER.size]):
        raise FrameError("a damaged header")
    if kind not in (_REPLY, _ERROR, _PONG):
        raise FrameError(f"a frame of unknown kind {kind}")
    if kind == _PONG and (text_size or arrays_size):
        raise FrameError("an answer to a ping with content")
    if text_size > _MAX_TEXT or arrays_size > _MAX_ARRAYS:
        raise FrameError(f"a frame of {text_size} and {arrays_size} bytes")
    return Header(kind, text_size, arrays_size)


def _make_header(kind: int, text_size: int, arrays_size: int) -> bytes:
    # The gap of three bytes is zero.
    data = _HEADER.pack(_MAGIC, kind, text_size, arrays_size)
    return data + _CRC.pack(zlib.crc32(data))


def make_frame(answer: Union[Reply, LoaderError]) -> List[Any]:
    """Returns what is sent, without copying the arrays of a batch."""
    if isinstance(answer, LoaderError):
        text = json.dumps([str(answer), answer.code, answer.stage,
                           answer.uri]).encode()
        return [_make_header(_ERROR, len(text), 0), text]
    places: List[Tuple[str, str, Tuple[int, ...]]] = []
    parts: List[Any] = []
    size = 0
    batch = answer.batch
    found: Dict[str, Any] = {"batch": None}
    if batch is not None:
        arrays = [(name, numpy.asarray(tensor.numpy()))
                  for name, tensor in batch.items()]
        arrays += [("", numpy.frombuffer(batch.labels, "int64")),
                   ("", numpy.frombuffer(batch.indices, "int64"))]
        for name, array in arrays:
            if array.dtype.name not in _NAMES:
                raise TypeError(f"the type of {name!r} is {array.dtype}, which "
                                "needs transfer=\"store\"")
            places.append((name, array.dtype.name, array.shape))
            flat = numpy.ascontiguousarray(array).reshape(-1)
            parts += [bytes(-size % _ALIGNMENT), flat.view("uint8").data]
            size += len(parts[-2]) + len(parts[-1])
        found["batch"] = {"arrays": places, "keys": list(batch.keys),
                          "extras": batch.extras, "epoch": batch.epoch}
    found.update(state=answer.state, epoch=answer.epoch,
                 is_last=answer.is_last, warnings=answer.warnings,
                 failures=[[f.stage, f.uri, f.reason, f.epoch, f.index,
                            f.sequence, f.source] for f in answer.failures])
    text = json.dumps(found, separators=(",", ":")).encode()
    return [_make_header(_REPLY, len(text), size), text, *parts]


#: answer to a ping
PONG = _make_header(_PONG, 0, 0)


def parse_frame(header: Header, text: Union[bytes, bytearray, memoryview],
                arrays: "numpy.ndarray[Any, Any]"
                ) -> Union[Reply, LoaderError]:
    """Returns the answer of a frame. Its batch has views of `arrays`, an array
    of bytes."""
    try:
        found = json.loads(bytes(text))
        if header.kind == _ERROR:
            message, code, stage, uri = found
            return LoaderError(_check(str, message), code=_check(str, code),
                               stage=_check_or_none(str, stage),
                               uri=_check_or_none(str, uri))
        batch = found["batch"]
        return Reply(
            None if batch is None else _parse_batch(
                batch, _check_or_none(str, found["state"]), arrays),
            found["state"], _check(int, found["epoch"]),
            _check(bool, found["is_last"]),
            [_parse_failure(*fields) for fields in found["failures"]],
            [_check(str, text) for text in found["warnings"]])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError,
            MemoryError) as error:
        raise FrameError(f"a malformed frame: {error!r}") from error


def _parse_batch(found: Dict[str, Any], state: Any,
                 memory: "numpy.ndarray[Any, Any]") -> DetachedBatch:
    arrays = []
    end = 0
    for name, dtype_name, shape in found["arrays"]:
        dtype = _find_dtype(_check(str, dtype_name))
        size = dtype.itemsize
        for extent in shape:
            if _check(int, extent) < 0:
                raise ValueError(f"a negative extent {extent}")
            size *= extent
        begin = end + -end % _ALIGNMENT
        end = begin + size
        if end > len(memory):
            raise ValueError(f"array {name!r} ends at {end} of {len(memory)}")
        arrays.append((_check(str, name),
                       memory[begin:end].view(dtype).reshape(shape)))
    if end != len(memory):
        raise ValueError(f"arrays of {end} bytes in {len(memory)}")
    (_, labels), (_, indices) = arrays[-2:]
    keys = [_check(str, key) for key in found["keys"]]
    extras = [_check_or_none(dict, extra) for extra in found["extras"]]
    for numbers in labels, indices:
        if numbers.dtype != numpy.int64 or numbers.ndim != 1:
            raise ValueError("labels and indices must be of type int64")
    if not len(labels) == len(indices) == len(keys) == len(extras):
        raise ValueError("labels, indices, keys and extras differ in length")
    return DetachedBatch(dict(arrays[:-2]), labels.tobytes(),
                         indices.tobytes(), keys, extras,
                         _check(int, found["epoch"]), state)


def _find_dtype(name: str) -> Any:
    if name == "bfloat16":
        import ml_dtypes

        return numpy.dtype(ml_dtypes.bfloat16)
    return _DTYPES[name]


def _parse_failure(stage: Any, uri: Any, reason: Any, epoch: Any, index: Any,
                   sequence: Any, source: Any) -> Failure:
    return Failure(_check(str, stage), _check_or_none(str, uri),
                   _check(str, reason), _check_or_none(int, epoch),
                   _check_or_none(int, index), _check_or_none(int, sequence),
                   _check(int, source))


def _check(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r:.50} is not of type {kind.__name__}")
    return value


def _check_or_none(kind: type, value: Any) -> Any:
    return None if value is None else _check(kind, value)


def receive_frame(receive: Callable[[memoryview], None],
                  take_memory: Callable[[int], "numpy.ndarray[Any, Any]"]
                  ) -> Union[Reply, LoaderError, None]:
    """Receives an answer. Returns None for the answer to a ping. `receive` fills
    memory, and `take_memory` returns an array of bytes."""
    data = bytearray(HEADER_SIZE)
    receive(memoryview(data))
    header = parse_header(data)
    if header.kind == _PONG:
        return None
    text = bytearray(header.text_size)
    receive(memoryview(text))
    arrays = take_memory(header.arrays_size)
    receive(arrays.data)
    return parse_frame(header, text, arrays)
