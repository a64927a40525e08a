"""Arrays in a GPU's memory as sources of an engine: seen by a server of this machine, or copied."""

from __future__ import annotations

import collections
import functools
import os
import threading
import weakref
from typing import Any, Callable, Coroutine, NamedTuple, Optional

import numpy as np

from ._cuda import Allocation, CudaError
from ._device import DeviceArray
from ._elements import BY_DTYPE, wire_form
from ._engine import WHOLE
from ._errors import CancelledError, Error
from ._statistics import NUMBERS

# Allocations that the server sees at once, of one connection.
_KEPT_MAX = 16
# To tell the server that it has ended.
_UNREGISTER_S = 1.0
_UINT64 = np.dtype(np.uint64)


class _Region(NamedTuple):
    name: str
    allocation: Allocation
    owners: set[int]  # By their ids; when the last one goes, the memory may.


class DeviceRegions:
    """Allocations of GPUs that a server of this machine sees. Thread-safe.

    An allocation is registered when an array in it is first used, and kept for the next calls until
    the arrays that were used have gone. That the server sees this process's memory is proved for
    each GPU: it finds a number that nobody could know.
    """

    def __init__(self, native: Any) -> None:
        self._native = native
        # Finalizers may run in a thread that holds it.
        self._lock = threading.RLock()
        self._places: dict[int, Optional[int]] = {}  # The server's number of a GPU, if it sees it.
        self._regions: collections.OrderedDict[int, _Region] = collections.OrderedDict()

    def place(self, native: Any, array: DeviceArray) -> Optional[tuple[str, int]]:
        """The region that has the array and the offset in it, in bytes; None: it can't be seen."""
        try:
            allocation = array.driver.allocation(array.address)
        except CudaError:
            return None
        array.wait(allocation.device)
        offset = array.address - allocation.base
        if not allocation.can_share or offset % array.dtype.itemsize:
            return None
        with self._lock:
            device = self._device(native, array.driver, allocation.device)
            if device is None:
                return None
            region = self._regions.get(allocation.identity)
            if region is None:
                name = _register(native, array.driver, allocation, device)
                if name is None:
                    return None
                region = _Region(name, allocation, set())
                self._regions[allocation.identity] = region
            self._regions.move_to_end(allocation.identity)
            self._note(region, array.owner)
            self._trim()
        return region.name, offset

    def forget(self, name: str) -> None:
        """The server has it no more."""
        with self._lock:
            for identity, region in list(self._regions.items()):
                if region.name == name:
                    del self._regions[identity]

    def close(self) -> None:
        """Unregisters all."""
        with self._lock:
            regions = list(self._regions.values())
            self._regions.clear()
        for region in regions:
            self._unregister(region)

    def _note(self, region: _Region, owner: Any) -> None:
        if id(owner) in region.owners:
            return
        try:
            finalizer = weakref.finalize(owner, self._gone, region.allocation.identity, id(owner))
        except TypeError:
            return  # Nobody tells when it goes: the region stays until others push it out.
        finalizer.atexit = False
        region.owners.add(id(owner))

    def _gone(self, identity: int, owner: int) -> None:
        with self._lock:
            region = self._regions.get(identity)
            if region is None or owner not in region.owners:
                return
            region.owners.discard(owner)
            if region.owners:
                return
            del self._regions[identity]
        self._unregister(region)

    def _trim(self) -> None:
        while len(self._regions) > _KEPT_MAX:
            _, region = self._regions.popitem(last=False)
            self._unregister(region)

    def _unregister(self, region: _Region) -> None:
        try:
            self._native.with_options(_UNREGISTER_S, None, "", None).unregister_region(region.name)
        except Error:
            pass  # The server finds out by itself: by this process's end, or the idle expiry.

    def _device(self, native: Any, driver: Any, ordinal: int) -> Optional[int]:
        if ordinal not in self._places:
            self._places[ordinal] = _find_device(native, driver, ordinal)
        return self._places[ordinal]


def _register(native: Any, driver: Any, allocation: Allocation, device: int) -> Optional[str]:
    """The name of a new region; None where the server can't have it."""
    try:
        name: str = native.register_device_region(driver.handle(allocation), device,
                                                  allocation.size)
    except CancelledError:
        raise
    except (Error, CudaError):
        return None
    return name


def _find_device(native: Any, driver: Any, ordinal: int) -> Optional[int]:
    """The server's number of a GPU of this machine, whose memory it has been seen to read."""
    _, _, devices, limits = native.info()
    uuids = [device[4] for device in devices]
    if not limits.get("region_count_max") or driver.uuid(ordinal) not in uuids:
        return None
    number = uuids.index(driver.uuid(ordinal))
    proof = np.frombuffer(os.urandom(8), np.uint64)
    address = driver.allocate(ordinal, proof)
    try:
        allocation = driver.allocation(address)
        name = _register(native, driver, allocation, number)
        if name is None:
            return None
        try:
            source = ((name, address - allocation.base), BY_DTYPE[_UINT64], (1,))
            values, _ = native.reduce(source, [NUMBERS["max"]], WHOLE, False, False, 0)
        finally:
            native.unregister_region(name)
    except CancelledError:
        raise
    except (Error, CudaError):
        return None
    finally:
        driver.free(ordinal, address)
    return number if int(values[0]) == int(proof[0]) else None


class DeviceEngine:
    """An engine whose sources may be DeviceArrays. `regions` is None where none can be shared.

    What the engine can't see is copied to this machine's memory, once, and travels as any array.
    """

    def __init__(self, engine: Any, regions: Optional[DeviceRegions]) -> None:
        self._native = engine
        self._regions = regions
        self._reduce_whole = engine.reduce_whole

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """An operation of the engine's, with DeviceArrays in the place of sources."""
        if name.startswith("_"):
            raise AttributeError(name)
        operation = functools.partial(self._run, getattr(self._native, name))
        setattr(self, name, operation)
        return operation

    async def reduce_whole(self, *arguments: Any) -> Any:
        """Takes NumPy's arrays only."""
        return self._reduce_whole(*arguments)

    async def _run(self, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        if not any(_is_of_device(one) for one in arguments):
            return call(*arguments, **options)
        if self._regions is not None:
            for _ in range(2):  # Again where the server has lost what it had.
                placed = [self._placed(one) for one in arguments]
                try:
                    return call(*placed, **options)
                except Error as error:
                    if not self._is_lost(error, placed):
                        raise
        return call(*[_copied(one) for one in arguments], **options)

    def _placed(self, argument: Any) -> Any:
        if not _is_of_device(argument):
            return argument
        array, number, shape = argument
        assert self._regions is not None
        place = self._regions.place(self._native, array)
        return _copied(argument) if place is None else (place, number, shape)

    def _is_lost(self, error: Error, placed: list[Any]) -> bool:
        """Whether a region was at fault; those of the call are then forgotten."""
        names = [one[0][0] for one in placed if _is_in_region(one)]
        if not names or not (error.reason or "").startswith("REGION"):
            return False
        assert self._regions is not None
        for name in names:
            self._regions.forget(name)
        return True


def _is_of_device(argument: Any) -> bool:
    return type(argument) is tuple and len(argument) == 3 and type(argument[0]) is DeviceArray


def _is_in_region(argument: Any) -> bool:
    return (type(argument) is tuple and len(argument) == 3 and type(argument[0]) is tuple
            and len(argument[0]) == 2)


def _copied(argument: Any) -> Any:
    if not _is_of_device(argument):
        return argument
    array, number, shape = argument
    flat, _ = wire_form(array.host().reshape(-1))
    return flat, number, shape
