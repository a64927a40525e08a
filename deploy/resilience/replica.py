"""A gridfold_server that is stopped, or killed, and started again on its port; and load on several.

GRIDFOLD_SERVER_BINARY and GRIDFOLD_LOAD_BINARY are the programs.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "client" / "python"))
import server_process  # noqa: E402

STOP_SECONDS_MAX = 60
# One processor's worth each, so that several fit a machine.
SMALL = ["--cpu-threads=1", "--lanes=2", "--log-level=warning"]


class Replica(server_process.ServerProcess):
    """Runs from `with` to its end, with the CPU engine."""

    def __init__(self, *options, listen=None):
        super().__init__(*SMALL, *options, listen=listen)
        self.engine = "cpu"

    def __exit__(self, *exception):
        self._process.kill()  # Nothing where it has ended.
        super().__exit__(*exception)

    def stop(self):
        """Drains it. Returns the exit code."""
        self._process.terminate()
        return self._process.wait(timeout=STOP_SECONDS_MAX)

    def kill(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    @property
    def port(self):
        return self._port

    def resident_bytes(self):
        pages = pathlib.Path(f"/proc/{self.process_id}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process_id}/fd"))


def target_of(replicas):
    return "ipv4:" + ",".join(replica.target for replica in replicas)


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
