"""Statistics of two arrays: dot products, covariances, correlations, and weighted averages."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._elements import Array, as_array, is_float, wire_form
from ._engine import Engine, Source
from ._layout import normalise
from ._operation import operation
from ._reduce import wraps
from ._statistics import (PAIRED_CORRELATION, PAIRED_COVARIANCE, PAIRED_DOT, PAIRED_MEAN,
                          PAIRED_VARIANCE)

# Columns of one request.
_COLUMNS_MAX = 64


class PairedStatistics:
    """What two arrays have in common, by NumPy's names.

    Sums of products are exact and every value is rounded once: the bits do not depend on the order
    of the elements. Arrays of different dtypes are converted to one that holds both exactly; 64-bit
    integers beside others that float64 would round are a TypeError.
    """

    _engine: Engine

    @operation
    async def dot(self, x: Any, y: Any, *, overflow: str = "error") -> Any:
        """The sum of products of two arrays of one dimension.

        Of integers as int64 or uint64; one that overflows is an `OutOfRangeError`, unless
        `overflow="wrap"`.

        Examples
        --------
        >>> gpu.dot([1e300, 1.0, -1e300], [1.0, 3.0, 1.0])
        3.0
        """
        for array in (x, y):
            if np.ndim(array) != 1:
                raise ValueError("dot: takes arrays of one dimension; vdot those of any shape")
        return await self._vdot(x, y, overflow)

    @operation
    async def vdot(self, x: Any, y: Any, *, overflow: str = "error") -> Any:
        """The sum of products of all elements of two arrays of one shape, as `dot`."""
        return await self._vdot(x, y, overflow)

    async def _vdot(self, x: Any, y: Any, overflow: str) -> Any:
        arrays = _Arrays(x, y)
        (values,) = await arrays.relate(self._engine, [PAIRED_DOT], wrap=wraps(overflow))
        value = values[0]
        return arrays.dtype.type(value) if is_float(arrays.dtype) else value

    @operation
    async def cov(self, m: Any, y: Any = None, rowvar: bool = True, bias: bool = False,
                  ddof: Optional[int] = None, fweights: Any = None, aweights: Any = None) -> Any:
        """The matrix of covariances of variables, at most 64; as `numpy.cov`.

        Variables are the rows of `m` and `y`, or with `rowvar=False` the columns, which saves a
        copy. `fweights` say how often an observation was made, `aweights` how much it says; one of
        them at most.
        """
        if fweights is not None and aweights is not None:
            raise ValueError("cov: takes fweights or aweights, not both")
        if ddof is None:
            ddof = 0 if bias else 1
        weights = aweights if fweights is None else fweights
        return await self._matrix(PAIRED_COVARIANCE, m, y, rowvar, weights, ddof,
                                  aweights is not None)

    @operation
    async def corrcoef(self, x: Any, y: Any = None, rowvar: bool = True) -> Any:
        """The matrix of correlations of variables, at most 64; as `numpy.corrcoef`.

        The diagonal is 1, and NaN where a variable is constant.

        Examples
        --------
        >>> gpu.corrcoef([1.0, 2.0, 4.0], [3.0, 5.0, 9.0])
        array([[1., 1.],
               [1., 1.]])
        """
        return await self._matrix(PAIRED_CORRELATION, x, y, rowvar, None, 0, False)

    @operation
    async def average(self, a: Any, axis: Optional[int] = None, weights: Any = None) -> Any:
        """The weighted average; as `numpy.average`.

        `weights` have the shape of `a`, or along an axis its length. None is negative, and their
        sum is not 0: otherwise `InvalidArgumentError`.
        """
        if weights is None:
            return await self._statistic("mean", a, axis, False)  # type: ignore[attr-defined]
        if axis is None:
            arrays = _Arrays(a, None, weights)
            (values,) = await arrays.relate(self._engine, [PAIRED_MEAN])
            return _of_mean(arrays.dtype)(values[0])
        columns, shape = _along(a, axis)
        means, dtype = [], columns.dtype
        for first in range(0, columns.shape[1], _COLUMNS_MAX):
            part = _Arrays(columns[:, first:first + _COLUMNS_MAX], None, weights)
            means += await part.relate(self._engine, [PAIRED_MEAN])
            dtype = part.dtype
        averages = np.concatenate(means or [np.empty(0)]).astype(_of_mean(dtype))
        return averages.reshape(shape) if shape else averages[0]

    async def _matrix(self, statistic: int, m: Any, y: Any, rowvar: bool, weights: Any, ddof: int,
                      is_reliability: bool) -> Any:
        if y is not None and np.ndim(m) == 1 and np.ndim(y) == 1:
            own: Any
            if statistic == PAIRED_COVARIANCE:
                both, own = await _Arrays(m, y, weights).relate(
                    self._engine, [statistic, PAIRED_VARIANCE], ddof, is_reliability)
            else:
                (both,) = await _Arrays(m, y).relate(self._engine, [statistic])
                # Each with itself: known where there is a correlation, which takes two that vary.
                own = [1.0 if both[0] == both[0] else
                       (await _Arrays(one).relate(self._engine, [statistic]))[0][0]
                       for one in (m, y)]
            return np.array([[own[0], both[0]], [both[0], own[1]]])
        arrays = _Arrays(_columns(m, y, rowvar), None, weights)
        (values,) = await arrays.relate(self._engine, [statistic], ddof, is_reliability)
        count = arrays.column_count
        return values.reshape(count, count) if count > 1 else values[0]


def _columns(m: Any, y: Any, rowvar: bool) -> Any:
    """An array whose columns are the variables."""
    if y is None and (np.ndim(m) == 1 or not rowvar):
        return m
    if y is None and hasattr(m, "_lay_out") and m.ndim == 2:
        return m.T
    if np.ndim(m) > 2 or np.ndim(y if y is not None else 0) > 2:
        raise ValueError("m has more than 2 dimensions")
    parts = []
    for array in (m, y):
        if array is None:
            continue
        one = np.asarray(array)
        parts.append(one[:, None] if one.ndim == 1 else one.T if rowvar else one)
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


def _along(a: Any, axis: int) -> tuple[Any, tuple[int, ...]]:
    """The array as columns along the axis, and the shape of what there is one of for each. Of two
    dimensions on the server it stays there."""
    if hasattr(a, "_lay_out") and a.ndim == 2:
        (place,) = normalise(axis, 2) or (0,)
        columns = a.T if place == 1 else a
        return columns, columns.shape[1:]
    array = as_array(np.asarray(a))
    (place,) = normalise(axis, array.ndim) or (0,)
    moved = np.moveaxis(array, place, 0)
    return moved.reshape(moved.shape[0], -1), moved.shape[1:]


def _of_mean(dtype: Any) -> Any:
    return dtype.type if is_float(dtype) else np.float64


class _Arrays:
    """The arrays of a request, of one dtype."""

    def __init__(self, x: Any, y: Any = None, weights: Any = None) -> None:
        given = [None if one is None else one if hasattr(one, "_lay_out") else as_array(one)
                 for one in (x, y, weights)]
        if given[0] is None:
            raise TypeError("an array is needed, not None")
        if given[1] is not None and given[1].shape != given[0].shape:
            raise ValueError(f"shapes {given[0].shape} and {given[1].shape} differ")
        self.dtype = _common([one for one in given if one is not None])
        shape = given[0].shape
        is_matrix = y is None and len(shape) == 2
        self.column_count = shape[1] if is_matrix else 1 if y is None else 2
        if given[2] is not None:
            needed, found = shape[:1] if is_matrix else shape, given[2].shape
            if is_matrix and found == shape:
                is_matrix, self.column_count = False, 1
            elif found != needed:
                raise ValueError(f"weights have the shape {found}, not {needed}")
        if hasattr(given[0], "_lay_out") and len(shape) == 2 and y is None and not is_matrix:
            given[0] = np.asarray(given[0])  # There it would be taken for columns.
        has_shapes = any(hasattr(one, "_lay_out") for one in given)
        self._sources = [None if one is None
                         else self._source(one, has_shapes or (is_matrix and i == 0))
                         for i, one in enumerate(given)]

    def _source(self, array: Any, has_shape: bool) -> Source:
        if hasattr(array, "_lay_out"):
            if array.dtype != self.dtype:
                raise TypeError(f"{array.name!r} has elements of {array.dtype}, where "
                                f"{self.dtype} is needed")
            source: Source = array._lay_out(None).source
            return source
        flat: Array = np.ascontiguousarray(array.astype(self.dtype, copy=False))
        if not has_shape:
            flat = flat.reshape(-1)
        elements, number = wire_form(flat)
        return elements, number, flat.shape if flat.ndim > 1 else None

    async def relate(self, engine: Engine, statistics: list[int], ddof: int = 0,
                     is_reliability: bool = False, wrap: bool = False) -> list[Array]:
        x, y, weights = self._sources
        assert x is not None
        values, _ = await engine.relate(x, y, weights, statistics, ddof, is_reliability, False,
                                        wrap)
        return values


def _common(arrays: list[Any]) -> Any:
    """A dtype that holds the elements of all."""
    dtypes = [one.dtype for one in arrays]
    if len(set(dtypes)) == 1:
        return dtypes[0] if dtypes[0].kind != "b" else np.dtype(np.uint8)
    common = np.result_type(*dtypes)
    if is_float(common) and any(map(_would_be_rounded, arrays)):
        raise TypeError("64-bit integers would be rounded beside other dtypes: convert them, for "
                        "example by x.astype(\"float64\")")
    return common


def _would_be_rounded(array: Any) -> bool:
    """Whether float64 might not have all elements; it has integers up to 2^53."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8:
        return False
    if hasattr(array, "_lay_out"):
        return True
    return bool(array.size and (array.min() < -2**53 or array.max() > 2**53))
