"""Connections for asyncio."""

import asyncio
import threading
import time
import unittest

import numpy as np

from package_case import PackageTest, gf
from process_test import SilentServer


class AsyncTest(PackageTest):
    def test_calls(self):
        async def work():
            async with gf.aio.connect(self.server.target) as gpu:
                self.assertEqual(await gpu.sum([1, 2]), 3)
                counts, _ = await gpu.histogram([1, 2, 2], bins=2)
                self.assertEqual(list(counts), [1, 2])
                self.assertEqual((await gpu.info()).engine, self.server.engine)
                self.assertEqual(await gpu.options(timeout=60).max([4]), 4)
                with self.assertRaises(gf.OutOfRangeError):
                    await gpu.sum(np.array([2**63 - 1, 1]))
                with self.assertRaises(AttributeError):
                    gpu.sums
            opened = await gf.aio.connect(self.server.target)
            await opened.close()
            with self.assertRaises(gf.FailedPreconditionError):
                await opened.sum([1])

        asyncio.run(work())

    def test_ten_thousand_at_once_have_no_thread_each(self):
        count, concurrency = 10_000, 8
        threads_max = 0

        async def work():
            nonlocal threads_max
            before = threading.active_count()
            async with gf.aio.connect(self.server.target, concurrency=concurrency) as gpu:
                calls = asyncio.gather(*(gpu.sum([i, 1]) for i in range(count)))
                while not calls.done():
                    threads_max = max(threads_max, threading.active_count() - before)
                    await asyncio.sleep(0.02)
                return calls.result()

        self.assertEqual(asyncio.run(work()), list(range(1, count + 1)))
        self.assertTrue(0 < threads_max <= concurrency, threads_max)

    def test_a_cancelled_task_gives_up_its_call(self):
        async def work(target):
            gpu = await gf.aio.connect(target, connect_timeout=0, concurrency=1)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(gpu.sum([1]), 0.3)
            # The one thread is free again.
            with self.assertRaises(gf.DeadlineExceededError):
                await gpu.options(timeout=0.1).sum([1])

        start = time.monotonic()
        with SilentServer() as silent:
            asyncio.run(work(silent.target))
        self.assertLess(time.monotonic() - start, 3)


if __name__ == "__main__":
    unittest.main()
