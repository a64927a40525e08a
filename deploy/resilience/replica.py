"""A gridfold_server that is stopped, or killed, and started again on its port; and load on several.

GRIDFOLD_SERVER_BINARY and GRIDFOLD_LOAD_BINARY are the programs.
"""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 60
# One processor's worth each, so that several fit a machine.
SMALL = ["--engine=cpu", "--cpu-threads=1", "--lanes=2", "--metrics-address=off"]


class Replica:
    """Runs from `with` to its end."""

    def __init__(self, *options):
        self._options = [*SMALL, *options]
        self._port = 0

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.start()
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._folder.cleanup()

    def start(self):
        """Returns when requests are taken."""
        port_file = pathlib.Path(self._folder.name, "port")
        port_file.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [os.environ["GRIDFOLD_SERVER_BINARY"], *self._options, "--port-file", port_file,
             f"--listen=127.0.0.1:{self._port}", "--log-level=warning"])
        deadline = time.monotonic() + START_SECONDS_MAX
        while not (port_file.exists() and port_file.read_text().strip()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start: {self.process.poll()}")
            time.sleep(0.02)
        self._port = int(port_file.read_text())

    def stop(self):
        """Drains it. Returns the exit code."""
        self.process.terminate()
        return self.process.wait(timeout=STOP_SECONDS_MAX)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    @property
    def port(self):
        return self._port

    @property
    def address(self):
        return f"127.0.0.1:{self._port}"

    def resident_bytes(self):
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def target_of(replicas):
    return "ipv4:" + ",".join(replica.address for replica in replicas)


class Load:
    """gridfold_load at work, from `with` to finish. It tries no call again."""

    def __init__(self, target, *options):
        self._command = [os.environ["GRIDFOLD_LOAD_BINARY"], "--server", target, "--warm-up", "0",
                         "--json", "-", "--duration", "600s", *map(str, options)]

    def __enter__(self):
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    def finish(self):
        """The report's only level."""
        self._process.send_signal(signal.SIGINT)
        out, error = self._process.communicate(timeout=120)
        if self._process.returncode != 0:
            raise RuntimeError(error)
        [level] = json.loads(out)["levels"]
        return level
