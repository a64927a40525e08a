"""Starts a gridfold_server for tests that go over a real socket."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

SKIPPED = 77  # The exit code by which CTest knows a test that could not run here.
START_SECONDS_MAX = 60


class ServerProcess:
    """A server on a free loopback port, or at `listen`, from `with` to its end.

    The program is GRIDFOLD_SERVER_BINARY; its engine is GRIDFOLD_TEST_ENGINE, "cpu" by default.
    `options` are further ones of its command line. Metrics are served at `metrics_address`.
    """

    def __init__(self, *options, metrics_address="off", listen=None):
        self.engine = os.environ.get("GRIDFOLD_TEST_ENGINE", "cpu")
        # Several servers share a GPU, most of whose memory one takes unless told otherwise.
        resident = ["--resident-bytes", "1GiB"] if self.engine == "cuda" else []
        given = [str(option).split("=")[0] for option in options]
        self._options = ["--metrics-address", metrics_address, *options,
                         *([] if "--resident-bytes" in given else resident)]
        self._listen = listen
        self._port = 0

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.start()
        return self

    def start(self):
        """Returns when requests are taken. One that has ended starts on its port again."""
        port_file = pathlib.Path(self._folder.name, "port")
        port_file.unlink(missing_ok=True)
        self._process = subprocess.Popen(
            [os.environ["GRIDFOLD_SERVER_BINARY"], "--engine", self.engine,
             "--listen", self._listen or f"127.0.0.1:{self._port}", "--port-file", str(port_file),
             *self._options],
            stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not (port_file.exists() and port_file.read_text().strip()):
            if self._process.poll() is not None:
                raise RuntimeError(f"the server ended with code {self._process.returncode}")
            if time.monotonic() > deadline:
                self._process.kill()
                raise RuntimeError("the server did not start")
            time.sleep(0.02)
        self._port = int(port_file.read_text())
        self.target = self._listen or f"127.0.0.1:{self._port}"

    @property
    def process_id(self):
        return self._process.pid

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()


def skip_without_device():
    """Ends the program as skipped where it is to test a GPU and there is none."""
    if os.environ.get("GRIDFOLD_TEST_ENGINE") == "cuda" and not os.path.exists("/dev/nvidiactl"):
        print("skipped: no GPU")
        sys.exit(SKIPPED)
