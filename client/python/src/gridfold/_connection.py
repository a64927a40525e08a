"""A connection to a server."""

from __future__ import annotations

import copy
from types import TracebackType
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from . import _native
from ._device_engine import DeviceEngine, DeviceRegions
from ._elements import BOOL, as_array, wire_form
from ._groups import KeyedReductions
from ._histograms import Histograms
from ._order import OrderStatistics
from ._paired import PairedStatistics
from ._progress import AnyProgress, to_native
from ._reductions import Reductions
from ._resident import ResidentArray, of_description, wire_shape
from ._scans import Scans

PRIORITIES = {"low": 0, "normal": 1, "high": 2}


class Device(NamedTuple):
    """A device of the server; `memory_bytes` of a GPU, or of the machine, of which each virtual
    device has an equal part."""

    name: str
    memory_bytes: int
    compute_units: int
    compute_capability: str
    uuid: str


class ServerInfo(NamedTuple):
    """What a server is: its version, its engine ("cuda" or "cpu"), devices, and limits by name."""

    version: str
    engine: str
    devices: tuple[Device, ...]
    limits: dict[str, int]


class Connection(Reductions, Scans, Histograms, OrderStatistics, PairedStatistics,
                 KeyedReductions):
    """A connection to one server, which `gridfold.connect` opens.

    Any number of threads may use it at once. Calls wait without the GIL, and Ctrl-C ends them. A
    process that `fork` has made of one that had connected cannot connect: connect after the fork
    only, or start processes by "spawn". Arrays are sent from where they lie: do not change
    elements in other threads before a call returns.
    """

    def __init__(self, native: _native.Connection, target: str, *,
                 shares_memory: bool = False) -> None:
        self._native = native
        self._regions = DeviceRegions(native) if shares_memory else None
        self._engine = DeviceEngine(native, self._regions)
        self._target = target

    def __repr__(self) -> str:
        state = "" if self._native.is_open else ", closed"
        return f"<gridfold.Connection to {self._target}{state}>"

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; calls in flight end as they would have."""
        if self._regions is not None:
            self._regions.close()
        self._native.close()

    def options(self, *, timeout: Optional[float] = None, priority: Optional[str] = None,
                traceparent: str = "", progress: AnyProgress = None) -> Connection:
        """The same connection for calls with other options.

        Parameters
        ----------
        timeout : float, optional
            Seconds for a whole call, retries included.
        priority : {"low", "normal", "high"}, optional
            Before or behind the other waiting calls of the same tenant.
        traceparent : str
            The caller's trace and span, as W3C Trace Context has them.
        progress : callable or bool, optional
            `progress(sent, size)` is told now and then how many of how many bytes of a call's
            arrays are on their way: never fewer than before, by a thread of the call, which waits
            for it. An exception in it ends the call and is raised by it. True shows a bar, by
            tqdm where there is one; False tells nobody. Arrays that go with the request
            itself, as small ones do, and arrays on the server are not reported.

        Examples
        --------
        >>> gpu.options(timeout=2.5).sum([1, 2, 3])
        6
        """
        other = copy.copy(self)
        other._native = self._native.with_options(
            timeout, None if priority is None else to_priority(priority), traceparent,
            to_native(progress))
        other._engine = DeviceEngine(other._native, self._regions)
        return other

    def info(self) -> ServerInfo:
        """What the server is and the most that it accepts."""
        version, engine, devices, limits = self._native.info()
        return ServerInfo(version, engine, tuple(Device(*device) for device in devices), limits)

    def is_serving(self) -> bool:
        """Whether the server's health service says that it serves."""
        return self._native.is_serving()

    def put(self, x: Any, name: str = "", *, expiry: Optional[float] = None,
            device: Optional[int] = None) -> ResidentArray:
        """Keeps an array on the server.

        Parameters
        ----------
        x : array_like
            Of any shape.
        name : str
            Up to 128 letters, digits and "._-/"; empty: the server chooses one.
        expiry : float, optional
            Seconds without use after which the server deletes the array; an hour by default.
        device : int, optional
            Number of the device to hold it; by default the one with the most room.

        Raises
        ------
        AlreadyExistsError
            There is an array of that name.
        ResourceExhaustedError
            There is no room for it.
        """
        array = np.asarray(as_array(x), order="C")
        flat, number = wire_form(array)
        kept = BOOL if array.dtype.kind == "b" else number
        created = self._native.create_array(name, kept, wire_shape(array.shape), expiry, device)
        resident = ResidentArray(self, created[0], array.dtype, array.shape)
        try:
            if array.size:
                self._native.write_array(resident.name, 0, (flat, number, None))
        except BaseException:
            resident.delete()
            raise
        return resident

    def array(self, name: str) -> ResidentArray:
        """An array on the server by its name.

        Raises NotFoundError where there is none.
        """
        return of_description(self, self._native.get_array(name))

    def arrays(self) -> list[ResidentArray]:
        """All arrays of the caller on the server, sorted by name."""
        return [of_description(self, one) for one in self._native.list_arrays()]

    def delete(self, array: Union[str, ResidentArray]) -> None:
        """Deletes an array on the server. NotFoundError where there is none."""
        self._native.delete_array(array if isinstance(array, str) else array.name)


def to_priority(priority: str) -> int:
    """The number of a priority. Raises ValueError for other names."""
    if priority not in PRIORITIES:
        raise ValueError(f"priority: must be one of {', '.join(PRIORITIES)}, not {priority!r}")
    return PRIORITIES[priority]
