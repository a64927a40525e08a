"""nginx with the configuration of this folder, in front of a server's Unix socket: for tests.

Paths, the address and the folder of certificates are replaced; all else is as it is shipped.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
START_SECONDS_MAX = 30
# Debian has it where users do not look.
NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def configuration(folder, socket_path, listen, calls_of_address):
    """Writes nginx.conf and listen.conf of a test into `folder`. Returns the former's path."""
    text = (FOLDER / "nginx.conf").read_text(encoding="utf-8")
    replaced = text.replace("/run/gridfold/socket", str(socket_path)).replace(
        "/tmp/gridfold_edge", f"{folder}/edge")
    assert replaced.count(str(folder)) >= 6, "nginx.conf has other paths than those of the tests"
    assert "limit_conn callers 1024;" in replaced
    replaced = replaced.replace("callers 1024;", f"callers {calls_of_address};")
    (folder / "listen.conf").write_text(listen, encoding="utf-8")
    path = folder / "nginx.conf"
    path.write_text(replaced, encoding="utf-8")
    return path


class Edge:
    """An edge on a free loopback port, from `with` to its end.

    `listen_file` is the file of this folder that says how it listens; `tls` the folder of
    server.crt, server.key and ca.crt; `client_certificates` whether callers need one;
    `calls_of_address` how many calls an address may have under way, in place of 1,024.
    """

    def __init__(self, socket_path, listen_file="listen_plain.conf", tls=None,
                 client_certificates=False, calls_of_address=1024):
        self._socket_path = socket_path
        self._calls_of_address = calls_of_address
        self._listen = (FOLDER / listen_file).read_text(encoding="utf-8")
        if tls:
            self._listen = self._listen.replace("/etc/gridfold/tls", str(tls))
        if client_certificates:
            self._listen = self._listen.replace("# ssl_", "ssl_")

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self._folder.name)
        self.port = _free_port()
        listen = self._listen.replace("listen 50051", f"listen 127.0.0.1:{self.port}")
        assert listen != self._listen
        self._log = open(folder / "log", "w+", encoding="utf-8")
        # As any user, nginx's workers run as that; as root they would run as another.
        as_root = "user root; " if os.geteuid() == 0 else ""
        self._process = subprocess.Popen(
            [NGINX, "-e", "stderr", "-p", folder, "-c",
             configuration(folder, self._socket_path, listen, self._calls_of_address),
             "-g", as_root + "worker_processes 2;"],
            stderr=self._log)
        self.target = f"127.0.0.1:{self.port}"
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the edge did not start: " + self.log())
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(timeout=60)
        self._log.close()
        self._folder.cleanup()

    def _answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            return True
        except OSError:
            return False

    def log(self):
        self._log.flush()
        return pathlib.Path(self._folder.name, "log").read_text(encoding="utf-8")

    def process_ids(self):
        """Of the master and its workers."""
        children = pathlib.Path(
            f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text()
        return [self._process.pid, *map(int, children.split())]


def processor_seconds(process_ids):
    total = 0
    for process_id in process_ids:
        fields = pathlib.Path(f"/proc/{process_id}/stat").read_text().rsplit(") ", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def resident_bytes(process_ids):
    return sum(int(pathlib.Path(f"/proc/{process_id}/statm").read_text().split()[1])
               for process_id in process_ids) * os.sysconf("SC_PAGE_SIZE")
