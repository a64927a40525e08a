"""Answers in other forms, several inputs, drawings, and the watch, beside what NumPy says."""

import csv
import io
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import time
import unittest
import xml.etree.ElementTree

import numpy as np

from cli_case import DELAY, DISTANCE, HOUR, CommandLineTest

SVG = "{http://www.w3.org/2000/svg}"
SECONDS_MAX = 30


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text.decode())))


class FormTest(CommandLineTest):
    def test_tables_have_every_number_in_full(self):
        values = np.random.default_rng(1).standard_normal((20, 3))
        path = self.save("values.npy", values)
        rows = rows_of(self.succeed("reduce", path, "--axis", "1", "--stat", "min,argmax",
                                    "--output", "csv"))
        self.assertEqual([float(row["min"]) for row in rows], list(values.min(axis=1)))
        self.assertEqual([int(row["argmax"]) for row in rows], list(values.argmax(axis=1)))
        self.assertEqual([row["index_0"] for row in rows], [str(i) for i in range(20)])
        rows = rows_of(self.succeed("scan", path, "--axis", "0", "--op", "max", "--output", "csv"))
        self.assertEqual([float(row["value"]) for row in rows],
                         list(np.maximum.accumulate(values, axis=0).ravel()))
        rows = rows_of(self.succeed("histogram", path, "--bins", "7", "--output", "csv"))
        counts, edges = np.histogram(values, bins=7)
        self.assertEqual([int(row["count"]) for row in rows], list(counts))
        np.testing.assert_allclose([float(row["lower"]) for row in rows], edges[:-1])

    def test_arrays_are_numpys(self):
        values = np.random.default_rng(2).integers(0, 100, (40, 5))
        path = self.save("integers.npy", values)

        def array(*arguments):
            return np.load(io.BytesIO(self.succeed(*arguments, "--output", "npy")))

        sums = array("reduce", path, "--axis", "0", "--stat", "sum")
        np.testing.assert_array_equal(sums, values.sum(axis=0), strict=True)
        counts = array("histogram", path, "--bins", "10", "--range", "0,100")
        np.testing.assert_array_equal(counts, np.histogram(values, 10, (0, 100))[0])
        two = array("histogram", HOUR, "--y", DELAY, "--layout", "even:24:0:24",
                    "--layout", "even:20:-60:140")
        expected, _, _ = np.histogram2d(np.load(HOUR), np.load(DELAY), [24, 20],
                                        [[0, 24], [-60, 140]])
        np.testing.assert_array_equal(two, expected)
        running = array("scan", path, "--op", "sum")
        np.testing.assert_array_equal(running, values.cumsum().reshape(running.shape))

    def test_files_patterns_and_columns(self):
        self.save("part-1.npy", np.arange(5.0))
        self.save("part-2.npy", np.arange(7.0))
        rows = rows_of(self.succeed("reduce", self.folder / "part-*.npy", "--stat", "sum",
                                    "--output", "csv"))
        self.assertEqual([float(row["sum"]) for row in rows], [10, 21])
        table = self.folder / "table.csv"
        table.write_text("a,b\n1,5\n3,9\n")
        written = self.folder / "means.csv"
        self.succeed("reduce", table, "--column", "a", "--column", "2", "--stat", "mean",
                     "--output", written)
        self.assertEqual([(row["column"], float(row["mean"]))
                          for row in rows_of(written.read_bytes())], [("a", 2), ("2", 7)])
        rows = rows_of(self.succeed("describe", DELAY, table, "--output", "csv"))
        self.assertEqual([row["name"] for row in rows], ["", "a", "b"])
        self.assertEqual(float(rows[0]["mean"]), np.load(DELAY).mean())


class PlotTest(CommandLineTest):
    def drawing(self, *arguments):
        path = self.folder / "plot.svg"
        self.succeed(*arguments, "--plot", path)
        return xml.etree.ElementTree.parse(path).getroot()

    def test_drawings_have_what_was_counted(self):
        svg = self.drawing("histogram", DISTANCE, "--bins", "30")
        titles = [title.text for title in svg.iterfind(f".//{SVG}rect/{SVG}title")]
        counts, _ = np.histogram(np.load(DISTANCE), bins=30)
        self.assertEqual([float(title.split(": ")[1]) for title in titles], list(counts))
        svg = self.drawing("histogram", HOUR, "--y", DELAY, "--layout", "even:24:0:24",
                           "--layout", "even:20:-60:140")
        cells = [title.text for title in svg.iterfind(f".//{SVG}rect/{SVG}title") if "," in title.text]
        expected, _, _ = np.histogram2d(np.load(HOUR), np.load(DELAY), [24, 20],
                                        [[0, 24], [-60, 140]])
        self.assertEqual(len(cells), np.count_nonzero(expected))
        svg = self.drawing("scan", DELAY)
        self.assertEqual(len(svg.findall(f".//{SVG}path")), 1)

    def test_a_scan_is_drawn_and_written(self):
        values = np.arange(300_000, dtype=np.float32)
        path = self.save("long.npy", values)
        written = self.folder / "sums.npy"
        self.drawing("scan", path, "--output-type", "float64", "--output", written)
        np.testing.assert_array_equal(np.load(written), values.cumsum(dtype=np.float64))


    def test_images(self):
        if shutil.which("rsvg-convert") is None:
            self.skipTest("rsvg-convert is not installed")
        path = self.folder / "plot.png"
        self.succeed("histogram", DISTANCE, "--bins", 30, "--plot", path)
        content = path.read_bytes()
        self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", content[16:24]), (1120, 560))
        # Paper, bars and text: not of one colour.
        self.assertGreater(len(content), 5000)

    def test_an_image_without_its_program(self):
        self.expect_failure(4, "made by rsvg-convert", "histogram", DISTANCE, "--bins", 30, "--plot",
                            self.folder / "none.png", environment={"PATH": "/nowhere"})
        self.assertFalse((self.folder / "none.png").exists())


class WatchTest(CommandLineTest):
    def test_one_look_through_a_pipe(self):
        text = self.succeed("watch", "--once", "--interval", "0.1").decode()
        self.assertIn("SERVING", text)
        self.assertIn("lanes", text)
        self.assertNotIn("\x1b", text)

    def watch(self, end):
        """What a terminal shows until `end`, which is given the process and the terminal."""
        master, terminal = pty.openpty()
        process = subprocess.Popen(
            [os.environ["GRIDFOLD_CLI_BINARY"], "watch", "--interval", "0.1"], stdin=terminal,
            stdout=terminal, stderr=terminal,
            env={**os.environ, "GRIDFOLD_SERVER": self.server.target, "LC_ALL": "C.UTF-8"})
        os.close(terminal)
        shown = b""
        limit = time.monotonic() + SECONDS_MAX
        try:
            # Two screens, of which the second begins at the first one's lines.
            while b"\x1b[J" not in shown and time.monotonic() < limit:
                if select.select([master], [], [], 0.1)[0]:
                    shown += os.read(master, 65536)
            end(process, master)
            while process.poll() is None and time.monotonic() < limit:
                if select.select([master], [], [], 0.1)[0]:
                    try:
                        shown += os.read(master, 65536)
                    except OSError:
                        break
            return process.wait(SECONDS_MAX), shown.decode()
        finally:
            process.kill()
            process.wait()
            os.close(master)

    def test_q_and_control_c_end_it(self):
        for end in (lambda process, master: os.write(master, b"q"),
                    lambda process, master: process.send_signal(signal.SIGINT)):
            code, shown = self.watch(end)
            self.assertEqual(code, 0)
            self.assertIn("SERVING", shown)
            self.assertIn("\x1b[J", shown)


class ConfigurationTest(CommandLineTest):
    def test_profiles(self):
        home = self.folder / "home"
        (home / "gridfold").mkdir(parents=True)
        (home / "gridfold/config.toml").write_text(
            f'server = "127.0.0.1:1"\n[profile.here]\nserver = "{self.server.target}"\n')
        environment = {"XDG_CONFIG_HOME": str(home), "GRIDFOLD_SERVER": ""}
        self.expect_failure(3, "127.0.0.1:1", "info", environment=environment)
        self.assertEqual(self.succeed("--profile", "here", "info", "--health",
                                      environment=environment), b"SERVING\n")
        self.assertEqual(self.succeed("info", "--health", environment={
            **environment, "GRIDFOLD_PROFILE": "here"}), b"SERVING\n")
        self.expect_failure(2, "did you mean here?", "--profile", "hre", "info",
                            environment=environment)


if __name__ == "__main__":
    unittest.main()
