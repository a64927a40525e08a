#!/usr/bin/env python3
"""Measures the package: what BENCHMARKS.md shows.

    package_benchmark.py small HOST:PORT CALL_BENCHMARK
    package_benchmark.py large HOST:PORT CALL_BENCHMARK
    package_benchmark.py concurrent HOST:PORT
    package_benchmark.py local
    package_benchmark.py parts [LOG2_OF_ELEMENTS]
    package_benchmark.py device HOST:PORT

`small` is the sum of 4 KiB and `large` that of 1 GiB by the package, beside the C++ client's, which
the program call_benchmark measures; `concurrent` is ten thousand of the small ones at once in an event
loop; `local` is gf.local() beside NumPy; `parts` is the sum and mean of an array over four processes
beside Dask's own; `device` is the sum of 1 GiB on the server's GPU, in an array of CuPy's or PyTorch's,
beside its kernel; the server has --allow-regions. Turns alternate, and figures are medians of turns.
PYTHONPATH says where the package is.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time

import numpy as np

import gridfold as gf

TURNS = 15


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def alternate(calls, turns=TURNS):
    """The median seconds of each call, by its name."""
    times = {name: [] for name in calls}
    for turn in range(turns + 1):
        for name, call in calls.items():
            taken = seconds(call)
            if turn:  # The first is to warm up.
                times[name].append(taken)
    return {name: statistics.median(taken) for name, taken in times.items()}


def seconds_once_forgotten(call):
    """The seconds of a call whose last answer Dask has let go: until then it would be the answer."""
    time.sleep(1)
    return seconds(call)


def show(name, value, reference):
    print(f"{name:24} {value * 1e3:10.3f} ms {reference / value:8.2f} of the reference's speed",
          flush=True)


def measure_calls(target, program, benchmark, elements, count):
    """The sum of so many float32, in turns of `count` calls, beside the program's benchmark whose
    name matches."""
    gpu = gf.connect(target, channels=4)
    array = np.full(elements, 0.5, np.float32)
    gpu.sum(array)
    own, cpp = [], []
    for _ in range(TURNS):
        own.append(seconds(lambda: [gpu.sum(array) for _ in range(count)]) / count)
        answer = subprocess.run(
            [program, target, f"--benchmark_filter={benchmark}", "--benchmark_min_time=0.4",
             "--benchmark_format=json"], check=True, capture_output=True, text=True)
        row = json.loads(answer.stdout)["benchmarks"][0]
        cpp.append(row["real_time"] * {"ns": 1e-9, "ms": 1e-3}[row["time_unit"]])
    print(f"gpu.sum {statistics.median(own) * 1e6:.1f} us, C++ {statistics.median(cpp) * 1e6:.1f} "
          f"us: {statistics.median(own) / statistics.median(cpp):.3f} times, at best "
          f"{min(own) / min(cpp):.3f} times")


def measure_concurrent(target):
    count, array = 10_000, np.full(1024, 0.5, np.float32)

    async def work():
        async with gf.aio.connect(target) as gpu:
            elapsed, used = [], []
            for turn in range(TURNS + 1):
                start, start_of_use = time.perf_counter(), time.process_time()
                await asyncio.gather(*(gpu.sum(array) for _ in range(count)))
                if turn:  # The first is to warm up.
                    elapsed.append(time.perf_counter() - start)
                    used.append(time.process_time() - start_of_use)
            return statistics.median(elapsed), statistics.median(used)

    seconds_of_all, of_processors = asyncio.run(work())
    print(f"{count:,} gpu.sum at once: {count / seconds_of_all:,.0f} a second, "
          f"{of_processors / count * 1e6:.0f} us of the client's processors each")


def measure_local():
    array = np.random.default_rng(1).standard_normal(2**26, dtype=np.float32)
    local = gf.local()
    for name, calls in {
            "sum": (lambda: np.sum(array), lambda: local.sum(array)),
            "sum, float64": (lambda: np.sum(array, dtype=np.float64), lambda: local.sum(array)),
            "var": (lambda: np.var(array), lambda: local.var(array)),
            "histogram, range given": (lambda: np.histogram(array, 100, (-4, 4)),
                                       lambda: local.histogram(array, 100, (-4, 4))),
            "histogram": (lambda: np.histogram(array, 100), lambda: local.histogram(array, 100)),
    }.items():
        times = alternate(dict(zip(("NumPy", "local"), calls)), 7)
        show(f"NumPy {name}", times["NumPy"], times["NumPy"])
        show(f"gf.local() {name}", times["local"], times["NumPy"])


def measure_device(target):
    gpu = gf.connect(target)
    try:
        import cupy
        array = cupy.ones(2**28, cupy.float32)
    except ImportError:
        import torch
        array = torch.ones(2**28, device="cuda")
    first = seconds(lambda: gpu.sum(array))
    calls, kernels = [], []
    for _ in range(10 * TURNS):
        start = time.perf_counter()
        execution = gpu.reduce(array, ["sum"]).execution
        calls.append(time.perf_counter() - start)
        kernels.append(execution.kernel_time_s)
    call, kernel = statistics.median(calls), statistics.median(kernels)
    print(f"{type(array).__module__}, 1 GiB {execution.transport}: call {call * 1e3:.3f} ms, "
          f"kernel {kernel * 1e3:.3f} ms, {(call - kernel) * 1e3:.3f} ms more; the first call "
          f"{first * 1e3:.1f} ms", flush=True)


def measure_parts(log2_of_elements):
    import dask.array as da
    import gridfold.dask as gd
    from dask.distributed import Client, LocalCluster, wait

    count = 2**log2_of_elements
    with LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster, \
            Client(cluster) as client:
        results = {}
        for chunk in (count // 16, count // 50 + 1):
            array = None  # Its chunks go before others come.
            array = client.persist(_waves(da, count, chunk))
            wait(array)
            results[chunk] = {
                name: (call.compute().item(), statistics.median(
                    [seconds_once_forgotten(call.compute) for _ in range(3)]))
                for name, call in {"dask sum": array.sum(), "gridfold sum": gd.sum(array),
                                   "dask mean": array.mean(), "gridfold mean": gd.mean(array)
                                   }.items()}
        for name in ("dask sum", "gridfold sum", "dask mean", "gridfold mean"):
            values = [result[name] for result in results.values()]
            print(f"{name:14} " + ", ".join(f"{value!r} in {taken:.3f} s"
                                            for value, taken in values), flush=True)


def _waves(da, count, chunk):
    """float32 numbers whose sum is small beside them: the same for each chunk size."""
    def of_block(block_info=None):
        first, end = block_info[None]["array-location"][0]
        block = np.empty(end - first, np.float32)
        for begin in range(0, end - first, 2**20):  # Nothing else is large.
            part = block[begin:begin + 2**20]
            start = first + begin
            part[...] = np.sin(np.arange(start, start + len(part), dtype=np.float64))
        return block

    sizes = [min(chunk, count - first) for first in range(0, count, chunk)]
    return da.map_blocks(of_block, chunks=(tuple(sizes),), dtype=np.float32)


if __name__ == "__main__":
    if sys.argv[1:2] == ["small"] and len(sys.argv) == 4:
        measure_calls(*sys.argv[2:], "ReduceSmallArray/.*threads:1$", 2**10, 2000)
    elif sys.argv[1:2] == ["large"] and len(sys.argv) == 4:
        measure_calls(*sys.argv[2:], "ReduceLargeArray/", 2**28, 1)
    elif sys.argv[1:2] == ["concurrent"] and len(sys.argv) == 3:
        measure_concurrent(sys.argv[2])
    elif sys.argv[1:] == ["local"]:
        measure_local()
    elif sys.argv[1:2] == ["device"] and len(sys.argv) == 3:
        measure_device(sys.argv[2])
    elif sys.argv[1:2] == ["parts"]:
        measure_parts(int(sys.argv[2]) if len(sys.argv) > 2 else 31)
    else:
        sys.exit(__doc__)
