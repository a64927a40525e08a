"""The program gridfold_server as a process of a test, and what tests ask of it.

GRIDFOLD_SERVER_BINARY names the program.
"""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from testing.minimal_grpc import Connection, field, number_field

BINARY = os.environ["GRIDFOLD_SERVER_BINARY"]
SCAN = "/gridfold.v1.ComputeService/ScanArray"
INFO = "/gridfold.v1.ServerService/GetServerInfo"
HEALTH = "/grpc.health.v1.Health/Check"
SERVING = 1
ELEMENT_TYPE_INT8, SCAN_OPERATION_SUM = 1, 1
ELEMENTS = 50000


def scan_request(elements=ELEMENTS):
    """A scan whose answer, 400,000 bytes by default, is larger than a window that was not opened."""
    array = number_field(1, ELEMENT_TYPE_INT8) + field(15, b"\1" * elements)
    return field(1, field(1, array)) + number_field(2, SCAN_OPERATION_SUM)


class ServerProcess:
    def __init__(self, *options, environment=None, files_max=None, stderr=None):
        self.folder = tempfile.TemporaryDirectory()
        self.port_file = os.path.join(self.folder.name, "port")
        # Appending: reading must not move the place where the server writes.
        self.log = open(os.path.join(self.folder.name, "log"), "a+")
        command = [BINARY, "--engine=cpu", "--cpu-threads=1", "--log-format=json"]
        command += ["--port-file", self.port_file, *options]
        if not any(option.startswith("--listen") for option in options):
            command.append("--listen=127.0.0.1:0")
        if not any(option.startswith("--metrics-address") for option in options):
            command.append("--metrics-address=off")
        if files_max is not None:
            command = ["prlimit", f"--nofile={files_max}", *command]
        self.process = subprocess.Popen(
            command, stderr=stderr or self.log, env={**os.environ, **(environment or {})}
        )
        self.port = self._wait_for_port()

    def _wait_for_port(self):
        while not os.path.exists(self.port_file):
            if self.process.poll() is not None:
                raise RuntimeError("the server ended: " + self.read_log())
            time.sleep(0.005)
        with open(self.port_file) as file:
            return int(file.read())

    def read_log(self):
        self.log.seek(0)
        return self.log.read()

    def events(self):
        return {line["event"]: line for line in map(json.loads, self.read_log().splitlines())}

    def wait_for_event(self, name):
        deadline = time.monotonic() + 60
        while name not in self.read_log():
            assert time.monotonic() < deadline, self.read_log()
            time.sleep(0.005)

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self):
        return self.process.wait(timeout=60)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
        self.folder.cleanup()


class ServerProcessCase(unittest.TestCase):
    """A test with servers and connections that go with it."""

    def start(self, *options, **arguments):
        server = ServerProcess(*options, **arguments)
        self.addCleanup(server.close)
        return server

    def connect(self, server, **arguments):
        connection = Connection(server.port, **arguments)
        self.addCleanup(connection.close)
        return connection

    def start_on_socket(self, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "socket")
        return self.start(f"--listen=unix:{path}", *options), path

    def fill_the_log(self, server):
        """Calls whose lines are more than a pipe takes; they are answered all the same."""
        for _ in range(3):
            connection = self.connect(server)  # Each has a window for some hundred answers.
            connection.socket.settimeout(20)
            for _ in range(200):
                self.assertIsNotNone(connection.call(SCAN, scan_request(10)))
            connection.close()
