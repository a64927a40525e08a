"""One or several statistics of one array: from what a caller gives to what NumPy would return."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

from ._device import of_device
from ._elements import BY_DTYPE, Array, as_array, is_float
from ._engine import Engine, Execution
from ._errors import InvalidArgumentError
from ._layout import Axis, Layout, lay_out, normalise
from ._operation import warn
from ._statistics import NUMBERS, result_dtype

_COUNT, _RANGE = NUMBERS["count"], NUMBERS["range"]
_ARGS = {NUMBERS["argmin"], NUMBERS["argmax"]}
_EXTREMES = {NUMBERS["min"], NUMBERS["max"], _RANGE}
SPREADS = {NUMBERS["variance"], NUMBERS["standard_deviation"], NUMBERS["standard_error"]}
_QUOTIENTS = {NUMBERS["mean"], NUMBERS["root_mean_square"], *SPREADS}

# Statistics that are no further from 0 than some element: finite ones fit in the elements' dtype.
_BOUNDED = {NUMBERS["min"], NUMBERS["max"], NUMBERS["mean"], NUMBERS["root_mean_square"]}
# Fewer groups are not worth another type on their way.
_NARROW_GROUPS_MIN = 65_536
# Dtypes to which NumPy rounds float64 as servers do, at once. ml_dtypes goes to bfloat16 by float32.
_ROUNDED_ALIKE = {np.dtype(np.float16), np.dtype(np.float32)}

# What NumPy says of no elements: identities, NaN with a warning, or a ValueError.
_OF_NOTHING: dict[int, str] = {
    NUMBERS["sum"]: "sum", NUMBERS["product"]: "prod", NUMBERS["min"]: "min",
    NUMBERS["max"]: "max", NUMBERS["argmin"]: "argmin", NUMBERS["argmax"]: "argmax",
    NUMBERS["all"]: "all", NUMBERS["any"]: "any", _RANGE: "ptp",
    **{NUMBERS[name]: name for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    **{statistic: "var" if statistic in SPREADS else "mean" for statistic in _QUOTIENTS}}


class Policy(NamedTuple):
    """How a reduction treats its elements."""

    ignore_nan: bool = False
    wrap: bool = False
    ddof: float = 0


class Question(NamedTuple):
    """An array, laid out for the groups that were asked for."""

    array: Any  # Of NumPy, or on the server: has shape, dtype and size.
    layout: Optional[Layout]  # None: there are no elements.
    axes: Optional[tuple[int, ...]]
    keepdims: bool


# Whose values need no look at the array, nor at how many elements count.
_PLAIN = set(NUMBERS.values()) - {_RANGE}


def plain_form(x: Array, statistic: int, policy: Policy) -> Optional[tuple[int, Any]]:
    """The number of the element type and the type of the value of a statistic for which engines
    have `reduce_whole`, of an array that they may take as it is. None: there is something else to be
    minded. Calls of small arrays take little longer than the engine."""
    return None if policy.ignore_nan or policy.ddof else _SCALARS.get((statistic, x.dtype))


# The number of the element type and the type of the value, of each statistic and dtype.
_SCALARS: dict[tuple[int, Any], tuple[int, Any]] = {
    (statistic, dtype): (number, result_dtype(statistic, dtype).type)
    for dtype, number in BY_DTYPE.items() for statistic in _PLAIN}


def ask(x: Any, axis: Axis, keepdims: bool, in_order: bool = False) -> Question:
    """Checks and lays out what a caller gives."""
    x = of_device(x)
    if hasattr(x, "_lay_out"):
        axes = normalise(axis, x.ndim)
        return Question(x, x._lay_out(axes), axes, keepdims)
    array = as_array(x)
    axes = normalise(axis, array.ndim)
    layout = lay_out(array, axes, in_order) if array.size else None
    return Question(array, layout, axes, keepdims)


async def reduce(engine: Engine, question: Question, statistics: Sequence[int], policy: Policy,
                 empty: Any = "error") -> tuple[list[Any], Optional[Execution]]:
    """The statistics as NumPy has them: scalars or arrays, of its dtypes, with its warnings."""
    array, layout = question.array, question.layout
    if layout is None:
        return [_of_nothing(question, statistic, policy) for statistic in statistics], None
    asked = list(statistics)
    ignores = policy.ignore_nan and is_float(array.dtype)
    if ignores and _COUNT not in asked and not _QUOTIENTS.isdisjoint(asked):
        asked.append(_COUNT)
    values: Sequence[Any]
    try:
        values, execution = await engine.reduce(layout.source, asked, layout.axis, *_rules(policy),
                                                empty=empty,
                                                output_type=_output_type(question, asked))
    except InvalidArgumentError:
        if not ignores or not isinstance(empty, str):
            raise
        if not _ARGS.isdisjoint(asked):
            raise ValueError("All-NaN slice encountered") from None
        # Groups that are too small.
        values, execution = await engine.reduce(layout.source, asked, layout.axis, *_rules(policy),
                                                empty="nan")
    if ignores:
        _warn(dict(zip(asked, values)), policy)
    return [_finish(value, result_dtype(statistic, array.dtype), statistic, question)
            for statistic, value in zip(statistics, values)], execution


def _output_type(question: Question, statistics: Sequence[int]) -> Optional[int]:
    """The element type to which a server may round the values of many groups, to send fewer bytes:
    where NumPy, which would do so here, had nothing to warn of, and gave the same bits."""
    dtype = question.array.dtype
    if dtype not in _ROUNDED_ALIKE or not set(statistics) - {_COUNT} <= _BOUNDED:
        return None
    if question.array.size < _NARROW_GROUPS_MIN * group_length(question):
        return None
    return BY_DTYPE[dtype] if set(statistics) & _BOUNDED else None


async def of_all(engine: Engine, array: Any, *names: str) -> list[Any]:
    """Statistics of all elements, of which there are some."""
    values, _ = await reduce(engine, ask(array, None, False), [NUMBERS[name] for name in names],
                             Policy())
    return values


def _rules(policy: Policy) -> tuple[bool, bool, int]:
    """As engines take them; a fraction of ddof is `scaled_spread`'s."""
    return policy.ignore_nan, policy.wrap, int(policy.ddof)


def _warn(values: dict[int, Any], policy: Policy) -> None:
    """NumPy's warnings of groups with nothing but NaN, or too little else."""
    if any(np.isnan(value).any() for statistic, value in values.items()
           if statistic in _EXTREMES):
        warn("All-NaN slice encountered")
    if not _QUOTIENTS.isdisjoint(values):
        _warn_of_few(not SPREADS.isdisjoint(values), values[_COUNT], policy)


def _finish(value: Any, dtype: Any, statistic: int, question: Question) -> Any:
    layout = question.layout
    assert layout is not None
    if not layout.is_whole:
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


def finish_one(question: Question, statistic: int, value: Any, policy: Policy) -> Any:
    """One statistic as NumPy has it, from the engine's value, if there are elements."""
    if question.layout is None:
        return _of_nothing(question, statistic, policy)
    return _finish(value, result_dtype(statistic, question.array.dtype), statistic, question)


def warn_of_few(statistic: int, counts: Any, policy: Policy) -> None:
    """NumPy's warning of groups with too few elements for a quotient."""
    if statistic in _QUOTIENTS:
        _warn_of_few(statistic in SPREADS, counts, policy)


def _warn_of_few(is_spread: bool, counts: Any, policy: Policy) -> None:
    if np.any(np.asarray(counts) <= (policy.ddof if is_spread else 0)):
        warn("Degrees of freedom <= 0 for slice." if is_spread else "Mean of empty slice")


def _check_range(value: Any, dtype: Any) -> None:
    if value > np.iinfo(dtype).max:
        raise OverflowError(f"the range {value} lies outside {dtype}")


def _of_nothing(question: Question, statistic: int, policy: Policy) -> Any:
    array = np.empty(question.array.shape, question.array.dtype)
    given = question.axes
    axis: Any = given[0] if given and len(given) == 1 else given
    name = _OF_NOTHING.get(statistic, "sum")
    prefix = "nan" if policy.ignore_nan and hasattr(np, f"nan{name}") else ""
    function = getattr(np, prefix + name)
    value = getattr(function, "reduce", function)(array, axis=axis, keepdims=question.keepdims)
    dtype = result_dtype(statistic, array.dtype)
    return value.astype(dtype) if isinstance(value, np.ndarray) else dtype.type(value)


async def scaled_spread(engine: Engine, question: Question, statistic: int, policy: Policy) -> Any:
    """A spread whose ddof is a fraction, or no smaller than the groups: as NumPy's, NaN or infinite
    where nothing remains."""
    (value, counts), _ = await reduce(engine, question, [statistic, _COUNT],
                                      policy._replace(ddof=0))
    remaining = counts - policy.ddof
    # Of groups with nothing but NaN `reduce` has warned.
    if np.any(remaining <= 0) and np.all(counts > 0):
        warn("Degrees of freedom <= 0 for slice.")
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.asarray(counts / np.maximum(remaining, 0))
        if statistic != NUMBERS["variance"]:
            factor = np.sqrt(factor)
        scaled = np.asarray(value * factor, value.dtype)
    if policy.ignore_nan:
        scaled = np.where(remaining <= 0, value.dtype.type(np.nan), scaled)
    return scaled if isinstance(value, np.ndarray) else scaled[()]


def group_length(question: Question) -> int:
    """Elements of one group."""
    shape: tuple[int, ...] = question.array.shape
    axes = question.axes
    return math.prod(size for axis, size in enumerate(shape) if axes is None or axis in axes)


def to_ddof(ddof: Any) -> Any:
    """A whole number as an int. Raises TypeError for what is no number, ValueError below 0."""
    if not isinstance(ddof, (int, float, np.number)):
        raise TypeError(f"ddof: must be a number, not {ddof!r}")
    if ddof < 0:
        raise ValueError("ddof: must be 0 or more")
    return int(ddof) if ddof == int(ddof) else float(ddof)


@functools.cache
def policy_of(overflow: str, ignore_nan: bool = False) -> Policy:
    """The policy of sums and products. Raises ValueError as `wraps`."""
    return Policy(ignore_nan, wraps(overflow))


def wraps(overflow: str) -> bool:
    """Whether integers that overflow wrap. Raises ValueError for other words."""
    if overflow not in ("error", "wrap"):
        raise ValueError(f"overflow: must be \"error\" or \"wrap\", not {overflow!r}")
    return overflow == "wrap"
