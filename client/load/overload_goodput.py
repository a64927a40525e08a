#!/usr/bin/env python3
"""Measures what a server answers in time when callers ask for several times of what it can do.

  client/load/overload_goodput.py --server build/release/server/gridfold_server \\
      --load build/release/client/load/gridfold_load --rounds 3

For each deadline, in turns: the capacity, by callers who wait for their answers; then an open loop of so many
times of it, each call with the deadline; then the capacity again. Prints the median over the rounds of what was
answered beside the capacity, and the 99th percentile of the time of the answers. The generator runs at a
lower priority, since it takes processors that the server needs too.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import server_process  # noqa: E402

REQUEST = ["--operation", "reduce", "--transport", "resident", "--elements", "2000000", "--type", "float64",
           "--stat", "sum,mean,variance", "--warm-up", "1s"]
CALLERS = 8
NICENESS = "2"


def run_load(options, target, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        subprocess.run(["nice", "-n", NICENESS, options.load, "--server", target, *REQUEST,
                        *arguments, "--json", report], check=False, stdout=subprocess.DEVNULL)
        with open(report, encoding="utf-8") as file:
            return json.load(file)["levels"][0]


def capacity(options, target):
    seconds = options.seconds / 2
    level = run_load(options, target, "--concurrency", str(CALLERS), "--duration", f"{seconds}s")
    return level["calls"]["answered"] / seconds


def measure(options, target, deadline):
    before = capacity(options, target)
    level = run_load(options, target, "--rate", str(int(before * options.times)), "--duration",
                     f"{options.seconds}s", "--timeout", deadline)
    after = capacity(options, target)
    answered = level["calls"]["answered"] / options.seconds
    return answered / statistics.mean([before, after]), level["latency_us"]["p99"] / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", required=True, help="gridfold_server")
    parser.add_argument("--load", required=True, help="gridfold_load")
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--deadlines", nargs="+", default=["250ms", "1s", "30s"])
    parser.add_argument("--times", type=float, default=3, help="of the capacity that is asked for")
    parser.add_argument("--seconds", type=float, default=8, help="of each measurement under load")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    found = {deadline: [] for deadline in options.deadlines}
    os.environ["GRIDFOLD_SERVER_BINARY"] = options.server
    os.environ["GRIDFOLD_TEST_ENGINE"] = options.engine
    with server_process.ServerProcess("--log-level", "off") as server:
        for _ in range(options.rounds):
            for deadline in options.deadlines:
                found[deadline].append(measure(options, server.target, deadline))
    print("| deadline | answered in time, of the capacity: median (each round) | p99 of answers, ms: most |")
    print("|---|---:|---:|")
    for deadline, rounds in found.items():
        parts = [part for part, _ in rounds]
        each = ", ".join(f"{part:.0%}" for part in parts)
        print(f"| {deadline} | {statistics.median(parts):.0%} ({each}) | {max(p99 for _, p99 in rounds):.0f} |")


if __name__ == "__main__":
    main()
