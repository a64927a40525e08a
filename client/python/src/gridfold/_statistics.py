"""The statistics by name, and the dtypes of their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._elements import is_float
from ._engine import Execution

# Numbers of the wire.
NUMBERS: dict[str, int] = {
    "count": 1, "sum": 2, "product": 3, "min": 4, "max": 5, "argmin": 6, "argmax": 7, "mean": 8,
    "variance": 9, "standard_deviation": 10, "l1_norm": 11, "l2_norm": 12, "nonzero_count": 13,
    "nan_count": 14, "infinity_count": 15, "all": 16, "any": 17, "bitwise_and": 18,
    "bitwise_or": 19, "bitwise_xor": 20, "range": 21, "root_mean_square": 22,
    "standard_error": 23}

# Statistics of two arrays, by numbers of the wire, and those among them that have a matrix.
PAIRED_DOT, PAIRED_COVARIANCE, PAIRED_CORRELATION, PAIRED_MEAN, PAIRED_VARIANCE = range(1, 6)
PAIRED_OF_TWO = {PAIRED_DOT, PAIRED_COVARIANCE, PAIRED_CORRELATION}

# NumPy's names, and shorter ones.
ALIASES: dict[str, str] = {
    "prod": "product", "amin": "min", "amax": "max", "var": "variance",
    "std": "standard_deviation", "ptp": "range", "rms": "root_mean_square",
    "sem": "standard_error", "count_nonzero": "nonzero_count"}

# By the kind of their values: those of sums and products, the elements' own, positions and counts,
# truths, and quotients and roots.
_SUMS = {2, 3}
_ELEMENTS = {4, 5, 18, 19, 20, 21}
_COUNTS = {1, 6, 7, 13, 14, 15}
_TRUTHS = {16, 17}

_INT64, _UINT64 = np.dtype(np.int64), np.dtype(np.uint64)
_FLOAT64, _BOOL = np.dtype(np.float64), np.dtype(np.bool_)


def number_of(name: str) -> int:
    """The number of a statistic. Raises ValueError for a name that none has."""
    number = NUMBERS.get(ALIASES.get(name, name))
    if number is None:
        raise ValueError(f"no statistic is called {name!r}; there are "
                         f"{', '.join(sorted({*NUMBERS, *ALIASES}))}")
    return number


def result_dtype(statistic: int, dtype: Any) -> Any:
    """The dtype that NumPy gives the statistic of elements of `dtype`."""
    if statistic in _SUMS:
        if is_float(dtype):
            return dtype
        return _UINT64 if dtype.kind == "u" else _INT64
    if statistic in _ELEMENTS:
        return dtype
    if statistic in _COUNTS:
        return _INT64
    if statistic in _TRUTHS:
        return _BOOL
    return dtype if is_float(dtype) else _FLOAT64


class Statistics(dict[str, Any]):
    """Several statistics of an array: by name, as an item or as an attribute.

    `execution` says how the job ran.
    """

    execution: Execution

    def __init__(self, values: dict[str, Any], execution: Execution) -> None:
        super().__init__(values)
        self.execution = execution

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        def text(value: Any) -> str:  # NumPy 2 shows the type of a scalar, too.
            return repr(value.item() if isinstance(value, np.generic) else value)
        return f"Statistics({', '.join(f'{name}={text(value)}' for name, value in self.items())})"
