"""Arrays that stay on the server: sent once, used many times."""

from __future__ import annotations

import copy
import math
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterator, Optional

import numpy as np

from ._elements import Array, dtype_of, wire_form, wire_number
from ._engine import DIMENSIONS_MAX, WHOLE, Place
from ._layout import Axis, Layout, Shaped
from ._operation import check_may_wait
from ._view import View, to_axis

if TYPE_CHECKING:
    from ._connection import Connection


class ResidentArray(Shaped):
    """An array in the memory of the server's engine, or a view of one.

    Every operation of a `Connection` takes one in the place of an array, and the commonest are
    methods. NumPy's basic indices and transpositions make views, such as `r[::2, 0, ::-1].T`, of
    which nothing is read before an operation does. `np.asarray(r)` brings the elements here. As a
    context manager it deletes the array at the end; otherwise the array stays until `delete`, or
    until nobody has used it for its expiry.

    Attributes
    ----------
    name : str
    shape : tuple of int
    dtype : numpy.dtype
    """

    def __init__(self, connection: Connection, name: str, dtype: Any,
                 shape: tuple[int, ...]) -> None:
        self._connection = connection
        self.name = name
        self.dtype = np.dtype(dtype)
        self.shape = shape
        self._view = View.whole(shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[ResidentArray]:
        """Views along the first dimension."""
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(self.shape[0]))

    def __repr__(self) -> str:
        return f"<ResidentArray {self.name!r}{self._view} {self.dtype} {self.shape}>"

    def __getitem__(self, key: Any) -> ResidentArray:
        """A view by NumPy's basic indices: integers, slices and `...`; also where NumPy gives a
        number. Of an array of more than 8 dimensions consecutive rows only."""
        return self._seen(self._view.at(key))

    def __setitem__(self, key: Any, values: Any) -> None:
        """Writes elements that follow one another on the server, such as rows: `r[10:20] = x`, of
        their shape or a number."""
        part = self[key]
        first = part._view.place
        if first is None:
            raise NotImplementedError("an array on the server takes values of elements that follow "
                                      "one another, such as rows: r[10:20] = x")
        array = np.ascontiguousarray(np.broadcast_to(np.asarray(values, self.dtype), part.shape))
        if array.size:
            flat, number = wire_form(array)
            self._connection._native.write_array(self.name, first, (flat, number, None))

    @property
    def T(self) -> ResidentArray:
        """A view with the dimensions in reverse order."""
        return self.transpose()

    def transpose(self, *axes: Any) -> ResidentArray:
        """A view with the dimensions in this order; by default in reverse."""
        given = axes[0] if len(axes) == 1 and not hasattr(axes[0], "__index__") else axes or None
        return self._seen(self._view.transposed(range(self.ndim)[::-1] if given is None else given))

    def swapaxes(self, axis1: int, axis2: int) -> ResidentArray:
        """A view with two dimensions in each other's place."""
        order = list(range(self.ndim))
        first, second = to_axis(axis1, self.ndim), to_axis(axis2, self.ndim)
        order[first], order[second] = second, first
        return self._seen(self._view.transposed(order))

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        if self.size == 0:
            return np.empty(self.shape, dtype or self.dtype)
        check_may_wait()
        data, _ = self._connection._native.read_array(self._place())
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

    def _seen(self, view: View) -> ResidentArray:
        """The array as another view has it."""
        if len(view.extents) > DIMENSIONS_MAX and not (view.is_whole or view.rows):
            raise NotImplementedError(
                f"an array of {len(view.extents)} dimensions on the server has views of consecutive "
                "rows only, such as r[10:20]")
        other = copy.copy(self)
        other._view = view
        other.shape = view.shape
        return other

    def _place(self) -> Place:
        """As engines take it."""
        if self._view.is_whole:
            return self.name, 0, -1
        if self._view.rows is not None:
            return (self.name, *self._view.rows)
        return self.name, self._view.first, self._view.dimensions

    def _lay_out(self, axes: Optional[tuple[int, ...]]) -> Optional[Layout]:
        """As `lay_out`; the server has the shape."""
        if self.size == 0:
            return None
        number = wire_number(self.dtype)
        place = self._place()
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
    return shape


def of_description(connection: Connection, description: tuple[Any, ...]) -> ResidentArray:
    """An array that the server describes."""
    return ResidentArray(connection, description[0], dtype_of(description[1]),
                         tuple(description[2]))
