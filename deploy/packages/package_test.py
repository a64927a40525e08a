"""Makes the packages of the build and looks at them: what is in them, what lintian says, and that the
programs in them answer each other.

GRIDFOLD_BUILD is the build folder. check_in_chroot.sh installs the same packages by apt.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
TIMEOUT_SECONDS = 200
# What each package has among other things.
CONTENTS = {
    "gridfold-server": [
        "etc/gridfold/gridfold.toml", "usr/bin/gridfold_server",
        "usr/lib/systemd/system/gridfold.service", "usr/libexec/gridfold/restart_delay.sh",
        "usr/share/man/man8/gridfold_server.8.gz", "usr/share/doc/gridfold-server/copyright",
        "usr/share/bash-completion/completions/gridfold_server"],
    "gridfold": [
        "usr/bin/gridfold", "usr/bin/gridfold_load", "usr/share/man/man1/gridfold.1.gz",
        "usr/share/man/man1/gridfold-reduce.1.gz", "usr/share/doc/gridfold/changelog.gz",
        "usr/share/bash-completion/completions/gridfold",
        "usr/share/zsh/vendor-completions/_gridfold",
        "usr/share/fish/vendor_completions.d/gridfold.fish"],
    "gridfold-hdf5": ["usr/libexec/gridfold/gridfold_hdf5"],
    "libgridfold-core-dev": [
        "usr/include/gridfold_core.h", "usr/include/gridfold_core/reduction.h",
        "usr/lib/libgridfold_core.so",
        "usr/lib/pkgconfig/gridfold_core.pc"],
    "libgridfold-dev": [
        "usr/include/gridfold/client.h", "usr/lib/libgridfold_client.a",
        "usr/lib/libgridfold_proto.a", "usr/lib/cmake/gridfold/gridfoldConfig.cmake",
        "usr/lib/pkgconfig/gridfold.pc",
        "usr/share/gridfold/proto/gridfold/v1/compute_service.proto"],
}
# What lintian finds is an error, but for these: the packages are not for Debian's own archive.
NOT_FOR_THE_ARCHIVE = ["bad-distribution-in-changes-file", "initial-upload-closes-no-bugs",
                       "no-changelog", "debian-changelog-file-missing", "statically-linked-binary",
                       "maintainer-script-calls-systemctl", "embedded-library"]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS,
                          check=True, **options).stdout


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        made = subprocess.run(
            ["cpack", "-G", "DEB", "-B", cls.folder, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"],
            cwd=os.environ["GRIDFOLD_BUILD"], capture_output=True, text=True, check=False,
            timeout=TIMEOUT_SECONDS)
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)
        cls.packages = {run("dpkg-deb", "--field", path, "Package").strip(): path
                        for path in cls.folder.glob("*.deb")}

    def files_of(self, package):
        listed = run("dpkg-deb", "--contents", self.packages[package]).splitlines()
        return {line.split()[5].removeprefix("./"): line for line in listed}

    def test_each_package_has_its_files(self):
        self.assertEqual(self.packages.keys(), CONTENTS.keys())
        owners = {}
        for package, expected in CONTENTS.items():
            files = self.files_of(package)
            for path in expected:
                self.assertIn(path, files, package)
            for path, line in files.items():
                self.assertRegex(line, r"root/root", path)
                if not path.endswith("/"):
                    self.assertIsNone(owners.get(path), path)
                    owners[path] = package

    def test_they_say_what_they_need(self):
        depends = {package: run("dpkg-deb", "--field", path, "Depends")
                   for package, path in self.packages.items()}
        for package in ("gridfold", "gridfold-server"):
            self.assertRegex(depends[package], r"libgrpc\+\+\S* \(>= ")
        self.assertIn("libtbb", depends["gridfold-server"])
        for library in ("libtbb", "libhdf5"):
            self.assertNotIn(library, depends["gridfold"])
        self.assertIn("libhdf5", depends["gridfold-hdf5"])
        self.assertIn("libgrpc++-dev", depends["libgridfold-dev"])
        conffiles = run("dpkg-deb", "--info", self.packages["gridfold-server"], "conffiles")
        self.assertEqual(conffiles, "/etc/gridfold/gridfold.toml\n")

    def test_none_is_made_where_nothing_says_what_they_need(self):
        made = subprocess.run(
            ["cmake", "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF",
             "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
             "-P", ROOT / "deploy/packages/debian_files.cmake"],
            cwd=self.folder, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS)
        self.assertNotEqual(made.returncode, 0)
        self.assertIn("apt-get install dpkg-dev", made.stderr)

    def test_lintian_finds_no_fault(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        # Only the programs' packages: lintian takes long for static libraries, and then finds fault with
        # nothing but their place.
        programs = [self.packages[name]
                    for name in ("gridfold", "gridfold-hdf5", "gridfold-server")]
        found = subprocess.run(
            ["lintian", "--allow-root", "--fail-on", "error,warning",
             "--suppress-tags", ",".join(NOT_FOR_THE_ARCHIVE), *programs],
            capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)

    def test_the_programs_answer_each_other(self):
        tree = self.folder / "tree"
        for path in self.packages.values():
            run("dpkg-deb", "--extract", path, tree)
        port_file = self.folder / "port"
        server = subprocess.Popen(
            [tree / "usr/bin/gridfold_server", "--config", tree / "etc/gridfold/gridfold.toml",
             "--engine", "cpu", "--listen", "127.0.0.1:0", "--metrics-address", "off",
             "--port-file", port_file], stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 30
            while not port_file.exists():
                self.assertIsNone(server.poll())
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            answer = run(tree / "usr/bin/gridfold", "reduce", "--json", "--stat", "count",
                         "--server", f"127.0.0.1:{port_file.read_text().strip()}",
                         ROOT / "deploy/sample_data/flight_delay_minutes.npy")
            self.assertIn("200000", answer)
        finally:
            server.terminate()
            self.assertEqual(server.wait(30), 0)
        for script in (ROOT / "deploy/packages").glob("p*[mt]"):
            run("sh", "-n", script)

    def test_pkg_config_knows_the_library(self):
        tree = self.folder / "development"
        run("dpkg-deb", "--extract", self.packages["libgridfold-dev"], tree)
        flags = run("pkg-config", "--cflags", "--libs", "gridfold", env={
            **os.environ, "PKG_CONFIG_PATH": str(tree / "usr/lib/pkgconfig")})
        for flag in ("-lgridfold_client", "-lgridfold_proto", "-lgrpc++", "/usr/lib/pkgconfig/../../include"):
            self.assertIn(flag, flags)


if __name__ == "__main__":
    if not shutil.which("dpkg-shlibdeps") or not shutil.which("cpack"):
        print("skipped: dpkg-dev or cpack is missing")
        sys.exit(SKIPPED)
    unittest.main()
