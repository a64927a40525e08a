"""Groups by key, and statistics of values in bins by SciPy's names."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np

from ._bins import Even, edges_of
from ._device import of_device
from ._elements import Array, as_array, is_float
from ._engine import Engine, Source
from ._histograms import (Bins, Range, _bins_of_axes, _check_bins, _coordinates, _finds_range,
                          _flat, _for_both, _for_each, _source, _specify)
from ._operation import operation
from ._order import INTERPOLATING, MEAN, as_quantiles, method_number
from ._reduce import to_ddof, wraps
from ._statistics import Statistics, number_of, result_dtype

# The name of a quantile among those of statistics.
_MEDIAN = "median"


class Grouped(NamedTuple):
    """Statistics of groups: `statistics.mean[i]` is of the group whose key is `keys[i]`, which has
    `counts[i]` elements."""

    keys: Array
    counts: Array
    statistics: Statistics


class GroupedQuantiles(NamedTuple):
    """Quantiles of groups: `values[..., i]` is of the group whose key is `keys[i]`, which has
    `counts[i]` elements. The shape of what was asked for comes first."""

    keys: Array
    counts: Array
    values: Array


class BinnedStatistic(NamedTuple):
    """A statistic of each bin, the bins' edges, and how many values each bin has."""

    statistic: Any
    bin_edges: Array
    counts: Array


class BinnedStatistic2d(NamedTuple):
    """A statistic of each bin of x and y, both edges, and how many values each bin has."""

    statistic: Any
    x_edge: Array
    y_edge: Array
    counts: Array


class BinnedStatisticDd(NamedTuple):
    """A statistic of each bin, a list of all edges, and how many values each bin has."""

    statistic: Any
    bin_edges: list[Array]
    counts: Array


class Groups:
    """Values by their keys: what `Connection.group` returns."""

    def __init__(self, connection: KeyedReductions, keys: Any, first: Optional[int],
                 count: Optional[int]) -> None:
        self._connection = connection
        self._keys = keys
        self._range = (first, count)

    def agg(self, values: Any, statistics: Union[str, Sequence[str]], *, ddof: int = 0,
            ignore_nan: bool = False, overflow: str = "error") -> Grouped:
        """Statistics of the values of each key; see `KeyedReductions.aggregate`."""
        first, count = self._range
        return self._connection.aggregate(self._keys, values, statistics, first=first, count=count,
                                          ddof=ddof, ignore_nan=ignore_nan, overflow=overflow)

    def quantile(self, values: Any, q: Any, *, method: str = "linear",
                 ignore_nan: bool = False) -> GroupedQuantiles:
        """Exact quantiles of the values of each key; see `KeyedReductions.quantile_by_key`."""
        first, count = self._range
        return self._connection.quantile_by_key(self._keys, values, q, first=first, count=count,
                                                method=method, ignore_nan=ignore_nan)


class KeyedReductions:
    """Statistics of values by their keys: integers, or the bins in which coordinates fall.

    Sums and all that follows from them are exact and rounded once: the bits do not depend on where
    the keys lie.
    """

    _engine: Engine

    def group(self, keys: Any, *, first: Optional[int] = None,
              count: Optional[int] = None) -> Groups:
        """Groups of whatever lies beside `keys`.

        Parameters
        ----------
        keys : array_like of integers or ResidentArray
            In any order; sorted ones are faster.
        first, count : int, optional
            Answer for each of `count` integers from `first` (0) on, whether it occurs or not; other
            keys are an error. By default for each key that occurs.

        Examples
        --------
        >>> gpu.group([3, 1, 3]).agg([1.0, 2.0, 5.0], ["mean", "max"])
        Grouped(keys=array([1, 3]), counts=array([1, 2]),
                statistics=Statistics(mean=array([2., 3.]), max=array([2., 5.])))
        """
        return Groups(self, keys, first, count)

    @operation
    async def aggregate(self, keys: Any, values: Any, statistics: Union[str, Sequence[str]], *,
                        first: Optional[int] = None, count: Optional[int] = None, ddof: int = 0,
                        ignore_nan: bool = False, overflow: str = "error") -> Grouped:
        """Statistics of the values of each key, as `group(keys).agg(values, ...)`.

        `statistics` are names as of `reduce`, and "median". Of a key without values those that need
        some are NaN, 0 of integers, and -1 of positions; positions are those in `values`.
        """
        array = _flat(keys)
        groups = _groups_of_keys(first, count)
        found, counts, of_values, _, _ = await _ask(self._engine, [array], values, groups,
                                                    statistics, ddof, ignore_nan, overflow)
        return Grouped(_keys_of(groups, found, array.dtype), counts, of_values)

    @operation
    async def quantile_by_key(self, keys: Any, values: Any, q: Any, *, first: Optional[int] = None,
                              count: Optional[int] = None, method: str = "linear",
                              ignore_nan: bool = False) -> GroupedQuantiles:
        """Quantiles `q` of the values of each key, as `group(keys).quantile(values, q)`.

        `q` and `method` are as of `quantile`; at most 256. Of a key without values they are NaN,
        of integers 0.

        Examples
        --------
        >>> gpu.group([3, 1, 3]).quantile([1.0, 2.0, 5.0], 0.25)
        GroupedQuantiles(keys=array([1, 3]), counts=array([1, 2]), values=array([2., 2.]))
        """
        array, own = _flat(keys), _values_of(values)
        wanted, number = as_quantiles(q), method_number(method)
        groups = _groups_of_keys(first, count)
        found, counts, columns, _, _, _ = await self._engine.reduce_by_key(
            _source_of(array), _source_of(own), groups, [], [], ignore_nan, False, 0,
            wanted.reshape(-1).tolist(), number)
        dtype = np.dtype(np.float64) if number in INTERPOLATING else own.dtype
        stacked = np.stack(columns).astype(dtype, copy=False)
        return GroupedQuantiles(_keys_of(groups, found, array.dtype), counts.astype(np.intp),
                                stacked.reshape(wanted.shape + counts.shape))

    @operation
    async def binned_statistic(self, x: Any, values: Any,
                               statistic: Union[str, Sequence[str]] = "mean", bins: Bins = 10,
                               range: Range = None, *, ddof: int = 0,
                               ignore_nan: bool = False) -> BinnedStatistic:
        """`scipy.stats.binned_statistic` of one set of values, with counts for bin numbers.

        Parameters
        ----------
        x : array_like or ResidentArray
            Coordinates; NaN and what lies outside are in no bin.
        values : array_like or ResidentArray
            As many.
        statistic : str or list of str
            Names as of `reduce`, and "median"; several make `statistic` of the result a
            `Statistics`.
        bins : int or increasing edges
        range : (float, float), optional
            Outer edges of bins of equal width; by default the smallest and largest coordinate.

        Examples
        --------
        >>> gpu.binned_statistic([1, 2, 4], [5.0, 7.0, 1.0], "mean", bins=[0, 3, 5])
        BinnedStatistic(statistic=array([6., 1.]), bin_edges=array([0., 3., 5.]),
                        counts=array([2, 1]))
        """
        array = _flat(x)
        specification, edges = await _bins_of(self._engine, array, bins, range)
        _, counts, of_values, resolved, _ = await _ask(
            self._engine, [array], values, ("bins", [specification], False), statistic, ddof,
            ignore_nan, "error")
        return BinnedStatistic(_only(of_values, statistic), resolved[0] if edges is None else edges,
                               counts)

    @operation
    async def binned_statistic_2d(self, x: Any, y: Any, values: Any,
                                  statistic: Union[str, Sequence[str]] = "mean", bins: Any = 10,
                                  range: Any = None, *, ddof: int = 0,
                                  ignore_nan: bool = False) -> BinnedStatistic2d:
        """`scipy.stats.binned_statistic_2d`, likewise; results have the shape (x bins, y bins)."""
        found, edges, counts = await self._of_bins([_flat(x), _flat(y)], values, statistic,
                                                   _for_both(bins), range, ddof, ignore_nan)
        return BinnedStatistic2d(found, edges[0], edges[1], counts)

    @operation
    async def binned_statistic_dd(self, sample: Any, values: Any,
                                  statistic: Union[str, Sequence[str]] = "mean", bins: Any = 10,
                                  range: Any = None, *, ddof: int = 0,
                                  ignore_nan: bool = False) -> BinnedStatisticDd:
        """`scipy.stats.binned_statistic_dd` of one set of values, in up to 8 dimensions.

        `sample`, `bins` and `range` are as of `histogramdd`, the others as of `binned_statistic`.
        A histogram of each key is that of two dimensions: the keys, with edges between the
        integers, and the coordinates.

        Examples
        --------
        >>> found = gpu.binned_statistic_dd([[0, 1, 1], [0, 9, 9], [2, 3, 3]], [1.0, 5.0, 7.0],
        ...                                 "mean", bins=(2, 1, 2))
        >>> found.statistic[1, 0, 1]
        6.0
        """
        axes = _coordinates(sample)
        return BinnedStatisticDd(*await self._of_bins(
            axes, values, statistic, _for_each(bins, len(axes)), range, ddof, ignore_nan))

    async def _of_bins(self, axes: Sequence[Any], values: Any, statistic: Union[str, Sequence[str]],
                       bins: Sequence[Any], range: Any, ddof: int, ignore_nan: bool
                 ) -> tuple[Any, list[Array], Array]:
        """A statistic of each bin of several dimensions, the edges, and counts."""
        checked, edges = await _bins_of_axes(self._engine, axes, bins, range)
        specified = [_specify_increasing(one) for one in checked]
        shape = tuple(len(one) - 1 for one in edges)
        _, counts, of_values, _, _ = await _ask(
            self._engine, axes, values, ("bins", specified, False), statistic, ddof, ignore_nan,
            "error")
        for name in of_values:
            of_values[name] = of_values[name].reshape(shape)
        return (_only(of_values, statistic), [one.astype(np.float64, copy=False) for one in edges],
                counts.reshape(shape))


async def _ask(engine: Engine, axes: Sequence[Any], values: Any, groups: tuple[Any, ...],
               statistics: Union[str, Sequence[str]], ddof: int, ignore_nan: bool, overflow: str
         ) -> tuple[Any, Array, Statistics, Any, Any]:
    """Keys, counts, statistics of NumPy's dtypes, edges and what is in no bin."""
    names = [statistics] if isinstance(statistics, str) else list(statistics)
    if not names:
        raise ValueError("statistics: must name at least one")
    numbers = {name: number_of(name) for name in names if name != _MEDIAN}
    medians = [0.5] if _MEDIAN in names else []
    divisor = to_ddof(ddof)
    if not isinstance(divisor, int):
        raise ValueError("ddof: must be a whole number")
    own = _values_of(values)
    found, counts, columns, edges, outside, execution = await engine.reduce_by_key(
        _source_of(axes[0]), _source_of(own), groups, [_source_of(one) for one in axes[1:]],
        list(numbers.values()), ignore_nan, wraps(overflow), divisor, medians, MEAN)
    dtypes = {name: result_dtype(number, own.dtype) for name, number in numbers.items()}
    if medians:
        dtypes[_MEDIAN] = own.dtype if is_float(own.dtype) else np.dtype(np.float64)
    computed = {name: column.astype(dtype, copy=False)
                for (name, dtype), column in zip(dtypes.items(), columns)}
    of_values = {name: computed[name] for name in names}
    return found, counts.astype(np.intp), Statistics(of_values, execution), edges, outside


def _groups_of_keys(first: Optional[int], count: Optional[int]) -> tuple[Any, ...]:
    if count is not None:
        return "range", operator.index(first or 0), operator.index(count)
    if first is not None:
        raise ValueError("count: is needed where first is given")
    return "found", 0


def _keys_of(groups: tuple[Any, ...], found: Any, dtype: Any) -> Array:
    if groups[0] == "range":
        found = np.arange(groups[1], groups[1] + groups[2])
    # Of no elements an engine finds None.
    keys: Array = np.empty(0) if found is None else found
    return keys.astype(dtype, copy=False)


def _values_of(values: Any) -> Any:
    own = of_device(values)
    return own if hasattr(own, "_lay_out") else as_array(own).ravel()


def _source_of(array: Any) -> Source:
    """The source of an array, which may be empty."""
    return _source(array if array.size else np.empty(0, array.dtype))


async def _bins_of(engine: Engine, array: Any, bins: Any, range: Range
             ) -> tuple[tuple[Any, ...], Optional[Array]]:
    """Bins for the wire, and their edges, if they do not follow from the coordinates: of those that
    were given float64, as SciPy has them."""
    if isinstance(bins, str):
        raise TypeError("`bins` must be an integer or increasing edges")
    if range is None and _finds_range(array, bins):
        return ("even", operator.index(bins), None, None), None
    checked = await _check_bins(engine, array, bins, range)
    edges = edges_of(bins, checked)
    return _specify_increasing(checked), edges.astype(np.float64) if np.ndim(bins) else edges


def _specify_increasing(edges: Union[Even, Array]) -> tuple[Any, ...]:
    specification, places = _specify(edges)
    if places is not None:
        raise ValueError("`bins` must increase strictly")
    return specification


def _only(statistics: Statistics, names: Union[str, Sequence[str]]) -> Any:
    return statistics[names] if isinstance(names, str) else statistics
