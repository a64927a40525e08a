"""How an array of any shape and order becomes dimensions of the wire, and axes among them."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np

from ._elements import Array, wire_form
from ._engine import DIMENSIONS_MAX, WHOLE, Along, Source

# NumPy before 1.25 has it in another place.
AxisError: Any = getattr(np, "exceptions", np).AxisError

Axis = Union[None, int, Sequence[int]]


class Shaped:
    """What is asked of the arrays that are not in this process's memory, as NumPy calls it."""

    shape: tuple[int, ...]
    dtype: Any

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * int(self.dtype.itemsize)


class Layout(NamedTuple):
    """An array as it is sent, and how the answer's groups lie in it."""

    source: Source
    axis: Along  # As engines take it.
    kept: tuple[int, ...]  # The axes that stay, in the order of the groups.

    @property
    def is_whole(self) -> bool:
        return self.axis == WHOLE

    def in_order(self, order: tuple[int, ...]) -> Layout:
        """The layout of an array of which the one that was laid out has the axes in this order."""
        return self._replace(kept=tuple(order[axis] for axis in self.kept))

    def restore(self, values: Array, shape: tuple[int, ...], keepdims: bool) -> Array:
        """The groups' values in the order of the axes of an array of `shape`."""
        values = values.reshape([shape[axis] for axis in self.kept])
        values = values.transpose(np.argsort(self.kept)) if len(self.kept) > 1 else values
        if keepdims:
            values = values.reshape([size if axis in self.kept else 1
                                     for axis, size in enumerate(shape)])
        return values


def normalise(axis: Axis, dimensions: int) -> Optional[tuple[int, ...]]:
    """The axes as increasing numbers from 0 on; None for all of them.

    Raises what NumPy does: AxisError out of bounds, ValueError for one that is named twice,
    TypeError for what is no integer.
    """
    if axis is None:
        return None
    # Of a number NumPy takes 0 and -1.
    count = max(dimensions, 1)
    axes = []
    given: Sequence[Any] = axis if isinstance(axis, (tuple, list)) else (axis,)
    for one in given:
        number = operator.index(one)
        if not -count <= number < count:
            raise AxisError(number, dimensions)
        axes.append(number % count)
    if len(set(axes)) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    if len(axes) >= dimensions:
        return None
    return tuple(sorted(axes))


def lay_out(array: Array, axes: Optional[tuple[int, ...]], in_order: bool = False) -> Layout:
    """Groups along `axes`, or the whole. Without a copy where the array has no gaps in memory.

    `in_order`: elements of the whole follow one another in C order, as positions are counted.
    """
    given = array
    if array.flags.c_contiguous:
        order = tuple(range(array.ndim))
    elif axes is None and in_order:
        array, order = np.ascontiguousarray(array), tuple(range(array.ndim))
    else:
        order = _memory_order(array)
        array = array.transpose(order)
    if axes is None:
        flat, number = wire_form(np.ascontiguousarray(array))
        return Layout((flat, number, None), WHOLE, ())
    shape, along = lay_out_shape(array.shape, _places(order, axes))
    if len(shape) > DIMENSIONS_MAX:
        order = (*(axis for axis in order if axis not in axes), *axes)
        return lay_out(np.ascontiguousarray(given.transpose(order)), _places(order, axes)).in_order(
            order)
    flat, number = wire_form(np.ascontiguousarray(array))
    return Layout((flat, number, shape), along, tuple(axis for axis in order if axis not in axes))


def lay_out_shape(shape: Sequence[int], axes: Sequence[int]
                  ) -> tuple[tuple[int, ...], Along]:
    """The sizes of axes with neighbours that are treated alike as one, and which are reduced."""
    marked = [(size, axis in axes) for axis, size in enumerate(shape)]
    runs = [(math.prod(size for size, _ in run), is_reduced)
            for is_reduced, run in itertools.groupby(marked, key=lambda axis: axis[1])]
    return (tuple(size for size, _ in runs),
            tuple(place for place, (_, is_reduced) in enumerate(runs) if is_reduced))


def _places(order: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(place for place, axis in enumerate(order) if axis in axes)


def _memory_order(array: Array) -> tuple[int, ...]:
    """The axes from the one with the longest steps in memory on."""
    return tuple(sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis])))
