#!/usr/bin/env python3
"""Reduces resident arrays along every set of their axes, and views of them, beside the whole of them.

  GRIDFOLD_PYTHON_STUBS=build/release/client/python_stubs client/shape_benchmark/axes_benchmark.py \\
      --server build/release/server/gridfold_server --engine cuda

Prints the least `kernel_time` of some calls for each set, with what it is of the time of the whole array, as a
table; of a view, whose elements may be fewer, with what its rate is of the whole's. --small asks of arrays of a few
KiB, to see that it works.
"""

import argparse
import itertools
import math
import os
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import served  # noqa: E402
import server_process  # noqa: E402

CALLS = 4
SHAPES = [(32, 256, 56, 56), (1024, 512, 512), (64, 64, 256, 256)]
SMALL_SHAPES = [(2, 4, 6, 6), (8, 8, 8)]
STATISTICS = [("sum",), ("mean", "variance")]

# Of matrices: the slices of a view, the order of its dimensions, and the axes of its reductions.
EVERY = slice(None)
VIEWS = {
    "[::2]": ((slice(None, None, 2), EVERY), (0, 1)),
    "[:, ::2]": ((EVERY, slice(None, None, 2)), (0, 1)),
    "[:, ::16]": ((EVERY, slice(None, None, 16)), (0, 1)),
    "[:, 1:-1]": ((EVERY, slice(1, -1)), (0, 1)),
    "[:, 8:-8]": ((EVERY, slice(8, -8)), (0, 1)),
    "[8:-8, 8:40]": ((slice(8, -8), slice(8, 40)), (0, 1)),
    "[::-1, ::-1]": ((slice(None, None, -1), slice(None, None, -1)), (0, 1)),
    ".T": ((EVERY, EVERY), (1, 0)),
    "[::2, ::2].T": ((slice(None, None, 2), slice(None, None, 2)), (1, 0)),
}
VIEWED_SHAPE, SMALL_VIEWED_SHAPE = (1 << 14, 1 << 14), (64, 48)


def sets_of_axes(dimensions):
    """None, which stands for the whole, and every set of some axes and not all."""
    yield None
    for count in range(1, dimensions):
        yield from itertools.combinations(range(dimensions), count)


def least_time(server, axes, statistics, view=None):
    """Of some calls: seconds, and by which strategy."""
    executions = [server.reduce_axes(axes, statistics, view) for _ in range(CALLS)]
    return min(served.kernel_seconds(execution) for execution in executions), executions[-1].strategy


def rows_of_views(server, element_type, shape):
    for statistics in STATISTICS:
        whole, _ = least_time(server, None, statistics)
        for text, (slices, order) in VIEWS.items():
            view = served.view_of(shape, slices, order)
            count = math.prod(dimension.count for dimension in view.dimensions)
            for axes in [None, (0,), (1,)]:
                seconds, strategy = least_time(server, axes, statistics, view)
                share = whole / seconds * count / math.prod(shape)
                rate = np.dtype(element_type).itemsize * count / seconds / 1e9
                yield (f"| {list(shape)}{text} | {'all' if axes is None else list(axes)} | {', '.join(statistics)} "
                       f"| {seconds * 1e6:.0f} | {rate:.0f} | {share:.2f} | {strategy} |")


def rows_of(server, element_type, shape):
    element_bytes = np.dtype(element_type).itemsize
    for statistics in STATISTICS:
        whole = None
        for axes in sets_of_axes(len(shape)):
            seconds, strategy = least_time(server, axes, statistics)
            whole = whole or seconds
            rate = element_bytes * math.prod(shape) / seconds / 1e9
            yield (f"| {list(shape)} | {'all' if axes is None else list(axes)} | {', '.join(statistics)} "
                   f"| {seconds * 1e6:.0f} | {rate:.0f} | {whole / seconds:.2f} | {strategy} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the gridfold_server to run")
    parser.add_argument("--engine", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--type", choices=["float32", "float64"], default="float32", help="of the elements")
    parser.add_argument("--small", action="store_true", help="arrays of a few KiB")
    arguments = parser.parse_args()
    os.environ["GRIDFOLD_SERVER_BINARY"] = arguments.server
    os.environ["GRIDFOLD_TEST_ENGINE"] = arguments.engine
    rng = np.random.default_rng(1)
    print(f"| array of {arguments.type} | axes | statistics | us | GB/s | of the whole's rate | strategy |")
    print("|---|---|---|---:|---:|---:|---|")
    with (server_process.ServerProcess("--resident-bytes", "6GiB") as process,
          served.Server(process.target) as server):
        for shape in SMALL_SHAPES if arguments.small else SHAPES:
            with server.holding("x", arguments.type, rng.standard_normal(shape, arguments.type)):
                for row in rows_of(server, arguments.type, shape):
                    print(row, flush=True)
        shape = SMALL_VIEWED_SHAPE if arguments.small else VIEWED_SHAPE
        with server.holding("x", arguments.type, rng.standard_normal(shape, arguments.type)):
            for row in rows_of_views(server, arguments.type, shape):
                print(row, flush=True)


if __name__ == "__main__":
    main()
