"""Exact quantiles of elements that lie apart: found by counting, without moving the elements."""

from __future__ import annotations

import bisect
import operator
from typing import Any, NamedTuple, Optional

import numpy as np

from ._elements import Array
from ._histograms import _flat, _source
from ._local import local
from ._operation import run
from ._order import INTERPOLATING, as_quantiles, method_number

# Bins of one round: what is exchanged for each part has 8 bytes a bin.
_BINS_MAX = 1 << 16

# Integers beyond it are not all float64, as edges are; multiples of _COARSE still are.
_FLOAT64_INTEGERS = 1 << 53
_COARSE = 1 << 11


class _Place(NamedTuple):
    """Two elements among the sorted ones, and the weight of the upper one."""

    lower: int
    upper: int
    weight: float


class _Interval(NamedTuple):
    """Keys from `first` up to `end`, and how many elements have smaller ones."""

    first: int
    end: int
    below: int


class _Bins(NamedTuple):
    """Bins of keys: between increasing edges, which are float64, or one for each of successive
    integers, some of which are not."""

    edges: list[int]
    are_integers: bool

    @property
    def size(self) -> int:
        return len(self.edges) - 1


class QuantileSearch:
    """Exact quantiles of an array whose parts lie in different places.

    In every round each part counts its elements in some 65,536 bins, wherever it is, and the sum of
    these counts tells where the next round's bins are. One round finds elements of up to 2 bytes,
    two or three those of 4, four to six those of 8. Counts are int64 arrays that are added as they are:
    by NumPy, `MPI_SUM`, or a tree of tasks.

    Parameters
    ----------
    dtype : of all parts: integers or floating-point numbers.
    q : array_like of numbers from 0 to 1
    method : "linear", "midpoint", "lower", "higher" or "nearest", as of `Connection.quantile`.
    ignore_nan : whether NaNs are left out; otherwise one makes all quantiles NaN.

    Examples
    --------
    >>> search = gf.QuantileSearch("f4", [0.5, 0.99])
    >>> while not search.is_done:
    ...     search.add(sum(search.count(part) for part in parts))
    >>> search.result()
    """

    def __init__(self, dtype: Any, q: Any, method: str = "linear", *,
                 ignore_nan: bool = False) -> None:
        self._keys = _Keys(np.dtype(dtype))
        self._q = as_quantiles(q)
        self._interpolates = method_number(method) in INTERPOLATING
        self._method = method
        self._ignores_nan = ignore_nan
        self._places: Optional[list[_Place]] = None  # Known from the first round on.
        self._is_nan = False
        # Where elements are, by their ranks. Those of rank None are all elements.
        self._intervals: dict[Optional[int], _Interval] = {
            None: _Interval(self._keys.first, self._keys.end, 0)}
        self._ask()

    @property
    def is_done(self) -> bool:
        """Whether no more counts are needed."""
        return not self._histograms

    def count(self, x: Any, engine: Any = None) -> Array:
        """The counts of one part in this round, which are to be added to those of all others.

        `engine` is a connection to the server that counts, which may hold `x` as one of its arrays;
        without one this process counts.
        """
        if engine is None:
            engine = local()
        array = _flat(x)
        if array.dtype != self._keys.dtype:
            raise TypeError(f"x: has dtype {array.dtype}; the search is for {self._keys.dtype}")
        found = []
        nan = infinite = 0
        for bins in self._histograms:
            if array.size == 0:
                found.append(np.zeros(bins.size, np.int64))
                continue
            channels, _, _ = run(engine._engine.histogram(
                _source(array), [self._keys.specify(bins, self._places is None)], None, None, False,
                []))
            counts, _, above, nan, _ = channels[0]
            infinite = above if self._places is None else 0
            found.append(counts[:bins.size].astype(np.int64))
        return np.concatenate([np.array([nan, infinite], np.int64), *found])

    def add(self, counts: Any) -> None:
        """Takes the counts of all parts, added up, and goes on to the next round."""
        if self.is_done:
            raise ValueError("counts: the search has ended")
        numbers = np.asarray(counts)
        sizes = [bins.size for bins in self._histograms]
        expected = 2 + sum(sizes)
        if numbers.dtype != np.int64 or numbers.shape != (expected,) or (numbers < 0).any():
            raise ValueError(f"counts: are not {expected} counts, as of this round")
        nan, infinite = (operator.index(number) for number in numbers[:2])
        by_bins = np.split(numbers[2:], np.cumsum(sizes)[:-1])
        if self._places is None:
            self._begin(int(by_bins[0].sum()), infinite, nan)
        self._narrow(by_bins)
        self._ask()

    def result(self) -> Any:
        """The quantiles, in the shape of `q`: float64, or elements where nothing is interpolated."""
        if not self.is_done or self._places is None:
            raise ValueError("the search has not ended")
        dtype = np.dtype(np.float64) if self._interpolates else self._keys.dtype
        if self._is_nan:
            return np.full(self._q.shape, np.nan, dtype)[()]
        values = [self._element(place.lower) for place in self._places]
        if self._interpolates:
            engine = local()
            # The weight of the upper of two elements is the quantile that lies there.
            values = [engine.quantile(np.array([lower, self._element(place.upper)],
                                               self._keys.dtype), place.weight)
                      for lower, place in zip(values, self._places)]
        return np.array(values, dtype).reshape(self._q.shape)[()]

    def _begin(self, finite: int, infinite: int, nan: int) -> None:
        """What is searched for, as soon as it is known how many elements there are."""
        count = finite + infinite
        self._is_nan = nan > 0 and not (self._ignores_nan and count > 0)
        if count + nan == 0:
            raise ValueError("counts: there are no elements")
        whole = self._intervals.pop(None)
        self._places = [] if self._is_nan else [
            _place(float(one), count, self._method) for one in self._q.ravel()]
        for place in self._places:
            for rank in place[:2]:
                # Positive infinities are counted beside the bins.
                self._intervals[rank] = whole if rank < finite else _Interval(
                    self._keys.end, self._keys.end + 1, finite)

    def _narrow(self, by_bins: list[Array]) -> None:
        """Each wanted element is in one of the bins of its interval."""
        for rank, interval in self._intervals.items():
            for (edges, _), counts in zip(self._histograms, by_bins):
                begin = bisect.bisect_left(edges, interval.first)
                if interval.end - interval.first == 1 or begin == len(edges) or (
                        edges[begin] != interval.first):
                    continue
                assert rank is not None
                up_to = np.cumsum(counts[begin:bisect.bisect_left(edges, interval.end)])
                place = int(np.searchsorted(up_to, rank - interval.below, side="right"))
                if place == len(up_to):
                    raise ValueError("counts: do not agree with those of the rounds before")
                below = interval.below + (int(up_to[place - 1]) if place else 0)
                self._intervals[rank] = _Interval(edges[begin + place], edges[begin + place + 1],
                                                  below)
                break

    def _ask(self) -> None:
        """The histograms of the next round: one with edges in all intervals where they are float64,
        and one for each other interval."""
        is_open = sorted({(one.first, one.end) for one in self._intervals.values()
                          if one.end - one.first > 1})
        self._histograms: list[_Bins] = []
        joint: list[int] = []
        for first, end in is_open:
            edges = self._keys.split(first, end, _BINS_MAX // len(is_open))
            if self._keys.are_float64(edges):
                joint += edges if not joint or joint[-1] != first else edges[1:]
            else:
                self._histograms.append(_Bins(edges, are_integers=True))
        if joint:
            self._histograms.insert(0, _Bins(joint, are_integers=False))

    def _element(self, rank: int) -> Any:
        return self._keys.element(self._intervals[rank].first)


class _Keys:
    """Integers in the order of the elements, one for each value: integers themselves, or the bits of
    a floating-point number's magnitude with its sign. From `first` up to `end`, without the positive
    infinity, whose key is `end`."""

    def __init__(self, dtype: Any) -> None:
        if dtype.kind not in "iuf":
            raise TypeError(f"dtype: {dtype} is neither of integers nor of floating-point numbers")
        self.dtype = dtype.newbyteorder("=")
        if dtype.kind == "f":
            self._bits = np.dtype(f"i{dtype.itemsize}")
            self.end = int(np.array(np.inf, self.dtype).view(self._bits))
            self.first = -self.end
        else:
            self.first = int(np.iinfo(dtype).min)
            self.end = int(np.iinfo(dtype).max) + 1

    def element(self, key: int) -> Any:
        """An integer of Python's, or a float."""
        if self.dtype.kind != "f":
            return key
        magnitude = float(np.array(abs(key), self._bits).view(self.dtype))
        return -magnitude if key < 0 else magnitude

    def split(self, first: int, end: int, count: int) -> list[int]:
        """Edges from `first` to `end`, of about `count` parts of a power of two of keys each."""
        step = 1 << ((end - first - 1) // count).bit_length()
        if step < _COARSE and self.dtype.kind != "f" and max(-first, end) > _FLOAT64_INTEGERS:
            # Multiples of less are no edges; a bin for each integer is.
            step = 1 if end - first <= _BINS_MAX else _COARSE
        return [first, *range((first // step + 1) * step, end, step), end]

    def are_float64(self, edges: list[int]) -> bool:
        """Whether the elements of all edges are numbers of float64."""
        return self.dtype.kind == "f" or max(-edges[0], edges[-1]) <= _FLOAT64_INTEGERS or all(
            edge % _COARSE == 0 for edge in edges)

    def specify(self, bins: _Bins, is_first: bool) -> tuple[Any, ...]:
        """The bins as an engine takes them. Its last bin has both of its edges: another one behind
        those that are wanted takes what is not less than the last edge. In the first round the last
        edge is no less than any finite number, and finite, so that infinities are beyond it."""
        edges = bins.edges
        if bins.are_integers:
            return "integer", edges[0], bins.size
        if self.dtype.kind != "f":
            return "edges", [*map(float, edges), np.inf]
        magnitudes = np.abs(np.array(edges, np.int64)).astype(self._bits).view(self.dtype)
        elements = np.where(np.array(edges) < 0, -magnitudes, magnitudes).astype(np.float64)
        if is_first:
            largest = np.float64(np.finfo(self.dtype).max)
            elements[-1] = np.nextafter(largest, np.inf) if self.dtype.itemsize < 8 else largest
        elif edges[-1] < self.end:
            elements = np.append(elements, np.inf)
        return "edges", elements.tolist()


def _place(quantile: float, count: int, method: str) -> _Place:
    """Where a quantile lies among `count` sorted elements, as NumPy finds it."""
    last = count - 1
    place = float(last) * quantile
    below = int(place)
    if below >= last:
        return _Place(last, last, 0.0)
    rest = place - below
    if rest == 0 or method == "lower":
        return _Place(below, below, 0.0)
    if method == "higher":
        return _Place(below + 1, below + 1, 0.0)
    if method == "nearest":
        above = below + (rest > 0.5 or (rest == 0.5 and below % 2 == 1))
        return _Place(above, above, 0.0)
    return _Place(below, below + 1, rest if method == "linear" else 0.5)
