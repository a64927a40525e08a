"""Inputs that no request carries: against a server whose messages are small, and of the answers that
a server with large ones gives."""

import os
import re
import subprocess

import numpy as np

import server_process
from cli_case import CommandLineTest

MESSAGE_BYTES_MAX = 256 << 10


class LargeInputTest(CommandLineTest):
    server_options = ("--max-message-bytes", str(MESSAGE_BYTES_MAX), "--allow-regions")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.roomy = server_process.ServerProcess()
        cls.enterClassContext(cls.roomy)
        rng = np.random.default_rng(5)
        cls.floats = cls.folder / "floats.npy"
        np.save(cls.floats, rng.normal(size=300_000))
        cls.matrix = cls.folder / "matrix.npy"
        np.save(cls.matrix, rng.integers(-100, 100, (3000, 100), dtype=np.int32))
        cls.bytes = cls.folder / "bytes.npy"
        np.save(cls.bytes, rng.integers(0, 2, 200_000, dtype=np.uint8))
        cls.text = cls.folder / "text.csv"
        cls.text.write_text("a,b\n" + "".join(f"{i},{i * 7 % 1000}\n" for i in range(60_000)))

    def both(self, *arguments, **options):
        """The answers of this server and of the one with room for all, without how they came."""
        answers = []
        for target in (self.server.target, self.roomy.target):
            answer = self.json(*arguments, "--server", target, **options)
            answer.pop("execution", None)
            answers.append(answer)
        return answers

    def check(self, *arguments, **options):
        here, there = self.both(*arguments, **options)
        self.assertEqual(here, there)
        # Nothing stays on the server.
        self.assertEqual(self.succeed("array", "list", "--json"),
                         self.succeed("array", "list", "--json", "--server", self.roomy.target))

    def test_reductions(self):
        stat = ("--stat", "sum,variance,min,argmax,count")
        self.check("reduce", self.floats, *stat)
        for axis in (0, 1):
            self.check("reduce", self.matrix, *stat, "--axis", axis)
        self.check("reduce", self.floats, *stat, "--segments", "0,5,100000,300000")
        self.check("reduce", self.text, *stat, "--column", "b")
        self.check("reduce", "-", *stat, stdin=self.floats.read_bytes())
        self.check("reduce", "-", *stat, "--type", "int16", stdin=bytes(2_000_000))

    def test_groups_by_key(self):
        random = np.random.default_rng(8)
        keys = self.folder / "keys.npy"
        np.save(keys, random.integers(-9, 90, 300_000, dtype=np.int16))
        op = ("--op", "sum,variance,argmin,count")
        self.check("group", keys, self.floats, *op)
        self.check("group", keys, self.floats, *op, "--key-range", "-10:150")
        self.check("group", self.floats, self.floats, *op, "--bins", 20, "--range", "-3,3")
        answer = self.json("group", keys, self.floats, *op)
        self.assertEqual(answer["execution"]["transport"], "stream")
        # What must be seen at once is kept on the server for the while, as is a table's column.
        self.check("group", self.floats, self.floats, *op, "--bins", 20)
        self.check("group", self.text, "--key", "b", "--column", "a", *op)
        short = self.folder / "short.npy"
        np.save(short, np.arange(60_000, dtype=np.float64))
        self.check("group", self.text, short, "--key", "b", *op)

    def test_what_no_stream_answers(self):
        self.check("reduce", self.floats, "--stat", "product,sum")
        self.check("reduce", "-", "--stat", "product", stdin=self.floats.read_bytes())
        self.check("histogram", self.floats, "--bins", 7)
        self.check("histogram", self.text, "--column", "b", "--bins", 7)

    def test_histograms(self):
        bins = ("--bins", 20, "--range=-2,2")
        self.check("histogram", self.floats, *bins)
        self.check("histogram", self.bytes, "--integer", 0, "--bins", 2)
        self.check("histogram", self.text, "--column", "b", "--bins", 9, "--range", "0,999",
                   "--weights-column", "a")
        y = self.save("y.npy", np.random.default_rng(6).normal(size=300_000))
        layouts = ("--layout", "even:3:-1:1", "--layout", "even:4:-2:2")
        self.check("histogram", self.floats, "--y", y, *layouts)
        self.check("histogram", self.floats, "--y", y, "--layout", "even:3", "--layout", "even:4")
        self.check("histogram", self.floats, "--weights", y, *bins)

    def test_scans(self):
        for arguments in (("scan", self.floats), ("scan", self.matrix), ("scan", self.bytes),
                          ("scan", self.matrix, "--axis", 1), ("scan", self.matrix, "--axis", 0),
                          ("scan", self.floats, "--reverse"), ("scan", self.floats, "--op", "max"),
                          ("scan", self.floats, "--segments", "0,7,300000", "--exclusive")):
            outputs = []
            for name, target in (("here", self.server.target), ("there", self.roomy.target)):
                output = self.folder / f"{name}.npy"
                self.succeed(*arguments, "--output", output, "--server", target)
                outputs.append(output.read_bytes())
            self.assertEqual(*outputs)
            self.check(*arguments)
        self.assertEqual(self.succeed("scan", "-", "--output", "-", stdin=self.floats.read_bytes()),
                         self.succeed("scan", self.floats, "--output", "-"))

    def test_scans_and_segments_in_pieces(self):
        with server_process.ServerProcess("--max-message-bytes", str(32 << 20)) as server:
            path = self.save("longer.npy", np.random.default_rng(7).normal(size=5_000_000))
            outputs = []
            for target in (server.target, self.roomy.target):
                self.succeed("scan", path, "--output", self.folder / "out.npy", "--server", target)
                outputs.append((self.folder / "out.npy").read_bytes())
            self.assertEqual(*outputs)
            answers = [self.json("reduce", path, "--stat", "sum,argmax", "--segments",
                                 "0,5,3000000,5000000", "--server", target)["statistics"]
                       for target in (server.target, self.roomy.target)]
            self.assertEqual(*answers)

    def test_results_that_stay_on_the_server(self):
        self.succeed("scan", self.floats, "--to-array", "sums")
        self.succeed("array", "get", "sums", "--output", self.folder / "sums.npy")
        self.succeed("array", "delete", "sums")
        self.succeed("scan", self.floats, "--output", self.folder / "expected.npy")
        self.assertEqual((self.folder / "sums.npy").read_bytes(),
                         (self.folder / "expected.npy").read_bytes())

    def test_what_stays_on_the_server_for_the_way_only_is_not_told(self):
        result = self.json("scan", self.floats, "--reverse")["result"]
        self.assertNotIn("array", result)
        self.assertEqual(result, self.json("scan", self.floats, "--reverse", "--server",
                                           self.roomy.target)["result"])
        self.assertEqual(self.json("array", "list")["arrays"], [])

    def test_arrays(self):
        for path in (self.floats, self.matrix):
            self.succeed("array", "put", "large", path)
            self.succeed("array", "get", "large", "--output", self.folder / "got.npy")
            self.assertEqual((self.folder / "got.npy").read_bytes(), path.read_bytes())
            self.succeed("array", "delete", "large")
        self.succeed("array", "create", "zeros", "--type", "float64", "--shape", "400000")
        self.succeed("array", "write", "zeros", self.floats, "--first", "100000")
        self.succeed("array", "get", "zeros[100000:300000]", "--output", self.folder / "got.npy")
        self.assertEqual((self.folder / "got.npy").read_bytes(), self.floats.read_bytes())
        self.expect_failure(1, "--first: ", "array", "write", "zeros", self.floats,
                            "--first", "100001")
        self.succeed("array", "delete", "zeros")

    def test_shared_memory(self):
        if self.server.engine != "cpu" and not os.path.exists("/dev/shm"):
            self.skipTest("no shared memory")
        here = self.json("reduce", self.floats, "--stat", "sum", "--shared")["statistics"]
        self.assertEqual(here, self.json("reduce", self.floats, "--stat", "sum",
                                         "--server", self.roomy.target)["statistics"])

    def test_errors_of_size_show_what_differs(self):
        few = self.save("few.npy", np.arange(3.0))
        room = MESSAGE_BYTES_MAX
        for bins in range(room // 8 - 1000, room // 8 + 10, 37):
            result = self.run_cli("histogram", few, "--bins", bins, "--range", "0,9", "--rows", 1)
            if result.returncode == 0:
                continue
            taken, most = map(int, re.search(r"take (\d+) bytes, more than the (\d+)",
                                             result.stderr.decode()).groups())
            self.assertGreater(taken, most)
            self.assertTrue(result.stderr.startswith(b"gridfold: --bins: "), result.stderr)

    def test_more_than_two_gib_is_sent_as_it_is_read(self):
        # Of a file without content: 3 GiB that take no room on the disk, and are not held here.
        path = self.folder / "huge.bin"
        with open(path, "wb") as file:
            file.truncate(3 << 30)
        self.addCleanup(path.unlink)
        limited = ["prlimit", "--data=%d" % (1 << 30), os.environ["GRIDFOLD_CLI_BINARY"]]
        result = subprocess.run(
            [*limited, "reduce", str(path), "--type", "uint64", "--stat", "count,sum", "--json"],
            env=dict(os.environ, GRIDFOLD_SERVER=self.roomy.target), capture_output=True,
            timeout=200)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertIn(b"402653184", result.stdout)
        # The server has less memory for arrays, and says so before a byte is sent.
        refused = self.expect_failure(1, "3221225472", "array", "put", "huge", path,
                                      "--type", "uint64", "--server", self.roomy.target)
        self.assertNotIn(b"one request", refused.stderr)
