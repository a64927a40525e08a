"""Running sums, products, minima and maxima, and moving sums and means."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._device import of_device, of_kind
from ._elements import Array, as_array, dtype_of, element_type, is_float
from ._engine import WHOLE, Along, Engine, Source
from ._layout import lay_out, normalise
from ._operation import operation
from ._reduce import wraps

# Numbers of the wire.
_SUM, _PRODUCT, _MIN, _MAX, _MEAN = 1, 2, 3, 4, 5


class Scans:
    """Running aggregates along an axis, or of all elements in C order where there is none.

    Results have the shape of `x`, or one dimension without `axis`, and NumPy's dtypes. Integers
    that overflow are an `OutOfRangeError`, unless `overflow="wrap"`. `exclusive` leaves each
    element out of its own result; `reverse` starts from the end. Floating-point sums are rounded
    along a fixed tree, never worse than in float64 one after the other; `exact` rounds each once.
    """

    _engine: Engine

    async def _scan(self, operation: int, x: Any, axis: Optional[int], dtype: Any = None,
                    exclusive: bool = False, reverse: bool = False, ignore_nan: bool = False,
                    overflow: str = "error", exact: bool = False, window: int = 0,
                    min_count: int = 0) -> Any:
        x = of_kind(of_device(x), dtype)
        if hasattr(x, "_lay_out") and x.size:
            array, source, number, order = x, *_of_resident(x, axis)
        else:
            array = as_array(x)
            if dtype is not None and is_float(np.dtype(dtype)) != is_float(array.dtype):
                array = as_array(array.astype(dtype))
            if array.size == 0:
                return _of_nothing(operation, array, axis, dtype)
            source, number, order = _lay_out(array, axis)
        # Integers have no NaN.
        counted = min_count if is_float(array.dtype) or operation == _MEAN else 0
        data, result_type, _ = await self._engine.scan(
            source, operation, number, exclusive, reverse, _output_type(operation, array, dtype),
            ignore_nan, wraps(overflow), exact, window, counted)
        if operation in (_MIN, _MAX):
            values = data.view(array.dtype)
        else:
            values = data.view(dtype_of(result_type))
            is_count = array.dtype.kind == "b" and operation != _MEAN
            wanted = dtype if dtype is not None else np.int64 if is_count else None
            values = values if wanted is None else values.astype(wanted, copy=False)
        return _restore(values, array.shape, order, axis)

    @operation
    async def cumsum(self, x: Any, axis: Optional[int] = None, dtype: Any = None, *,
                     exclusive: bool = False, reverse: bool = False, overflow: str = "error",
                     exact: bool = False) -> Any:
        """The sum of the elements up to each."""
        return await self._scan(_SUM, x, axis, dtype, exclusive, reverse, False, overflow, exact)

    @operation
    async def nancumsum(self, x: Any, axis: Optional[int] = None, dtype: Any = None, *,
                        exclusive: bool = False, reverse: bool = False, overflow: str = "error",
                        exact: bool = False) -> Any:
        """As `cumsum`, with NaN taken as 0."""
        return await self._scan(_SUM, x, axis, dtype, exclusive, reverse, True, overflow, exact)

    async def _move(self, operation: int, x: Any, window: int, min_count: Optional[int],
                    axis: Optional[int], reverse: bool) -> Any:
        least = window if min_count is None else min_count
        if window < 1 or not 0 <= least <= window:
            raise ValueError(f"a window of {window} elements, of which {least} must count")
        results = await self._scan(operation, x, axis, None, False, reverse, True, "error", False,
                                   window, least)
        if results.dtype.kind not in "iu":
            return results
        results = results.astype(np.float64)
        along = np.moveaxis(results, -1 if axis is None else axis, 0)
        missing = min(max(least - 1, 0), len(along))
        along[len(along) - missing if reverse else 0:len(along) if reverse else missing] = np.nan
        return results

    @operation
    async def move_sum(self, x: Any, window: int, min_count: Optional[int] = None,
                       axis: Optional[int] = -1, *, reverse: bool = False) -> Any:
        """The sum of the last `window` elements up to each, exact and rounded once, by the rules of
        `bottleneck.move_sum`: NaNs do not count, and where fewer than `min_count` elements do, the
        result is NaN; None: fewer than `window`. Of integers float64. `reverse`: of the next ones.
        """
        return await self._move(_SUM, x, window, min_count, axis, reverse)

    @operation
    async def move_mean(self, x: Any, window: int, min_count: Optional[int] = None,
                        axis: Optional[int] = -1, *, reverse: bool = False) -> Any:
        """The mean of those that count of the last `window` elements; see `move_sum`."""
        return await self._move(_MEAN, x, window, min_count, axis, reverse)

    @operation
    async def cumprod(self, x: Any, axis: Optional[int] = None, dtype: Any = None, *,
                      exclusive: bool = False, reverse: bool = False,
                      overflow: str = "error") -> Any:
        """The product of the elements up to each."""
        return await self._scan(_PRODUCT, x, axis, dtype, exclusive, reverse, False, overflow)

    @operation
    async def nancumprod(self, x: Any, axis: Optional[int] = None, dtype: Any = None, *,
                         exclusive: bool = False, reverse: bool = False,
                         overflow: str = "error") -> Any:
        """As `cumprod`, with NaN taken as 1."""
        return await self._scan(_PRODUCT, x, axis, dtype, exclusive, reverse, True, overflow)

    @operation
    async def cummin(self, x: Any, axis: Optional[int] = None, *, exclusive: bool = False,
                     reverse: bool = False, ignore_nan: bool = False) -> Any:
        """The smallest element up to each: `np.minimum.accumulate`."""
        return await self._scan(_MIN, x, axis, None, exclusive, reverse, ignore_nan)

    @operation
    async def cummax(self, x: Any, axis: Optional[int] = None, *, exclusive: bool = False,
                     reverse: bool = False, ignore_nan: bool = False) -> Any:
        """The largest element up to each: `np.maximum.accumulate`."""
        return await self._scan(_MAX, x, axis, None, exclusive, reverse, ignore_nan)


def _lay_out(array: Array, axis: Optional[int]) -> tuple[Source, Along, tuple[int, ...]]:
    """The source, the axis as engines take it, and the order of the axes in it."""
    axes = normalise(axis, array.ndim)
    order = tuple(range(array.ndim))
    if axis is None or array.ndim < 2:
        return lay_out(np.ascontiguousarray(array), None).source, WHOLE, order
    along = axes[0] if axes else 0
    if not array.flags.c_contiguous and array.flags.f_contiguous:
        order = order[::-1]
    layout = lay_out(np.ascontiguousarray(array.transpose(order)), (order.index(along),))
    return layout.source, layout.axis, order


def _of_resident(x: Any, axis: Optional[int]) -> tuple[Source, Along, tuple[int, ...]]:
    axes = normalise(axis, x.ndim)
    layout = x._lay_out(axes if axis is not None else None)
    return layout.source, layout.axis, tuple(range(x.ndim))


def _restore(values: Array, shape: tuple[int, ...], order: tuple[int, ...],
             axis: Optional[int]) -> Array:
    if axis is None or len(shape) < 2:
        return values
    return values.reshape([shape[one] for one in order]).transpose(np.argsort(order))


def _output_type(operation: int, array: Any, dtype: Any) -> Optional[int]:
    """float64 results of smaller elements are computed as such; others are converted."""
    if operation in (_MIN, _MAX) or dtype is None:
        return None
    wanted = np.dtype(dtype)
    is_wide = wanted == np.float64 and is_float(array.dtype)
    return element_type(wanted) if is_wide else None


def _of_nothing(operation: int, array: Array, axis: Optional[int], dtype: Any) -> Any:
    if operation == _MEAN:
        normalise(axis, array.ndim)
        empty = array if is_float(array.dtype) else array.astype(np.float64)
        return empty.ravel() if axis is None else empty.copy()
    if operation in (_SUM, _PRODUCT):
        function: Any = np.cumsum if operation == _SUM else np.cumprod
        return function(array, axis=axis, dtype=dtype)
    normalise(axis, array.ndim)
    return array.ravel() if axis is None else array.copy()
