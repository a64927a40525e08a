#!/usr/bin/env python3
"""Asks a server random questions of arrays of any shape, and prints how near each came to what is possible.

  GRIDFOLD_PYTHON_STUBS=build/release/client/python_stubs client/shape_benchmark/shape_benchmark.py \\
      --server build/release/server/gridfold_server --engine cuda --count 1000 --seed 1

Starts the server, unless --target names one that runs. Shapes, types, statistics, axes, segments, bins and scans
are drawn from the seed; the arrays are resident. A question's time is the least `kernel_time` of its calls. On a
GPU it is compared with an ideal, 4 us and the bytes at 2.9 TB/s, and with PyTorch where that is installed; on the
CPU engine with NumPy in this process. Prints quantiles and the worst rows as tables, or all rows with --json;
with --strategies, where the server's choice is not the fastest of those that it could have made.
"""

import argparse
import contextlib
import os
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import questions  # noqa: E402
import report  # noqa: E402
import served  # noqa: E402
import server_process  # noqa: E402
from numpy_peer import NumpyPeer  # noqa: E402
from torch_peer import TorchPeer  # noqa: E402

CALLS = 4


def best_of_calls(server, question, strategy=""):
    executions = [server.ask(question, strategy=strategy)[0] for _ in range(CALLS)]
    return min(served.kernel_seconds(execution) for execution in executions), executions[-1].strategy


def measure(server, peer, question, pool, with_strategies):
    x = pool.array(question)
    two = question.has_second_array
    y = pool.array(question) if two else None
    with contextlib.ExitStack() as held:
        held.enter_context(server.holding("x", question.element_type, x))
        if two:
            held.enter_context(server.holding("y", question.element_type, y))
        seconds, strategy = best_of_calls(server, question)
        others = {}
        if with_strategies:
            others = {other: best_of_calls(server, question, other)[0] for other in server.strategies(question)}
    peer_seconds = peer.seconds(question, x, y) if peer is not None else None
    return report.Row(question, seconds, peer_seconds, strategy, others)


def peer_for(engine):
    if engine == "cpu":
        return NumpyPeer(CALLS)
    return TorchPeer(CALLS) if TorchPeer.is_available() else None


def arguments_of(command_line):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--server", help="the gridfold_server to run")
    where.add_argument("--target", help="address of a server that runs: HOST:PORT")
    parser.add_argument("--engine", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--count", type=int, default=1000, help="questions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bytes-min", type=int, default=4 << 10, help="the smallest array")
    parser.add_argument("--bytes-max", type=int, default=64 << 20, help="the largest array")
    parser.add_argument("--strategies", action="store_true",
                        help="ask each question by every strategy that takes it too, and say where another is faster")
    parser.add_argument("--worst", type=int, default=12, help="rows to show")
    parser.add_argument("--json", action="store_true", help="print every row as JSON instead")
    return parser.parse_args(command_line)


def main():
    arguments = arguments_of(sys.argv[1:])
    np.seterr(all="ignore")
    asked = questions.random_questions(arguments.count, arguments.seed, arguments.bytes_min, arguments.bytes_max)
    pool = questions.ArrayPool(arguments.seed, arguments.bytes_max)
    peer = peer_for(arguments.engine)
    with contextlib.ExitStack() as running:
        target = arguments.target
        if arguments.server:
            os.environ["GRIDFOLD_SERVER_BINARY"] = arguments.server
            os.environ["GRIDFOLD_TEST_ENGINE"] = arguments.engine
            target = running.enter_context(server_process.ServerProcess()).target
        server = running.enter_context(served.Server(target))
        rows = [measure(server, peer, question, pool, arguments.strategies) for question in asked]
    result = report.Report(rows, arguments.engine, None if peer is None else peer.NAME)
    if arguments.json:
        print(result.as_json())
        return
    print("\n".join(result.lines(arguments.worst)))


if __name__ == "__main__":
    main()
