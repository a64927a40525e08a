"""Operations that are written once, for callers that wait and for event loops.

An operation is a coroutine that awaits nothing but engines. Those of a `Connection` have answered
when they return, so that the operation runs to its end at once; that of `gridfold.aio` has it wait in
the loop.
"""

from __future__ import annotations

import contextvars
import functools
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Optional, TypeVar

if TYPE_CHECKING:
    from types import FrameType
    from typing_extensions import ParamSpec
    P = ParamSpec("P")
T = TypeVar("T")

_FOLDER = os.path.join(os.path.dirname(__file__), "")


def operation(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The method as one that waits; `coroutine_of` has it as it was written."""

    @functools.wraps(method)
    def wait(*arguments: P.args, **options: P.kwargs) -> T:
        return run(method(*arguments, **options))

    wait._coroutine = method  # type: ignore[attr-defined]
    return wait


def coroutine_of(method: Any) -> Optional[Callable[..., Coroutine[Any, Any, Any]]]:
    """The coroutine function, which takes a `self`, of a method that is an operation."""
    return getattr(method, "_coroutine", None)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns that awaits engines which answer before they return."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    coroutine.close()
    raise RuntimeError("an engine of an event loop is asked by a caller who waits")


class MustWait(BaseException):
    """An operation of an event loop needs elements that are on the server."""


_IS_OF_LOOP = contextvars.ContextVar("gridfold_is_of_loop", default=False)


async def of_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Awaits an operation that must not wait otherwise: it ends with MustWait where it would."""
    _IS_OF_LOOP.set(True)
    try:
        return await coroutine
    finally:
        _IS_OF_LOOP.set(False)


def check_may_wait() -> None:
    """Raises MustWait in an operation of an event loop."""
    if _IS_OF_LOOP.get():
        raise MustWait


def warn(message: str) -> None:
    """A RuntimeWarning of the line that has called the package."""
    frame: Optional[FrameType] = sys._getframe()
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, RuntimeWarning, stacklevel=level)
