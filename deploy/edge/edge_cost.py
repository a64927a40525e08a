#!/usr/bin/env python3
"""What the edge costs: gridfold_load by TCP, by the Unix socket, and through the edge, in turns.

GRIDFOLD_SERVER_BINARY and GRIDFOLD_LOAD_BINARY are the programs. Prints a table in Markdown, whose
ratios are to TCP without an edge. Says how busy the machine was with other things.

  deploy/edge/edge_cost.py [SECONDS [ROUNDS]]
"""

import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

import edge

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "client" / "python"))
import server_process  # noqa: E402

LOADS = {
    "sums of 4 KiB, 16 under way": ["--elements", "1024", "--concurrency", "16"],
    "sums of 4 KiB, one at a time": ["--elements", "1024", "--concurrency", "1"],
    "sums of 1 MiB, 8 under way": ["--elements", "262144", "--concurrency", "8"],
    "streamed sums of 16 MiB, 4 under way": [
        "--elements", "4194304", "--concurrency", "4", "--transport", "stream"],
    "scans of 1 MiB, answers of 1 MiB, 8 under way": [
        "--elements", "262144", "--concurrency", "8", "--operation", "scan"],
}


def measure(target, options, seconds):
    """Calls a second, bytes a second, and the median latency in ms."""
    out = subprocess.run(
        [os.environ["GRIDFOLD_LOAD_BINARY"], "--server", target, "--duration", f"{seconds}s",
         "--warm-up", "1s", "--verify", "none", "--json", "-", *options],
        check=True, capture_output=True, text=True).stdout
    level, = json.loads(out)["levels"]
    if level["calls"]["failed"] > 0:
        raise RuntimeError(f"{target}: {level['errors']}")
    return level["rate"], level["bytes_per_second"], level["latency_us"]["p50"] / 1000


def median_of(results):
    return [statistics.median(values) for values in zip(*results)]


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    busy = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} processors, {datetime.date.today()}, "
          f"`deploy/edge/edge_cost.py {seconds:g} {rounds}`; load average before: {busy:.1f}.\n")
    print("| load | way | calls/s | GB/s | p50, ms | calls/s to TCP | GB/s to TCP |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/socket"
        quiet = ["--log-level=warning"]
        with server_process.ServerProcess(*quiet) as by_tcp, \
                server_process.ServerProcess(*quiet, listen=f"unix:{path}") as by_socket, \
                edge.Edge(path) as through:
            targets = {"TCP": by_tcp.target, "Unix socket": by_socket.target,
                       "edge": through.target}
            for name, options in LOADS.items():
                results = {way: [] for way in targets}
                for _ in range(rounds):
                    for way, target in targets.items():
                        results[way].append(measure(target, options, seconds))
                base = median_of(results["TCP"])
                for way in targets:
                    rate, byte_rate, p50 = median_of(results[way])
                    print(f"| {name if way == 'TCP' else ''} | {way} | {rate:,.0f} | "
                          f"{byte_rate / 1e9:.2f} | {p50:.2f} | {rate / base[0]:.2f} | "
                          f"{byte_rate / base[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
