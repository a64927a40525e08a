"""Quantiles, and the largest or smallest elements."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple, Optional

import numpy as np

from ._elements import Array, as_array, is_float
from ._engine import Engine
from ._layout import Axis, Layout
from ._operation import operation, warn
from ._reduce import Question, ask, group_length

# Numbers of the wire.
_METHODS = {"linear": 1, "lower": 2, "higher": 3, "nearest": 4, "midpoint": 5}
MEAN = 6
INTERPOLATING = {1, 5, MEAN}
_INVERTED, _INVERTED_NUMBER = "inverted_cdf", 7


class TopK(NamedTuple):
    """Elements in order, and where they stand along the axis."""

    values: Any
    indices: Any


class OrderStatistics:
    """Exact quantiles of all elements, and the largest or smallest of them.

    `x` and `axis` are as for reductions. Quantiles are NumPy's on float64 arrays, bit for bit:
    between elements they are computed in float64, whatever the dtype of `x`. Integers do not
    overflow on the way, and between a number and an infinity a quantile is that infinity.
    """

    _engine: Engine

    @operation
    async def quantile(self, x: Any, q: Any, axis: Axis = None, *, method: str = "linear",
                       keepdims: bool = False, weights: Any = None) -> Any:
        """Quantiles `q`, from 0 to 1, of the elements; NaN where there is one.

        `method` is "linear", "midpoint", "lower", "higher" or "nearest". The first two give
        float64, the others elements. The shape of `q` comes first in that of the result.

        `weights`, with `method="inverted_cdf"`, have the shape of `x`, or along an axis its length:
        the quantile is the smallest element up to which there is that part of the weights. Sums of
        weights are exact. NumPy has the same from version 2 on.

        Examples
        --------
        >>> gpu.quantile([3.0, 1.0, 2.0, 10.0], [0.5, 1.0])
        array([ 2.5, 10. ])
        """
        return await _quantiles(self._engine, x, q, axis, _method_with(method, weights), keepdims,
                                False, weights)

    @operation
    async def nanquantile(self, x: Any, q: Any, axis: Axis = None, *, method: str = "linear",
                          keepdims: bool = False, weights: Any = None) -> Any:
        """As `quantile`, without NaN; NaN where there is nothing else."""
        return await _quantiles(self._engine, x, q, axis, _method_with(method, weights), keepdims,
                                True, weights)

    @operation
    async def percentile(self, x: Any, q: Any, axis: Axis = None, *, method: str = "linear",
                         keepdims: bool = False) -> Any:
        """As `quantile`, with `q` from 0 to 100."""
        return await _quantiles(self._engine, x, np.true_divide(q, 100), axis,
                                method_number(method), keepdims, False)

    @operation
    async def nanpercentile(self, x: Any, q: Any, axis: Axis = None, *, method: str = "linear",
                            keepdims: bool = False) -> Any:
        """As `nanquantile`, with `q` from 0 to 100."""
        return await _quantiles(self._engine, x, np.true_divide(q, 100), axis,
                                method_number(method), keepdims, True)

    @operation
    async def median(self, x: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The middle element, or the mean of the two; NaN where there is one."""
        return await _median(self._engine, x, axis, keepdims, False)

    @operation
    async def nanmedian(self, x: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """As `median`, without NaN; NaN where there is nothing else."""
        return await _median(self._engine, x, axis, keepdims, True)

    @operation
    async def topk(self, x: Any, k: int, axis: Optional[int] = -1, *, largest: bool = True,
                   ignore_nan: bool = False) -> TopK:
        """The `k` largest elements along an axis, from the largest down, and their indices.

        `axis` None is all of `x`, in C order. Equal elements come in the order of their indices.
        `largest=False` gives the smallest, from the smallest up. NaNs come first either way, as
        `argmax` and `argmin` find them, or are left out.

        Raises ValueError where there are fewer than `k` elements, or `k` is less than 1.

        Examples
        --------
        >>> gpu.topk([3.0, 1.0, 2.0, 10.0], 2)
        TopK(values=array([10.,  3.]), indices=array([3, 0]))
        """
        question = ask(x, axis, False, in_order=True)
        array, layout = question.array, question.layout
        if layout is None:
            raise ValueError("topk: there are no elements")
        count = operator.index(k)
        if not 1 <= count <= group_length(question):
            raise ValueError(f"k: {k} is not from 1 to the {group_length(question)} elements")
        values, indices, _ = await self._engine.top(layout.source, count, not largest, layout.axis,
                                                    ignore_nan)
        values = values.astype(array.dtype, copy=False)
        indices = indices.astype(np.int64, copy=False)
        if layout.is_whole:
            # Of an array of more dimensions whose others have one element, too.
            shape = _shape_with(array.shape, axis, count)
            return TopK(values.reshape(shape), indices.reshape(shape))
        return TopK(*(_along(layout.kept, array.shape, axis, one) for one in (values, indices)))


def method_number(method: str) -> int:
    if method not in _METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {', '.join(_METHODS)}")
    return _METHODS[method]


def _method_with(method: str, weights: Any) -> int:
    if weights is None:
        return method_number(method)
    if method != _INVERTED:
        raise ValueError(f"Only method {_INVERTED!r} supports weights.")
    return _INVERTED_NUMBER


def _weights_of(weights: Any, x: Any, axis: Axis) -> Any:
    """Of the shape of `x`, laid out as it is."""
    if hasattr(weights, "_lay_out"):
        given: Any = weights
    else:
        given = np.asarray(weights)
        if given.shape != x.shape and given.ndim == 1 and isinstance(axis, (int, np.integer)):
            if given.shape[0] != x.shape[axis]:
                raise ValueError("Length of weights not compatible with specified axis.")
            along = [1] * len(x.shape)
            along[axis] = -1
            given = np.broadcast_to(given.reshape(along), x.shape)
        given = np.ascontiguousarray(given)
    if given.shape != x.shape:
        raise ValueError("Shape of weights must be consistent with shape of a along specified "
                         "axis.")
    return given


def as_quantiles(q: Any) -> Array:
    quantiles: Array = np.asarray(q, np.float64)
    if not np.all((quantiles >= 0) & (quantiles <= 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    return quantiles


def _shape_with(shape: tuple[int, ...], axis: Optional[int], count: int) -> tuple[int, ...]:
    if axis is None or not shape:
        return (count,)
    sizes = list(shape)
    sizes[axis] = count
    return tuple(sizes)


def _along(kept: tuple[int, ...], shape: tuple[int, ...], axis: Any, values: Array) -> Array:
    """The values of groups, some of each, with these along the axis."""
    values = values.reshape([shape[one] for one in kept] + [-1])
    values = values.transpose([*np.argsort(kept), len(kept)])
    return np.moveaxis(values, -1, axis)


async def _quantiles(engine: Engine, x: Any, q: Any, axis: Axis, method: int, keepdims: bool,
                     ignore_nan: bool, weights: Any = None) -> Any:
    wanted = as_quantiles(q)
    if weights is not None and not hasattr(x, "_lay_out"):
        x = np.ascontiguousarray(as_array(x))  # Two arrays of one layout.
    question = ask(x, axis, keepdims)
    beside = None
    if weights is not None:
        beside = ask(_weights_of(weights, question.array, axis), axis, keepdims).layout
    dtype = np.dtype(np.float64) if method in INTERPOLATING else question.array.dtype
    if question.layout is None or wanted.size == 0:
        function: Any = np.nanquantile if ignore_nan else np.quantile
        return function(np.empty(question.array.shape, question.array.dtype), wanted,
                        axis=question.axes, keepdims=keepdims)
    values = await _ask(engine, question, wanted.reshape(-1), method, ignore_nan, beside)
    finished = [_finish(one, dtype, question) for one in values]
    if wanted.ndim == 0:
        return finished[0]
    return np.stack(finished).reshape(wanted.shape + np.shape(finished[0]))


async def _median(engine: Engine, x: Any, axis: Axis, keepdims: bool, ignore_nan: bool) -> Any:
    question = ask(x, axis, keepdims)
    given = question.array.dtype
    if question.layout is None:
        function: Any = np.nanmedian if ignore_nan else np.median
        return function(np.empty(question.array.shape, given), axis=question.axes,
                        keepdims=keepdims)
    (values,) = await _ask(engine, question, np.array([0.5]), MEAN, ignore_nan)
    return _finish(values, given if is_float(given) else np.dtype(np.float64), question)


# What a request may ask for.
_QUANTILES_MAX = 256


async def _ask(engine: Engine, question: Question, wanted: Array, method: int, ignore_nan: bool,
               weights: Optional[Layout] = None) -> list[Array]:
    """The values of each quantile, one for each group."""
    layout = question.layout
    assert layout is not None
    values: list[Array] = []
    for first in range(0, wanted.size, _QUANTILES_MAX):
        part, _ = await engine.quantiles(layout.source,
                                         wanted[first:first + _QUANTILES_MAX].tolist(), method,
                                         layout.axis, ignore_nan,
                                         None if weights is None else weights.source)
        values.extend(part)
    if ignore_nan and is_float(question.array.dtype) and np.isnan(values[0]).any():
        warn("All-NaN slice encountered")
    return values


def _finish(values: Array, dtype: Any, question: Question) -> Any:
    layout = question.layout
    assert layout is not None
    values = values.astype(dtype, copy=False)
    if not layout.is_whole:
        return layout.restore(values, question.array.shape, question.keepdims)
    if question.keepdims:
        return values.reshape((1,) * len(question.array.shape))
    return values[0]
