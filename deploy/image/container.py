"""Containers of an unpacked image, run by runc as an engine would with --read-only --cap-drop ALL
--security-opt no-new-privileges: with namespaces of their own but for the network, which is the caller's.

GRIDFOLD_IMAGE is a folder with the image's files (`root`), its configuration (`config.json`) and a folder
`run` for what runs.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time

FOLDER = pathlib.Path(os.environ["GRIDFOLD_IMAGE"])
ROOT = (FOLDER / "root").resolve()
STATE = FOLDER / "run/runc"
CONFIG = json.loads((FOLDER / "config.json").read_text())
START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 60


def user():
    """User and group of the image, by number."""
    return tuple(int(part) for part in CONFIG["User"].split(":"))


def environment(name):
    return dict(entry.split("=", 1) for entry in CONFIG["Env"])[name]


def runc(*arguments, **options):
    return subprocess.run(["runc", "--root", STATE, *arguments], text=True, **options)


class Container:
    """The image's program, with the image's arguments or these. Runs from `with` to its end."""

    def __init__(self, *arguments, mounts=None):
        self.name = f"gridfold-image-test-{os.getpid()}"
        self._arguments = [*CONFIG["Entrypoint"], *(arguments or CONFIG["Cmd"])]
        self._mounts = mounts or {}

    def _bundle(self, folder):
        subprocess.run(["runc", "spec", "--bundle", folder], check=True)
        file, hosts = pathlib.Path(folder, "config.json"), pathlib.Path(folder, "hosts")
        hosts.write_text("127.0.0.1 localhost\n")  # As every engine brings it.
        spec = json.loads(file.read_text())
        uid, gid = user()
        spec["process"].update(terminal=False, user={"uid": uid, "gid": gid}, cwd="/",
                               args=self._arguments, env=CONFIG["Env"], capabilities={},
                               noNewPrivileges=True)
        spec["root"] = {"path": str(ROOT), "readonly": True}
        spec["mounts"] += [{"source": str(source), "destination": target, "type": "bind",
                            "options": ["bind", "ro"]} for target, source in
                           {"/etc/hosts": hosts, **self._mounts}.items()]
        spec["linux"]["namespaces"] = [entry for entry in spec["linux"]["namespaces"]
                                       if entry["type"] != "network"]
        file.write_text(json.dumps(spec))

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(dir=FOLDER)
        self._bundle(self._folder.name)
        self._log = open(pathlib.Path(self._folder.name, "log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            ["runc", "--root", STATE, "run", "--bundle", self._folder.name, self.name],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
        deadline = time.monotonic() + START_SECONDS_MAX
        while self.health() != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                log = self.log()
                self.__exit__()
                raise RuntimeError(f"the container does not serve; its log:\n{log}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        runc("delete", "--force", self.name, stderr=subprocess.DEVNULL)
        self.process.wait()
        self._log.close()
        self._folder.cleanup()

    def log(self):
        self._log.seek(0)
        return self._log.read()

    def execute(self, *command, user=CONFIG["User"], **options):
        """Runs a command inside, as `docker exec` does."""
        return runc("exec", "--user", user, self.name, *command, capture_output=True, **options)

    def health(self):
        """The exit code of the image's own health check."""
        kind, *command = CONFIG["Healthcheck"]["Test"]
        assert kind == "CMD", kind
        return self.execute(*command).returncode

    def pid(self):
        """Of the server, as the machine knows it."""
        return json.loads(runc("state", self.name, check=True, capture_output=True).stdout)["pid"]

    def status(self):
        """/proc/PID/status of the server."""
        lines = pathlib.Path(f"/proc/{self.pid()}/status").read_text().splitlines()
        return {name: value.strip() for name, value in (line.split(":", 1) for line in lines)}

    def resident_mib(self):
        return int(self.status()["VmRSS"].split()[0]) / 1024

    def signal(self, name):
        runc("kill", self.name, name, check=True)

    def wait(self):
        """Returns the exit code of the program."""
        return self.process.wait(timeout=STOP_SECONDS_MAX)
