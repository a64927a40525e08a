"""Views of arrays that are elsewhere: what NumPy's basic indices and transpositions choose."""

from __future__ import annotations

import dataclasses
import itertools
import operator
from typing import Any, Optional, Sequence

import numpy as np

from ._layout import AxisError

# A dimension of a view: the array's axis, how many indices of it, and how far apart they are.
Dimension = tuple[int, int, int]


@dataclasses.dataclass(frozen=True)
class View:
    """Elements of an array of `extents`, from the one at the indices `first` on.

    An axis that none of `dimensions` goes along has this index for all of them.
    """

    extents: tuple[int, ...]
    first: tuple[int, ...]
    dimensions: tuple[Dimension, ...]

    @classmethod
    def whole(cls, extents: tuple[int, ...]) -> View:
        return cls(extents, (0,) * len(extents),
                   tuple((axis, extent, 1) for axis, extent in enumerate(extents)))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(count for _, count, _ in self.dimensions)

    @property
    def is_whole(self) -> bool:
        return self == View.whole(self.extents)

    @property
    def rows(self) -> Optional[tuple[int, int]]:
        """The first index and the count of a run along the first dimension; None: it is none."""
        if not self.dimensions or self.dimensions[1:] != View.whole(self.extents).dimensions[1:]:
            return None
        axis, count, step = self.dimensions[0]
        is_run = len(self.dimensions) == len(self.extents) and (axis, step) == (0, 1)
        return (self.first[0], count) if is_run else None

    @property
    def place(self) -> Optional[int]:
        """The place of the first element in row-major order, where the others follow it one after
        the other; None: they do not."""
        strides = [*itertools.accumulate(self.extents[:0:-1], operator.mul, initial=1)][::-1]
        follows = 1
        for axis, count, step in reversed(self.dimensions):
            if count != 1 and step * strides[axis] != follows:
                return None
            follows *= count
        return sum(index * stride for index, stride in zip(self.first, strides))

    def __str__(self) -> str:
        """What makes it of the array in NumPy's words; nothing of the whole."""
        whole = View.whole(self.extents)
        texts = [str(index) for index in self.first]
        for axis, count, step in self.dimensions:
            is_all = (axis, count, step) == whole.dimensions[axis]
            texts[axis] = ":" if is_all else _text(self.first[axis], count, step)
        while texts and texts[-1] == ":":
            texts.pop()
        order = np.argsort(np.argsort([axis for axis, _, _ in self.dimensions])).tolist()
        moved = order != sorted(order)
        return (f"[{', '.join(texts)}]" if texts else "") + (
            f".transpose({', '.join(map(str, order))})" if moved else "")

    def at(self, key: Any) -> View:
        """The view that an index, or a tuple of them, chooses of this one.

        Raises IndexError as NumPy does, NotImplementedError for np.newaxis and for indices that are
        arrays, and TypeError for what is no index.
        """
        first = list(self.first)
        dimensions = []
        keys = _complete([_checked(one) for one in (key if isinstance(key, tuple) else (key,))],
                         len(self.dimensions))
        for place, (one, (axis, count, step)) in enumerate(zip(keys, self.dimensions)):
            if isinstance(one, slice):
                chosen = range(*one.indices(count))
                dimensions.append((axis, len(chosen), step * chosen.step if len(chosen) > 1 else 1))
                index = chosen[0] if chosen else 0
            elif -count <= one < count:
                index = one % count
            else:
                raise IndexError(f"index {one} is out of bounds for axis {place} with size {count}")
            first[axis] += index * step
        return View(self.extents, tuple(first), tuple(dimensions))

    def transposed(self, axes: Sequence[Any]) -> View:
        """The view with its dimensions in this order. Raises what NumPy does."""
        count = len(self.dimensions)
        if len(axes) != count:
            raise ValueError("axes don't match array")
        order = [to_axis(axis, count) for axis in axes]
        if len(set(order)) != count:
            raise ValueError("repeated axis in transpose")
        return dataclasses.replace(self, dimensions=tuple(self.dimensions[axis] for axis in order))


def to_axis(axis: Any, dimensions: int) -> int:
    """The axis as a number from 0 on. Raises AxisError where there is none."""
    number = operator.index(axis)
    if not -dimensions <= number < dimensions:
        raise AxisError(number, dimensions)
    return number % dimensions


def _checked(one: Any) -> Any:
    """An index as an int, a slice or `...`."""
    if one is Ellipsis or isinstance(one, slice):
        return one
    if one is None:
        raise NotImplementedError("an array on the server takes no np.newaxis")
    if isinstance(one, (bool, np.bool_, list, tuple, range)) or getattr(one, "ndim", None):
        raise NotImplementedError("an array on the server takes no masks and lists of indices")
    try:
        return operator.index(one)
    except TypeError:
        raise TypeError("an array on the server takes integers, slices and ..., such as "
                        "r[10:20, 0, ::-1]") from None


def _complete(keys: list[Any], dimensions: int) -> list[Any]:
    """An index for each dimension: of those that are left out, all of them."""
    given = len(keys) - keys.count(Ellipsis)
    if len(keys) - given > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if given > dimensions:
        raise IndexError(f"too many indices for array: array is {dimensions}-dimensional, but "
                         f"{given} were indexed")
    place = keys.index(Ellipsis) if len(keys) > given else given
    return keys[:place] + [slice(None)] * (dimensions - given) + keys[place + 1:]


def _text(first: int, count: int, step: int) -> str:
    """The indices of a dimension, as a slice of the array's."""
    end = first + (count - 1) * step + (1 if step > 0 else -1)
    return f"{first}:{end if end >= 0 else ''}" + (f":{step}" if step != 1 else "")
