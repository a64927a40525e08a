"""Connections for asyncio: the methods of `gridfold.Connection` as coroutines.

>>> async with gridfold.aio.connect("gpu-host:50051") as gpu:
...     total = await gpu.sum(x)
...     counts, edges = await gpu.histogram(x, bins=20)

An operation on arrays of up to 48 KiB together, or on arrays on the server, is a call that nobody
waits for: as many as are made are under way at once, without a thread each. A server takes so many
on one connection (gridfold_server 1,024; `channels` are as many connections), and further ones are
sent as it answers. What is larger or of another kind, lies on a GPU, or is no operation, as `put`
and `info`, waits in at most `concurrency` threads of the connection, in the order in which it was
asked for.

A task that is cancelled gives up its call, on the server too. What `put` returns is for the
coroutines, as in `await gpu.max(r)`: the methods of a `ResidentArray` itself wait.
"""

from __future__ import annotations

import copy
import functools
from types import TracebackType
from typing import Any, Awaitable, Callable, Generator, Optional

from . import _connection, _connect
from ._loop import LoopEngine, are_small
from ._operation import MustWait, coroutine_of, of_loop
from ._workers import Workers


class Connection:
    """A connection whose methods are coroutines, with the arguments of `gridfold.Connection`'s."""

    def __init__(self, connection: _connection.Connection, workers: Workers) -> None:
        self._connection = connection
        self._workers = workers
        # The same with an engine for the loop.
        self._of_loop = copy.copy(connection)
        self._of_loop._engine = LoopEngine(connection._native, workers)

    def __repr__(self) -> str:
        return f"<gridfold.aio.Connection of {self._connection!r}>"

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(self._connection, name)
        coroutine = coroutine_of(method)

        @functools.wraps(method)
        async def call(*arguments: Any, **options: Any) -> Any:
            if coroutine is not None and are_small((*arguments, *options.values())):
                try:
                    return await of_loop(coroutine(self._of_loop, *arguments, **options))
                except MustWait:
                    pass
            return await self._workers.run(functools.partial(method, *arguments, **options))

        return call

    def group(self, keys: Any, **options: Any) -> Groups:
        """As `gridfold.Connection.group`, with `agg` and `quantile` as coroutines; not a coroutine
        itself."""
        return Groups(self, keys, options)

    def options(self, **options: Any) -> Connection:
        """As `gridfold.Connection.options`; not a coroutine."""
        return Connection(self._connection.options(**options), self._workers)

    async def close(self) -> None:
        """Closes the connection, and does not wait: calls in flight end as they would have, and
        then its threads do."""
        self._connection.close()
        self._workers.close()

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]],
                        error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        await self.close()


class Groups:
    """Values by their keys: what `Connection.group` returns."""

    def __init__(self, connection: Connection, keys: Any, options: dict[str, Any]) -> None:
        self._connection = connection
        self._keys = keys
        self._options = options

    async def agg(self, values: Any, statistics: Any, **options: Any) -> Any:
        """As `gridfold.Connection.group(keys).agg`."""
        return await self._connection.aggregate(self._keys, values, statistics, **self._options,
                                                **options)

    async def quantile(self, values: Any, q: Any, **options: Any) -> Any:
        """As `gridfold.Connection.group(keys).quantile`."""
        return await self._connection.quantile_by_key(self._keys, values, q, **self._options,
                                                      **options)


class Connecting:
    """What `connect` returns: to be awaited, or entered by `async with`."""

    def __init__(self, arguments: tuple[Any, ...], options: dict[str, Any],
                 concurrency: int) -> None:
        if concurrency < 1:
            raise ValueError("concurrency: must be at least 1")
        self._open = functools.partial(_connect.connect, *arguments, **options)
        self._concurrency = concurrency
        self._connection: Optional[Connection] = None

    def __await__(self) -> Generator[Any, None, Connection]:
        return self._connect().__await__()

    async def _connect(self) -> Connection:
        workers = Workers(self._concurrency)
        try:
            return Connection(await workers.run(self._open), workers)
        except BaseException:
            workers.close()
            raise

    async def __aenter__(self) -> Connection:
        self._connection = await self._connect()
        return self._connection

    async def __aexit__(self, kind: Optional[type[BaseException]],
                        error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        assert self._connection is not None
        await self._connection.close()


def connect(*arguments: Any, concurrency: int = 32, **options: Any) -> Connecting:
    """Opens a connection: `await` it, or use it in `async with`.

    `concurrency` bounds the threads, and with them the calls of large arrays that are with the
    server at a time. The other arguments are those of `gridfold.connect`.
    """
    return Connecting(arguments, options, concurrency)
