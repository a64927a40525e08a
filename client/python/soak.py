#!/usr/bin/env python3
"""Many calls of all kinds against a server, and the memory that they leave behind on either side.

    soak.py [CALLS]

100,000 calls by default, against a server that it starts: GRIDFOLD_SERVER_BINARY. Fails where
client or server has grown. PYTHONPATH says where the package is.
"""

import sys
import time

import numpy as np

import gridfold as gf

# More than either side takes, once warm, for calls of any number: a leak of 100 bytes a call is ten
# times as much after 100,000.
CLIENT_KIB_MAX = 4096
SERVER_KIB_MAX = 16384
WARM_UP_CALLS = 2000


def resident_kib(process_id="self"):
    """Memory of a process."""
    with open(f"/proc/{process_id}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def make_calls(gpu, count):
    """`count` calls: answers of one number and of many, arrays kept and deleted, errors."""
    array = np.ones((64, 16), np.float32)
    keys, large = np.arange(1024, dtype=np.int32) % 7, np.array([2**62] * 4)

    def refused():
        try:
            gpu.sum(large)
        except gf.OutOfRangeError:
            pass

    def keep():
        with gpu.put(array) as kept:
            kept.max()

    calls = (lambda: gpu.sum(array), lambda: gpu.mean(array, axis=0), lambda: gpu.cumsum(array),
             lambda: gpu.histogram(array, 4, (0, 2)), lambda: gpu.quantile(array, [0.5, 0.9]),
             lambda: gpu.group(keys).agg(array, ["mean", "max"]), refused, keep)
    for number in range(count):
        calls[number % len(calls)]()


def growth_kib(gpu, server_process_id, count):
    """How much client and server grow by so many calls, when they are warm."""
    make_calls(gpu, WARM_UP_CALLS)
    before = resident_kib(), resident_kib(server_process_id)
    make_calls(gpu, count)
    return resident_kib() - before[0], resident_kib(server_process_id) - before[1]


def main(count):
    import server_process

    with server_process.ServerProcess() as server, gf.connect(server.target) as gpu:
        start = time.monotonic()
        client, of_server = growth_kib(gpu, server.process_id, count)
        print(f"{count} calls in {time.monotonic() - start:.1f} s: the client has grown by "
              f"{client} KiB to {resident_kib()}, the server by {of_server} KiB to "
              f"{resident_kib(server.process_id)}", flush=True)
    return client < CLIENT_KIB_MAX and of_server < SERVER_KIB_MAX


if __name__ == "__main__":
    sys.exit(0 if main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000) else 1)
