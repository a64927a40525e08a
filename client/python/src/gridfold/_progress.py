"""How far a call's arrays have been sent, told to a function or shown as a bar."""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Union

AnyProgress = Union[None, bool, Callable[[int, int], object]]


def to_native(progress: Any) -> Any:
    """What the native module takes: None, False, or a function that makes the report of a call.

    Raises TypeError for what cannot be called.
    """
    if progress is None or progress is False:
        return progress
    if progress is True:
        return _Bar
    if not callable(progress):
        raise TypeError(f"progress: must be a function, True or False, not {progress!r}")
    return functools.partial(_Told, progress)


class _Told:
    def __init__(self, tell: Callable[[int, int], object]) -> None:
        self._tell = tell

    def __call__(self, sent: int, size: int) -> None:
        self._tell(sent, size)

    def close(self) -> None:
        pass


class _Bar:
    """A bar of tqdm's, or without tqdm a line."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm  # type: ignore[import]
            self._bar: Any = tqdm(unit="B", unit_scale=True, unit_divisor=1024)
        except ImportError:
            self._bar = None

    def __call__(self, sent: int, size: int) -> None:
        if self._bar is None:
            print(f"\r{sent * 100 // size:3} % of {size} bytes", end="", file=sys.stderr)
            return
        self._bar.total = size
        self._bar.update(sent - self._bar.n)

    def close(self) -> None:
        if self._bar is None:
            print(file=sys.stderr)
        else:
            self._bar.close()
