#!/usr/bin/python3
"""The CPU engine beside NumPy: same data, same machine, same run.

    numpy_benchmark.py PATH/TO/operation_benchmark [LOG2_OF_THE_ELEMENTS]

Prints two tables of the least milliseconds of several runs: exact sums beside numpy.sum, and prefix sums
and histograms of uniform numbers beside numpy.cumsum and numpy.histogram, with plain copies, which no prefix
sum can outrun. NumPy uses one thread; the engine has columns for one thread and for all. Both write prefix
sums of the elements' type into memory that was written before, so that neither waits for the system to give
pages, and both ask it for huge ones. "rounded alike" says whether NumPy's sum,
of float32 elements a float32, is the exact sum rounded to the type. Needs NumPy.
"""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np

ROUNDS = 4  # In each of which NumPy and the engine take turns.
WARM_UPS = 1
RUNS = 6
HISTOGRAM_FRACTION = 16  # Of the elements: NumPy takes long.


def random_bits(rng, count, dtype, finite):
    unsigned = np.uint32 if dtype == np.float32 else np.uint64
    bits = rng.integers(0, np.iinfo(unsigned).max, count, unsigned, endpoint=True)
    if finite:
        infinity = np.array(np.inf, dtype).view(unsigned)
        lowest_exponent_bit = np.array(np.finfo(dtype).tiny, dtype).view(unsigned)
        bits[(bits & infinity) == infinity] ^= lowest_exponent_bit
    return bits.view(dtype)


def data_sets(count, dtype):
    """Name and array, one at a time."""
    rng = np.random.default_rng(1)
    yield "uniform", rng.random(count, dtype)
    normal = rng.standard_normal(count, dtype)
    yield "normal", normal
    normal.sort()
    yield "sorted", normal
    exponents = rng.integers(-60, 60, count, endpoint=True, dtype=np.int32)
    yield "spread over 2^+-60", np.ldexp(rng.random(count, dtype) - dtype(0.5), exponents)
    yield "random bits, finite", random_bits(rng, count, dtype, finite=True)
    yield "random bits", random_bits(rng, count, dtype, finite=False)


def time_numpy(operation):
    """Least milliseconds and the answer."""
    times = []
    for run in range(WARM_UPS + RUNS):
        begin = time.perf_counter()
        answer = operation()
        if run >= WARM_UPS:
            times.append((time.perf_counter() - begin) * 1e3)
    return min(times), answer


def time_engine(program, operation, dtype, path, threads):
    """Least milliseconds and the answer."""
    output = subprocess.run([program, operation, np.dtype(dtype).name, path, str(threads)],
                            check=True, capture_output=True, text=True).stdout.split()
    return float(output[0]), float(output[1])


class Peers:
    """NumPy and the engine in turns: least milliseconds, and the last answers."""

    def __init__(self, program, operation, array, by_numpy):
        self.numpy_ms = self.one_ms = self.all_ms = float("inf")
        with tempfile.NamedTemporaryFile(dir=os.environ.get("TMPDIR", "/dev/shm")) as file:
            array.tofile(file)
            file.flush()
            for _ in range(ROUNDS):
                ms, self.of_numpy = time_numpy(by_numpy)
                self.numpy_ms = min(self.numpy_ms, ms)
                ms, self.of_engine = time_engine(program, operation, array.dtype, file.name, 1)
                self.one_ms = min(self.one_ms, ms)
                ms, _ = time_engine(program, operation, array.dtype, file.name, os.cpu_count())
                self.all_ms = min(self.all_ms, ms)


def compare_sums(program, count):
    threads = os.cpu_count()
    print(f"| data | numpy.sum | exact, 1 thread | exact, {threads} threads | rounded alike |")
    print("|---|---:|---:|---:|---|")
    for dtype in (np.float32, np.float64):
        for name, array in data_sets(count, dtype):
            peers = Peers(program, "sum", array, array.sum)
            alike = np.array_equal(dtype(peers.of_engine), peers.of_numpy, equal_nan=True)
            print(f"| {np.dtype(dtype).name} {name} | {peers.numpy_ms:.1f} | {peers.one_ms:.1f} "
                  f"| {peers.all_ms:.1f} | {'yes' if alike else 'no'} |", flush=True)


def uniform(count, dtype):
    rng = np.random.default_rng(1)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(-100, 100, count, dtype)
    return rng.random(count, dtype)


def scans_copies_and_histograms(count):
    """Operation, array, and what NumPy does."""
    for dtype in (np.float32, np.float64, np.int8, np.int32, np.int64):
        array = uniform(count, dtype)
        sums = np.zeros_like(array)
        yield "scan", array, lambda: np.cumsum(array, dtype=dtype, out=sums)
        yield "copy", array, lambda: np.copyto(sums, array)
    for dtype in (np.float32, np.float64):
        array = uniform(count, dtype)
        for samples in (array[: count // HISTOGRAM_FRACTION], array):
            yield "histogram", samples, lambda: np.histogram(samples, 1024, (0, 1))[0]


def compare_others(program, count):
    threads = os.cpu_count()
    print(f"| operation | NumPy | 1 thread | {threads} threads | NumPy's time over that of all |")
    print("|---|---:|---:|---:|---:|")
    for operation, array, by_numpy in scans_copies_and_histograms(count):
        peers = Peers(program, operation, array, by_numpy)
        if operation == "histogram" and peers.of_engine != peers.of_numpy[0]:
            raise RuntimeError(f"{peers.of_engine} samples in the first bin, not {peers.of_numpy[0]}")
        if operation == "scan" and np.issubdtype(array.dtype, np.integer) and peers.of_engine != peers.of_numpy[-1]:
            raise RuntimeError(f"a sum of {peers.of_engine}, not {peers.of_numpy[-1]}")
        print(f"| {operation}, {array.dtype.name}, 2^{array.size.bit_length() - 1} "
              f"| {peers.numpy_ms:.1f} | {peers.one_ms:.1f} | {peers.all_ms:.1f} "
              f"| {peers.numpy_ms / peers.all_ms:.1f} |", flush=True)


def main():
    program = sys.argv[1]
    count = 1 << int(sys.argv[2] if len(sys.argv) > 2 else 26)
    print(f"{count} elements, NumPy {np.__version__}, {os.cpu_count()} processors; milliseconds")
    np.seterr(all="ignore")
    compare_sums(program, count)
    print()
    compare_others(program, count)


if __name__ == "__main__":
    main()
