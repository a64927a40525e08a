"""What the tests of the command line share: a server, the program, and the flight data.

GRIDFOLD_SERVER_BINARY and GRIDFOLD_CLI_BINARY are the programs, GRIDFOLD_SAMPLE_DATA the folder of
the flight data, whose README has the expected numbers. NumPy is the oracle of everything else.
"""

import csv
import io
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import server_process  # noqa: E402

DATA = pathlib.Path(os.environ["GRIDFOLD_SAMPLE_DATA"])
DELAY = str(DATA / "flight_delay_minutes.npy")
DISTANCE = str(DATA / "flight_distance_miles.npy")
HOUR = str(DATA / "flight_departure_hour.npy")

DELAY_BINS = [328, 8724, 88704, 65394, 18184, 7857, 4157, 2410, 1401, 962]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class CommandLineTest(unittest.TestCase):
    server_options = ()

    @classmethod
    def setUpClass(cls):
        cls.server = server_process.ServerProcess(*cls.server_options)
        cls.enterClassContext(cls.server)
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def run_cli(self, *arguments, stdin=None, environment=None):
        variables = dict(os.environ, GRIDFOLD_SERVER=self.server.target, LC_ALL="C.UTF-8")
        variables.update(environment or {})
        return subprocess.run(
            [os.environ["GRIDFOLD_CLI_BINARY"], *map(str, arguments)],
            input=stdin, env=variables, capture_output=True, timeout=120)

    def succeed(self, *arguments, **options):
        result = self.run_cli(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout

    def json(self, *arguments, **options):
        return json.loads(self.succeed(*arguments, "--json", **options))

    def reduce(self, *arguments, stat, **options):
        return self.json("reduce", *arguments, "--stat", stat, **options)["statistics"]

    def rows(self, *arguments):
        """The rows of the answer as CSV."""
        text = self.succeed(*arguments, "--output", "csv").decode()
        return list(csv.DictReader(text.splitlines()))

    def array(self, *arguments):
        """The answer as .npy."""
        return np.load(io.BytesIO(self.succeed(*arguments, "--output", "npy")))

    def save(self, name, array):
        path = self.folder / name
        np.save(path, array)
        return path

    def expect_failure(self, code, message, *arguments, **options):
        result = self.run_cli(*arguments, **options)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        self.assertIn(message, result.stderr.decode())
        return result
