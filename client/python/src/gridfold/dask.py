"""Sums, means, variances, histograms and quantiles of Dask arrays, whose bits do not depend on the
chunks.

Each chunk becomes an accumulator where it is, in the worker's own process; accumulators are merged
in Dask's tree of tasks, and the answer is rounded once at the end. Quantiles take several rounds of
counts.

>>> import dask.array as da, gridfold.dask
>>> gridfold.dask.mean(da.from_zarr("x.zarr"), axis=0).compute()
"""

from __future__ import annotations

import functools
from typing import Any, Iterator, NamedTuple, Optional, Sequence

import dask.array as da
import numpy as np
from dask.delayed import delayed

from ._accumulator import Accumulator
from ._bins import Even
from ._layout import Axis
from ._quantile_search import QuantileSearch
from ._statistics import number_of, result_dtype

__all__ = ["histogram", "mean", "nanmean", "nanquantile", "nansum", "quantile", "reduce", "std",
           "sum", "var"]

# Accumulators that one task merges.
_MERGED_MAX = 16

# Dask's functions have no types.
_array: Any = da


class _Part(NamedTuple):
    """The accumulator of the groups of some chunks, and the shape of these groups."""

    accumulator: Accumulator
    shape: tuple[int, ...]  # With the reduced axes as 1.


def _chunk(block: Any, axis: Any, keepdims: bool, statistic: str, options: dict[str, Any],
           computing_meta: bool = False) -> Any:
    if computing_meta:  # Dask asks for an array of the result's kind.
        return block
    shape = tuple(1 if place in axis else size for place, size in enumerate(block.shape))
    return _Part(Accumulator.of(block, [statistic], axis, **options), shape)


def _flat(parts: Any) -> Iterator[_Part]:
    """Dask hands over lists of lists."""
    if isinstance(parts, _Part):
        yield parts
    else:
        for one in parts:
            yield from _flat(one)


def _merge(parts: Any, axis: Any, keepdims: bool) -> _Part:
    given = list(_flat(parts))
    return _Part(Accumulator.merge(part.accumulator for part in given), given[0].shape)


def _finish(parts: Any, axis: Any, keepdims: bool, statistic: str) -> Any:
    whole = _merge(parts, axis, keepdims)
    (values,) = whole.accumulator.result().values()
    shape = whole.shape if keepdims else tuple(
        size for place, size in enumerate(whole.shape) if place not in axis)
    return np.reshape(values, shape)[()]


def reduce(x: Any, statistic: str, axis: Axis = None, *, keepdims: bool = False,
           split_every: Optional[int] = None, **options: Any) -> Any:
    """A statistic of a Dask array, as a Dask array.

    `statistic` is a name of `gridfold.Connection.reduce` that has accumulators and depends on no
    order: not "argmin", "argmax", nor "product" of floating-point elements. `options` are those of
    `gridfold.Accumulator.of`; `split_every` is how many chunks one task merges.
    """
    if statistic in ("argmin", "argmax"):
        raise NotImplementedError(f"{statistic}: chunks do not know where they begin")
    return _array.reduction(
        x, functools.partial(_chunk, statistic=statistic, options=options),
        functools.partial(_finish, statistic=statistic), axis=axis, keepdims=keepdims,
        combine=_merge, concatenate=False, split_every=split_every, name=f"gridfold-{statistic}",
        dtype=result_dtype(number_of(statistic), x.dtype), meta=np.empty((), x.dtype))


def sum(x: Any, axis: Axis = None, *, keepdims: bool = False, overflow: str = "error",
        split_every: Optional[int] = None) -> Any:
    """The sum, exact and rounded once."""
    return reduce(x, "sum", axis, keepdims=keepdims, split_every=split_every, overflow=overflow)


def nansum(x: Any, axis: Axis = None, *, keepdims: bool = False, overflow: str = "error",
           split_every: Optional[int] = None) -> Any:
    """The sum of the elements that are not NaN."""
    return reduce(x, "sum", axis, keepdims=keepdims, split_every=split_every, overflow=overflow,
                  ignore_nan=True)


def mean(x: Any, axis: Axis = None, *, keepdims: bool = False,
         split_every: Optional[int] = None) -> Any:
    """The mean: the exact sum, divided and rounded once."""
    return reduce(x, "mean", axis, keepdims=keepdims, split_every=split_every)


def nanmean(x: Any, axis: Axis = None, *, keepdims: bool = False,
            split_every: Optional[int] = None) -> Any:
    """The mean of the elements that are not NaN."""
    return reduce(x, "mean", axis, keepdims=keepdims, split_every=split_every, ignore_nan=True)


def var(x: Any, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False,
        split_every: Optional[int] = None) -> Any:
    """The variance, from exact sums, rounded once."""
    return reduce(x, "variance", axis, keepdims=keepdims, split_every=split_every, ddof=ddof)


def std(x: Any, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False,
        split_every: Optional[int] = None) -> Any:
    """The standard deviation, from exact sums."""
    return reduce(x, "standard_deviation", axis, keepdims=keepdims, split_every=split_every,
                  ddof=ddof)


def histogram(x: Any, bins: Any, range: Optional[tuple[float, float]] = None, *,
              weights: Any = None, density: bool = False) -> tuple[Any, Any]:
    """Counts of all elements, as a Dask array, and the edges, as one of NumPy's.

    `bins` is increasing edges, or a number of bins of equal width over `range`. `weights` is a Dask
    array of the shape of `x`.
    """
    if np.ndim(bins) == 0 and range is None:
        raise ValueError("range: is needed, since chunks do not know that of the whole")
    lower, upper = range if range is not None else (0.0, 1.0)
    edges = np.asarray(bins, np.float64) if np.ndim(bins) else Even(
        bins, float(lower), float(upper), np.dtype(np.float64)).edges()
    blocks = x.to_delayed().ravel()
    weight_blocks: Sequence[Any] = [None] * len(blocks)
    if weights is not None:
        weight_blocks = weights.rechunk(x.chunks).to_delayed().ravel()
    part = delayed(Accumulator.of_histogram, pure=True)
    merge = delayed(Accumulator.merge, pure=True)
    whole = _in_a_tree(merge, [part(block, bins, range, weights=of_block)
                               for block, of_block in zip(blocks, weight_blocks)])
    counts = delayed(_counts, pure=True)(whole)
    dtype = np.int64 if weights is None else np.float64
    values = _array.from_delayed(counts, (len(edges) - 1,), dtype)
    if density:
        values = values / np.diff(edges) / values.sum()
    return values, edges


def quantile(x: Any, q: Any, *, method: str = "linear") -> Any:
    """The exact quantiles `q` of all elements: what NumPy finds in the array as one.

    Computes at once, in one to six rounds, each of which reads `x`: `persist` what takes long to
    make. No elements are moved, but half a megabyte of counts for each chunk and round. `q` and
    `method` are those of `gridfold.QuantileSearch`.
    """
    return _search(x, QuantileSearch(x.dtype, q, method))


def nanquantile(x: Any, q: Any, *, method: str = "linear") -> Any:
    """As `quantile`, of the elements that are not NaN."""
    return _search(x, QuantileSearch(x.dtype, q, method, ignore_nan=True))


def _search(x: Any, search: QuantileSearch) -> Any:
    blocks = x.to_delayed().ravel()
    add = delayed(np.sum, pure=False)
    while not search.is_done:
        shared = delayed(search)  # Once for all chunks.
        counts = [delayed(QuantileSearch.count)(shared, block) for block in blocks]
        search.add(_in_a_tree(lambda parts: add(parts, axis=0), counts).compute())
    return search.result()


def _in_a_tree(merge: Any, parts: list[Any]) -> Any:
    while len(parts) > 1:
        parts = [merge(parts[begin:begin + _MERGED_MAX])
                 for begin in np.arange(0, len(parts), _MERGED_MAX)]
    return parts[0]


def _counts(accumulator: Accumulator) -> Any:
    return accumulator.result()[0]
