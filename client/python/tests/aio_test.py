"""Connections for asyncio."""

import asyncio
import gc
import threading
import time
import unittest
import warnings
import weakref
from unittest import mock

import numpy as np

from package_case import PackageTest, gf, run_python
from process_test import SilentServer
from withholding_server import WithholdingServer
import soak  # noqa: E402

# Every operation, with arguments that `make` makes: of NumPy's arrays or of the server's.
OPERATIONS = {
    "sum": lambda gpu, x, y: gpu.sum(x),
    "nansum": lambda gpu, x, y: gpu.nansum(x, axis=0),
    "max": lambda gpu, x, y: gpu.max(x, keepdims=True),
    "argmin": lambda gpu, x, y: gpu.argmin(x, axis=1),
    "var": lambda gpu, x, y: gpu.var(x, ddof=0.5),
    "reduce": lambda gpu, x, y: gpu.reduce(x, ["mean", "max"], axis=1),
    "cumsum": lambda gpu, x, y: gpu.cumsum(x, axis=0),
    "move_mean": lambda gpu, x, y: gpu.move_mean(x, 2),
    "histogram": lambda gpu, x, y: gpu.histogram(x, 5),
    "histogram by a rule": lambda gpu, x, y: gpu.histogram(x, "scott"),
    "histogram2d": lambda gpu, x, y: gpu.histogram2d(x, y, 3),
    "quantile": lambda gpu, x, y: gpu.quantile(x, [0.1, 0.9], axis=0),
    "percentile": lambda gpu, x, y: gpu.percentile(x, 30),
    "median": lambda gpu, x, y: gpu.median(x),
    "topk": lambda gpu, x, y: gpu.topk(x, 2),
    "vdot": lambda gpu, x, y: gpu.vdot(x, y),
    # Elements on the server are brought here, for which the loop does not wait.
    "cov": lambda gpu, x, y: gpu.cov(x),
    "histogram with weights": lambda gpu, x, y: gpu.histogram(x, 3, weights=y),
}
OF_ARRAYS_HERE = {
    "where": lambda gpu, x, y: gpu.mean(x, axis=0, where=x > 2),
    "average": lambda gpu, x, y: gpu.average(x, weights=y),
    "dot": lambda gpu, x, y: gpu.dot(x[0], y[0]),
    "average along": lambda gpu, x, y: gpu.average(x, axis=0, weights=[1.0, 2.0, 3.0, 4.0]),
    "aggregate": lambda gpu, x, y: gpu.aggregate([[0, 1, 0]] * 4, x, ["mean", "median"]),
    "quantile_by_key": lambda gpu, x, y: gpu.quantile_by_key([[0, 1, 0]] * 4, x, 0.5),
    "binned_statistic": lambda gpu, x, y: gpu.binned_statistic(x, y, "max", 3),
    "histogramdd": lambda gpu, x, y: gpu.histogramdd(x, 2),
    "binned_statistic_dd": lambda gpu, x, y: gpu.binned_statistic_dd(x, x[:, 0], "sum", 2),
}


# Of small arrays large ones, each in another argument of the engine; and what the answers add up to.
MADE_LARGE = [
    (lambda gpu: gpu.sum(np.ones(30_000, "i1"), dtype="f8"), 30_000),
    (lambda gpu: gpu.mean(np.ones((200, 200), "i1"), 0, where=[[True]] * 200), 200),
    (lambda gpu: _first(gpu.histogramdd(np.ones((4000, 3), "f4"), [[0, 2]] * 3)), 4000),
]


async def _first(answer):
    return (await answer)[0]


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
                for name in ("sums", "_native"):
                    with self.assertRaises(AttributeError):
                        getattr(gpu, name)
            closed = await gf.aio.connect(self.server.target)
            await closed.close()
            async with await gf.aio.connect(self.server.target) as left:
                self.assertEqual(await left.sum([1, 2]), 3)
            for ended in (gpu, closed, left):
                for array in ([1], np.ones(10**5)):
                    with self.assertRaises(gf.FailedPreconditionError):
                        await ended.sum(array)

        asyncio.run(work())
        with self.assertRaisesRegex(ValueError, "concurrency: must be at least 1"):
            gf.aio.connect(self.server.target, concurrency=0)

    def test_operations_are_those_that_wait(self):
        x = np.random.default_rng(5).normal(size=(4, 3))
        y = np.abs(x[::-1])

        async def work():
            async with gf.aio.connect(self.server.target) as gpu:
                threads = threading.active_count()  # One has connected.
                for name, ask in {**OPERATIONS, **OF_ARRAYS_HERE}.items():
                    with self.subTest(name):
                        self.assert_equal(await ask(gpu, x, y), ask(self.gpu, x, y))
                self.assertLessEqual(threading.active_count(), threads)
                kept = await gpu.put(x), await gpu.put(y)
                for name, ask in OPERATIONS.items():
                    with self.subTest(name, of="arrays on the server"):
                        self.assert_equal(await ask(gpu, *kept), ask(self.gpu, *kept))
                for one in kept:
                    await gpu.delete(one)
                with self.assertRaises(gf.NotFoundError):
                    await gpu.sum(kept[0])

        asyncio.run(work())

    def assert_equal(self, actual, expected):
        if isinstance(expected, dict):
            expected, actual = list(expected.values()), list(actual.values())
        if isinstance(expected, (tuple, list)):
            self.assertEqual(len(actual), len(expected))
            for one, other in zip(actual, expected):
                self.assert_equal(one, other)
        else:
            self.assert_same(actual, expected)

    def test_elements_on_the_server_are_not_awaited_by_the_loop(self):
        read, threads = gf.ResidentArray.__array__, []

        def watched(array, *arguments, **options):
            elements = read(array, *arguments, **options)
            threads.append(threading.get_ident())
            return elements

        async def work():
            async with gf.aio.connect(self.server.target) as gpu:
                kept = await gpu.put([1.0, 2.0, 4.0])
                self.assert_same(await gpu.cov(kept, [3.0, 5.0, 9.0]),
                                 self.gpu.cov([1.0, 2.0, 4.0], [3.0, 5.0, 9.0]))
                counts, _ = await gpu.histogram(kept, 2, weights=kept)
                self.assertEqual(list(counts), [3.0, 4.0])

        with mock.patch.object(gf.ResidentArray, "__array__", watched):
            asyncio.run(work())
        self.assertTrue(threads)
        self.assertNotIn(threading.get_ident(), threads)

    def test_every_operation_is_known(self):
        operations = {name for name in dir(gf.Connection) if not name.startswith("_")
                      and hasattr(getattr(gf.Connection, name), "_coroutine")}
        others = {"array", "arrays", "close", "delete", "group", "info", "is_serving", "options",
                  "put"}
        self.assertEqual({name for name in dir(gf.Connection) if not name.startswith("_")},
                         operations | others)

    def test_large_arrays(self):
        large, edge = np.ones(100_000), np.ones(48 * 1024 // 8)

        async def work():
            async with gf.aio.connect(self.server.target, concurrency=2) as gpu:
                self.assertEqual(await gpu.sum(edge), edge.size)
                sums = await asyncio.gather(*(gpu.sum(large) for _ in range(8)))
                self.assertEqual(sums, [large.size] * 8)
                # Two of which each alone would be a call that nobody waits for.
                self.assertEqual(await gpu.vdot(edge, edge), edge.size)
                self.assertEqual((await gpu.histogram2d(edge[:5000], edge[:5000] * 2))[0].sum(),
                                 5000)
                # What an operation makes of small ones may be large.
                for ask, expected in MADE_LARGE:
                    self.assertEqual(np.sum(await ask(gpu)), expected)
                wide = np.zeros(30_000, "?")
                self.assertEqual(await gpu.mean(wide, where=True), 0)
                self.assertEqual(await gpu.sum(list(range(50_000))), sum(range(50_000)))

        asyncio.run(work())

    def test_what_may_take_long_to_be_an_array_is_made_one_elsewhere(self):
        class Far:
            def __array__(self, dtype=None, copy=None):
                threads.append(threading.get_ident())
                return np.arange(4.0)

        async def work():
            async with gf.aio.connect(self.server.target) as gpu:
                self.assertEqual(await gpu.sum(Far()), 6)
                self.assertEqual(await gpu.vdot([1.0] * 4, Far()), 6)
                self.assertEqual(await gpu.average([1.0] * 4, weights=Far()), 1)

        threads = []
        asyncio.run(work())
        self.assertGreaterEqual(len(threads), 3)
        self.assertNotIn(threading.get_ident(), threads)

    def test_what_has_no_thread(self):
        edge = np.ones(48 * 1024 // 8)
        kept = gf.ResidentArray(self.gpu, "kept", "f8", (10**6,))
        alone = [lambda gpu: gpu.sum(edge), lambda gpu: gpu.cumsum(edge[1:], axis=0),
                 lambda gpu: gpu.sum([1.5] * 6144), lambda gpu: gpu.max(kept),
                 lambda gpu: gpu.mean(edge[:100], where=edge[:100] > 0),
                 lambda gpu: gpu.group(edge[:9].astype(int)).agg(edge[:9], "max")]
        threaded = [lambda gpu: gpu.sum(np.append(edge, 1)), lambda gpu: gpu.vdot(edge, edge[::-1]),
                    lambda gpu: gpu.sum([1.5] * 6145), lambda gpu: gpu.info(),
                    *(ask for ask, _ in MADE_LARGE)]

        async def work(server):
            gpu = await gf.aio.connect(server.target, concurrency=1)
            calls = [asyncio.ensure_future(ask(gpu)) for ask in alone]
            while server.in_flight_max < len(alone):
                await asyncio.sleep(0.01)
            calls += [asyncio.ensure_future(ask(gpu)) for ask in threaded]
            await asyncio.sleep(0.5)
            self.assertEqual(server.in_flight_max, len(alone) + 1)
            self.assertFalse(any(call.done() for call in calls))
            for call in calls:
                call.cancel()

        with WithholdingServer(10**6) as server:
            asyncio.run(work(server))

    def test_calls_of_threads_are_in_flight_in_all_of_them(self):
        async def work(server):
            gpu = await gf.aio.connect(server.target, concurrency=3)
            calls = [asyncio.ensure_future(gpu.info()) for _ in range(5)]
            end = time.monotonic() + 30
            while server.in_flight_max < 3 and time.monotonic() < end:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            for call in calls:
                call.cancel()

        with WithholdingServer(10**6) as server:
            asyncio.run(work(server))
            self.assertEqual(server.in_flight_max, 3)

    def test_threads_that_wait_keep_no_arrays(self):
        async def work():
            async with gf.aio.connect(self.server.target) as gpu:
                large = np.ones(100_000)
                kept = weakref.ref(large)
                await gpu.sum(large)
                del large
                end = time.monotonic() + 30
                while kept() is not None and time.monotonic() < end:
                    await asyncio.sleep(0.01)
                return kept()

        self.assertIsNone(asyncio.run(work()))

    def test_ten_thousand_are_in_flight_at_once(self):
        count = 10_000

        async def work(target):
            before = threading.active_count()
            async with gf.aio.connect(target) as gpu:
                sums = await asyncio.gather(*(gpu.sum([i, 0.5]) for i in range(count)))
                self.assertLess(threading.active_count() - before, 4)
            return sums

        with WithholdingServer(count) as server:
            self.assertEqual(asyncio.run(work(server.target)), [42.0] * count)
            self.assertEqual(server.in_flight_max, count)

    def test_ten_thousand_answers_are_those_of_their_calls(self):
        count = 10_000

        async def work():
            async with gf.aio.connect(self.server.target) as gpu:
                return await asyncio.gather(*(gpu.sum([i, 1]) for i in range(count)))

        self.assertEqual(asyncio.run(work()), list(range(1, count + 1)))

    def test_more_than_the_servers_queue_has_room_for(self):
        async def work():
            async with gf.aio.connect(self.server.target, channels=2) as gpu:
                kept = await gpu.put(np.ones(2**20, np.float32))
                sums = await asyncio.gather(*(gpu.sum(kept) for _ in range(2000)))
                await gpu.delete(kept)
                return sums

        self.assertEqual(asyncio.run(work()), [2**20] * 2000)

    def test_a_cancelled_task_gives_up_its_call(self):
        async def work(server):
            gpu = await gf.aio.connect(server.target)
            calls = [asyncio.ensure_future(gpu.sum([1.5])) for _ in range(100)]
            while server.in_flight_max < len(calls):
                await asyncio.sleep(0.01)
            start = time.monotonic()
            for call in calls[:60]:
                call.cancel()
            while server.cancelled < 60:
                await asyncio.sleep(0.001)
            self.assertLess(time.monotonic() - start, 1)
            for call in calls[:60]:
                with self.assertRaises(asyncio.CancelledError):
                    await call
            self.assertFalse(any(call.done() for call in calls[60:]))
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(gpu.max([1.5]), 0.1)
            with self.assertRaises(gf.DeadlineExceededError):
                await gpu.options(timeout=0.1).sum([1.5])

        with WithholdingServer(10**6) as server:
            asyncio.run(work(server))

    def test_the_answers_of_cancelled_tasks_are_in_nobodys_way(self):
        async def work(server):
            failures = []
            asyncio.get_running_loop().set_exception_handler(
                lambda _, context: failures.append(context))
            async with gf.aio.connect(server.target) as gpu:
                calls = [asyncio.ensure_future(gpu.sum([1.5])) for _ in range(50)]
                while server.in_flight_max < len(calls):
                    await asyncio.sleep(0.01)
                for call in calls[::2]:
                    call.cancel()
                calls = [*calls[1::2], gpu.sum([1.5])]
                self.assertEqual(await asyncio.wait_for(asyncio.gather(*calls), 30), [42] * 26)
            return failures

        with WithholdingServer(51) as server:
            self.assertEqual(asyncio.run(work(server)), [])

    def test_a_cancelled_task_gives_up_a_call_of_a_large_array(self):
        async def work(target):
            gpu = await gf.aio.connect(target, connect_timeout=0, concurrency=1)
            large = np.ones(100_000)
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(gpu.sum(large), 0.3)
            # The one thread is free again.
            with self.assertRaises(gf.DeadlineExceededError):
                await gpu.options(timeout=0.1).sum(large)

        start = time.monotonic()
        with SilentServer() as silent:
            asyncio.run(work(silent.target))
        self.assertLess(time.monotonic() - start, 3)

    def test_calls_in_flight_end_as_they_would_have_when_it_closes(self):
        async def work(server):
            gpu = await gf.aio.connect(server.target)
            calls = [asyncio.ensure_future(gpu.sum([1.5])) for _ in range(9)]
            while server.in_flight_max < 9:
                await asyncio.sleep(0.01)
            other = await gf.aio.connect(server.target)
            last = gpu.options(timeout=60)
            await gpu.close()
            with self.assertRaises(gf.FailedPreconditionError):
                await gpu.sum([1.5])
            del gpu
            gc.collect()
            self.assertEqual(await last.sum([1.5]), 42)
            self.assertEqual(await asyncio.gather(*calls), [42] * 9)
            await other.close()

        with WithholdingServer(10) as server:
            asyncio.run(work(server))

    def test_a_loop_after_another(self):
        async def work(gpu=None):
            gpu = gpu or await gf.aio.connect(self.server.target)
            self.assertEqual(await gpu.sum([1, 2]), 3)
            return gpu

        gpu = asyncio.run(work())
        self.assertEqual(gpu, asyncio.run(work(gpu)))

    def test_loops_of_several_threads(self):
        async def work():
            async with gf.aio.connect(self.server.target) as gpu:
                return await asyncio.gather(*(gpu.sum([i, 1]) for i in range(500)))

        found = []
        threads = [threading.Thread(target=lambda: found.append(asyncio.run(work())))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [list(range(1, 501))] * 4)

    def test_warnings_are_of_the_line_that_calls(self):
        async def work():
            async with gf.aio.connect(self.server.target) as gpu:
                return await gpu.nanmean([np.nan])

        for ask in (lambda: asyncio.run(work()), lambda: self.gpu.nanmean([np.nan])):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                ask()
            self.assertEqual([one.filename for one in caught], [__file__])

    def test_the_end_gives_up_calls_in_flight(self):
        with WithholdingServer(10**6) as server:
            result = run_python("""
import asyncio, sys, time, gridfold as gf
async def work():
    gpu = await gf.aio.connect(sys.argv[1])
    for _ in range(1000):
        asyncio.ensure_future(gpu.sum([1.5]))
    await asyncio.sleep(1)
    print(time.monotonic(), flush=True)
    sys.exit(0)
if sys.argv[2] == "run":
    asyncio.run(work())
loop = asyncio.new_event_loop()
keep = loop.create_task(work())
loop.run_forever()
""", server.target, self.id_of_end)
            end = time.monotonic()
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertGreaterEqual(server.in_flight_max, 1000)
            self.assertLess(end - float(result.stdout), 1.5)

    id_of_end = "run"

    def test_the_end_of_a_loop_that_nobody_closes(self):
        self.id_of_end = "forever"
        self.test_the_end_gives_up_calls_in_flight()

    def test_twenty_thousand_calls_take_no_more_memory(self):
        async def make(gpu, count):
            for _ in range(count // 500):
                await asyncio.gather(*(gpu.sum([i, 1.5]) for i in range(500)))

        async def work():
            async with gf.aio.connect(self.server.target) as gpu:
                await make(gpu, 5000)
                before = soak.resident_kib()
                await make(gpu, 20_000)
                return soak.resident_kib() - before

        self.assertLess(asyncio.run(work()), soak.CLIENT_KIB_MAX)


if __name__ == "__main__":
    unittest.main()
