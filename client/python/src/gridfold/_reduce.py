"""One or several statistics of one array: from what a caller gives to what NumPy would return."""

from __future__ import annotations

import operator
import warnings
from typing import Any, Callable, NamedTuple, Optional, Sequence

import numpy as np

from ._elements import Array, as_array, is_float
from ._engine import Engine, Execution, Source
from ._errors import Error
from ._layout import Axis, Layout, lay_out, normalise
from ._statistics import NUMBERS, result_dtype

_ARGS = {NUMBERS["argmin"], NUMBERS["argmax"]}
_NEED_ELEMENTS = {NUMBERS[name] for name in (
    "mean", "variance", "standard_deviation", "root_mean_square", "standard_error")}
_SPREADS = {NUMBERS[name] for name in ("variance", "standard_deviation", "standard_error")}
_COUNT, _RANGE = NUMBERS["count"], NUMBERS["range"]

# What NumPy says of no elements: identities, NaN with a warning, or a ValueError.
_OF_NOTHING: dict[int, Callable[..., Any]] = {
    NUMBERS["sum"]: np.sum, NUMBERS["product"]: np.prod, NUMBERS["min"]: np.min,
    NUMBERS["max"]: np.max, NUMBERS["argmin"]: np.argmin, NUMBERS["argmax"]: np.argmax,
    NUMBERS["all"]: np.all, NUMBERS["any"]: np.any, NUMBERS["range"]: np.ptp,
    NUMBERS["bitwise_and"]: np.bitwise_and.reduce, NUMBERS["bitwise_or"]: np.bitwise_or.reduce,
    NUMBERS["bitwise_xor"]: np.bitwise_xor.reduce}


class Policy(NamedTuple):
    """How a reduction treats its elements."""

    ignore_nan: bool = False
    wrap: bool = False
    ddof: int = 0


class Question(NamedTuple):
    """An array, laid out for the groups that were asked for."""

    array: Any  # Of NumPy, or on the server: has shape, dtype and size.
    layout: Optional[Layout]  # None: there are no elements.
    axes: Optional[tuple[int, ...]]
    keepdims: bool


def ask(x: Any, axis: Axis, keepdims: bool, in_order: bool = False) -> Question:
    """Checks and lays out what a caller gives."""
    if hasattr(x, "_lay_out"):
        axes = normalise(axis, x.ndim)
        return Question(x, x._lay_out(axes), axes, keepdims)
    array = as_array(x)
    axes = normalise(axis, array.ndim)
    layout = lay_out(array, axes, in_order) if array.size else None
    return Question(array, layout, axes, keepdims)


def reduce(engine: Engine, question: Question, statistics: Sequence[int], policy: Policy
           ) -> tuple[list[Any], Optional[Execution]]:
    """The statistics as NumPy has them: scalars or arrays, of its dtypes."""
    array, layout = question.array, question.layout
    if layout is None:
        return [_of_nothing(question, statistic) for statistic in statistics], None
    try:
        values, execution = engine.reduce(layout.source, statistics, layout.axis, *policy)
    except Error:
        if not policy.ignore_nan or not is_float(array.dtype):
            raise
        values, execution = _of_enough(engine, layout.source, statistics, layout.axis, policy)
    return [_finish(value, result_dtype(statistic, array.dtype), statistic, question)
            for statistic, value in zip(statistics, values)], execution


def _finish(value: Any, dtype: Any, statistic: int, question: Question) -> Any:
    layout = question.layout
    assert layout is not None
    if layout.axis >= 0:
        if statistic == _RANGE and dtype.kind == "i":
            _check_range(value.max(), dtype)
        return layout.restore(value.astype(dtype, copy=False), question.array.shape,
                              question.keepdims)
    if statistic == _RANGE and dtype.kind == "i":
        _check_range(value, dtype)
    scalar = dtype.type(value)
    if not question.keepdims:
        return scalar
    return np.full((1,) * len(question.array.shape), scalar, dtype)


def _check_range(value: Any, dtype: Any) -> None:
    if value > np.iinfo(dtype).max:
        raise OverflowError(f"the range {value} lies outside {dtype}")


def _of_nothing(question: Question, statistic: int) -> Any:
    array = np.empty(question.array.shape, question.array.dtype)
    given = question.axes
    axis: Any = given[0] if given and len(given) == 1 else given
    if statistic in _OF_NOTHING:
        value = _OF_NOTHING[statistic](array, axis=axis, keepdims=question.keepdims)
    elif statistic in _NEED_ELEMENTS:
        value = np.mean(array, axis=axis, keepdims=question.keepdims)
    else:
        value = np.sum(array, axis=axis, keepdims=question.keepdims)
    dtype = result_dtype(statistic, array.dtype)
    return value.astype(dtype) if isinstance(value, np.ndarray) else dtype.type(value)


def _of_enough(engine: Engine, source: Source, statistics: Sequence[int], axis: int,
               policy: Policy) -> tuple[list[Any], Execution]:
    """Where some group has no number but NaN, or too few: those are NaN, as in NumPy."""
    if any(statistic in _ARGS for statistic in statistics):
        raise ValueError("All-NaN slice encountered")
    (counts,), execution = engine.reduce(source, [_COUNT], axis, True, False, 0)
    needed = policy.ddof if any(one in _SPREADS for one in statistics) else 0
    enough = np.atleast_1d(counts) > needed
    if enough.all():
        # Something else was wrong.
        values, execution = engine.reduce(source, statistics, axis, *policy)
        return list(values), execution
    warnings.warn("Mean of empty slice, or degrees of freedom <= 0 for slice", RuntimeWarning,
                  stacklevel=5)
    filled = [np.full(enough.shape, np.nan) for _ in statistics]
    array, number, shape = source
    if axis < 0 or shape is None:
        return [values[0] for values in filled], execution
    if not isinstance(array, np.ndarray):
        raise ValueError("a group of the resident array has no number but NaN")
    if enough.any():
        groups: Array = array.reshape(shape).compress(enough, axis=1 - axis)
        part = (np.ascontiguousarray(groups), number, (groups.shape[0], groups.shape[1]))
        values, execution = engine.reduce(part, statistics, axis, *policy)
        for filling, value in zip(filled, values):
            filling[enough] = value
    return list(filled), execution


def spread_of_too_few(engine: Engine, question: Question, statistic: int, policy: Policy) -> Any:
    """A variance or deviation of groups no larger than ddof: NaN or infinite, as in NumPy."""
    warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=4)
    (value,), _ = reduce(engine, question, [statistic], policy._replace(ddof=0))
    quotient = np.where(value > 0, np.inf, np.nan).astype(value.dtype)
    return quotient if isinstance(value, np.ndarray) else quotient[()]


def group_length(question: Question) -> int:
    """Elements of one group."""
    shape, axes = question.array.shape, question.axes
    length = 1
    for axis, size in enumerate(shape):
        if axes is None or axis in axes:
            length *= size
    return length


def to_ddof(ddof: Any) -> int:
    """Raises TypeError for a fraction, which NumPy takes, and ValueError below 0."""
    try:
        number = operator.index(ddof)
    except TypeError:
        if ddof != int(ddof):
            raise TypeError(f"ddof: must be a whole number, not {ddof!r}") from None
        number = int(ddof)
    if number < 0:
        raise ValueError("ddof: must be 0 or more")
    return number
