"""The CUDA driver of this machine, where there is one: what sharing device memory takes."""

from __future__ import annotations

import ctypes
import functools
from typing import Any, NamedTuple, Optional

from ._elements import Array

# CUpointer_attribute.
_BUFFER_ID, _IS_MANAGED, _DEVICE, _HAS_HANDLE = 7, 8, 9, 10
_HANDLE_BYTES = 64


class Allocation(NamedTuple):
    """Memory of a device that was allocated at once."""

    base: int
    size: int
    device: int
    identity: int  # No other allocation of this process has it, or had.
    can_share: bool  # Not where it is managed, or from a pool of cudaMallocAsync.


class CudaError(RuntimeError):
    """A function of the driver has failed."""


class Driver:
    """The driver's functions. Thread-safe; the current context stays what it is."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._contexts: dict[int, ctypes.c_void_p] = {}
        self._call("cuInit", 0)

    def allocation(self, address: int) -> Allocation:
        """The allocation that a device's memory is part of."""
        device = self._attribute(address, _DEVICE, ctypes.c_int())
        base, size = ctypes.c_uint64(), ctypes.c_size_t()
        with self._current(device):
            self._call("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(size),
                       ctypes.c_uint64(address))
        can_share = bool(self._attribute(address, _HAS_HANDLE, ctypes.c_bool())) and not (
            self._attribute(address, _IS_MANAGED, ctypes.c_uint()))
        identity = self._attribute(address, _BUFFER_ID, ctypes.c_ulonglong())
        return Allocation(base.value, size.value, device, identity, can_share)

    def handle(self, allocation: Allocation) -> bytes:
        """What another process opens the allocation with."""
        handle = ctypes.create_string_buffer(_HANDLE_BYTES)
        with self._current(allocation.device):
            self._call("cuIpcGetMemHandle", handle, ctypes.c_uint64(allocation.base))
        return handle.raw

    def uuid(self, device: int) -> str:
        """As the server and nvidia-smi have it."""
        raw = (ctypes.c_ubyte * 16)()
        name = "cuDeviceGetUuid_v2" if hasattr(self._library, "cuDeviceGetUuid_v2") else (
            "cuDeviceGetUuid")
        self._call(name, raw, self._device(device))
        digits = bytes(raw).hex()
        return "GPU-" + "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20],
                                  digits[20:]))

    def wait(self, device: int, stream: Optional[int]) -> None:
        """Until what was asked of a stream is done; None: of any stream of the device."""
        with self._current(device):
            if stream is None:
                self._call("cuCtxSynchronize")
            else:
                self._call("cuStreamSynchronize", ctypes.c_void_p(stream))

    def read(self, address: int, out: Array) -> None:
        """Copies memory of a device into a C-contiguous array."""
        device = self._attribute(address, _DEVICE, ctypes.c_int())
        with self._current(device):
            self._call("cuMemcpyDtoH_v2", ctypes.c_void_p(out.ctypes.data),
                       ctypes.c_uint64(address), ctypes.c_size_t(out.nbytes))

    def allocate(self, device: int, content: Array) -> int:
        """The address of new memory of a device, with a copy of the array's elements."""
        address = ctypes.c_uint64()
        with self._current(device):
            self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(content.nbytes))
            self._call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(content.ctypes.data),
                       ctypes.c_size_t(content.nbytes))
        return address.value

    def free(self, device: int, address: int) -> None:
        with self._current(device):
            self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def _call(self, name: str, *arguments: Any) -> None:
        error = getattr(self._library, name)(*arguments)
        if error:
            raise CudaError(f"{name}: error {error}")

    def _attribute(self, address: int, attribute: int, value: Any) -> Any:
        self._call("cuPointerGetAttribute", ctypes.byref(value), attribute,
                   ctypes.c_uint64(address))
        return value.value

    def _device(self, ordinal: int) -> ctypes.c_int:
        device = ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(device), ordinal)
        return device

    def _current(self, ordinal: int) -> _Current:
        """The device's primary context, which its arrays are of."""
        context = self._contexts.get(ordinal)
        if context is None:
            context = ctypes.c_void_p()
            self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device(ordinal))
            self._contexts[ordinal] = context
        return _Current(self, context)


class _Current:
    """Makes a context the thread's while a `with` block lasts."""

    def __init__(self, driver: Driver, context: ctypes.c_void_p) -> None:
        self._driver = driver
        self._context = context

    def __enter__(self) -> None:
        self._driver._call("cuCtxPushCurrent_v2", self._context)

    def __exit__(self, *_: object) -> None:
        self._driver._call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


@functools.cache
def driver() -> Optional[Driver]:
    """The driver; None where there is none, or no GPU."""
    try:
        return Driver(ctypes.CDLL("libcuda.so.1"))
    except (OSError, CudaError, AttributeError):
        return None
