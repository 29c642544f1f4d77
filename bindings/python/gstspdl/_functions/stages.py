# gst-spdl: Python functions as stages
#
# Copyright (C) 2026 the gst-spdl developers
# SPDX-License-Identifier: LGPL-2.1-or-later

import inspect
import itertools
import operator
from functools import partial
from numbers import Integral
from typing import Any, Callable, Dict, Optional

from .._errors import LoaderError
from .._media.results import call, describe_error
from .._media.sample import Sample
from .._native import library as native
from .seeds import Seed

Function = Callable[[Sample], Any]
RouteFunction = Callable[[Sample], int]

# Functions and objects that open tables, which the library may call, by id.
_kept: Dict[int, Any] = {}
# Worker processes and coroutines, which close() ends, by id.
_pools: Dict[int, Any] = {}
_numbers = itertools.count(1)


def _call(pointer: int, number: int) -> Optional[int]:
    item = Sample(native.ref(pointer))
    return call(partial(get(number), item), item)


def _select(pointer: int, number: int, problem: int) -> int:
    try:
        item = Sample(native.ref(pointer))
        branch = _check_branch(get(number)(item))
        item._keep_extra()
        return branch
    except BaseException as error:
        native.set_problem(
            problem, describe_error(error).encode(errors="replace"))
        return -1


def _check_branch(result: Any) -> int:
    if hasattr(result, "item"):  # a scalar of NumPy or PyTorch
        result = result.item()
    try:
        branch = operator.index(result)
    except TypeError:
        raise TypeError(
            f"the function returned {result!r}: return the number of a branch, "
            "an int") from None
    if not 0 <= branch <= _MAX_BRANCH:
        raise ValueError(f"the function returned {branch}: return the number "
                         "of a branch, from 0")
    return branch


def keep(thing: Any) -> int:
    """Keeps an object until the library no longer uses the returned id."""
    drop_finished()
    number = next(_numbers)
    _kept[number] = thing
    return number


def get(number: int) -> Any:
    return _kept[number]


# Lives as long as the interpreter, so that no pipeline can outlive it.
_callback = native.Callback(_call)
_select_callback = native.SelectCallback(_select)

# GST_SPDL_MAX_CONCURRENCY
_MAX_CONCURRENCY = 4096
# The largest int of C.
_MAX_BRANCH = 2**31 - 1

_NO_ELEMENT = 1
_OTHER_ELEMENT = 2


def _check(status: int, name: str, factory: str = "spdlpipe") -> None:
    if status == _NO_ELEMENT:
        raise LoaderError(f"The pipeline has no element named {name!r}: write "
                          f"\"{factory} name={name}\"", code="map")
    if status == _OTHER_ELEMENT:
        raise LoaderError(f"{name!r} is not an {factory}, which this function "
                          "needs: use the name of one", code="map", stage=name)


def connect(pipeline: int, name: str, function: Function) -> None:
    """Sets the function of the spdlpipe with that name. `pipeline` is an
    address."""
    _check_function(function)
    if is_async(function):
        _connect_coroutine(pipeline, name, function)
    else:
        _connect(pipeline, name, "spdlpipe", function, native.set_function,
                 _callback)


def connect_route(pipeline: int, name: str, function: RouteFunction) -> None:
    """Sets the function of the spdlroute with that name."""
    _check_function(function)
    if is_async(function):
        raise TypeError(f"{function!r} is async, but must choose a branch "
                        "without waiting: wait in a function of map()")
    _connect(pipeline, name, "spdlroute", function, native.set_select,
             _select_callback)


def _connect(pipeline: int, name: str, factory: str, function: Function,
             connect_native: Any, callback: Any) -> None:
    number = keep(function)
    try:
        _check(connect_native(pipeline, name.encode(), callback, number),
               name, factory)
    except LoaderError:
        del _kept[number]
        raise


def _is_kind(check: Callable[[Any], bool], function: Any) -> bool:
    return check(function) or check(getattr(function, "__call__", None))


def is_async(function: Any) -> bool:
    return _is_kind(inspect.iscoroutinefunction, function)


def set_concurrency(pipeline: int, name: str, concurrency: Any) -> None:
    _check_number("concurrency", concurrency, _MAX_CONCURRENCY)
    _check(native.set_concurrency(pipeline, name.encode(), concurrency), name)


def check_name(name: Any) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name of an element must be a str, not {name!r}")


def _check_number(name: str, value: Any, limit: int) -> None:
    if (isinstance(value, bool) or not isinstance(value, Integral) or
            not 1 <= int(value) <= limit):
        raise ValueError(
            f"{name} must be a number from 1 to {limit}, not {value!r}")


def _connect_coroutine(pipeline: int, name: str, function: Function) -> None:
    from .coroutines import Coroutines

    number = next(_numbers)
    made = Coroutines(function, number)
    try:
        _check(native.set_queue(pipeline, name.encode(), made.pointer), name)
    except LoaderError:
        made.close()
        raise
    _pools[number] = made


def _check_function(function: Any) -> None:
    if not callable(function):
        raise TypeError(f"{function!r} is not callable: pass a function")
    if (_is_kind(inspect.isgeneratorfunction, function) or
            _is_kind(inspect.isasyncgenfunction, function)):
        raise TypeError(f"{function!r} is a generator function, which is not "
                        "supported: return a list of items instead")


class Pool:
    """Worker processes that call a function."""

    def __init__(self, pipeline: int, name: str, function: Function,
                 size: int, seed: Seed = Seed()) -> None:
        from .._processes.server import Server, dump
        from .._processes.worker import FunctionJob

        _check_function(function)
        if is_async(function):
            raise TypeError(f"{function!r} is async and runs in this process: "
                            "leave out processes=, or call a function that is "
                            "not async")
        _check_number("processes", size, _MAX_CONCURRENCY)
        self._name = name
        try:
            self._job = dump(FunctionJob(function, seed))
        except Exception as error:
            raise LoaderError(
                f"The function of {name!r} cannot be sent to worker processes: "
                f"{error}", code="map", stage=name) from error
        self._server = Server(self._job)
        self._pointer = native.process_pool_new(self._server.pointer, size)
        number = next(_numbers)
        try:
            _check(native.set_process_pool(
                pipeline, name.encode(), self._pointer, size, number), name)
        except LoaderError:
            self.close()
            raise
        _pools[number] = self

    def wait(self) -> None:
        """Waits until the workers can call the function."""
        from .._processes.server import Server, StartError

        if not self._server.is_running():
            self._server.close()
            self._server = Server(self._job)
            native.process_pool_set_server(self._pointer,
                                           self._server.pointer)
        try:
            self._server.wait()
        except StartError as error:
            raise LoaderError(
                f"The worker processes of {self._name!r} cannot start: {error}",
                code="map", stage=self._name) from None

    def close(self) -> None:
        native.process_pool_free(self._pointer)
        self._server.close()


def drop_finished() -> None:
    """Drops functions of pipelines that no longer exist."""
    for number in native.pop_finished():
        _kept.pop(number, None)
        pool = _pools.pop(number, None)
        if pool:
            pool.close()
