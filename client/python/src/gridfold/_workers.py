"""Threads that make calls for asyncio."""

from __future__ import annotations

import asyncio
import queue
import threading
from concurrent.futures import Future
from typing import Any, Callable

from . import _native
from ._errors import FailedPreconditionError


class Workers:
    """Up to `count` threads, which begin when there is something to do.

    They are daemons: the end of the interpreter gives up their calls and does not wait for more.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = threading.Lock()
        self._threads = 0
        self._is_closed = False
        self._idle = threading.Semaphore(0)
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()

    async def run(self, call: Callable[[], Any]) -> Any:
        """What `call` returns in one of the threads. It is given up where the task is cancelled."""
        future, cancellation = self.submit(call)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    def submit(self, call: Callable[[], Any]) -> tuple[Future[Any], _native.Cancellation]:
        """Runs `call` in one of the threads; the cancellation gives it up.

        FailedPreconditionError after `close`: no thread would take the call.
        """
        future: Future[Any] = Future()
        cancellation = _native.Cancellation()
        with self._lock:
            if self._is_closed:
                raise FailedPreconditionError("the connection is closed")
            self._tasks.put((future, cancellation, call))
            if not self._idle.acquire(blocking=False) and self._threads < self._count:
                self._threads += 1
                threading.Thread(target=self._work, name="gridfold", daemon=True).start()
        return future, cancellation

    def close(self) -> None:
        """Ends the threads once they have done what was submitted."""
        with self._lock:
            for _ in range(self._threads):
                self._tasks.put(None)
            self._is_closed = True

    def _work(self) -> None:
        while True:
            task = self._tasks.get()
            if task is None:
                return
            _run(*task)
            del task
            self._idle.release()


def _run(future: Future[Any], cancellation: _native.Cancellation, call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    cancellation.use()
    try:
        future.set_result(call())
    except BaseException as error:
        future.set_exception(error)
    finally:
        _native.Cancellation.use_none()
