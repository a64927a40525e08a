"""Arrays of other libraries in a GPU's memory: CuPy's, PyTorch's, JAX's, Numba's."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Optional

import numpy as np

from . import _cuda
from ._elements import Array, element_type, is_float, wire_number
from ._engine import DIMENSIONS_MAX, WHOLE
from ._layout import Layout, Shaped, lay_out, lay_out_shape

# Of streams, as the driver has them.
_LEGACY_STREAM = 1
_DLPACK_CUDA = 2


class DeviceArray(Shaped):
    """A C-contiguous array in a GPU's memory, whose elements an engine can read.

    Operations take one in the place of an array on the server; an engine's sources have it as they
    are (DeviceEngine puts the elements where the engine reads them).

    Attributes
    ----------
    owner : the other library's array, which keeps the memory
    address : int
    dtype : numpy.dtype
    shape : tuple of int
    driver : what knows the memory
    """

    def __init__(self, driver: Any, owner: Any, address: int, dtype: Any, shape: tuple[int, ...],
                 stream: Optional[int], kept: Any = None) -> None:
        self.driver = driver
        self.owner = owner
        self.address = address
        self.dtype = dtype
        self.shape = shape
        self._stream = stream  # None: any may still write.
        self._needs_wait = stream != 0
        self._kept = kept

    def wait(self, device: int) -> None:
        """Until the elements are written that others were asked to write before."""
        if self._needs_wait:
            self.driver.wait(device, self._stream)
            self._needs_wait = False

    def host(self) -> Array:
        """A copy in this machine's memory."""
        if self.size == 0:
            return np.empty(self.shape, self.dtype)
        self.wait(self.driver.allocation(self.address).device)
        copy = np.empty(self.shape, self.dtype)
        self.driver.read(self.address, copy)
        return copy

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        array = self.host()
        return array if dtype is None else array.astype(dtype, copy=False)

    def _lay_out(self, axes: Optional[tuple[int, ...]]) -> Optional[Layout]:
        """As `lay_out`."""
        source: Any = self
        if self.size == 0:
            return None
        number = wire_number(self.dtype)
        if axes is None:
            return Layout((source, number, (self.size,)), WHOLE, ())
        shape, along = lay_out_shape(self.shape, axes)
        if len(shape) > DIMENSIONS_MAX:
            return lay_out(self.host(), axes)
        kept = tuple(axis for axis in range(self.ndim) if axis not in axes)
        return Layout((source, number, shape), along, kept)


def of_device(x: Any) -> Any:
    """`x` as a DeviceArray where it is one that engines can read in place; otherwise `x`."""
    if type(x) is np.ndarray or hasattr(x, "_lay_out"):
        return x
    source = x
    if getattr(x, "requires_grad", False) is True and hasattr(x, "detach"):
        source = x.detach()
    interface = _attribute(source, "__cuda_array_interface__")
    if interface is None and not _is_on_device(source):
        return x
    driver = _cuda.driver()
    if driver is None:
        return x
    owner = _owner(x)
    found = _of_interface(driver, owner, interface) or _of_dlpack(driver, owner, source)
    return x if found is None else found


def of_kind(x: Any, dtype: Any) -> Any:
    """`x`, copied to this machine where results of integers are asked of floating-point elements,
    or the reverse, so that its elements have to be converted first."""
    is_other = dtype is not None and type(x) is DeviceArray and (
        is_float(np.dtype(dtype)) != is_float(x.dtype))
    return x.host() if is_other else x


# Views of views, at most.
_VIEWS_MAX = 16


def _owner(x: Any) -> Any:
    """The array of which `x` is a view, or `x`: views come and go, and the memory stays."""
    for _ in range(_VIEWS_MAX):
        base = _attribute(x, "_base" if hasattr(x, "is_cuda") else "base")
        if base is None or not hasattr(base, "__dlpack__"):
            return x
        x = base
    return x


def _attribute(x: Any, name: str) -> Any:
    """An attribute that other libraries compute, and that some of their arrays refuse."""
    try:
        return getattr(x, name, None)
    except (TypeError, RuntimeError, ValueError):
        return None


def _is_on_device(x: Any) -> bool:
    if not hasattr(x, "__dlpack_device__"):
        return False
    return int(x.__dlpack_device__()[0]) == _DLPACK_CUDA


def _of_interface(driver: Any, owner: Any, interface: Any) -> Optional[DeviceArray]:
    """By the CUDA array interface, version 2 or 3."""
    if not isinstance(interface, dict) or interface.get("mask") is not None:
        return None
    if not {"shape", "typestr", "data"} <= set(interface):
        return None
    dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
    strides = interface.get("strides")
    if not _has_elements(dtype) or not _is_contiguous(shape, strides, dtype.itemsize):
        return None
    stream = interface.get("stream") if interface.get("version", 0) < 3 else (
        interface.get("stream") or 0)
    return DeviceArray(driver, owner, int(interface["data"][0]), dtype, shape, stream)


def _has_elements(dtype: Any) -> bool:
    return bool(dtype.isnative and (dtype.kind == "b" or element_type(dtype) is not None))


def _is_contiguous(shape: tuple[int, ...], strides: Any, item: int) -> bool:
    """Whether elements follow one another in C order; `strides` in units of `item`."""
    if strides is None:
        return True
    expected = item
    for size, stride in zip(reversed(shape), reversed(tuple(strides))):
        if size != 1 and stride != expected:
            return math.prod(shape) == 0
        expected *= size
    return True


class _DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


def _of_dlpack(driver: Any, owner: Any, x: Any) -> Optional[DeviceArray]:
    """By DLPack, whose capsule is kept and not consumed."""
    if not _is_on_device(x):
        return None
    capsule = x.__dlpack__(stream=_LEGACY_STREAM)
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DlTensor.from_address(get_pointer(capsule, b"dltensor"))
    dtype = _dtype_of(tensor.code, tensor.bits, tensor.lanes)
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = tuple(tensor.strides[:tensor.ndim]) if tensor.strides else None
    if dtype is None or not _is_contiguous(shape, strides, 1):
        return None
    address = (tensor.data or 0) + tensor.byte_offset
    return DeviceArray(driver, owner, address, dtype, shape, _LEGACY_STREAM, capsule)


def _dtype_of(code: int, bits: int, lanes: int) -> Any:
    """The dtype of DLPack's type, if it has elements here."""
    if lanes != 1:
        return None
    if (code, bits) == (4, 16):
        try:
            import ml_dtypes  # type: ignore[import]
        except ImportError:
            return None
        return np.dtype(ml_dtypes.bfloat16)
    if (code, bits) == (6, 8):
        return np.dtype(np.bool_)
    kinds = {0: "i", 1: "u", 2: "f"}
    if code not in kinds or bits not in (8, 16, 32, 64):
        return None
    dtype = np.dtype(f"{kinds[code]}{bits // 8}") if (code, bits) != (2, 8) else None
    return dtype if dtype is not None and _has_elements(dtype) else None
