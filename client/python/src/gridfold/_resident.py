"""Arrays that stay on the server: sent once, used many times."""

from __future__ import annotations

import math
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._elements import Array, dtype_of, wire_form, wire_number
from ._engine import DIMENSIONS_MAX, WHOLE
from ._layout import Axis, Layout, Shaped
from ._operation import check_may_wait

if TYPE_CHECKING:
    from ._connection import Connection


class ResidentArray(Shaped):
    """An array in the memory of the server's engine, or some of its rows (`r[a:b]`).

    Every operation of a `Connection` takes one in the place of an array, and the commonest are
    methods. `np.asarray(r)` brings the elements here. As a context manager it deletes the array at
    the end; otherwise the array stays until `delete`, or until nobody has used it for its expiry.

    Attributes
    ----------
    name : str
    shape : tuple of int
    dtype : numpy.dtype
    """

    def __init__(self, connection: Connection, name: str, dtype: Any, shape: tuple[int, ...],
                 first: int = 0, is_part: bool = False) -> None:
        self._connection = connection
        self.name = name
        self.dtype = np.dtype(dtype)
        self.shape = shape
        self._first = first
        self._is_part = is_part

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        part = f"[{self._first}:{self._first + self.shape[0]}]" if self._is_part else ""
        return f"<ResidentArray {self.name!r}{part} {self.dtype} {self.shape}>"

    def __getitem__(self, rows: slice) -> ResidentArray:
        """Some consecutive elements, or rows; nothing is read."""
        if not isinstance(rows, slice):
            raise TypeError("an array on the server takes slices, such as r[10:20]")
        begin, end, step = rows.indices(self.shape[0])
        if step != 1:
            raise NotImplementedError("an array on the server has slices of step 1 only")
        shape = (max(end - begin, 0), *self.shape[1:])
        return ResidentArray(self._connection, self.name, self.dtype, shape, self._first + begin,
                             True)

    def __setitem__(self, rows: slice, values: Any) -> None:
        """Writes elements: `r[10:20] = x`, of the slice's shape or a number."""
        part = self[rows]
        array = np.ascontiguousarray(np.broadcast_to(np.asarray(values, self.dtype), part.shape))
        if array.size:
            flat, number = wire_form(array)
            self._connection._native.write_array(
                self.name, part._first * math.prod(self.shape[1:]), (flat, number, None))

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        if self.size == 0:
            return np.empty(self.shape, dtype or self.dtype)
        check_may_wait()
        data, _ = self._connection._native.read_array(self.name, *self._rows())
        array: Array = data.view(self.dtype).reshape(self.shape)
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        """As `__array__`: a copy in this machine's memory."""
        return np.asarray(self).__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return np.empty(0).__dlpack_device__()

    def delete(self) -> None:
        """Deletes the whole array on the server. NotFoundError where it is gone."""
        self._connection._native.delete_array(self.name)

    def __enter__(self) -> ResidentArray:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.delete()

    def sum(self, axis: Axis = None, **options: Any) -> Any:
        return self._connection.sum(self, axis, **options)

    def prod(self, axis: Axis = None, **options: Any) -> Any:
        return self._connection.prod(self, axis, **options)

    def min(self, axis: Axis = None, **options: Any) -> Any:
        return self._connection.min(self, axis, **options)

    def max(self, axis: Axis = None, **options: Any) -> Any:
        return self._connection.max(self, axis, **options)

    def mean(self, axis: Axis = None, **options: Any) -> Any:
        return self._connection.mean(self, axis, **options)

    def var(self, axis: Axis = None, **options: Any) -> Any:
        return self._connection.var(self, axis, **options)

    def std(self, axis: Axis = None, **options: Any) -> Any:
        return self._connection.std(self, axis, **options)

    def cumsum(self, axis: Optional[int] = None, **options: Any) -> Any:
        return self._connection.cumsum(self, axis, **options)

    def histogram(self, bins: Any = 10, **options: Any) -> tuple[Array, Array]:
        return self._connection.histogram(self, bins, **options)

    def _rows(self) -> tuple[int, int]:
        return (self._first, self.shape[0]) if self._is_part else (0, -1)

    def _lay_out(self, axes: Optional[tuple[int, ...]]) -> Optional[Layout]:
        """As `lay_out`; the server has the shape."""
        if self.size == 0:
            return None
        number = wire_number(self.dtype)
        place = (self.name, *self._rows())
        if axes is None:
            return Layout((place, number, None), WHOLE, ())
        kept = tuple(axis for axis in range(self.ndim) if axis not in axes)
        if self.ndim > DIMENSIONS_MAX:
            if axes not in ((0,), tuple(range(1, self.ndim))):
                raise NotImplementedError(
                    f"axis: of an array of {self.ndim} dimensions on the server 0, or all others "
                    f"together, not {axes}")
            axes = axes[:1]
        return Layout((place, number, None), axes, kept)


def wire_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions in which the server keeps an array: rows and columns where it has too many."""
    if len(shape) > DIMENSIONS_MAX:
        return shape[0], math.prod(shape[1:])
    return shape or (1,)


def of_description(connection: Connection, description: tuple[Any, ...]) -> ResidentArray:
    """An array that the server describes."""
    return ResidentArray(connection, description[0], dtype_of(description[1]),
                         tuple(description[2]))
