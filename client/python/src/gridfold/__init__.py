"""gridfold: reduces, scans and histograms arrays on a GPU server, by NumPy's names and rules.

>>> import gridfold as gf, numpy as np
>>> gpu = gf.connect("gpu-host:50051")
>>> x = np.load("x.npy", mmap_mode="r")
>>> gpu.sum(x), gpu.std(x, axis=0, ddof=1)
>>> counts, edges = gpu.histogram(x, bins=20)
"""

from __future__ import annotations

import atexit as _atexit
import os as _os
from typing import Any as _Any

from . import _native
from ._connect import connect
from ._connection import Connection, Device, ServerInfo
from ._errors import (AbortedError, AlreadyExistsError, CancelledError, DataLossError,
                      DeadlineExceededError, Error, FailedPreconditionError, InternalError,
                      InvalidArgumentError, NotFoundError, OutOfRangeError, PermissionDeniedError,
                      ResourceExhaustedError, UnauthenticatedError, UnavailableError,
                      UnimplementedError)
from ._groups import (BinnedStatistic, BinnedStatistic2d, BinnedStatisticDd, Grouped,
                      GroupedQuantiles, Groups)
from ._resident import ResidentArray
from ._statistics import Statistics

__all__ = [
    "AbortedError", "AlreadyExistsError", "BinnedStatistic", "BinnedStatistic2d",
    "BinnedStatisticDd", "CancelledError",
    "Connection", "DataLossError", "DeadlineExceededError", "Device", "Error",
    "FailedPreconditionError", "Grouped", "GroupedQuantiles", "Groups", "InternalError",
    "InvalidArgumentError", "NotFoundError", "OutOfRangeError", "PermissionDeniedError",
    "ResidentArray", "ResourceExhaustedError", "ServerInfo", "Statistics", "UnauthenticatedError",
    "UnavailableError", "UnimplementedError", "connect"]

# How long the end of the interpreter waits for calls of other threads, which it gives up.
_END_SECONDS_MAX = 0.8

_atexit.register(_native.end_calls, _END_SECONDS_MAX)
_os.register_at_fork(after_in_child=_native.forget_calls)


# What is imported when it is first used: a module, or a name of one.
_LATER = {"aio": ".aio", "dask": ".dask", "mpi": ".mpi", "Accumulator": "._accumulator",
          "QuantileSearch": "._quantile_search", "local": "._local"}


def __getattr__(name: str) -> _Any:
    if name in _LATER:
        import importlib
        module = importlib.import_module(_LATER[name], __name__)
        return getattr(module, name) if _LATER[name].startswith("._") else module
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
