#!/usr/bin/env python3
"""When a gridfold server pays, and when it does not: the same questions of arrays of some sizes, asked

- of NumPy, and of DuckDB where it is installed, in this process, with the array in memory;
- of a server once: the array is sent along with the question;
- of a server again: the array is resident there.

    client/when_it_pays.py [--sizes 1MB,100MB,1GB] [--repeats 7] [--server HOST:PORT]

Without --server one is started here, from build/release or the program that GRIDFOLD_SERVER_BINARY
names; GRIDFOLD_CLI_BINARY is the command line. Prints a table in Markdown, of median times. Elements are
float32. A server's time is the round trip that the command line reports, without its own start.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "client/python"))
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
BINS = 100
# Name, NumPy's way, DuckDB's way, and the command line's.
QUESTIONS = [
    ("sum", np.sum, "select sum(x) from samples", ("reduce", "--stat", "sum")),
    ("min, max, mean, deviation",
     lambda x: (x.min(), x.max(), x.mean(), x.std()),
     "select min(x), max(x), avg(x), stddev_pop(x) from samples",
     ("reduce", "--stat", "min,max,mean,std")),
    (f"histogram, {BINS} bins",
     lambda x: np.histogram(x, BINS, (0, 1)),
     f"select least(floor(x * {BINS}), {BINS - 1}) bin, count(*) from samples group by bin",
     ("histogram", "--bins", str(BINS), "--range", "0,1")),
]


def bytes_of(text):
    return int(float(text[:-2]) * UNITS[text[-2:].upper()])


def median_seconds(repeats, call):
    """The median time of `call`, which returns its own seconds, or None to be timed. The first run is
    left out."""
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        told = call()
        seconds.append(time.perf_counter() - start if told is None else told)
    return statistics.median(seconds[1:])


def say(seconds):
    for limit, unit, scale in ((1e-3, "µs", 1e6), (1, "ms", 1e3), (float("inf"), "s", 1)):
        if seconds < limit:
            return f"{seconds * scale:.3g} {unit}"


class Gridfold:
    def __init__(self, target):
        self._program = os.environ.get("GRIDFOLD_CLI_BINARY",
                                       str(ROOT / "build/release/client/command_line/gridfold"))
        self._environment = {**os.environ, "GRIDFOLD_SERVER": target}

    def run(self, *arguments):
        return subprocess.run([self._program, *map(str, arguments)], env=self._environment,
                              check=True, capture_output=True).stdout

    def ask(self, question, *source):
        answer = json.loads(self.run(question[0], *source, *question[1:], "--json"))
        return answer["execution"]["round_trip_time_us"] / 1e6


def duckdb_connection(samples):
    try:
        import duckdb
    except ImportError:
        return None
    connection = duckdb.connect()
    connection.register("given", {"x": samples})
    connection.execute("create table samples as select x from given")
    return connection


def measure(gridfold, size, repeats, folder):
    samples = np.random.default_rng(1).random(bytes_of(size) // 4, dtype=np.float32)
    path = folder / "samples.npy"
    np.save(path, samples)
    gridfold.run("array", "put", "samples", path)
    database = duckdb_connection(samples)
    for name, of_numpy, of_duckdb, question in QUESTIONS:
        cells = [size, name, say(median_seconds(repeats, lambda: void(of_numpy(samples))))]
        if database is not None:
            cells.append(say(median_seconds(
                repeats, lambda: void(database.execute(of_duckdb).fetchall()))))
        for source in ((path,), ("--array", "samples")):
            cells.append(say(median_seconds(repeats, lambda: gridfold.ask(question, *source))))
        print("| " + " | ".join(cells) + " |", flush=True)
    gridfold.run("array", "delete", "samples")


def void(_):
    """Nothing, of an answer that was worth its time only."""


def report(target, arguments):
    gridfold = Gridfold(target)
    info = json.loads(gridfold.run("info", "--json"))
    device = info["devices"][0]["name"] if info.get("devices") else "?"
    print(f"Server: {info['engine']} on {device}. NumPy {np.__version__}, "
          f"{os.cpu_count()} processors, {platform.machine()}. Medians of {arguments.repeats}.\n")
    has_duckdb = duckdb_connection(np.zeros(1, np.float32)) is not None
    heading = ["array", "question", "NumPy", *(["DuckDB"] if has_duckdb else []),
               "gridfold, array sent", "gridfold, array resident"]
    print("| " + " | ".join(heading) + " |\n|" + "---|" * len(heading))
    with tempfile.TemporaryDirectory() as folder:
        for size in arguments.sizes.split(","):
            measure(gridfold, size, arguments.repeats, pathlib.Path(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1MB,100MB,1GB")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--server")
    arguments = parser.parse_args()
    if arguments.server:
        report(arguments.server, arguments)
        return
    os.environ.setdefault("GRIDFOLD_SERVER_BINARY", str(ROOT / "build/release/server/gridfold_server"))
    os.environ.setdefault("GRIDFOLD_TEST_ENGINE", "auto")
    from server_process import ServerProcess
    # Room for the largest array.
    with ServerProcess("--resident-bytes", "4GiB", "--log-level", "off") as server:
        report(server.target, arguments)


if __name__ == "__main__":
    main()
