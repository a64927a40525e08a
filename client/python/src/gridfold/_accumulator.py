"""Accumulators: what is known of a part of an array, to be merged anywhere."""

from __future__ import annotations

import ctypes
import functools
import math
import operator
from typing import Any, Iterable, Optional, Sequence, Union

import numpy as np

from . import _core
from ._elements import Array, as_array, dtype_of, wire_form
from ._engine import WHOLE
from ._layout import Axis, lay_out, normalise
from ._local import LocalEngine, LocalExecution
from ._reduce import wraps
from ._statistics import NUMBERS, Statistics, number_of, result_dtype

_NAMES = {number: name for name, number in NUMBERS.items()}


class Accumulator:
    """What is known of a part of an array before anything is rounded.

    Accumulators of parts are added (`a + b`, `sum(parts)`) in any order or tree, and the sum's
    `result()` has the bits of one call for the whole. Those of sums and counts, and of histograms,
    are taken out again (`whole - part`) as exactly: a window over a stream adds what is new and
    subtracts what is old, and never drifts. They are values: hashable, pickled as their
    bytes, which servers merge as well (`bytes(a)`, `Accumulator(data)`).

    Parameters
    ----------
    data : bytes
        Of an accumulator. InvalidArgumentError where no data can have led to them.

    Examples
    --------
    >>> parts = [gridfold.Accumulator.of(part, ["mean"]) for part in np.split(x, 4)]
    >>> sum(parts).result().mean
    >>> (sum(parts) - parts[0]).result().mean  # The same as without the first part.
    """

    __slots__ = ("_handle",)

    def __init__(self, data: Union[bytes, bytearray, memoryview]) -> None:
        content = bytes(data)
        self._handle = _new()
        _core.check(_core.library.gridfold_accumulator_parse(
            content, ctypes.c_uint64(len(content)), self._handle.out))

    @classmethod
    def _of(cls, handle: _core.Handle) -> Accumulator:
        self = object.__new__(cls)
        self._handle = handle
        return self

    @classmethod
    def of(cls, x: Any, statistics: Sequence[str], axis: Axis = None, *, ddof: int = 0,
           ignore_nan: bool = False, overflow: str = "error", first_index: int = 0
           ) -> Accumulator:
        """The accumulator of a reduction, as `Connection.reduce` takes it; also of no elements.

        `first_index` is where in the whole the part's groups begin, for "argmin" and "argmax".
        Products of floating-point elements have no accumulator.
        """
        if isinstance(statistics, str):
            raise TypeError("statistics: must be a list of names")
        array = as_array(x)
        axes = normalise(axis, array.ndim)
        if array.size:
            source, along, _ = lay_out(array, axes, in_order=True)
        elif axes is None:
            source, along = (*wire_form(array.ravel()), None), WHOLE
        else:
            groups = math.prod(size for place, size in enumerate(array.shape) if place not in axes)
            source = (*wire_form(array.ravel()), (0, groups))
            along = (0,)
        return cls._of(_engine().accumulate(source, [number_of(name) for name in statistics],
                                            along, ignore_nan, wraps(overflow), _to_ddof(ddof),
                                            first_index))

    @classmethod
    def of_histogram(cls, x: Any, bins: Any, range: Optional[tuple[float, float]] = None, *,
                     weights: Any = None, clamp: bool = False) -> Accumulator:
        """The accumulator of the counts, or sums of weights, of all elements by bins.

        `bins`, which all parts have in common, is increasing edges, or a number of bins of equal
        width over `range`. `clamp` counts what lies outside in the outermost bins.
        """
        if np.ndim(bins) == 0 and range is None:
            raise ValueError("range: is needed, since that of a part is not that of the whole")
        specified = (("edges", np.asarray(bins, np.float64)) if np.ndim(bins) else
                     ("even", int(bins), *map(float, range or ())))
        flat = as_array(x).ravel()
        weight_source = None
        if weights is not None:
            array = as_array(weights).ravel()
            if array.size != flat.size:
                raise ValueError("weights should have the same shape as a.")
            weight_source = (*wire_form(array), None)
        return cls._of(_engine().accumulate_histogram((*wire_form(flat), None), [specified],
                                                      weight_source, clamp))

    @classmethod
    def merge(cls, parts: Iterable[Accumulator]) -> Accumulator:
        """The accumulator of at least one part, all of one operation."""
        handles = [part._handle for part in parts]
        pointers = (ctypes.c_void_p * len(handles))(*(one.pointer for one in handles))
        merged = _new()
        _core.check(_core.library.gridfold_accumulator_merge(
            pointers, ctypes.c_uint64(len(handles)), merged.out))
        return cls._of(merged)

    def __add__(self, other: Any) -> Accumulator:
        if not isinstance(other, Accumulator):
            return NotImplemented
        return self.merge((self, other))

    def subtract(self, parts: Iterable[Accumulator]) -> Accumulator:
        """What remains where at least one part that was merged into this one is taken out.

        InvalidArgumentError where a statistic has no such form ("min", "max", "argmin", "argmax",
        "range", "product", "bitwise_and", "bitwise_or", "bitwise_xor"), where a part was never in
        it, or where it cannot be told whether a NaN or an infinity remains: a sum that is not
        finite has lost its number. A sum that is 0 is 0.0, unless all elements were -0.0.
        """
        handles = [part._handle for part in parts]
        pointers = (ctypes.c_void_p * len(handles))(*(one.pointer for one in handles))
        remainder = _new()
        _core.check(_core.library.gridfold_accumulator_subtract(
            self._handle.pointer, pointers, ctypes.c_uint64(len(handles)), remainder.out))
        return self._of(remainder)

    def __sub__(self, other: Any) -> Accumulator:
        if not isinstance(other, Accumulator):
            return NotImplemented
        return self.subtract((other,))

    def __radd__(self, other: Any) -> Accumulator:
        if type(other) is int and other == 0:  # What sum() begins with.
            return self
        return NotImplemented

    def __bytes__(self) -> bytes:
        data, size = ctypes.c_void_p(), ctypes.c_uint64()
        _core.check(_core.library.gridfold_accumulator_bytes(
            self._handle.pointer, ctypes.byref(data), ctypes.byref(size)))
        return ctypes.string_at(data, size.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Accumulator):
            return NotImplemented
        return bytes(self) == bytes(other)

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Accumulator, (bytes(self),)

    def __repr__(self) -> str:
        description = self._describe()
        kind = "histogram" if description.is_histogram else "reduction"
        return (f"<gridfold.Accumulator of a {kind} of {description.element_count} "
                f"{dtype_of(description.element_type)}>")

    def _describe(self) -> _core.CDescription:
        description = _core.CDescription()
        _core.check(_core.library.gridfold_accumulator_describe(self._handle.pointer,
                                                                ctypes.byref(description)))
        return description

    @property
    def element_count(self) -> int:
        """Elements of all parts and groups."""
        return int(self._describe().element_count)

    def result(self, partial: bool = False) -> Any:
        """The answer for all parts.

        Returns
        -------
        Statistics
            Of a reduction: by name, scalars, or arrays in one dimension where there are several
            groups or none. `partial`: None in place of an error where there is no value yet.
        counts, edges : tuple of arrays
            Of a histogram, as `numpy.histogram` has them.
        """
        description = self._describe()
        if description.is_histogram:
            return self._histogram()
        result = _core.Handle(_core.library.gridfold_reduction_free)
        _core.check(_core.library.gridfold_accumulator_reduction(
            self._handle.pointer, int(partial), result.out))
        dtype = dtype_of(description.element_type)
        values: dict[str, Any] = {}
        for number, column in _core.columns(result):
            of_dtype = column.astype(result_dtype(number, dtype), copy=False)
            is_missing = partial and not len(column)
            values[_NAMES[number]] = (None if is_missing else
                                      of_dtype[0] if len(column) == 1 else of_dtype)
        return Statistics(values, LocalExecution("cpu", "merge", 0, 0.0, 0.0, 0.0))

    def _histogram(self) -> tuple[Array, Array]:
        result = _core.Handle(_core.library.gridfold_histogram_free)
        _core.check(_core.library.gridfold_accumulator_histogram(self._handle.pointer, result.out))
        values = _core.channels(result)[0][0]
        return values.astype(np.int64) if values.dtype.kind == "u" else values, \
            _core.edges(result, 1)[0]

    def to_words(self) -> Array:
        """The additive form: int64 words, whose sums over up to 2**31 parts are those of the whole.

        Minima, maxima, their indices, ranges and products have none: InvalidArgumentError.

        Examples
        --------
        >>> comm.Allreduce(MPI.IN_PLACE, words := part.to_words(), MPI.SUM)
        >>> gridfold.Accumulator.from_words(words).result()
        """
        count = ctypes.c_uint64()
        _core.check(_core.library.gridfold_accumulator_word_count(self._handle.pointer,
                                                                  ctypes.byref(count)))
        words = np.empty(count.value, np.int64)
        _core.check(_core.library.gridfold_accumulator_to_words(
            self._handle.pointer, ctypes.c_void_p(words.ctypes.data), count))
        return words

    @classmethod
    def from_words(cls, words: Any) -> Accumulator:
        """The accumulator of parts whose words were added. Words that no data can have led to are
        an InvalidArgumentError."""
        given = np.asarray(words)
        if given.dtype.kind not in "iu" or given.ndim != 1:
            raise TypeError("words: must be integers in one dimension")
        given = np.ascontiguousarray(given, np.int64)
        handle = _new()
        _core.check(_core.library.gridfold_accumulator_from_words(
            ctypes.c_void_p(given.ctypes.data), ctypes.c_uint64(given.size), handle.out))
        return cls._of(handle)


def _to_ddof(ddof: int) -> int:
    number = operator.index(ddof)
    if not 0 <= number < 2**32:
        raise ValueError("ddof: must be 0 or more, and below 2**32")
    return number


def _new() -> _core.Handle:
    return _core.Handle(_core.library.gridfold_accumulator_free)


@functools.lru_cache(maxsize=1)
def _engine() -> LocalEngine:
    """The engine that all accumulators of the process share."""
    return LocalEngine(0)
