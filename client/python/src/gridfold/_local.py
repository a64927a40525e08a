"""A connection to nothing: the same calls, answered in this process."""

from __future__ import annotations

import ctypes
import itertools
import operator
import os
import time
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

from . import _core
from ._connection import Connection
from ._elements import BFLOAT16, Array, dtype_of
from ._engine import Along, Place, Source
from ._errors import AlreadyExistsError, FailedPreconditionError, NotFoundError
from ._matrix import Here, Matrix, as_scanned, matrix_of, rows_of
from ._select import Segments, of_rows, reduce_segments


class LocalExecution(NamedTuple):
    """How a job ran in this process."""

    engine: str
    strategy: str
    bytes_read: int
    queue_time_s: float
    kernel_time_s: float
    total_time_s: float
    transport: str = "in place"


class _Kept(NamedTuple):
    values: Array  # Unsigned integers of the elements' size.
    element_type: int

    def at(self, first: Any, part: Any) -> Array:
        """The elements that a place means, in C order."""
        if isinstance(part, int):
            rows: Array = self.values if part < 0 else self.values[first:first + part]
            return rows
        corner = self.values[tuple(slice(index, None) for index in first)]
        view = np.lib.stride_tricks.as_strided(
            corner, [count for _, count, _ in part],
            [step * self.values.strides[axis] for axis, _, step in part], writeable=False)
        return np.array(view, order="C")


class LocalEngine:
    """What a `Connection` needs, with the engine of the C library and arrays in a dictionary."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._arrays: dict[str, _Kept] = {}
        self._handle: Optional[_core.Handle] = _core.engine(threads)

    def _engine(self) -> _core.Handle:
        """The handle, and no pointer: `close` frees no engine that a call in flight has."""
        handle = self._handle
        if handle is None:
            raise FailedPreconditionError("the connection is closed")
        return handle

    @property
    def is_open(self) -> bool:
        return self._handle is not None

    def close(self) -> None:
        self._handle = None
        self._arrays.clear()

    def with_options(self, timeout_s: Optional[float], priority: Optional[int],
                     traceparent: str, progress: Any) -> LocalEngine:
        return self

    def info(self) -> tuple[str, str, list[tuple[Any, ...]], dict[str, int]]:
        version = _core.library.gridfold_core_version().decode()
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        threads = self._threads or len(os.sched_getaffinity(0))
        return version, "cpu", [("this process", memory, threads, "", "")], {}

    def is_serving(self) -> bool:
        return self.is_open

    def reduce(self, source: Source, statistics: Sequence[int], axis: Along, ignore_nan: bool,
               wrap: bool, ddof: float, where: Optional[Source] = None, initial: Any = None,
               empty: Any = "error", output_type: Optional[int] = None
               ) -> tuple[tuple[Any, ...], LocalExecution]:
        start = time.perf_counter()
        here, place = matrix_of(self._source(source), axis)
        policy = ignore_nan, wrap, int(ddof)
        if where is None and empty == "error":
            columns = self._columns(here, statistics, _core.grouping(place), policy)
        else:
            mask = None if where is None else rows_of(self._source(where), axis)[0][0]
            segments = of_rows(rows_of(self._source(source), axis)[0], mask)
            if initial is not None:
                segments = segments.with_initial(initial)
            columns = reduce_segments(self._of_segments, segments, statistics, policy,
                                      np.nan if empty in ("error", "nan") else empty)
        values = tuple(values if place >= 0 else values.item() for values in columns)
        return values, _execution("reduce", start, here[0])

    def _of_segments(self, segments: Segments, statistics: Sequence[int],
                     policy: tuple[bool, bool, int]) -> list[Array]:
        here = np.ascontiguousarray(segments.values), segments.element_type, None
        offsets = segments.offsets
        return self._columns(here, statistics, _core.segments(offsets), policy)

    def _columns(self, here: Matrix, statistics: Sequence[int], grouping: _core.CGrouping,
                 policy: tuple[bool, bool, int]) -> list[Array]:
        """Each statistic's values."""
        array = _core.to_array(here)
        spec = _core.reduction_spec(statistics, grouping, *policy)
        result = _core.Handle(_core.library.gridfold_reduction_free)
        _core.check(_core.library.gridfold_reduce(
            self._engine(), ctypes.byref(array), ctypes.byref(spec), result.out))
        return [values for _, values in _core.columns(result)]

    def reduce_whole(self, array: Array, element_type: int, statistic: int, wrap: bool) -> Any:
        return None

    def reduce_by_key(self, keys: Source, values: Source, groups: tuple[Any, ...],
                      further_keys: Sequence[Source], statistics: Sequence[int], ignore_nan: bool,
                      wrap: bool, ddof: int, quantiles: Sequence[float] = (),
                      method: int = 1) -> tuple[Any, ...]:
        start = time.perf_counter()
        of_values, *of_keys = (self._source(one) for one in (values, keys, *further_keys))
        spec = _core.keyed_spec(groups, _core.reduction_spec(statistics, _core.grouping(-1),
                                                             ignore_nan, wrap, ddof))
        result = _core.Handle(_core.library.gridfold_keyed_free)
        _core.reduce_by_key(self._engine(), of_keys, of_values, spec, quantiles, method - 1, result)
        return (*_core.keyed_groups(result, len(statistics), len(quantiles)),
                _execution("by-key", start, of_values[0]))

    def scan(self, source: Source, operation: int, axis: Along, exclusive: bool, reverse: bool,
             output_type: Optional[int], ignore_nan: bool, wrap: bool, exact: bool,
             window: int = 0, min_count: int = 0) -> tuple[Array, int, LocalExecution]:
        start = time.perf_counter()
        resolved = self._source(source)
        here, place = matrix_of(resolved, axis)
        array = ctypes.byref(_core.to_array(here))
        spec = _core.CScanSpec(operation - 1, exclusive, reverse, exact, output_type or 0,
                               _core.CGrouping(_core.AXES[place]), ignore_nan, wrap, window,
                               min_count)
        number = ctypes.c_int32()
        _core.check(_core.library.gridfold_scan_type(array, ctypes.byref(spec),
                                                     ctypes.byref(number)))
        size = _item_size(number.value) * here[0].size
        output = np.empty(size, np.uint8)
        _core.check(_core.library.gridfold_scan(
            self._engine(), array, ctypes.byref(spec), ctypes.c_void_p(output.ctypes.data),
            ctypes.c_uint64(size)))
        output = as_scanned(output, _item_size(number.value), resolved[2], axis)
        return output, number.value, _execution("scan", start, here[0])

    def histogram(self, source: Source, bins: Sequence[tuple[Any, ...]],
                  y_source: Optional[Source], weights: Optional[Source], clamp: bool,
                  quantiles: Sequence[float]
                  ) -> tuple[list[tuple[Any, ...]], list[Array], LocalExecution]:
        start = time.perf_counter()
        here = self._in_one(source)
        samples = _core.samples(here, None if y_source is None else self._in_one(y_source),
                                None if weights is None else self._in_one(weights))
        spec = _core.histogram_spec(bins, clamp, quantiles)
        result = _core.Handle(_core.library.gridfold_histogram_free)
        _core.check(_core.library.gridfold_count(
            self._engine(), ctypes.byref(samples), ctypes.byref(spec), result.out))
        edges = _core.edges(result, 1 if y_source is None else 2)
        return _core.channels(result), edges, _execution("histogram", start, here[0])

    def quantiles(self, source: Source, quantiles: Sequence[float], method: int, axis: Along,
                  ignore_nan: bool, weights: Optional[Source] = None
                  ) -> tuple[list[Array], LocalExecution]:
        start = time.perf_counter()
        here, place = rows_of(self._source(source), axis)
        beside = None if weights is None else rows_of(self._source(weights), axis)[0]
        values = _core.quantiles(self._engine(), here, quantiles, method - 1, place >= 0,
                                 ignore_nan, beside)
        return values, _execution("quantiles", start, here[0])

    def top(self, source: Source, count: int, smallest: bool, axis: Along, ignore_nan: bool
            ) -> tuple[Array, Array, LocalExecution]:
        start = time.perf_counter()
        here, place = rows_of(self._source(source), axis)
        values, indices = _core.select_top(self._engine(), here, count, smallest, place >= 0,
                                           ignore_nan)
        return values, indices, _execution("top", start, here[0])

    def relate(self, source: Source, y_source: Optional[Source], weights: Optional[Source],
               statistics: Sequence[int], ddof: int, is_reliability: bool, ignore_nan: bool,
               wrap: bool) -> tuple[list[Array], LocalExecution]:
        start = time.perf_counter()
        find = self._source if y_source is None else self._in_one  # As one column each.
        sources = [None if one is None else find(one) for one in (source, y_source, weights)]
        here = sources[0]
        assert here is not None
        columns = _core.samples(here, sources[1], sources[2])
        values = _core.relate(self._engine(), columns, here, y_source is not None, statistics,
                              _core.paired_spec(statistics, ddof, is_reliability, ignore_nan, wrap))
        return values, _execution("relate", start, here[0])

    def accumulate(self, source: Source, statistics: Sequence[int], axis: Along, ignore_nan: bool,
                   wrap: bool, ddof: int, first_index: int) -> _core.Handle:
        here, place = matrix_of(self._source(source), axis)
        array = _core.to_array(here)
        spec = _core.reduction_spec(statistics, _core.grouping(place), ignore_nan, wrap, ddof,
                                    first_index)
        result = _core.Handle(_core.library.gridfold_accumulator_free)
        _core.check(_core.library.gridfold_accumulate_reduction(
            self._engine(), ctypes.byref(array), ctypes.byref(spec), result.out))
        return result

    def accumulate_histogram(self, source: Source, bins: Sequence[tuple[Any, ...]],
                             weights: Optional[Source], clamp: bool) -> _core.Handle:
        samples = _core.samples(self._source(source), None,
                                None if weights is None else self._source(weights))
        spec = _core.histogram_spec(bins, clamp, [])
        result = _core.Handle(_core.library.gridfold_accumulator_free)
        _core.check(_core.library.gridfold_accumulate_histogram(
            self._engine(), ctypes.byref(samples), ctypes.byref(spec), result.out))
        return result

    def _source(self, source: Source) -> Here:
        """The source with its elements, which may have been kept."""
        array, element_type, shape = source
        if isinstance(array, np.ndarray):
            return array, element_type, shape
        values = self._kept(array[0]).at(*array[1:])
        if values.ndim > 1:
            return values, element_type, values.shape
        return values.reshape(-1), element_type, None

    def _in_one(self, source: Source) -> Here:
        """The source with all its elements in one dimension."""
        array, element_type, _ = self._source(source)
        return array.reshape(-1), element_type, None

    def _kept(self, name: str) -> _Kept:
        if name not in self._arrays:
            raise NotFoundError(f"there is no array {name!r}", field="name")
        return self._arrays[name]

    def create_array(self, name: str, element_type: int, shape: Sequence[int],
                     idle_expiry_s: Optional[float], device: Optional[int]) -> tuple[Any, ...]:
        if not name:
            name = next(free for number in itertools.count()
                        if (free := f"array-{number}") not in self._arrays)
        if name in self._arrays:
            raise AlreadyExistsError(f"there is an array {name!r}", field="name")
        self._arrays[name] = _Kept(np.zeros(shape, f"u{_item_size(element_type)}"), element_type)
        return self.get_array(name)

    def write_array(self, name: str, first: int, source: Source) -> None:
        values = self._kept(name).values.reshape(-1)
        array = source[0]
        assert isinstance(array, np.ndarray)
        values[first:first + array.size] = array.reshape(-1).view(values.dtype)

    def read_array(self, place: Place) -> tuple[Array, int]:
        kept = self._kept(place[0])
        return kept.at(*place[1:]).flatten().view(np.uint8), kept.element_type

    def get_array(self, name: str) -> tuple[Any, ...]:
        kept = self._kept(name)
        return name, kept.element_type, kept.values.shape

    def list_arrays(self) -> list[tuple[Any, ...]]:
        return [self.get_array(name) for name in sorted(self._arrays)]

    def delete_array(self, name: str) -> None:
        self._kept(name)
        del self._arrays[name]


_THREADS_MAX = 1024


def local(threads: int = 0) -> Connection:
    """The calls of a connection, answered in this process by the CPU engine: no server, no sockets.

    The numbers are those of a server, bit for bit. Arrays of `put` lie in this process and do not
    expire; timeouts, priorities and progress have no effect, and Ctrl-C ends a call when it is
    done. Also in a process that `fork` has made: where its parent had computed already, each call
    is computed by the thread that makes it, alone.

    Parameters
    ----------
    threads : int
        For all calls together; 0: one for each processor. Results do not depend on it.

    Examples
    --------
    >>> gridfold.local().sum([1e30, 1.0, -1e30])
    1.0
    """
    threads = operator.index(threads)
    if not 0 <= threads <= _THREADS_MAX:
        raise ValueError(f"threads: must be from 0 to {_THREADS_MAX}, not {threads}")
    return Connection(LocalEngine(threads), "this process")  # type: ignore[arg-type]


def _item_size(element_type: int) -> int:
    return 2 if element_type == BFLOAT16 else int(dtype_of(element_type).itemsize)


def _execution(strategy: str, start: float, array: Array) -> LocalExecution:
    elapsed = time.perf_counter() - start
    return LocalExecution("cpu", strategy, array.nbytes, 0.0, elapsed, elapsed)
