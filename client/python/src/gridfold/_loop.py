"""What an event loop asks instead of waiting: calls that are under way without a thread each."""

from __future__ import annotations

import asyncio
import functools
import sys
import weakref
from typing import Any, Callable, Coroutine

import numpy as np

from . import _native
from ._resident import ResidentArray
from ._workers import Workers

# Of arguments that may lie anywhere, or take long to be made an array.
_LARGE = sys.maxsize
_SMALL = (type(None), bool, int, float, str, np.generic)


def are_small(arguments: tuple[Any, ...]) -> bool:
    """Whether a loop may make arrays of the arguments, and start a call with them."""
    return _size_of(arguments) <= _native.STARTED_BYTES_MAX


def _size_of(argument: Any) -> int:
    """The bytes of the elements, as float64 where they are Python's; _LARGE where that is unknown."""
    kind = type(argument)
    if kind is np.ndarray:
        return int(argument.nbytes)
    if kind is ResidentArray:
        return 0
    if kind in (list, tuple):
        size = 0
        for one in argument:
            size += _size_of(one)
            if size > _native.STARTED_BYTES_MAX:
                break
        return size
    return 8 if isinstance(argument, _SMALL) else _LARGE


def _sent_bytes(argument: Any) -> int:
    """The bytes of an engine's argument that go in the request: an array, a source, or several."""
    if type(argument) is np.ndarray:
        return int(argument.nbytes)
    if type(argument) is tuple and len(argument) == 3:
        return _sent_bytes(argument[0])
    if type(argument) is list and argument and type(argument[0]) is tuple:
        return sum(map(_sent_bytes, argument))
    return 0


class LoopEngine:
    """An engine for the operations of event loops. Calls with more in them than one that is started
    may have are made by `workers`."""

    def __init__(self, native: _native.Connection, workers: Workers) -> None:
        self._native = native
        self._workers = workers

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        if name.startswith("_"):
            raise AttributeError(name)
        return functools.partial(self._run, name)

    async def _run(self, name: str, *arguments: Any, **options: Any) -> Any:
        sent = sum(map(_sent_bytes, (*arguments, *options.values())))
        if sent > _native.STARTED_BYTES_MAX:
            return await self._workers.run(
                functools.partial(getattr(self._native, name), *arguments, **options))
        answers = _answers_of(asyncio.get_running_loop())
        call = getattr(_native.LoopConnection(self._native, answers.native), name)(*arguments,
                                                                                  **options)
        return None if call is None else await answers.of(call)


class _Answers:
    """The answers for one loop, which are fetched when there are some."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.native = _native.Completions()
        self._futures: dict[int, asyncio.Future[Any]] = {}
        loop.add_reader(self.native.file, self._fetch)

    async def of(self, call: _native.LoopCall) -> Any:
        """The answer of a call, which is given up where nobody waits for it any more."""
        future = asyncio.get_running_loop().create_future()
        self._futures[call.number] = future
        try:
            return await future
        except BaseException:
            call.cancel()
            raise
        finally:
            self._futures.pop(call.number, None)

    def _fetch(self) -> None:
        for number, value, error in self.native.fetch():
            future = self._futures.get(number)
            if future is None or future.done():
                continue
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)


_ANSWERS: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Answers] = (
    weakref.WeakKeyDictionary())


def _answers_of(loop: asyncio.AbstractEventLoop) -> _Answers:
    answers = _ANSWERS.get(loop)
    if answers is None:
        answers = _ANSWERS[loop] = _Answers(loop)
    return answers
