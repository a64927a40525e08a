"""Checks gridfold.service: systemd's own reading of it, its exposure, and the time it has to stop.

No unit is started. GRIDFOLD_SERVER_BINARY is the server.
"""

import configparser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
import server_facts  # noqa: E402

SKIPPED = 77  # The exit code by which CTest knows a test that could not run here.
PROGRAM = "/opt/gridfold/bin/gridfold_server"
EXPOSURE_MAX = 1.5  # Of 10; 1.4 as systemd 252 counts. It talks to a network and to devices.


class UnitTest(unittest.TestCase):
    def setUp(self):
        text = (FOLDER / "gridfold.service").read_text(encoding="utf-8")
        parser = configparser.ConfigParser(strict=False, interpolation=None)
        parser.optionxform = str
        parser.read_string(text)
        self.service = parser["Service"]
        # The same unit with a program that is there.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.unit = pathlib.Path(folder.name, "gridfold.service")
        self.assertIn(PROGRAM, text)
        self.unit.write_text(text.replace(PROGRAM, os.environ["GRIDFOLD_SERVER_BINARY"]))

    def analyze(self, *arguments):
        result = subprocess.run(["systemd-analyze", *arguments, self.unit], capture_output=True,
                                text=True)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        return result.stdout + result.stderr

    def test_systemd_understands_every_line(self):
        # It reads other units as well, whose faults are not ours.
        self.assertNotIn("gridfold.service", self.analyze("verify", "--man=no"))

    def test_exposure(self):
        report = self.analyze("security", "--offline=true", "--no-pager")
        exposure = float(re.search(r"Overall exposure level.*?: ([\d.]+)", report)[1])
        self.assertLessEqual(exposure, EXPOSURE_MAX, report)

    def test_options_are_understood_and_a_stop_has_its_time(self):
        facts = server_facts.server_facts((FOLDER / "gridfold.toml").read_text())
        stop_seconds = float(self.service["TimeoutStopSec"].removesuffix("s"))
        self.assertGreaterEqual(
            stop_seconds, facts.grace_period_seconds + server_facts.stop_seconds_beyond_grace())
        memory = int(self.service["MemoryMax"].removesuffix("G")) << 30
        self.assertGreaterEqual(memory, facts.host_bytes_max(resident_on_host=True))

    def test_options_that_make_no_sense_are_not_tried_again(self):
        result = subprocess.run([os.environ["GRIDFOLD_SERVER_BINARY"], "--lanes", "none"],
                                capture_output=True)
        self.assertEqual(str(result.returncode), self.service["RestartPreventExitStatus"])


if __name__ == "__main__":
    if shutil.which("systemd-analyze") is None:
        print("skipped: no systemd-analyze")
        sys.exit(SKIPPED)
    unittest.main()
