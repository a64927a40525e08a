"""Reductions in this process of the elements that a mask says count, and of groups that may lack
elements: their elements one group after the other, as segments."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional, Sequence

import numpy as np

from ._elements import Array, dtype_of
from ._matrix import Matrix
from ._statistics import NUMBERS

_COUNT = NUMBERS["count"]
_SPREADS = {NUMBERS[name] for name in ("variance", "standard_deviation", "standard_error")}
_NEED_NONE = {NUMBERS[name] for name in (
    "count", "sum", "product", "l1_norm", "l2_norm", "nonzero_count", "nan_count",
    "infinity_count", "all", "any", "bitwise_and", "bitwise_or", "bitwise_xor")}

Policy = tuple[bool, bool, int]  # ignore_nan, wrap, ddof


class Segments(NamedTuple):
    values: Array
    element_type: int
    lengths: Array

    @property
    def offsets(self) -> Array:
        return np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.uint64)

    def only(self, groups: Array) -> Segments:
        return self._replace(values=self.values[np.repeat(groups, self.lengths)],
                             lengths=self.lengths[groups])

    def with_initial(self, initial: Any) -> Segments:
        """With one element more before those of each group."""
        values = self.values.view(dtype_of(self.element_type))
        first = self.offsets[:-1].astype(np.int64)
        return self._replace(values=np.insert(values, first, initial), lengths=self.lengths + 1)


def of_rows(source: Matrix, mask: Optional[Array] = None) -> Segments:
    """The rows of a source, or all of one that has none; of a mask's elements those that count."""
    array, element_type, shape = source
    count, length = shape if shape is not None else (1, array.size)
    if mask is None:
        return Segments(array.reshape(-1), element_type, np.full(count, length))
    rows = mask.reshape(count, length).view(np.bool_)
    return Segments(array.reshape(-1)[rows.reshape(-1)], element_type, rows.sum(axis=1))


def reduce_segments(reduce: Callable[[Segments, Sequence[int], Policy], list[Array]],
                    segments: Segments, statistics: Sequence[int], policy: Policy, empty: Any
                    ) -> list[Array]:
    """The statistics of each segment; `empty` where one has too few elements for a statistic."""
    needs = [_least_count(statistic, policy) for statistic in statistics]
    if not any(needs):
        return reduce(segments, statistics, policy)
    (counts,) = reduce(segments, [_COUNT], policy)
    if (counts >= max(needs)).all():
        return reduce(segments, statistics, policy)
    results: dict[int, Array] = {}
    for least in set(needs):
        enough = counts >= least
        asked = [one for one, needed in zip(statistics, needs) if needed == least]
        for statistic, found in zip(asked, reduce(segments.only(enough), asked, policy)):
            if not enough.all():
                values = np.full(counts.shape, _value_of_nothing(empty, found.dtype), found.dtype)
                values[enough] = found
                found = values
            results[statistic] = found
    return [results[statistic] for statistic in statistics]


def _least_count(statistic: int, policy: Policy) -> int:
    """The elements that a segment has at least of which there is the statistic."""
    if statistic in _NEED_NONE:
        return 0
    return policy[2] + 1 if statistic in _SPREADS else 1


def _value_of_nothing(empty: Any, dtype: Any) -> Any:
    """The value of groups that have none, where the type of the others has it: NumPy's releases do not
    agree on what becomes of it elsewhere."""
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        if not bounds.min <= empty <= bounds.max or empty != int(empty):
            raise ValueError(f"empty: {empty!r} is no {dtype.name}")
    return empty
