"""Bins of equal width: between which edges, and by rule how many."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from ._elements import Array
from ._engine import Engine
from ._reduce import of_all


# Edges that are made here, at most: 512 MiB of them. Servers take fewer bins unless told otherwise.
_EDGES_MAX = 2**26
_WIDENS_BINS_OF_INTEGERS = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


class Even(NamedTuple):
    """`bin_count` bins of equal width, with the edges of NumPy's linspace in `dtype`."""

    bin_count: int
    lower: float
    upper: float
    dtype: Any

    def edges(self) -> Array:
        if self.bin_count >= _EDGES_MAX:
            raise ValueError(f"bins: {self.bin_count} are too many, with edges for each of them")
        edges: Array = np.linspace(self.lower, self.upper, self.bin_count + 1, dtype=self.dtype)
        return edges


def edges_of(bins: Any, edges: Union[Even, Array]) -> Array:
    """The edges as they are returned: those given as they were given."""
    return edges.edges() if isinstance(edges, Even) else np.asarray(bins)


async def outer_edges(engine: Engine, array: Any, range: Optional[tuple[float, float]]
                      ) -> tuple[Any, Any]:
    """The edges that are given, or the smallest and the largest element."""
    if range is not None:
        lower, upper = range
        if lower > upper:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(lower) and np.isfinite(upper)):
            raise ValueError(f"supplied range of [{lower}, {upper}] is not finite")
    elif array.size == 0:
        lower, upper = 0, 1
    else:
        lower, upper = await of_all(engine, array, "min", "max")
        if not (np.isfinite(lower) and np.isfinite(upper)):
            raise ValueError(f"autodetected range of [{lower}, {upper}] is not finite")
    if lower == upper:
        lower, upper = lower - 0.5, upper + 0.5
    return lower, upper


async def bins_by_rule(engine: Engine, array: Any, rule: str, range: Optional[tuple[float, float]],
                       is_weighted: bool) -> Union[int, Array]:
    """How many bins a rule of NumPy's makes; or all edges, where NumPy works them out."""
    if is_weighted:
        raise TypeError("Automated estimation of the number of bins is not supported for weighted "
                        "data")
    is_resident = hasattr(array, "_lay_out")
    if is_resident and rule not in _RULES_OF_SERVERS:
        raise NotImplementedError(f"bins: {rule!r} needs the elements here")
    if not is_resident and rule not in _WIDTHS:
        return np.histogram_bin_edges(array, rule, range)
    lower, upper = await outer_edges(engine, array, range)
    if is_resident:
        bounds = (None, None) if range is None else (float(lower), float(upper))
        _, edges, _ = await engine.histogram(
            array._lay_out(None).source, [("rule", rule, *bounds)], None, None, False, [])
        return len(edges[0]) - 1
    if range is not None:
        array = array[(array >= lower) & (array <= upper)]
    if array.size == 0:
        return 1
    width = await _WIDTHS[rule](engine, array)
    if _WIDENS_BINS_OF_INTEGERS and array.dtype.kind in "iu" and 0 < width < 1:
        width = 1
    # As Python's numbers, which do not wrap.
    return math.ceil((float(upper) - float(lower)) / width) if width else 1


async def _range(engine: Engine, array: Any) -> float:
    lower, upper = await of_all(engine, array, "min", "max")
    return float(upper) - float(lower)


async def _sqrt(engine: Engine, array: Any) -> Any:
    return await _range(engine, array) / np.sqrt(array.size)


async def _sturges(engine: Engine, array: Any) -> Any:
    return await _range(engine, array) / (np.log2(array.size) + 1.0)


async def _rice(engine: Engine, array: Any) -> Any:
    return await _range(engine, array) / (2.0 * array.size ** (1.0 / 3))


async def _scott(engine: Engine, array: Any) -> Any:
    (spread,) = await of_all(engine, array, "standard_deviation")
    return (24.0 * np.pi**0.5 / array.size) ** (1.0 / 3.0) * spread


# The width of a bin by each rule, from NumPy's documentation.
_WIDTHS = {"sqrt": _sqrt, "sturges": _sturges, "rice": _rice, "scott": _scott}
# For arrays on the server, by their exact statistics in float64; NumPy's of float16 and float32 are
# rounded to these types.
_RULES_OF_SERVERS = {*_WIDTHS, "auto", "fd"}
