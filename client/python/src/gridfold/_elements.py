"""Element types, and whatever has elements as an array of NumPy's."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

Array = np.ndarray[Any, Any]

# Numbers of the wire.
BFLOAT16 = 10
BOOL = 13  # Of arrays on the server and of masks; operations here send bools as uint8.
_NUMBERS: dict[str, int] = {
    "int8": 1, "int16": 2, "int32": 3, "int64": 4, "uint8": 5, "uint16": 6, "uint32": 7,
    "uint64": 8, "float16": 9, "float32": 11, "float64": 12}
BY_DTYPE: dict[Any, int] = {np.dtype(name): number for name, number in _NUMBERS.items()}
_BY_NUMBER: dict[int, Any] = {number: dtype for dtype, number in BY_DTYPE.items()}
_BY_NUMBER[BOOL] = np.dtype(np.bool_)


def dtype_of(element_type: int) -> Any:
    """The dtype of an element type's number; bfloat16 needs ml_dtypes."""
    if element_type == BFLOAT16:
        import ml_dtypes  # type: ignore[import]
        return np.dtype(ml_dtypes.bfloat16)
    return _BY_NUMBER[element_type]


def as_array(values: Any) -> Array:
    """`values` as an array of a dtype that has an element type, or of bool.

    Arrays of other byte order are copied, and what lies on another device is copied to this
    machine. Raises TypeError for elements of other kinds, such as complex numbers.
    """
    array = values if type(values) is np.ndarray else _convert(values)
    dtype = array.dtype
    if dtype in BY_DTYPE or dtype.kind == "b" or dtype.name == "bfloat16":
        return array
    native = dtype.newbyteorder("=")
    if native in BY_DTYPE:
        return array.astype(native)
    raise TypeError(f"gridfold has no elements of {dtype}; convert them, for example by "
                    "x.astype(\"float64\")")


def wire_form(array: Array) -> tuple[Array, int]:
    """An array of `as_array` as engines take it, and its element type's number."""
    number = BY_DTYPE.get(array.dtype)
    if number is not None:
        return array, number
    if array.dtype.kind == "b":
        return array.view(np.uint8), _NUMBERS["uint8"]
    return array.view(np.uint16), BFLOAT16


def wire_number(dtype: Any) -> int:
    """The number of the element type that engines take elements of `dtype` as."""
    return wire_form(np.empty(0, dtype))[1]


def is_float(dtype: Any) -> bool:
    """Whether elements are floating-point numbers, of NumPy's or not."""
    return bool(dtype.kind == "f" or dtype.name == "bfloat16")


def element_type(dtype: Any) -> Optional[int]:
    """The number of a dtype's element type."""
    return BFLOAT16 if dtype.name == "bfloat16" else BY_DTYPE.get(np.dtype(dtype))


def _convert(values: Any) -> Array:
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError("a masked array's mask would be ignored: give x.compressed(), or x.data "
                        "with where=~x.mask")
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    if hasattr(values, "__cuda_array_interface__") or hasattr(values, "is_cuda"):
        values = _to_host(values)
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        return np.from_dlpack(values)
    return np.asarray(values)


def _to_host(values: Any) -> Any:
    """A CuPy array or PyTorch tensor in this machine's memory."""
    if hasattr(values, "detach"):
        return values.detach().cpu()
    if hasattr(values, "get"):
        return values.get()
    return values
