#!/usr/bin/env python3
"""What a whole process takes beside the call that it makes, for files of several sizes.

    client/transport_benchmark/whole_process.py --cli gridfold --server gridfold_server

Starts a server and runs `gridfold reduce FILE --json` for each size and program in turns. Prints the
medians of the time from the start of the process to its end, of the call as the process reports it,
and of the difference. Several programs, as --cli before --cli after, are compared with each other.
Files lie in /dev/shm, so that no disk is measured.
"""

import argparse
import array
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import server_process  # noqa: E402


def write_npy(path, element_count):
    """An array of float32, by the format's own rules: NumPy is not needed."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({element_count},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    piece = array.array("f", (0.5 + i / 1000 for i in range(1000))).tobytes() * 1000
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        rest = element_count * 4
        while rest > 0:
            rest -= file.write(piece[:rest])


def run_once(cli, path, target):
    """Of one process: all milliseconds, and those of its call."""
    begin = time.monotonic()
    answer = subprocess.run([cli, "reduce", path, "--json"], stdout=subprocess.PIPE, check=True,
                            env={**os.environ, "GRIDFOLD_SERVER": target}).stdout
    whole_ms = (time.monotonic() - begin) * 1e3
    return whole_ms, json.loads(answer)["execution"]["round_trip_time_us"] / 1e3


def measure(programs, path, target, run_count):
    """For each program, one (whole, call, difference) of each run."""
    runs = {program: [] for program in programs}
    for i in range(run_count):
        for program in programs if i % 2 == 0 else programs[::-1]:
            whole_ms, call_ms = run_once(program, path, target)
            runs[program].append((whole_ms, call_ms, whole_ms - call_ms))
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", action="append", help="gridfold; may be given several times")
    parser.add_argument("--server", default="gridfold_server")
    parser.add_argument("--megabytes", default="0.004,1,200,1000", help="sizes of the files")
    parser.add_argument("--runs", type=int, default=15, help="of each program and size")
    arguments = parser.parse_args()
    programs = arguments.cli or ["gridfold"]
    os.environ["GRIDFOLD_SERVER_BINARY"] = arguments.server
    print("| file, MB | program | whole process, ms | its call | beside it |\n|---:|---|---:|---:|---:|")
    with server_process.ServerProcess("--allow-regions") as server, \
            tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for size in map(float, arguments.megabytes.split(",")):
            path = f"{folder}/elements.npy"
            write_npy(path, int(size * 250_000))
            runs = measure(programs, path, server.target, arguments.runs)
            for program in programs:
                whole, call, beside = map(statistics.median, zip(*runs[program]))
                print(f"| {size:g} | {program} | {whole:.1f} | {call:.1f} | {beside:.1f} |",
                      flush=True)


if __name__ == "__main__":
    main()
