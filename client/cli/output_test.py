"""Files that the program writes: there whole, or as they were before."""

import os
import pty
import signal
import stat
import subprocess
import time

import numpy as np

from cli_case import DELAY, CommandLineTest


class OutputTest(CommandLineTest):
    def setUp(self):
        self.output = self.folder / "output"
        self.output.mkdir()
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", self.output], check=True))

    def names(self):
        return sorted(path.name for path in self.output.iterdir())

    def overflowing(self, count=3_000_000):
        values = np.ones(count, dtype=np.int64)
        values[-10:] = 2**62
        return self.save("overflowing.npy", values)

    def test_what_fails_half_way_leaves_the_file_that_was_there(self):
        path = self.overflowing()
        sums = self.output / "sums.npy"
        sums.write_bytes(b"precious")
        for _ in range(30):
            # The stream's own error, each time, and not that it has ended.
            self.expect_failure(1, "does not fit", "scan", path, "--stream", "--output", sums,
                                "--chunk-bytes", 100_000)
            self.assertEqual(sums.read_bytes(), b"precious")
            self.assertEqual(self.names(), ["sums.npy"])
        self.expect_failure(1, "does not fit", "scan", path, "--output", self.output / "new.npy")
        self.assertEqual(self.names(), ["sums.npy"])

    def test_a_bad_input_is_told_alike_by_every_stream(self):
        cut = self.folder / "cut.npy"
        cut.write_bytes(self.save("long.npy", np.arange(1_000_000.0)).read_bytes()[:-8])
        sums = self.output / "sums.npy"
        outcomes = set()
        for arguments in (("reduce", cut), ("histogram", cut, "--range", "0,9"),
                          ("scan", cut, "--output", sums)):
            for _ in range(5):
                result = self.run_cli(*arguments, "--stream")
                outcomes.add((result.returncode, result.stderr))
        self.assertEqual(len(outcomes), 1, outcomes)
        self.assertEqual(outcomes.pop()[0], 4)
        self.assertEqual(self.names(), [])

    def test_mode_is_kept_and_links_are_followed(self):
        target = self.output / "target.npy"
        target.write_bytes(b"old")
        target.chmod(0o640)
        link = self.output / "link.npy"
        link.symlink_to("target.npy")
        self.succeed("scan", DELAY, "--output", link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o640)
        np.testing.assert_array_equal(np.load(target), np.cumsum(np.load(DELAY), dtype=np.int64))

    def test_every_output_is_replaced_at_once(self):
        accumulator = self.output / "part.acc"
        self.succeed("reduce", DELAY, "--accumulator", accumulator)
        inode = accumulator.stat().st_ino
        self.succeed("reduce", DELAY, "--accumulator", accumulator)
        self.assertNotEqual(accumulator.stat().st_ino, inode)
        self.succeed("merge", accumulator, accumulator, "--output", accumulator)
        self.succeed("histogram", DELAY, "--accumulator", accumulator)
        self.succeed("array", "put", "delay", DELAY)
        got = self.output / "got.npy"
        got.write_bytes(b"old")
        self.succeed("array", "get", "delay", "--output", got)
        np.testing.assert_array_equal(np.load(got), np.load(DELAY))
        self.assertEqual(self.names(), ["got.npy", "part.acc"])

    def test_pipes_and_devices_are_written_in_place(self):
        # Fewer bytes than a pipe holds, so that nothing waits for its reader.
        values = np.arange(1000)
        few = self.save("few.npy", values)
        pipe = self.output / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
            self.succeed("scan", few, "--output", pipe)
            read = reader.communicate(timeout=30)[0]
        self.assertEqual(read, values.cumsum().tobytes())
        self.succeed("scan", DELAY, "--output", "/dev/null")
        whole = self.succeed("scan", few, "--output", "/dev/stdout")
        self.assertIn(read[:100], whole)

    def test_signals_leave_nothing_behind(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(
                [os.environ["GRIDFOLD_CLI_BINARY"], "scan", "-", "--type", "int8", "--stream",
                 "--chunk-bytes", "1000000", "--output", str(self.output / "sums.bin")],
                env=dict(os.environ, GRIDFOLD_SERVER=self.server.target), stdin=subprocess.PIPE,
                stderr=subprocess.DEVNULL)
            process.stdin.write(bytes(40_000_000))
            process.stdin.flush()
            deadline = time.monotonic() + 30
            while not self.names() and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertEqual(len(self.names()), 1)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=30), -number)
            process.stdin.close()
            self.assertEqual(self.names(), [])

    def test_a_reader_that_has_enough_ends_it_quietly(self):
        many = self.save("many.npy", np.arange(400_000))
        for arguments in (("scan", many, "--rows", "0"), ("scan", many, "--output", "-"),
                          ("scan", many, "--output", "-", "--stream"),
                          ("scan", many, "--json")):
            process = subprocess.Popen(
                [os.environ["GRIDFOLD_CLI_BINARY"], *map(str, arguments)],
                env=dict(os.environ, GRIDFOLD_SERVER=self.server.target),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.read(10)
            process.stdout.close()
            self.assertEqual(process.wait(timeout=60), -signal.SIGPIPE, arguments)
            self.assertEqual(process.stderr.read(), b"")
            process.stderr.close()

    def test_no_binary_on_a_terminal(self):
        for arguments in (("scan", DELAY, "--output", "-"), ("reduce", DELAY, "--accumulator", "-"),
                          ("array", "get", "delay", "--output", "-")):
            master, terminal = pty.openpty()
            result = subprocess.run(
                [os.environ["GRIDFOLD_CLI_BINARY"], *arguments], stdout=terminal,
                env=dict(os.environ, GRIDFOLD_SERVER=self.server.target),
                stderr=subprocess.PIPE, timeout=60)
            os.close(terminal)
            os.close(master)
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"terminal", result.stderr)
            self.assertIn(arguments[-2].encode(), result.stderr)
