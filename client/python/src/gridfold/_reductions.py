"""The reductions of a connection, by NumPy's names."""

from __future__ import annotations

import operator
from typing import Any, Optional, Sequence

import numpy as np

from ._device import of_device, of_kind
from ._elements import as_array, is_float
from ._engine import Engine
from ._layout import Axis
from ._operation import operation
from ._reduce import (SPREADS, Policy, ask, group_length, plain_form, policy_of, reduce,
                      scaled_spread, to_ddof, wraps)
from ._statistics import NUMBERS, Statistics, number_of
from ._where import fill, is_for_server, reduce_where, select


_PLAIN = Policy()


class Reductions:
    """Reductions of arrays of any shape, order and element type, here or on the server.

    `x` is whatever NumPy takes as an array, or a `ResidentArray`. `axis` is None for all of it, a
    number or several. `where` selects elements, of the whole array or along `axis`. Results have
    NumPy's shapes and dtypes.

    Unlike NumPy's, sums, means and all that follows from them are exact and rounded once, so their
    bits do not depend on the order of the elements, and integers that overflow are an
    `OutOfRangeError`, unless `overflow="wrap"`.

    Raises TypeError for elements that are no numbers of 8 to 64 bits, AxisError and ValueError
    where NumPy does, and `gridfold.Error` where a call fails.
    """

    _engine: Engine

    async def _statistic(self, name: str, x: Any, axis: Axis, keepdims: bool, where: Any = None,
                         policy: Policy = _PLAIN, identity: Any = None) -> Any:
        number = NUMBERS[name]
        if axis is None and where is None and not keepdims and type(x) is np.ndarray:
            plain = plain_form(x, number, policy)
            if plain is not None:
                value = await self._engine.reduce_whole(x, plain[0], number, policy.wrap)
                if value is not None:
                    return plain[1](value)
        if where is not None and where is not True:
            if is_for_server(x, axis, identity):
                return await reduce_where(self._engine, x, name, axis, keepdims, where, policy,
                                          identity if name in ("min", "max") else None)
            # An extreme has its initial value even where nothing is selected.
            is_whole = axis is None and (identity is None or name not in ("min", "max"))
            x = select(x, where, keepdims) if is_whole else fill(x, where, identity)
        question = ask(x, axis, keepdims, in_order=name in ("argmin", "argmax"))
        if number in SPREADS and policy.ddof and question.layout is not None:
            if not isinstance(policy.ddof, int) or group_length(question) <= policy.ddof:
                return await scaled_spread(self._engine, question, number, policy)
        (value,), _ = await reduce(self._engine, question, (number,), policy)
        return value

    @operation
    async def reduce(self, x: Any, statistics: Sequence[str], axis: Axis = None, *, ddof: float = 0,
                     keepdims: bool = False, ignore_nan: bool = False, overflow: str = "error",
                     empty: Any = "error") -> Statistics:
        """Several statistics in one pass over `x`.

        `statistics` are names: "count", "sum", "product", "min", "max", "argmin", "argmax",
        "mean", "variance", "standard_deviation", "l1_norm", "l2_norm", "nonzero_count",
        "nan_count", "infinity_count", "all", "any", "bitwise_and", "bitwise_or", "bitwise_xor",
        "range", "root_mean_square", "standard_error", or those of methods here: "prod", "var", "std",
        "ptp", "rms", "sem".

        `empty` is what groups have that are too small for a statistic, as a variance with `ddof`
        or, with `ignore_nan`, a minimum of NaNs: "error", "nan", which positions cannot be, or a
        number. `x` has elements.

        Examples
        --------
        >>> gpu.reduce([1.0, 2.0, 6.0], ["mean", "max"])
        Statistics(mean=3.0, max=6.0)
        """
        if isinstance(statistics, str):
            raise TypeError("statistics: must be a list of names")
        numbers = [number_of(name) for name in statistics]
        if not numbers:
            raise ValueError("statistics: must name at least one")
        if not isinstance(to_ddof(ddof), int):
            raise ValueError("ddof: must be a whole number for several statistics")
        is_ordered = bool({NUMBERS["argmin"], NUMBERS["argmax"]} & set(numbers))
        policy = Policy(ignore_nan, wraps(overflow), to_ddof(ddof))
        question = ask(x, axis, keepdims, is_ordered and axis is None)
        values, execution = await reduce(self._engine, question, numbers, policy,
                                         _to_empty(empty))
        return Statistics(dict(zip(statistics, values)), execution)  # type: ignore[arg-type]

    @operation
    async def sum(self, x: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
                  initial: Any = None, where: Any = None, overflow: str = "error") -> Any:
        """The sum, exact and rounded once; of integers and bools as int64 or uint64."""
        value = await self._statistic("sum", _of_kind(x, dtype), axis, keepdims, where,
                                      policy_of(overflow), 0)
        return _cast(value if initial is None else value + value.dtype.type(initial), dtype)

    @operation
    async def nansum(self, x: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
                     initial: Any = None, where: Any = None, overflow: str = "error") -> Any:
        """The sum of the elements that are not NaN."""
        value = await self._statistic("sum", _of_kind(x, dtype), axis, keepdims, where,
                                      policy_of(overflow, True), 0)
        return _cast(value if initial is None else value + value.dtype.type(initial), dtype)

    @operation
    async def prod(self, x: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
                   initial: Any = None, where: Any = None, overflow: str = "error") -> Any:
        """The product; infinite or 0 only where the exact one rounds to that."""
        value = await self._statistic("product", _of_kind(x, dtype), axis, keepdims, where,
                                      policy_of(overflow), 1)
        return _cast(value if initial is None else value * value.dtype.type(initial), dtype)

    @operation
    async def nanprod(self, x: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
                      initial: Any = None, where: Any = None, overflow: str = "error") -> Any:
        """The product of the elements that are not NaN."""
        value = await self._statistic("product", _of_kind(x, dtype), axis, keepdims, where,
                                      policy_of(overflow, True), 1)
        return _cast(value if initial is None else value * value.dtype.type(initial), dtype)

    @operation
    async def min(self, x: Any, axis: Axis = None, *, keepdims: bool = False, initial: Any = None,
                  where: Any = None) -> Any:
        """The smallest element; NaN where there is one."""
        return await _extreme(self, "min", np.minimum, x, axis, keepdims, initial, where, Policy())

    @operation
    async def max(self, x: Any, axis: Axis = None, *, keepdims: bool = False, initial: Any = None,
                  where: Any = None) -> Any:
        """The largest element; NaN where there is one."""
        return await _extreme(self, "max", np.maximum, x, axis, keepdims, initial, where, Policy())

    @operation
    async def nanmin(self, x: Any, axis: Axis = None, *, keepdims: bool = False,
                     initial: Any = None, where: Any = None) -> Any:
        """The smallest element that is not NaN; NaN where there is none."""
        return await _extreme(self, "min", np.fmin, x, axis, keepdims, initial, where, Policy(True))

    @operation
    async def nanmax(self, x: Any, axis: Axis = None, *, keepdims: bool = False,
                     initial: Any = None, where: Any = None) -> Any:
        """The largest element that is not NaN; NaN where there is none."""
        return await _extreme(self, "max", np.fmax, x, axis, keepdims, initial, where, Policy(True))

    @operation
    async def ptp(self, x: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Maximum less minimum. OverflowError where that lies outside the integers of `x`."""
        return await self._statistic("range", x, axis, keepdims)

    @operation
    async def argmin(self, x: Any, axis: Optional[int] = None, *, keepdims: bool = False) -> Any:
        """Where the first smallest element is, in C order; the first NaN where there is one."""
        return await self._statistic("argmin", x, _one(axis), keepdims)

    @operation
    async def argmax(self, x: Any, axis: Optional[int] = None, *, keepdims: bool = False) -> Any:
        """Where the first largest element is, in C order; the first NaN where there is one."""
        return await self._statistic("argmax", x, _one(axis), keepdims)

    @operation
    async def nanargmin(self, x: Any, axis: Optional[int] = None, *, keepdims: bool = False) -> Any:
        """As `argmin`, without NaN. ValueError where there is nothing else."""
        return await self._statistic("argmin", x, _one(axis), keepdims, None, Policy(True))

    @operation
    async def nanargmax(self, x: Any, axis: Optional[int] = None, *, keepdims: bool = False) -> Any:
        """As `argmax`, without NaN. ValueError where there is nothing else."""
        return await self._statistic("argmax", x, _one(axis), keepdims, None, Policy(True))

    @operation
    async def mean(self, x: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
                   where: Any = None) -> Any:
        """The exact sum by the count, rounded once."""
        return _cast(await self._statistic("mean", x, axis, keepdims, where), dtype)

    @operation
    async def nanmean(self, x: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
                      where: Any = None) -> Any:
        """The mean of the elements that are not NaN."""
        return _cast_inexact(await self._statistic("mean", x, axis, keepdims, where, Policy(True)),
                             dtype)

    @operation
    async def var(self, x: Any, axis: Axis = None, dtype: Any = None, *, ddof: float = 0,
                  keepdims: bool = False, where: Any = None) -> Any:
        """The variance: squared deviations from the mean by count - ddof, exact, rounded once."""
        policy = Policy(ddof=to_ddof(ddof))
        return _cast(await self._statistic("variance", x, axis, keepdims, where, policy), dtype)

    @operation
    async def nanvar(self, x: Any, axis: Axis = None, dtype: Any = None, *, ddof: float = 0,
                     keepdims: bool = False, where: Any = None) -> Any:
        """The variance of the elements that are not NaN."""
        policy = Policy(True, ddof=to_ddof(ddof))
        return _cast_inexact(await self._statistic("variance", x, axis, keepdims, where, policy),
                             dtype)

    @operation
    async def std(self, x: Any, axis: Axis = None, dtype: Any = None, *, ddof: float = 0,
                  keepdims: bool = False, where: Any = None) -> Any:
        """The standard deviation, in the unit of `x`."""
        policy = Policy(ddof=to_ddof(ddof))
        return _cast(await self._statistic("standard_deviation", x, axis, keepdims, where, policy),
                     dtype)

    @operation
    async def nanstd(self, x: Any, axis: Axis = None, dtype: Any = None, *, ddof: float = 0,
                     keepdims: bool = False, where: Any = None) -> Any:
        """The standard deviation of the elements that are not NaN."""
        policy = Policy(True, ddof=to_ddof(ddof))
        return _cast_inexact(
            await self._statistic("standard_deviation", x, axis, keepdims, where, policy), dtype)

    @operation
    async def sem(self, x: Any, axis: Axis = None, *, ddof: float = 1, keepdims: bool = False,
                  where: Any = None) -> Any:
        """The standard error of the mean, by SciPy's name and default: sqrt(var / count)."""
        return await self._statistic("standard_error", x, axis, keepdims, where,
                                     Policy(ddof=to_ddof(ddof)))

    @operation
    async def rms(self, x: Any, axis: Axis = None, *, keepdims: bool = False,
                  where: Any = None) -> Any:
        """The square root of the mean of the squares."""
        return await self._statistic("root_mean_square", x, axis, keepdims, where)

    @operation
    async def norm(self, x: Any, ord: int = 2, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The norm of all elements, or of each group, as one vector.

        `ord` is 2, the square root of the sum of the squares, or 1, the sum of absolute values.
        """
        if ord not in (1, 2):
            raise ValueError(f"ord: must be 1 or 2, not {ord!r}")
        return await self._statistic("l1_norm" if ord == 1 else "l2_norm", x, axis, keepdims)

    @operation
    async def all(self, x: Any, axis: Axis = None, *, keepdims: bool = False,
                  where: Any = None) -> Any:
        """Whether no element is 0."""
        return await self._statistic("all", x, axis, keepdims, where, identity=1)

    @operation
    async def any(self, x: Any, axis: Axis = None, *, keepdims: bool = False,
                  where: Any = None) -> Any:
        """Whether an element is not 0."""
        return await self._statistic("any", x, axis, keepdims, where, identity=0)

    @operation
    async def count_nonzero(self, x: Any, axis: Axis = None, *, keepdims: bool = False,
                            where: Any = None) -> Any:
        """How many elements are not 0."""
        return await self._statistic("nonzero_count", x, axis, keepdims, where, identity=0)

    @operation
    async def count_nan(self, x: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """How many elements are NaN."""
        return await self._statistic("nan_count", x, axis, keepdims)


def _to_empty(empty: Any) -> Any:
    if isinstance(empty, str):
        if empty not in ("error", "nan"):
            raise ValueError(f"empty: must be \"error\", \"nan\" or a number, not {empty!r}")
        return empty
    if not isinstance(empty, (bool, int, float, np.number, np.bool_)):
        raise TypeError(f"empty: must be \"error\", \"nan\" or a number, not {empty!r}")
    value = empty.item() if isinstance(empty, np.generic) else empty
    # Integers beyond those of 64 bits can be values of floating-point statistics only.
    is_large = isinstance(value, int) and not -2**63 <= value < 2**64
    return float(value) if is_large else value


def _one(axis: Any) -> Optional[int]:
    return None if axis is None else operator.index(axis)


async def _extreme(self: Reductions, name: str, better: Any, x: Any, axis: Axis, keepdims: bool,
                   initial: Any, where: Any, policy: Policy) -> Any:
    if initial is None:
        return await self._statistic(name, x, axis, keepdims, where, policy)
    if not hasattr(x, "_lay_out"):
        x = as_array(x)
    if x.size == 0:
        return getattr(np, name)(np.empty(x.shape, x.dtype), axis=axis, keepdims=keepdims,
                                 initial=initial)
    first = np.asarray(initial, x.dtype)
    value = await self._statistic(name, x, axis, keepdims, where, policy, first.item())
    return better(value, first)[()]


def _of_kind(x: Any, dtype: Any) -> Any:
    """`x` with floating-point elements where a result of these is asked of integers, or the
    reverse: NumPy converts elements before it adds them."""
    if dtype is None or hasattr(x, "_lay_out"):
        return x
    x = of_kind(of_device(x), dtype)
    if hasattr(x, "_lay_out"):
        return x
    x = as_array(x)
    return x if is_float(np.dtype(dtype)) == is_float(x.dtype) else as_array(x.astype(dtype))


def _cast(value: Any, dtype: Any) -> Any:
    return value if dtype is None else value.astype(dtype, copy=False)


def _cast_inexact(value: Any, dtype: Any) -> Any:
    if dtype is not None and not is_float(np.dtype(dtype)):
        raise TypeError("If a is inexact, then dtype must be inexact")
    return _cast(value, dtype)
