# gst-spdl: decoding alone
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import os
import threading
from collections import OrderedDict
from typing import Any, List, Union

from ._errors import LoaderError, code_of
from ._gi import GLib, init, raw
from ._tensor import Tensor

# A thread keeps as many decoders, for as many different settings.
_KEPT = 16


class _Decoders(threading.local):
    """A thread's own: so none waits for another, and a child made by a fork
    finds none in use."""

    def __init__(self) -> None:
        self.by_line: "OrderedDict[str, Any]" = OrderedDict()

    def get(self, line: str) -> Any:
        decoder = self.by_line.get(line)
        if decoder is None:
            init()
            decoder = raw.Decoder.new(line)
            self.by_line[line] = decoder
            if len(self.by_line) > _KEPT:
                self.by_line.popitem(last=False)
        else:
            self.by_line.move_to_end(line)
        return decoder


_decoders = _Decoders()
# Those of a parent: left as they are, since to free them could wait for a lock
# that a thread of the parent's had.
_left: List[Any] = []


def _forget() -> None:
    global _decoders
    _left.append(_decoders)
    _left.append(_decoders.by_line)
    _decoders = _Decoders()


os.register_at_fork(after_in_child=_forget)


def _write(value: Any) -> str:
    """A property's value in gst-launch's syntax."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return '"<' + ",".join(map(str, value)) + '>"'
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def decode(data: Union[bytes, bytearray, memoryview], *, epoch: int = 0,
           index: int = 0, **properties: Any) -> Tensor:
    """Decodes one encoded image into a tensor, (height, width, 3) of uint8, or
    a sound into one of float32, (samples, channels).

    The other arguments are spdldecode's properties: width=224, height=224,
    resize="cover", augment="random-resized-crop", flip=0.5 and so on; what is
    random depends on `seed`, `epoch` and `index` alone. In the calling thread,
    with the GIL released; in threads and in worker processes, forked ones too.

    A video becomes one of its frames, or with num_frames=16 a clip,
    (16, height, width, 3).

    NPY, and NPZ and safetensors of one array, become that array.
    """
    words = [f" {name.replace('_', '-')}={_write(value)}"
             for name, value in properties.items()]
    try:
        decoder = _decoders.get("spdldecode" + "".join(words))
        batch = decoder.decode(GLib.Bytes.new(bytes(data)), epoch, index)
    except GLib.Error as error:
        raise LoaderError(error.message, code=code_of(error),
                          stage="spdldecode") from error
    if len(batch) > 1:
        raise LoaderError(f"It has {len(batch)} arrays, "
                          f"{', '.join(batch.names)}: a Loader gives them all",
                          stage="spdldecode")
    tensor: Tensor = batch[batch.names[0]]
    return tensor
