"""The C library gridfold_core, which lies beside this file. The constants and structs are those of
gridfold_core.h. Calls release the GIL.
"""

from __future__ import annotations

import ctypes
import pathlib
from typing import Any, Callable, Optional, Sequence

import numpy as np

from ._elements import Array
from ._engine import Source
from ._errors import from_status
from ._statistics import PAIRED_DOT, PAIRED_OF_TWO

_LIBRARY = pathlib.Path(__file__).with_name("_gridfold_core.so")

# The gRPC codes that errors have here, by gridfold_status.
_CODES = {1: 3, 2: 11, 3: 8, 5: 13}
_NO_MEMORY = 4

# The dtypes of values, by gridfold_value_kind.
_VALUE_DTYPES = [np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.float64), np.dtype(np.uint64)]
_BOOL = 3

_BINS = {"even": 0, "edges": 1, "logarithmic": 2, "integer": 3}
AXES = {-1: 0, 0: 1, 1: 2}

_Pointer = ctypes.c_void_p


class CArray(ctypes.Structure):
    _fields_ = [("data", _Pointer), ("element_type", ctypes.c_int32),
                ("dimension_count", ctypes.c_uint32), ("shape", ctypes.c_uint64 * 2)]


class CGrouping(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("offsets", _Pointer), ("offset_count", ctypes.c_uint64)]


class CReductionSpec(ctypes.Structure):
    _fields_ = [("statistics", _Pointer), ("statistic_count", ctypes.c_uint64),
                ("grouping", CGrouping), ("nan_policy", ctypes.c_int32),
                ("overflow_policy", ctypes.c_int32),
                ("delta_degrees_of_freedom", ctypes.c_uint32), ("first_index", ctypes.c_uint64)]


class CScanSpec(ctypes.Structure):
    _fields_ = [("operation", ctypes.c_int32), ("exclusive", ctypes.c_int32),
                ("reverse", ctypes.c_int32), ("exact", ctypes.c_int32),
                ("output_type", ctypes.c_int32), ("grouping", CGrouping),
                ("nan_policy", ctypes.c_int32), ("overflow_policy", ctypes.c_int32),
                ("window", ctypes.c_uint64), ("min_count", ctypes.c_uint64)]


class CBins(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("has_bounds", ctypes.c_int32),
                ("bin_count", ctypes.c_uint64), ("lower_bound", ctypes.c_double),
                ("upper_bound", ctypes.c_double), ("edges", _Pointer),
                ("edge_count", ctypes.c_uint64), ("first_value", ctypes.c_int64),
                ("first_unsigned_value", ctypes.c_uint64)]


class CHistogramSpec(ctypes.Structure):
    _fields_ = [("bins", _Pointer), ("bins_count", ctypes.c_uint64),
                ("channel_count", ctypes.c_uint32), ("out_of_range_policy", ctypes.c_int32),
                ("sparse", ctypes.c_int32), ("quantiles", _Pointer),
                ("quantile_count", ctypes.c_uint64)]


class CQuantileSpec(ctypes.Structure):
    _fields_ = [("quantiles", _Pointer), ("quantile_count", ctypes.c_uint64), ("ranks", _Pointer),
                ("rank_count", ctypes.c_uint64), ("method", ctypes.c_int32),
                ("grouping", CGrouping), ("nan_policy", ctypes.c_int32)]


class CTopSpec(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint64), ("smallest", ctypes.c_int32), ("grouping", CGrouping),
                ("nan_policy", ctypes.c_int32)]


class CPairedSpec(ctypes.Structure):
    _fields_ = [("statistics", _Pointer), ("statistic_count", ctypes.c_uint64),
                ("delta_degrees_of_freedom", ctypes.c_uint32), ("weight_kind", ctypes.c_int32),
                ("nan_policy", ctypes.c_int32), ("overflow_policy", ctypes.c_int32)]


class CSamples(ctypes.Structure):
    _fields_ = [("x", _Pointer), ("y", _Pointer), ("weights", _Pointer)]


class CColumn(ctypes.Structure):
    _fields_ = [("statistic", ctypes.c_int32), ("kind", ctypes.c_int32), ("values", _Pointer),
                ("value_count", ctypes.c_uint64)]


class CChannel(ctypes.Structure):
    _fields_ = [("counts", _Pointer), ("weight_sums", _Pointer), ("value_count", ctypes.c_uint64),
                ("bin_indices", _Pointer), ("underflow_count", ctypes.c_uint64),
                ("overflow_count", ctypes.c_uint64), ("nan_count", ctypes.c_uint64),
                ("quantiles", _Pointer), ("quantile_count", ctypes.c_uint64)]


class CKeyedSpec(ctypes.Structure):
    _fields_ = [("reduction", CReductionSpec), ("groups", ctypes.c_int32),
                ("first_key", ctypes.c_int64), ("first_unsigned_key", ctypes.c_uint64),
                ("key_count", ctypes.c_uint64), ("bins", _Pointer),
                ("bins_count", ctypes.c_uint64), ("out_of_range_policy", ctypes.c_int32)]


class CGroups(ctypes.Structure):
    _fields_ = [("group_count", ctypes.c_uint64), ("counts", _Pointer), ("keys", _Pointer),
                ("key_kind", ctypes.c_int32), ("bins_count", ctypes.c_uint64),
                ("underflow_count", ctypes.c_uint64), ("overflow_count", ctypes.c_uint64),
                ("nan_count", ctypes.c_uint64)]


class CDescription(ctypes.Structure):
    _fields_ = [("is_histogram", ctypes.c_int32), ("element_type", ctypes.c_int32),
                ("element_count", ctypes.c_uint64)]


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(str(_LIBRARY))
    for name in ("gridfold_core_version", "gridfold_last_message", "gridfold_last_field"):
        getattr(library, name).restype = ctypes.c_char_p
    for name in ("engine", "reduction", "histogram", "keyed", "accumulator"):
        free = getattr(library, f"gridfold_{name}_free")
        free.restype, free.argtypes = None, [_Pointer]
    return library


library = _load()


def check(status: int) -> None:
    """Raises the error of the last call, where it failed."""
    if status == 0:
        return
    message = library.gridfold_last_message().decode("utf-8", "replace")
    if status == _NO_MEMORY:
        raise MemoryError(message)
    field = library.gridfold_last_field().decode("utf-8", "replace")
    raise from_status(_CODES[status], message, None, field or None, None)


class Handle:
    """What a call hands out, and how it is freed."""

    def __init__(self, free: Callable[[Any], None]) -> None:
        self.pointer = _Pointer()
        self._free = free

    def __del__(self) -> None:
        if self.pointer:
            self._free(self.pointer)

    @property
    def _as_parameter_(self) -> Any:
        """What a call gets that is given the handle itself, and so keeps it until it returns."""
        return self.pointer

    @property
    def out(self) -> Any:
        return ctypes.byref(self.pointer)


def engine(threads: int) -> Handle:
    handle = Handle(library.gridfold_engine_free)
    check(library.gridfold_engine_create(threads, handle.out))
    return handle


def to_array(source: Source) -> CArray:
    """A source that is an array of NumPy's, which it keeps: it may be a copy that nobody else has."""
    array, element_type, shape = source
    assert isinstance(array, np.ndarray)
    extents = (ctypes.c_uint64 * 2)(*(shape or (array.size, 0)))
    of_c = CArray(array.ctypes.data, element_type, 1 if shape is None else 2, extents)
    of_c.kept = array
    return of_c


def grouping(axis: int) -> CGrouping:
    """Of the whole (-1), of columns (0) or of rows (1)."""
    return CGrouping(AXES[axis])


def segments(offsets: Array) -> CGrouping:
    """Consecutive groups of one dimension; `offsets` must outlive it."""
    return CGrouping(3, offsets.ctypes.data, offsets.size)


def reduction_spec(statistics: Sequence[int], groups: CGrouping, ignore_nan: bool, wrap: bool,
                   ddof: int, first_index: int = 0) -> CReductionSpec:
    numbers = (ctypes.c_int32 * len(statistics))(*statistics)
    spec = CReductionSpec(ctypes.cast(numbers, _Pointer), len(statistics), groups,
                          ignore_nan, wrap, ddof, first_index)
    spec.kept = numbers
    return spec


def _bins(bins: Sequence[tuple[Any, ...]]) -> tuple[Any, list[Any]]:
    """The bins of C, and what they point to."""
    of_c = (CBins * len(bins))()
    kept: list[Any] = [of_c]
    for one, (kind, *rest) in zip(of_c, bins):
        one.kind = _BINS[kind]
        if kind == "edges":
            edges = np.ascontiguousarray(rest[0], np.float64)
            kept.append(edges)
            one.edges, one.edge_count = edges.ctypes.data, edges.size
        elif kind == "integer":
            first, one.bin_count = rest
            if first >> 63 > 0:
                one.first_unsigned_value = first
            else:
                one.first_value = first
        else:
            one.bin_count, lower, upper = rest
            one.has_bounds = lower is not None
            one.lower_bound, one.upper_bound = lower or 0.0, upper or 0.0
    return of_c, kept


def histogram_spec(bins: Sequence[tuple[Any, ...]], clamp: bool,
                   quantiles: Sequence[float]) -> CHistogramSpec:
    of_c, kept = _bins(bins)
    wanted = np.ascontiguousarray(quantiles, np.float64)
    kept.append(wanted)
    spec = CHistogramSpec(ctypes.cast(of_c, _Pointer), len(bins), 1, clamp, 0, wanted.ctypes.data,
                          wanted.size)
    spec.kept = kept
    return spec


def _element_kind(element_type: int) -> Any:
    """The dtype of elements as values of 8 bytes, by the numbers of the wire."""
    kind = 0 if element_type <= 4 else 1 if element_type <= 8 else 2
    return _VALUE_DTYPES[kind]


def _group_count(source: Source, is_rows: bool) -> int:
    return source[2][0] if is_rows and source[2] is not None else 1


# Of the C library: linear, midpoint and mean.
_INTERPOLATING = {0, 4, 5}


def quantiles(engine: Handle, source: Source, wanted: Sequence[float], method: int, is_rows: bool,
              ignore_nan: bool, weights: Optional[Source] = None) -> list[Array]:
    """An array for each quantile of a source of NumPy's: of its rows, or of the whole."""
    numbers = np.ascontiguousarray(wanted, np.float64)
    array = to_array(source)
    of_spec = method if weights is None else 0  # Of weights there is one method.
    spec = CQuantileSpec(numbers.ctypes.data, numbers.size, None, 0, of_spec,
                         CGrouping(AXES[1 if is_rows else -1]), ignore_nan)
    dtype = np.float64 if method in _INTERPOLATING else _element_kind(source[1])
    values = np.empty((numbers.size, _group_count(source, is_rows)), dtype)
    if weights is not None:
        check(library.gridfold_weighted_quantiles(
            engine, ctypes.byref(array), ctypes.byref(to_array(weights)), ctypes.byref(spec),
            ctypes.c_void_p(values.ctypes.data), ctypes.c_uint64(values.size)))
        return list(values)
    check(library.gridfold_quantiles(engine, ctypes.byref(array), ctypes.byref(spec),
                                     ctypes.c_void_p(values.ctypes.data),
                                     ctypes.c_uint64(values.size)))
    return list(values)


def select_top(engine: Handle, source: Source, count: int, smallest: bool, is_rows: bool,
               ignore_nan: bool) -> tuple[Array, Array]:
    """The elements and their indices, of the rows of a source of NumPy's, or of the whole."""
    array = to_array(source)
    spec = CTopSpec(count, smallest, CGrouping(AXES[1 if is_rows else -1]), ignore_nan)
    values = np.empty(count * _group_count(source, is_rows), _element_kind(source[1]))
    indices = np.empty(values.size, np.uint64)
    check(library.gridfold_select_top(engine, ctypes.byref(array), ctypes.byref(spec),
                                      ctypes.c_void_p(values.ctypes.data),
                                      ctypes.c_void_p(indices.ctypes.data),
                                      ctypes.c_uint64(values.size)))
    return values, indices


def paired_spec(statistics: Sequence[int], ddof: int, is_reliability: bool, ignore_nan: bool,
                wrap: bool) -> CPairedSpec:
    numbers = (ctypes.c_int32 * len(statistics))(*statistics)
    spec = CPairedSpec(ctypes.cast(numbers, _Pointer), len(statistics), ddof, is_reliability,
                       ignore_nan, wrap)
    spec.kept = numbers
    return spec


def relate(engine: Handle, columns: CSamples, source: Source, has_y: bool,
           statistics: Sequence[int], spec: CPairedSpec) -> list[Array]:
    """The values of each statistic of sources of NumPy's."""
    count = 2 if has_y else source[2][1] if source[2] is not None else 1
    of_two = 1 if has_y else count * count
    counts = [of_two if one in PAIRED_OF_TWO else count for one in statistics]
    values = np.empty(sum(counts), np.uint64)
    check(library.gridfold_relate(engine, ctypes.byref(columns), ctypes.byref(spec),
                                  ctypes.c_void_p(values.ctypes.data),
                                  ctypes.c_uint64(values.size)))
    parts = np.split(values, np.cumsum(counts)[:-1])
    return [part.view(_element_kind(source[1]) if one == PAIRED_DOT else np.float64)
            for one, part in zip(statistics, parts)]


def samples(source: Source, y_source: Optional[Source], weights: Optional[Source]) -> CSamples:
    arrays = [None if one is None else to_array(one) for one in (source, y_source, weights)]
    of_c = CSamples(*(None if one is None else ctypes.addressof(one) for one in arrays))
    of_c.kept = arrays
    return of_c


def keyed_spec(groups: tuple[Any, ...], reduction: CReductionSpec) -> CKeyedSpec:
    spec = CKeyedSpec(reduction)
    spec.kept = [reduction]
    kind, *rest = groups
    if kind == "found":
        (spec.key_count,) = rest
    elif kind == "range":
        first, spec.key_count = rest
        spec.groups = 1
        if first >> 63 > 0:
            spec.first_unsigned_key = first
        else:
            spec.first_key = first
    else:
        of_c, kept = _bins(rest[0])
        spec.groups, spec.bins, spec.bins_count = 2, ctypes.cast(of_c, _Pointer), len(of_c)
        spec.out_of_range_policy = rest[1]
        spec.kept += kept
    return spec


def reduce_by_key(engine: Any, keys: Sequence[Source], values: Source, spec: CKeyedSpec,
                  quantiles: Sequence[float], method: int, result: Handle) -> None:
    """Of keys, or of the coordinates of each dimension of bins."""
    *of_keys, of_values = map(to_array, (*keys, values))
    coordinates = (_Pointer * len(of_keys))(*map(ctypes.addressof, of_keys))
    wanted = (ctypes.c_double * len(quantiles))(*quantiles)
    check(library.gridfold_quantiles_by_key(
        engine, coordinates, ctypes.c_uint64(len(of_keys)), ctypes.byref(of_values),
        ctypes.byref(spec), wanted, ctypes.c_uint64(len(quantiles)), ctypes.c_int32(method),
        result.out))


def keyed_groups(result: Handle, statistic_count: int, quantile_count: int) -> tuple[Any, ...]:
    """Keys where they are found or None, counts, values of statistics and of quantiles, edges and
    what is in no bin."""
    groups = CGroups()
    check(library.gridfold_keyed_groups(result.pointer, ctypes.byref(groups)))
    count = groups.group_count
    found = []
    places = [(library.gridfold_keyed_column, i) for i in range(statistic_count)]
    places += [(library.gridfold_keyed_quantile, i) for i in range(quantile_count)]
    for column_of, i in places:
        column = CColumn()
        check(column_of(result.pointer, ctypes.c_uint64(i), ctypes.byref(column)))
        values = copied(column.values, column.value_count, _VALUE_DTYPES[column.kind])
        found.append(values.astype(bool) if column.kind == _BOOL else values)
    keys = copied(groups.keys, count, _VALUE_DTYPES[groups.key_kind]) if groups.keys else None
    return (keys, copied(groups.counts, count, np.uint64), tuple(found),
            _edges(library.gridfold_keyed_bins, result, groups.bins_count),
            (groups.underflow_count, groups.overflow_count, groups.nan_count))


def copied(pointer: Optional[int], count: int, dtype: Any) -> Array:
    if not count or not pointer:
        return np.empty(0, dtype)
    memory = (ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(pointer)
    values: Array = np.frombuffer(memoryview(memory), dtype)
    return values.copy()


def columns(result: Handle) -> list[tuple[int, Array]]:
    """Each statistic's number and values."""
    count = ctypes.c_uint64()
    check(library.gridfold_reduction_column_count(result.pointer, ctypes.byref(count)))
    found = []
    for i in range(count.value):
        column = CColumn()
        check(library.gridfold_reduction_column(result.pointer, ctypes.c_uint64(i),
                                                ctypes.byref(column)))
        values = copied(column.values, column.value_count, _VALUE_DTYPES[column.kind])
        found.append((column.statistic, values.astype(bool) if column.kind == _BOOL else values))
    return found


def channels(result: Handle) -> list[tuple[Any, ...]]:
    """(counts or sums, underflow, overflow, NaN, quantiles) of each."""
    count = ctypes.c_uint64()
    check(library.gridfold_histogram_channel_count(result.pointer, ctypes.byref(count)))
    found: list[tuple[Any, ...]] = []
    for i in range(count.value):
        channel = CChannel()
        check(library.gridfold_histogram_channel(result.pointer, ctypes.c_uint64(i),
                                                 ctypes.byref(channel)))
        values = (copied(channel.weight_sums, channel.value_count, np.float64)
                  if channel.weight_sums else
                  copied(channel.counts, channel.value_count, np.uint64))
        found.append((values, channel.underflow_count, channel.overflow_count, channel.nan_count,
                      copied(channel.quantiles, channel.quantile_count, np.float64)))
    return found


def edges(result: Handle, count: int) -> list[Array]:
    """The edges of so many channels or axes; those of integer bins are the integers, and one more."""
    return _edges(library.gridfold_histogram_bins, result, count)


def _edges(bins_of: Any, result: Handle, count: int) -> list[Array]:
    found = []
    for i in range(count):
        bins = CBins()
        check(bins_of(result.pointer, ctypes.c_uint64(i), ctypes.byref(bins)))
        if bins.edge_count:
            found.append(copied(bins.edges, bins.edge_count, np.float64))
        else:
            first = bins.first_unsigned_value or bins.first_value
            found.append(np.arange(bins.bin_count + 1, dtype=np.float64) + float(first))
    return found
