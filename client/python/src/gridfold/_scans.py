"""Running sums, products, minima and maxima."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._device import of_device, of_kind
from ._elements import Array, as_array, dtype_of, element_type, is_float
from ._engine import WHOLE, Along, Engine, Source
from ._layout import lay_out, normalise
from ._reduce import wraps

# Numbers of the wire.
_SUM, _PRODUCT, _MIN, _MAX = 1, 2, 3, 4


class Scans:
    """Running aggregates along an axis, or of all elements in C order where there is none.

    Results have the shape of `x`, or one dimension without `axis`, and NumPy's dtypes. Integers
    that overflow are an `OutOfRangeError`, unless `overflow="wrap"`. `exclusive` leaves each
    element out of its own result; `reverse` starts from the end. Floating-point sums are rounded
    along a fixed tree, never worse than in float64 one after the other; `exact` rounds each once.
    """

    _engine: Engine

    def _scan(self, operation: int, x: Any, axis: Optional[int], dtype: Any = None,
              exclusive: bool = False, reverse: bool = False, ignore_nan: bool = False,
              overflow: str = "error", exact: bool = False) -> Any:
        policy = (ignore_nan, wraps(overflow), exact)
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
        data, result_type, _ = self._engine.scan(
            source, operation, number, exclusive, reverse, _output_type(operation, array, dtype),
            *policy)
        if operation in (_MIN, _MAX):
            values = data.view(array.dtype)
        else:
            values = data.view(dtype_of(result_type))
            wanted = dtype if dtype is not None else np.int64 if array.dtype.kind == "b" else None
            values = values if wanted is None else values.astype(wanted, copy=False)
        return _restore(values, array.shape, order, axis)

    def cumsum(self, x: Any, axis: Optional[int] = None, dtype: Any = None, *,
               exclusive: bool = False, reverse: bool = False, overflow: str = "error",
               exact: bool = False) -> Any:
        """The sum of the elements up to each."""
        return self._scan(_SUM, x, axis, dtype, exclusive, reverse, False, overflow, exact)

    def nancumsum(self, x: Any, axis: Optional[int] = None, dtype: Any = None, *,
                  exclusive: bool = False, reverse: bool = False, overflow: str = "error",
                  exact: bool = False) -> Any:
        """As `cumsum`, with NaN taken as 0."""
        return self._scan(_SUM, x, axis, dtype, exclusive, reverse, True, overflow, exact)

    def cumprod(self, x: Any, axis: Optional[int] = None, dtype: Any = None, *,
                exclusive: bool = False, reverse: bool = False, overflow: str = "error") -> Any:
        """The product of the elements up to each."""
        return self._scan(_PRODUCT, x, axis, dtype, exclusive, reverse, False, overflow)

    def nancumprod(self, x: Any, axis: Optional[int] = None, dtype: Any = None, *,
                   exclusive: bool = False, reverse: bool = False, overflow: str = "error") -> Any:
        """As `cumprod`, with NaN taken as 1."""
        return self._scan(_PRODUCT, x, axis, dtype, exclusive, reverse, True, overflow)

    def cummin(self, x: Any, axis: Optional[int] = None, *, exclusive: bool = False,
               reverse: bool = False, ignore_nan: bool = False) -> Any:
        """The smallest element up to each: `np.minimum.accumulate`."""
        return self._scan(_MIN, x, axis, None, exclusive, reverse, ignore_nan)

    def cummax(self, x: Any, axis: Optional[int] = None, *, exclusive: bool = False,
               reverse: bool = False, ignore_nan: bool = False) -> Any:
        """The largest element up to each: `np.maximum.accumulate`."""
        return self._scan(_MAX, x, axis, None, exclusive, reverse, ignore_nan)


def _lay_out(array: Array, axis: Optional[int]) -> tuple[Source, Along, tuple[int, ...]]:
    """The source, the axis as engines take it, and the order of the axes in it."""
    axes = normalise(axis, array.ndim)
    order = tuple(range(array.ndim))
    if axis is None or array.ndim < 2:
        return lay_out(np.ascontiguousarray(array), None, in_order=True).source, WHOLE, order
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
    if operation in (_SUM, _PRODUCT):
        function: Any = np.cumsum if operation == _SUM else np.cumprod
        return function(array, axis=axis, dtype=dtype)
    normalise(axis, array.ndim)
    return array.ravel() if axis is None else array.copy()
