"""Checks the units: systemd's own reading of them, their exposure, and the time they have to stop.

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

PROGRAM = "/opt/gridfold/bin/gridfold_server"
DELAY = FOLDER / "restart_delay.sh"
INSTALLED_DELAY = "/opt/gridfold/libexec/restart_delay.sh"
EXPOSURE_MAX = 1.5  # Of 10; 1.4 as systemd 252 counts. It talks to a network and to devices.


def read_unit(name):
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read_string((FOLDER / name).read_text(encoding="utf-8"))
    return parser


class Unit:
    """A unit, with programs that are there in place of those that it names."""

    def __init__(self, test, name, programs):
        parser = read_unit(name)
        self.service, self.unit_section = parser["Service"], parser["Unit"]
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, name)
        text = (FOLDER / name).read_text(encoding="utf-8")
        for program, present in programs.items():
            test.assertIn(program, text)
            text = text.replace(program, str(present))
        self.path.write_text(text)

    def analyze(self, test, *arguments):
        result = subprocess.run(["systemd-analyze", *arguments, self.path], capture_output=True,
                                text=True)
        test.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        return result.stdout + result.stderr

    def check(self, test, exposure_max):
        """systemd understands every line, and rates its exposure."""
        # It reads other units as well, whose faults are not ours.
        test.assertNotIn(self.path.name, self.analyze(test, "verify", "--man=no"))
        report = self.analyze(test, "security", "--offline=true", "--no-pager")
        exposure = float(re.search(r"Overall exposure level.*?: ([\d.]+)", report)[1])
        test.assertLessEqual(exposure, exposure_max, report)


class UnitTest(unittest.TestCase):
    def setUp(self):
        self.unit = Unit(self, "gridfold.service", {
            PROGRAM: os.environ["GRIDFOLD_SERVER_BINARY"], INSTALLED_DELAY: DELAY})
        self.service, self.unit_section = self.unit.service, self.unit.unit_section

    def test_systemd_understands_it(self):
        self.unit.check(self, EXPOSURE_MAX)

    def test_options_are_understood_and_a_stop_has_its_time(self):
        facts = server_facts.server_facts((FOLDER / "gridfold.toml").read_text())
        stop_seconds = float(self.service["TimeoutStopSec"].removesuffix("s"))
        self.assertGreaterEqual(
            stop_seconds, facts.grace_period_seconds + server_facts.stop_seconds_beyond_grace())
        memory = int(self.service["MemoryMax"].removesuffix("G")) << 30
        self.assertGreaterEqual(memory, facts.host_bytes_max(resident_on_host=True))
        self.assertEqual(facts.gpu_count_max, 1)

    def test_the_documents_sums_are_those_of_the_limits(self):
        facts = server_facts.server_facts((FOLDER / "gridfold.toml").read_text())
        text = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| (\d+) \| (\d+) GiB \|", text, flags=re.MULTILINE)
        self.assertEqual([int(gpus) for gpus, _ in rows], [1, 2, 4, 8])
        for gpus, gibibytes in rows:
            needed = facts.host_bytes_max(resident_on_host=False, gpu_count=int(gpus))
            self.assertEqual(needed, int(gibibytes) << 30)
        first, second = (int(gibibytes) for _, gibibytes in rows[:2])
        for name in ("systemd/gridfold.service", "systemd/gridfold.toml", "compose.yaml"):
            with self.subTest(name):
                said = re.findall(r"more[^.\n]* asks (\d+) GiB more",
                                  (FOLDER.parent / name).read_text(encoding="utf-8"))
                self.assertEqual(said, [str(second - first)])

    def test_however_often_it_ends_it_is_started_again(self):
        self.assertEqual(self.unit_section["StartLimitIntervalSec"], "0")
        self.assertNotIn("StartLimitBurst", self.unit_section)
        self.assertEqual(self.service["Restart"], "on-failure")
        script, state = self.service["ExecStartPre"].split()
        self.assertEqual(pathlib.Path(script).name, DELAY.name)
        self.assertEqual(pathlib.Path(state).parent.name, self.service["RuntimeDirectory"])
        self.assertEqual(self.service["RuntimeDirectoryPreserve"], "restart")
        longest = re.search(r"^delay_most=(\d+)$", DELAY.read_text(), flags=re.MULTILINE)[1]
        minutes = self.service["TimeoutStartSec"].removesuffix("min")
        self.assertGreater(60 * int(minutes), int(longest))

    def test_options_that_make_no_sense_are_not_tried_again(self):
        result = subprocess.run([os.environ["GRIDFOLD_SERVER_BINARY"], "--lanes", "none"],
                                capture_output=True)
        self.assertEqual(str(result.returncode), self.service["RestartPreventExitStatus"])


class EdgeUnitTest(unittest.TestCase):
    def setUp(self):
        self.unit = Unit(self, "gridfold-edge.service", {"/usr/sbin/nginx": shutil.which("true")})
        self.server = read_unit("gridfold.service")["Service"]

    def test_systemd_understands_it(self):
        self.unit.check(self, EXPOSURE_MAX)

    def test_the_edge_may_connect_and_the_server_listens_there(self):
        text = (FOLDER.parent / "edge" / "nginx.conf").read_text(encoding="utf-8")
        path = re.search(r"server unix:(\S+);", text)[1]
        drop_in = read_unit("behind_edge.conf")
        self.assertEqual(drop_in["Service"]["Environment"], f"GRIDFOLD_LISTEN=unix:{path}")
        self.assertEqual(drop_in["Unit"]["Wants"], self.unit.path.name)
        self.assertEqual(str(pathlib.Path(path).parent), f"/run/{self.server['RuntimeDirectory']}")
        # DynamicUser= without User= is the unit's own name, and a group of that name.
        self.assertEqual(self.server["DynamicUser"], "yes")
        self.assertNotIn("User", self.server)
        self.assertEqual(self.unit.service["Group"], "gridfold")
        self.assertEqual(self.server["RuntimeDirectoryMode"], "0750")
        self.assertEqual(self.unit.unit_section["Before"], "gridfold.service")
        self.assertIn("/etc/gridfold/edge/nginx.conf", self.unit.service["ExecStart"])


class RestartDelayTest(unittest.TestCase):
    """The script with a clock and a `sleep` of the test's own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.state = self.folder / "state"
        fake = self.folder / "sleep"
        fake.write_text(f"#!/bin/sh\necho $1 >>{self.folder}/slept\n")
        fake.chmod(0o755)
        self.now = 1000.0

    def start(self):
        """The seconds that a start waits now, which pass."""
        (self.folder / "uptime").write_text(f"{self.now:.2f} 5.00\n")
        slept = self.folder / "slept"
        slept.unlink(missing_ok=True)
        subprocess.run([DELAY, self.state, self.folder / "uptime"], check=True, timeout=30,
                       env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"},
                       stdout=subprocess.DEVNULL)
        seconds = int(slept.read_text()) if slept.exists() else 0
        self.now += seconds
        return seconds

    def crash_after(self, seconds):
        self.now += seconds

    def test_delays_grow_to_five_minutes_and_no_further(self):
        delays = []
        for _ in range(12):
            delays.append(self.start())
            self.crash_after(1)
        self.assertEqual(delays, [0, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300])

    def test_a_server_that_ran_two_minutes_is_started_at_once(self):
        for _ in range(6):
            self.start()
            self.crash_after(1)
        self.start()
        self.crash_after(119)
        self.assertGreater(self.start(), 0)
        self.crash_after(120)
        self.assertEqual(self.start(), 0)
        self.crash_after(1)
        self.assertEqual(self.start(), 4)

    def test_a_state_that_makes_no_sense_counts_as_none(self):
        for text in ("", "\n", "soon\n", "12\n", "1 2 3; rm x\n", "-5 x\n"):
            self.state.write_text(text)
            self.assertEqual(self.start(), 0, text)

    def test_a_machine_that_has_started_again_begins_anew(self):
        self.start()
        self.crash_after(1)
        self.start()
        self.now = 30
        # The folder of the state is in memory; even if it were not, the wait stays bounded.
        self.assertLessEqual(self.start(), 300)


def suite_of_what_can_run():
    loader = unittest.TestLoader()
    names = [RestartDelayTest]
    if shutil.which("systemd-analyze"):
        names += [UnitTest, EdgeUnitTest]
    else:
        print("no systemd-analyze: the unit itself is not checked")
    return unittest.TestSuite(loader.loadTestsFromTestCase(name) for name in names)


if __name__ == "__main__":
    result = unittest.TextTestRunner().run(suite_of_what_can_run())
    sys.exit(0 if result.wasSuccessful() else 1)
