#!/usr/bin/python3
"""Exact sums of the CPU engine beside NumPy's pairwise sums: same data, same machine, same run.

    numpy_benchmark.py PATH/TO/exact_sum_benchmark [LOG2_OF_THE_ELEMENTS]

Prints a table: the least milliseconds of several runs of numpy.sum, which uses one thread, and of
the engine with one thread and with all. "rounded alike" says whether NumPy's sum, of float32 elements a float32, is the
exact sum rounded to the type. Needs NumPy.
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


def time_numpy(array):
    """Least milliseconds and the sum."""
    times = []
    for run in range(WARM_UPS + RUNS):
        begin = time.perf_counter()
        total = array.sum()
        if run >= WARM_UPS:
            times.append((time.perf_counter() - begin) * 1e3)
    return min(times), total


def time_engine(program, dtype, path, threads):
    """Least milliseconds and the sum."""
    output = subprocess.run([program, np.dtype(dtype).name, path, str(threads)], check=True,
                            capture_output=True, text=True).stdout.split()
    return float(output[0]), float(output[1])


def main():
    program = sys.argv[1]
    count = 1 << int(sys.argv[2] if len(sys.argv) > 2 else 26)
    threads = os.cpu_count()
    print(f"{count} elements, NumPy {np.__version__}, {threads} processors; milliseconds")
    print(f"| data | numpy.sum | exact, 1 thread | exact, {threads} threads | rounded alike |")
    print("|---|---:|---:|---:|---|")
    np.seterr(all="ignore")
    for dtype in (np.float32, np.float64):
        for name, array in data_sets(count, dtype):
            with tempfile.NamedTemporaryFile(dir=os.environ.get("TMPDIR", "/dev/shm")) as file:
                array.tofile(file)
                file.flush()
                numpy_ms = one_ms = all_ms = float("inf")
                for _ in range(ROUNDS):
                    ms, total = time_numpy(array)
                    numpy_ms = min(numpy_ms, ms)
                    ms, exact = time_engine(program, dtype, file.name, 1)
                    one_ms = min(one_ms, ms)
                    ms, _ = time_engine(program, dtype, file.name, threads)
                    all_ms = min(all_ms, ms)
            alike = np.array_equal(dtype(exact), total, equal_nan=True)
            print(f"| {np.dtype(dtype).name} {name} | {numpy_ms:.1f} | {one_ms:.1f} | {all_ms:.1f} "
                  f"| {'yes' if alike else 'no'} |", flush=True)


if __name__ == "__main__":
    main()
