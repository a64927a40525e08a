"""What an idle server still has of what large requests took: the allocator's share, no request's.

GRIDFOLD_SERVER_BINARY, GRIDFOLD_CLI_BINARY and GRIDFOLD_LOAD_BINARY are the programs. Prints its
figures.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

import replica

MIB = 1 << 20
ELEMENTS = 12 * MIB  # Of float64: 96 MiB, which travel in many messages.
ROUNDS = 4
# Lanes keep buffers for the next request, and the allocator some of what it was given back: as much
# after four requests as after one. A request that were kept would be seen in the second round.
KEPT_BYTES_MAX = 180 * MIB
SETTLE_SECONDS_MAX = 10


class MemoryAfterRequestsTest(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(replica.Replica())
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = folder / "x.npy"
        np.save(self.path, np.random.default_rng(3).normal(size=ELEMENTS))
        self.small_path = folder / "small.npy"
        np.save(self.small_path, np.arange(1000.0))

    def ask(self, *arguments):
        environment = dict(os.environ, GRIDFOLD_SERVER=self.server.target)
        subprocess.run([environment["GRIDFOLD_CLI_BINARY"], *map(str, arguments)],
                       env=environment, check=True, timeout=120, stdout=subprocess.DEVNULL)

    def settled_bytes(self, goal):
        """The least that the idle server has, until it has no more than `goal`."""
        end = time.monotonic() + SETTLE_SECONDS_MAX
        least = self.server.resident_bytes()
        while least > goal and time.monotonic() < end:
            time.sleep(0.2)
            least = min(least, self.server.resident_bytes())
        return least

    def check(self, name, *arguments):
        self.ask(*[self.small_path if argument == self.path else argument
                   for argument in arguments])
        before = self.server.resident_bytes()
        kept = []
        for _ in range(ROUNDS):
            self.ask(*arguments)
            kept.append(self.settled_bytes(before + KEPT_BYTES_MAX) - before)
        print(f"{name}: after each of {ROUNDS} requests of 96 MiB "
              + ", ".join(f"{more / MIB:+.1f}" for more in kept) + " MiB", file=sys.stderr)
        self.assertLess(max(kept), KEPT_BYTES_MAX)

    def test_reductions(self):
        self.check("reduction", "reduce", self.path, "--stat", "sum,min,max,variance")

    def test_streams(self):
        self.check("streamed reduction", "reduce", self.path, "--stream")

    def test_scans(self):
        self.check("scan", "scan", self.path, "--stream", "--output", os.devnull)

    def test_histograms(self):
        self.check("histogram", "histogram", self.path, "--bins", "100000")

    def test_arrays_that_are_deleted(self):
        self.ask("reduce", self.small_path)
        before = self.server.resident_bytes()
        for _ in range(ROUNDS):
            self.ask("array", "put", "x", self.path)
            self.assertGreater(self.server.resident_bytes(), before + ELEMENTS * 8)
            self.ask("array", "delete", "x")
            self.assertLess(self.settled_bytes(before + KEPT_BYTES_MAX) - before, KEPT_BYTES_MAX)


if __name__ == "__main__":
    unittest.main()
