"""Histograms, by NumPy's functions."""

from __future__ import annotations

import operator
from typing import Any, Optional, Sequence, Union

import numpy as np

from ._bins import Even, bins_by_rule, edges_of, outer_edges
from ._device import DeviceArray, of_device
from ._elements import Array, as_array, wire_form
from ._engine import Engine, Source
from ._operation import operation, warn
from ._statistics import number_of

Bins = Union[int, str, Sequence[float], Array]
Range = Optional[tuple[float, float]]


class Histograms:
    """Counts of elements by bins, which are half-open but for the last, as NumPy's are."""

    _engine: Engine

    @operation
    async def histogram(self, x: Any, bins: Bins = 10, range: Range = None, density: bool = False,
                        weights: Any = None) -> tuple[Array, Array]:
        """`numpy.histogram`: counts, and one edge more.

        Parameters
        ----------
        x : array_like or ResidentArray
            Samples of any shape. NaN are in no bin, and an error where the range is to be found.
        bins : int, increasing edges, or the name of a rule
            "sqrt", "sturges", "rice" and "scott" follow from statistics that are computed where
            `x` goes; "auto" and "fd" too, and in one call, of arrays on the server, which has the
            rules of NumPy 1: later releases bound "auto", and the widths of integers' bins. The
            others follow from NumPy here.
        range : (float, float), optional
            Outer edges of bins of equal width.
        density : bool
            Whether to divide by the widths and the total.
        weights : array_like, optional
            Of the shape of `x`. Each bin's sum of weights is exact and rounded once.

        Returns
        -------
        counts : array of int64; of float64 for densities; of the weights' dtype for weights
        edges : those that were given; else of the dtype of floating-point samples, or float64

        Examples
        --------
        >>> gpu.histogram([1, 2, 1], bins=[0, 1, 2, 3])
        (array([0, 2, 1]), array([0, 1, 2, 3]))
        """
        # Rules of NumPy's need the elements here.
        array, weight_array = _flat(x, in_place=not isinstance(bins, str)), None
        if weights is not None:
            weight_array = as_array(weights)
            if weight_array.shape != np.shape(x):
                raise ValueError("weights should have the same shape as a.")
            weight_array = weight_array.ravel()
        if isinstance(bins, str):
            bins = await bins_by_rule(self._engine, array, bins, range, weights is not None)
        if range is None and _finds_range(array, bins):
            counts, given = await self._counts_of_all(array, bins, weight_array)
        else:
            edges = await _check_bins(self._engine, array, bins, range)
            counts = await self._counts(array, edges, weight_array)
            given = edges_of(bins, edges)
        if density:
            widths = np.asarray(np.diff(given), float)
            return counts / widths / counts.sum(), given
        return counts, given

    @operation
    async def histogram_bin_edges(self, x: Any, bins: Bins = 10, range: Range = None) -> Array:
        """The edges that `histogram` would use."""
        array = _flat(x, in_place=not isinstance(bins, str))
        if isinstance(bins, str):
            bins = await bins_by_rule(self._engine, array, bins, range, False)
        return edges_of(bins, await _check_bins(self._engine, array, bins, range))

    async def _counts_of_all(self, array: Any, count: Any, weights: Optional[Array]
                       ) -> tuple[Array, Array]:
        """Even bins over the range of the elements, in one pass."""
        weight_source = None if weights is None else _source(weights)
        channels, edges, _ = await self._engine.histogram(
            _source(array), [("even", operator.index(count), None, None)], None, weight_source,
            False, [])
        values, below, above, nan, _ = channels[0]
        if nan or below or above:
            await outer_edges(self._engine, array, None)  # Raises what names them.
        return values.astype(np.intp if weights is None else weights.dtype, copy=False), edges[0]

    async def _counts(self, array: Any, edges: Union[Even, Array],
                      weights: Optional[Array]) -> Array:
        count = edges.bin_count if isinstance(edges, Even) else len(edges) - 1
        if array.size == 0 or count == 0:
            return np.zeros(count, np.intp if weights is None else weights.dtype)
        source = _source(array)
        weight_source: Optional[Source] = None if weights is None else _source(weights)
        specification, places = _specify(edges)
        channels, _, _ = await self._engine.histogram(source, [specification], None, weight_source,
                                                      False, [])
        values = _spread(channels[0][0], [specification], [places], (count,))
        counts: Array = values.astype(np.intp if weights is None else weights.dtype, copy=False)
        return counts

    @operation
    async def histogram2d(self, x: Any, y: Any, bins: Any = 10, range: Any = None,
                          density: bool = False, weights: Any = None) -> tuple[Array, Array, Array]:
        """`numpy.histogram2d`: counts as float64 of shape (x bins, y bins), and both edges.

        `bins` is a number, edges for both, or one of these for each of x and y.
        """
        axes = _flat(x), _flat(y)
        if axes[0].size != axes[1].size:
            raise ValueError("x and y must have the same length.")
        counts, edges = await self._histogram_of_axes(axes, _for_both(bins), range, density,
                                                      weights)
        return counts, edges[0], edges[1]

    @operation
    async def histogramdd(self, sample: Any, bins: Any = 10, range: Any = None,
                          density: bool = False, weights: Any = None) -> tuple[Array, list[Array]]:
        """`numpy.histogramdd`, of up to 8 dimensions: counts as float64, and a list of edges.

        Parameters
        ----------
        sample : array or ResidentArray of shape (N, D), or a sequence of D such of N coordinates
            NaN and what lies outside are in no bin.
        bins : int, or a sequence of D numbers or increasing edges
            All bins together are 2^28 at most, and no more than the server allows.
        range : sequence of D (float, float) or None, optional
            Outer edges of bins of equal width, else the smallest and largest coordinate.
        density, weights
            As of `histogram`.

        Examples
        --------
        >>> counts, edges = gpu.histogramdd([[0, 1, 1], [0, 0, 9], [2, 3, 2]], bins=(2, 1, 2))
        >>> counts.tolist()
        [[[1.0, 0.0]], [[1.0, 1.0]]]
        """
        axes = _coordinates(sample)
        return await self._histogram_of_axes(axes, _for_each(bins, len(axes)), range, density,
                                             weights)

    async def _histogram_of_axes(self, axes: Sequence[Any], bins: Sequence[Any], range: Any,
                                 density: bool, weights: Any) -> tuple[Array, list[Array]]:
        checked, edges = await _bins_of_axes(self._engine, axes, bins, range)
        specified, places = zip(*map(_specify, checked))
        shape = tuple(len(one) - 1 for one in edges)
        weight_array = None if weights is None else as_array(weights).ravel()
        counts = np.zeros(shape)
        if axes[0].size:
            values = await self._counts_of_axes(axes, specified, weight_array)
            counts = _spread(values, specified, places, shape).astype(np.float64, copy=False)
        if density:
            total = counts.sum()
            for axis, of_axis in enumerate(edges):
                widths = np.ones(len(axes), int)
                widths[axis] = shape[axis]
                counts = counts / np.diff(of_axis).reshape(widths)
            counts = counts / total
        return counts, edges

    async def _counts_of_axes(self, axes: Sequence[Any], bins: Sequence[tuple[Any, ...]],
                              weights: Optional[Array]) -> Array:
        """Counts or sums of weights, in row-major order."""
        if len(axes) <= 2:
            both = np.result_type(*(axis.dtype for axis in axes))
            first, *second = (_source(axis, both) for axis in axes)
            channels, _, _ = await self._engine.histogram(
                first, list(bins), second[0] if second else None,
                None if weights is None else _source(weights), False, [])
            counts: Array = channels[0][0]
            return counts
        values = np.zeros(axes[0].size, np.uint8) if weights is None else weights
        if values.dtype.kind in "biu":
            # Sums of larger integers are float64, as NumPy's.
            values = values.astype(np.float64 if values.dtype.itemsize == 8 else values.dtype)
        statistic = number_of("count" if weights is None else "sum")
        first, *further = map(_source, axes)
        _, _, columns, _, _, _ = await self._engine.reduce_by_key(
            first, _source(values), ("bins", list(bins), False), further, [statistic], False,
            False, 0)
        sums: Array = columns[0]
        return sums


def _flat(x: Any, in_place: bool = True) -> Any:
    """All elements in one dimension; as they are where they lie on the server, or on a GPU and may
    stay there."""
    if in_place:
        x = of_device(x)
    if hasattr(x, "_lay_out") and not (type(x) is DeviceArray and x.dtype.kind == "b"):
        return x
    array = as_array(x).ravel()
    if array.dtype.kind != "b":
        return array
    warn("Converting input from bool to <class 'numpy.uint8'> for compatibility.")
    return array.view(np.uint8)


def _source(array: Any, dtype: Any = None) -> Source:
    if type(array) is DeviceArray and dtype is not None and array.dtype != dtype:
        array = array.host().reshape(-1)
    if hasattr(array, "_lay_out"):
        source: Source = array._lay_out(None).source
        return source
    flat, number = wire_form(array if dtype is None else array.astype(dtype, copy=False))
    return flat, number, None


def _coordinates(sample: Any) -> list[Any]:
    """Those of each dimension, as NumPy reads a sample."""
    if isinstance(sample, (list, tuple)) and sample and all(map(np.ndim, sample)):
        axes = [_flat(one) for one in sample]
    else:
        rows = sample if hasattr(sample, "_lay_out") else as_array(sample)
        if rows.ndim > 2:
            raise ValueError("sample: must be an array of shape (N, D), or D arrays")
        axes = ([_flat(rows[:, i]) for i in range(rows.shape[1])] if rows.ndim == 2 else
                [_flat(rows if rows.ndim else np.atleast_1d(rows))])
    if not axes:
        raise ValueError("sample: has no dimensions")
    if any(one.size != axes[0].size for one in axes):
        raise ValueError("sample: the dimensions must have equally many coordinates")
    return axes


def _for_each(bins: Any, dimensions: int) -> Sequence[Any]:
    """The bins of each dimension."""
    if not hasattr(bins, "__len__"):
        return [bins] * dimensions
    if len(bins) != dimensions:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    return list(bins)


async def _bins_of_axes(engine: Engine, axes: Sequence[Any], bins: Sequence[Any], bounds: Any
                  ) -> tuple[list[Union[Even, Array]], list[Array]]:
    """The bins of all coordinates as they were asked for, and their edges, which are float64."""
    if bounds is not None and len(bounds) != len(axes):
        raise ValueError("range argument must have one entry per dimension")
    specified: list[Union[Even, Array]] = []
    edges = []
    for samples, of_axis, of_bounds in zip(axes, bins, bounds or (None,) * len(axes)):
        if np.ndim(of_axis) == 0 and of_axis < 1:
            raise ValueError("`bins` must be positive, when an integer")
        checked = await _check_bins(engine, samples, of_axis, of_bounds)
        if isinstance(checked, Even):
            checked = checked._replace(dtype=np.dtype(np.float64))
        specified.append(checked)
        edges.append(edges_of(of_axis, checked))
    return specified, edges


def _specify(edges: Union[Even, Array]) -> tuple[tuple[Any, ...], Optional[Array]]:
    """Bins for the wire, and where they stand among those asked for, if some have no width."""
    if isinstance(edges, Even):
        if edges.dtype == np.float64:
            return ("even", edges.bin_count, edges.lower, edges.upper), None
        edges = edges.edges()
    numbers = np.asarray(edges, np.float64)
    has_width = np.diff(numbers) > 0
    if has_width.all():
        return ("edges", numbers.tolist()), None
    # NumPy's bins between equal edges are empty, but for the last one, which has its edge.
    kept, places = numbers[np.append(True, has_width)], np.flatnonzero(has_width)
    if has_width.size and not has_width[-1]:
        kept = np.unique([*kept, np.nextafter(kept[-1], np.inf), np.inf])
        places = np.append(places, has_width.size - 1)
    return ("edges", kept.tolist()), places


def _spread(values: Array, specified: Sequence[tuple[Any, ...]],
            places: Sequence[Optional[Array]], shape: tuple[int, ...]) -> Array:
    """What the bins for the wire hold, in the bins that were asked for: places as of _specify."""
    if all(one is None for one in places):
        return values.reshape(shape)
    given = values.reshape([one[1] if one[0] == "even" else len(one[1]) - 1 for one in specified])
    chosen = [np.arange(size) if one is None else one for one, size in zip(places, shape)]
    spread = np.zeros(shape, values.dtype)
    spread[np.ix_(*chosen)] = given[tuple(slice(len(one)) for one in chosen)]
    return spread


async def _check_bins(engine: Engine, array: Any, bins: Any, range: Range) -> Union[Even, Array]:
    """The bins, as NumPy checks them."""
    if np.ndim(bins) == 0:
        try:
            count = operator.index(bins)
        except TypeError:
            raise TypeError("`bins` must be an integer, a string, or an array") from None
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
        lower, upper = await outer_edges(engine, array, range)
        return Even(count, float(lower), float(upper), _edge_dtype(lower, upper, array))
    if np.ndim(bins) != 1:
        raise ValueError("`bins` must be 1d, when an array")
    edges = np.asarray(bins)
    if np.any(edges[:-1] > edges[1:]):
        raise ValueError("`bins` must increase monotonically, when an array")
    return edges


def _finds_range(array: Any, bins: Any) -> bool:
    """Whether the edges of so many bins over all elements are float64, as those of an engine."""
    return (hasattr(bins, "__index__") and np.ndim(bins) == 0 and bins >= 1 and array.size > 0
            and (array.dtype.kind in "iu" or array.dtype == np.float64))


def _edge_dtype(lower: Any, upper: Any, array: Any) -> Any:
    like = np.empty(0, array.dtype) if array.dtype.kind in "fiu" else np.empty(0, np.float32)
    dtype = np.result_type(lower, upper, like)
    return np.result_type(dtype, float) if dtype.kind in "iu" else dtype


def _for_both(bins: Any) -> tuple[Any, Any]:
    if not hasattr(bins, "__len__"):
        return bins, bins
    if len(bins) == 2:
        return bins[0], bins[1]
    return bins, bins
