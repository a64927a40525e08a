"""How an array of any shape and order becomes the one or two dimensions of the wire."""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple, Optional, Sequence, Union

import numpy as np

from ._elements import Array, wire_form
from ._engine import Source

# NumPy before 1.25 has it in another place.
AxisError: Any = getattr(np, "exceptions", np).AxisError

Axis = Union[None, int, Sequence[int]]


class Layout(NamedTuple):
    """An array as it is sent, and how the answer's groups lie in it."""

    source: Source
    axis: int  # As engines take it.
    kept: tuple[int, ...]  # The axes that stay, in the order of the groups.

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
    """Groups along `axes`, or the whole. Without a copy where the array lies so in memory.

    `in_order`: elements of the whole follow one another in C order, as positions are counted.
    """
    if array.flags.c_contiguous:
        order = tuple(range(array.ndim))
    elif axes is None and in_order:
        array, order = np.ascontiguousarray(array), tuple(range(array.ndim))
    else:
        order = _memory_order(array)
        array = array.transpose(order)
    if axes is None:
        flat, number = wire_form(np.ascontiguousarray(array))
        return Layout((flat, number, None), -1, ())
    reduced = [place for place, axis in enumerate(order) if axis in axes]
    kept = [place for place, axis in enumerate(order) if axis not in axes]
    is_trailing = not reduced or reduced[0] > kept[-1]
    if not array.flags.c_contiguous or not (is_trailing or reduced[-1] < kept[0]):
        is_trailing = True
        array = np.ascontiguousarray(array.transpose(kept + reduced))
        order = tuple(order[place] for place in kept + reduced)
    flat, number = wire_form(array)
    groups = tuple(axis for axis in order if axis not in axes)
    length = math.prod(array.shape[place] for place, axis in enumerate(order) if axis in axes)
    count = array.size // length
    shape = (count, length) if is_trailing else (length, count)
    return Layout((flat, number, shape), 1 if is_trailing else 0, groups)


def _memory_order(array: Array) -> tuple[int, ...]:
    """The axes from the one with the longest steps in memory on."""
    return tuple(sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis])))
