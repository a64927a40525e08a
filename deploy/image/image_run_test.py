"""The image's server as a container runs it: who it is, what it may write, how it is called from inside
and outside, how it tells its health, how it stops, and what memory it takes.

GRIDFOLD_IMAGE as container.py has it. Outside is the machine beside the container: the image's own
programs, run from its files, over loopback.
"""

import array
import json
import pathlib
import subprocess
import time
import unittest
import urllib.request

import container
from container import Container

DEPLOY = pathlib.Path(__file__).resolve().parent.parent
GRIDFOLD = container.ROOT / "opt/gridfold/bin/gridfold"
GRIDFOLD_LOAD = container.ROOT / "opt/gridfold/bin/gridfold_load"
UNHEALTHY, UNREACHABLE = 1, 3  # Exit codes of `gridfold info --health`.
RESIDENT_MIB_MAX = 1024  # Far below what the defaults allow: a container of that size is enough here.


def outside(*arguments, **options):
    return subprocess.run([GRIDFOLD, *arguments], check=True, capture_output=True, **options).stdout


def total(answer):
    return json.loads(answer)["statistics"]["sum"]


class ServerTest(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Container())

    def test_runs_as_nobody_without_rights_as_the_first_process(self):
        status = self.server.status()
        uid, gid = container.user()
        self.assertGreaterEqual(uid, 1000)
        self.assertEqual(status["Uid"].split(), [str(uid)] * 4)
        self.assertEqual(status["Gid"].split(), [str(gid)] * 4)
        for rights in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[rights], 16), 0, rights)
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual(status["NSpid"].split()[-1], "1")

    def test_is_the_version_of_its_label(self):
        version = self.server.execute("gridfold_server", "--version").stdout.split()[1]
        self.assertEqual(version, container.CONFIG["Labels"]["org.opencontainers.image.version"])

    def test_works_where_nothing_can_be_written(self):
        for folder in ("/", "/tmp", "/opt/gridfold", "/var/tmp"):
            written = self.server.execute("touch", f"{folder}/probe", user="0:0")
            self.assertIn("Read-only file system", written.stderr)
        self.assertEqual(self.sum_from_inside(range(1000)), [499500])

    def sum_from_inside(self, values):
        answer = self.server.execute("sh", "-c", f"seq {values[0]} {values[-1]} | "
                                     "gridfold reduce - --type int64 --format csv --stat sum --json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return total(answer.stdout)

    def test_answers_from_inside_and_from_outside(self):
        self.assertEqual(self.sum_from_inside(range(1, 100_001)), [5_000_050_000])
        data = array.array("q", range(1, 100_001)).tobytes()
        self.assertEqual(total(outside("reduce", "-", "--type", "int64", "--stat", "sum", "--json",
                                       input=data)), [5_000_050_000])

    def test_metrics_are_reached_from_outside(self):
        outside("reduce", "-", "--type", "int64", input=bytes(8))
        text = urllib.request.urlopen("http://127.0.0.1:9464/metrics", timeout=10).read().decode()
        self.assertRegex(text, r'gridfold_requests_total\{[^}]*rpc="ReduceArray"[^}]*\} 1\n')

    def test_memory_at_start_and_after_load(self):
        at_start = self.server.resident_mib()
        subprocess.run([GRIDFOLD_LOAD, "--concurrency", "16", "--duration", "10s", "--elements",
                        "262144", "--verify", "all"], check=True, stdout=subprocess.DEVNULL)
        after_load = self.server.resident_mib()
        print(f"\nmemory of the server: {at_start:.0f} MiB at its start, {after_load:.0f} MiB after "
              "10 s with 16 sums of 1 MiB under way")
        self.assertGreater(after_load, 0)
        self.assertLess(after_load, RESIDENT_MIB_MAX)


class StopTest(unittest.TestCase):
    def test_sigterm_ends_an_idle_server_with_code_0(self):
        with Container() as server:
            began = time.monotonic()
            server.signal("TERM")
            self.assertEqual(server.wait(), 0, server.log())
            self.assertLess(time.monotonic() - began, 10)
        health = subprocess.run([GRIDFOLD, "info", "--health"], capture_output=True)
        self.assertEqual(health.returncode, UNREACHABLE)

    def test_sigterm_lets_what_runs_finish_and_says_so_of_its_health(self):
        half = array.array("q", range(500_000)).tobytes()
        # New connections are refused only after the lame-duck delay: until then health can be asked.
        with Container(*container.CONFIG["Cmd"], "--lame-duck", "5s") as server, subprocess.Popen(
                [GRIDFOLD, "reduce", "-", "--type", "int64", "--stream", "--stat", "sum", "--json"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE) as caller:
            caller.stdin.write(half)
            caller.stdin.flush()
            self.wait_for_stream()
            server.signal("TERM")
            self.assertEqual(self.health_until_it_changes(server), UNHEALTHY)
            caller.stdin.write(half)
            caller.stdin.close()
            self.assertEqual(total(caller.stdout.read()), [2 * sum(range(500_000))])
            self.assertEqual(caller.wait(), 0)
            self.assertEqual(server.wait(), 0, server.log())

    def wait_for_stream(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            text = urllib.request.urlopen("http://127.0.0.1:9464/metrics", timeout=10).read().decode()
            if "\ngridfold_streams_open 1\n" in text:
                return
            time.sleep(0.1)
        self.fail("the stream did not begin")

    def health_until_it_changes(self, server):
        deadline = time.monotonic() + 20
        while (health := server.health()) == 0 and time.monotonic() < deadline:
            time.sleep(0.1)
        return health


class ConfigurationFilesTest(unittest.TestCase):
    """The server with the files that Compose and Kubernetes mount, where they mount them."""

    def test_serves(self):
        target = "/etc/gridfold/gridfold.toml"
        for file in ("compose.toml", "kubernetes/overlays/cpu/gridfold.toml"):
            with self.subTest(file), Container("--config", target,
                                               mounts={target: DEPLOY / file}) as server:
                self.assertEqual(total(outside("reduce", "-", "--type", "int64", "--stat", "sum",
                                               "--json", input=bytes(80))), [0])
                server.signal("TERM")
                self.assertEqual(server.wait(), 0, server.log())


if __name__ == "__main__":
    unittest.main()
