#!/usr/bin/env python3
"""How long exact quantiles, top k and groups by key take on a server, beside PyTorch on the same GPU.

    client/order_and_keys.py [--server HOST:PORT] [--exponent 28]

Arrays of 2^exponent float32 lie on the server; PyTorch's are timed by its own events where it is
installed. Prints the shortest kernel time of some calls, and what part of the time it takes to read
the arrays (a maximum of them) that is. GRIDFOLD_CLI_BINARY is the command line. Needs NumPy.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Server:
    def __init__(self, target):
        self._program = os.environ.get("GRIDFOLD_CLI_BINARY",
                                       str(ROOT / "build/release/client/command_line/gridfold"))
        self._environment = {**os.environ, "GRIDFOLD_SERVER": target}

    def run(self, *arguments):
        return subprocess.run([self._program, *arguments], env=self._environment, check=True,
                              capture_output=True, text=True).stdout

    def put(self, name, array):
        with tempfile.NamedTemporaryFile(suffix=".npy", dir="/dev/shm") as file:
            np.save(file.name, array)
            self.run("array", "put", name, file.name)

    def microseconds(self, *question, calls=4):
        answers = [json.loads(self.run(*question, "--json")) for _ in range(calls)]
        return min(answer["execution"]["kernel_time_us"] for answer in answers)


def order_statistics(server, samples):
    server.put("x", samples)
    read = server.microseconds("reduce", "--array", "x", "--stat", "max")
    yield "maximum", read, read
    yield "median", server.microseconds("quantile", "--array", "x", "-q", "0.5"), read
    nine = ",".join(f"0.{i}" for i in range(1, 10))
    yield "nine quantiles", server.microseconds("quantile", "--array", "x", "-q", nine), read
    yield "top 100", server.microseconds("topk", "--array", "x", "-k", "100"), read
    server.run("array", "delete", "x")
    for columns in (256, 16384, 1 << 18):
        rows = samples.size // columns
        server.put("x", samples.reshape(rows, columns))
        yield f"medians of {rows:,} x {columns:,}", server.microseconds(
            "quantile", "--array", "x", "--axis", "1", "-q", "0.5", calls=2), read
        server.run("array", "delete", "x")


def groups_by_key(server, values, random):
    server.put("v", values)
    # Keys are as many bytes as values.
    read = 2 * server.microseconds("reduce", "--array", "v", "--stat", "max")
    runs = np.arange(values.size, dtype=np.int32) // 64
    for name, keys in (("1,000 uniform keys", random.integers(0, 1000, values.size, dtype=np.int32)),
                       ("65,536 uniform keys",
                        random.integers(0, 65536, values.size, dtype=np.int32)),
                       ("one key", np.zeros(values.size, np.int32)), ("sorted, runs of 64", runs)):
        server.put("k", keys)
        yield f"sums by key, {name}", server.microseconds(
            "group", "--key-array", "k", "--array", "v", "--op", "sum", "--key-range",
            f"0:{int(keys.max()) + 1}", calls=2), read
        yield f"medians by key, {name}", server.microseconds(
            "group", "--key-array", "k", "--array", "v", "--op", "median", "--key-range",
            f"0:{int(keys.max()) + 1}", calls=2), read
        server.run("array", "delete", "k")
    server.put("w", random.random(values.size, dtype=np.float32))
    yield "weighted median", server.microseconds(
        "quantile", "--array", "v", "--weights-array", "w", "-q", "0.5"), read
    for name in ("v", "w"):
        server.run("array", "delete", name)


def of_torch(samples, random):
    try:
        import torch
    except ImportError:
        return
    on_device = torch.from_numpy(samples).cuda()
    values = on_device[:samples.size // 2]

    def microseconds(call):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        times = []
        for _ in range(4):
            begin.record()
            call()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 1e3)
        return min(times[1:])

    yield "median", microseconds(lambda: torch.median(on_device))
    yield "topk(100)", microseconds(lambda: torch.topk(on_device, 100))
    for columns in (256, 16384):
        matrix = on_device.view(-1, columns)
        yield f"medians of rows of {columns:,}", microseconds(lambda: torch.median(matrix, 1))
    for count in (1000, 65536):
        keys = torch.from_numpy(random.integers(0, count, values.numel())).cuda()
        sums = torch.zeros(count, device="cuda")
        yield f"index_add_ to {count:,}", microseconds(lambda: sums.index_add_(0, keys, values))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", default="localhost:50051")
    parser.add_argument("--exponent", type=int, default=28)
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    samples = random.random(1 << arguments.exponent, dtype=np.float32)
    server = Server(arguments.server)
    print("| what | µs | of a read |\n|---|---:|---:|")
    for name, time, read in (*order_statistics(server, samples),
                             *groups_by_key(server, samples[:samples.size // 2], random)):
        print(f"| {name} | {time:,.0f} | {read / time:.2f} |", flush=True)
    for name, time in of_torch(samples, random):
        print(f"| PyTorch, {name} | {time:,.0f} | |", flush=True)


if __name__ == "__main__":
    main()
