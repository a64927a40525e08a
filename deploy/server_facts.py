"""What a configuration file of the server comes to: the server is asked, with its CPU engine.

GRIDFOLD_SERVER_BINARY is the server.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import tomllib
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent


class ServerFacts(NamedTuple):
    limits: dict  # The event "limits" of the log: of the CPU engine, which is one device.
    grace_period_seconds: float
    gpu_count_max: int  # As many as the file allows the server to use; 64 where it does not say.
    queue_is_given: bool  # Else each GPU adds as much room to it.

    def host_bytes_max(self, resident_on_host: bool, gpu_count: int | None = None) -> int:
        """What the server holds of the host's memory at most: the sum of README.md, "Sizing"."""
        gpus = gpu_count or self.gpu_count_max
        queued = self.limits["queued_bytes_max"] * (1 if self.queue_is_given else gpus)
        message = self.limits["message_bytes_max"]
        lanes = self.limits["lanes"] * gpus
        total = 6 * queued + 7 * lanes * message + self.limits["answer_bytes_max"]
        return total + (self.limits["resident_bytes_max"] if resident_on_host else 0)


def gpu_count_max(config: str) -> int:
    """How many GPUs a configuration file allows at most (kEngineCountMax, where it names none)."""
    devices = tomllib.loads(config).get("cuda-devices", "all")
    return 64 if devices == "all" else len(devices.split(","))


def stop_seconds_beyond_grace() -> float:
    """How long a stop may take beyond its grace period, with an audit log, by the fixed limits."""
    text = (ROOT / "server/base/fixed_limits.h").read_text(encoding="utf-8")
    return sum(int(re.search(rf"\b{name} = std::chrono::seconds\((\d+)\)", text)[1])
               for name in ("kStopTimeout", "kCloseTimeout", "kLogFlushTimeout", "kLogFlushTimeout"))


def server_facts(config: str) -> ServerFacts:
    """Starts a server with the file `config` and stops it. Raises RuntimeError where it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        path, port = pathlib.Path(folder, "gridfold.toml"), pathlib.Path(folder, "port")
        path.write_text(config, encoding="utf-8")
        server = subprocess.Popen(
            [os.environ["GRIDFOLD_SERVER_BINARY"], "--config", path, "--engine", "cpu", "--listen",
             "127.0.0.1:0", "--metrics-address", "off", "--port-file", port, "--log-format=json",
             # The most that answers may have, whatever this machine has.
             "--max-memory-bytes", str(1 << 40)],
            stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while not port.exists() and server.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        server.terminate()
        log = server.communicate()[1]
        if server.returncode != 0:
            raise RuntimeError(log)
    events = {event["event"]: event for event in map(json.loads, log.splitlines())}
    return ServerFacts(events["limits"], events["draining"]["grace_period_ms"] / 1000,
                       gpu_count_max(config), "max-queued-bytes" in tomllib.loads(config))
