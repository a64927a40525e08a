"""Sources of any dimensions as the C library takes them: with one dimension or two."""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from ._elements import Array
from ._engine import WHOLE, Along

# An array of NumPy's, the number of its element type, and its extents; with one dimension or two.
Here = tuple[Array, int, Optional[tuple[int, ...]]]
Matrix = tuple[Array, int, Optional[tuple[int, int]]]


def matrix_of(source: Here, axis: Along) -> tuple[Matrix, int]:
    """The source, and the axis of its groups: -1 for the whole, 0 or 1 of a matrix."""
    array, element_type, shape = source
    if axis == WHOLE or shape is None:
        return (array, element_type, None), -1
    if len(shape) == 2 and len(axis) == 1:
        return (array, element_type, (shape[0], shape[1])), axis[0]
    return _in_rows(array, element_type, shape, axis), 1


def rows_of(source: Here, axis: Along) -> tuple[Matrix, int]:
    """As `matrix_of`, with groups in rows."""
    array, element_type, shape = source
    if axis == WHOLE or shape is None:
        return (array, element_type, None), -1
    return _in_rows(array, element_type, shape, axis), 1


def as_scanned(data: Array, item_size: int, shape: Optional[tuple[int, ...]], axis: Along) -> Array:
    """The bytes of a scan's results, which are in the order of `matrix_of`, in that of the source."""
    if shape is None or len(shape) == 2 or axis == WHOLE:
        return data
    order = _kept_first(shape, axis)
    items = data.view(f"V{item_size}").reshape([shape[place] for place in order])
    return np.ascontiguousarray(items.transpose(np.argsort(order))).reshape(-1).view(np.uint8)


def _kept_first(shape: tuple[int, ...], axis: Along) -> list[int]:
    return sorted(range(len(shape)), key=lambda place: place in axis)


def _in_rows(array: Array, element_type: int, shape: tuple[int, ...], axis: Along) -> Matrix:
    moved = np.ascontiguousarray(array.reshape(shape).transpose(_kept_first(shape, axis)))
    length = math.prod(shape[place] for place in axis)
    return moved, element_type, (moved.size // length, length)
