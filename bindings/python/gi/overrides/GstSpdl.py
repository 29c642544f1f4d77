# gst-spdl: gi.repository.GstSpdl in Python
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds Python's protocols to the introspected classes without changing their
members: a program that calls the library's functions runs with and without the
package."""

from typing import Any, Iterator, List

from gi.module import get_introspection_module
from gi.overrides import override

GstSpdl: Any = get_introspection_module("GstSpdl")

# Maximum delay of Ctrl-C, in ns.
_SLICE = 50_000_000
_NO_LIMIT = 2**64 - 1


class Loader(GstSpdl.Loader):  # type: ignore[misc]
    """Context manager, and iterable of the batches of an epoch."""

    def __init__(self) -> None:
        raise TypeError("a loader needs a pipeline: use "
                        "GstSpdl.Loader.new(description)")

    def __enter__(self) -> "Loader":
        if not self.is_running():
            self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def __iter__(self) -> Iterator[Any]:
        """Yields the batches up to the end of the epoch. Starts the loader."""
        if not self.is_running():
            self.start()
        while True:
            while not self.wait(_SLICE):
                pass
            batch = self.next(_NO_LIMIT)
            if batch is None:
                return
            yield batch


class Batch(GstSpdl.Batch):  # type: ignore[misc]
    """Collection of the tensors by name."""

    def _names(self) -> List[str]:
        return [self.get_name(i) for i in range(self.get_n_tensors())]

    def __getitem__(self, name: str) -> Any:
        tensor = self.find_tensor(name)
        if tensor is None:
            raise KeyError(f"the batch has no tensor {name!r}; it has "
                           f"{', '.join(self._names())}")
        return tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __len__(self) -> int:
        return int(self.get_n_tensors())

    def __bool__(self) -> bool:
        """True, as without this class."""
        return True


class Tensor(GstSpdl.Tensor):  # type: ignore[misc]
    """Has the attributes of gstspdl.Tensor, too: numpy(), shape, and the
    protocols by which NumPy, PyTorch and others view it without a copy."""

    def __getattr__(self, name: str) -> Any:
        # This capsule would point into a view that is gone.
        if name == "__array_struct__":
            raise AttributeError(name)
        return getattr(_view(self), name)

    # NumPy looks for these in the class.
    def __array__(self, *arguments: Any, **more: Any) -> Any:
        return _view(self).__array__(*arguments, **more)

    def __dlpack__(self, **options: Any) -> Any:
        return _view(self).__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return _view(self).__dlpack_device__()


def _view(tensor: Any) -> Any:
    """Returns a gstspdl.Tensor of the same memory."""
    from gstspdl._media.tensor import view_tensor

    return view_tensor(tensor)


__all__ = ["Batch", "Loader", "Tensor"]
for _kind in Batch, Loader, Tensor:
    override(_kind)
