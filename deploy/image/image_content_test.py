"""What is inside the image, and what its configuration says.

GRIDFOLD_IMAGE as container.py has it, with the image's files untouched (`files`) and those of the
runtime base image (`base`).
"""

import pathlib
import re
import stat
import subprocess
import unittest

import container

FILES = (container.FOLDER / "files").resolve()
BASE = (container.FOLDER / "base").resolve()
PREFIX = "opt/gridfold"
PROGRAMS = ["gridfold", "gridfold_load", "gridfold_server"]
# What the C library's own package brings, with which cmake/InstallSettings.cmake does without copies.
SIZE_MB_MAX = 60
FROM_BASE = re.compile(r"linux-vdso|ld-linux|/lib(c|m|dl|rt|pthread|resolv)\.so")


def entries(root):
    """What identifies every file below a folder, by its path; sizes of folders mean nothing."""
    found = {}
    for path in root.rglob("*"):
        status = path.lstat()
        size = 0 if stat.S_ISDIR(status.st_mode) else status.st_size
        found[str(path.relative_to(root))] = (status.st_mode, status.st_uid, status.st_gid, size)
    return found


def linked(program):
    """The libraries that a program of the image loads in it, as ldd tells."""
    return subprocess.run(["chroot", FILES, "ldd", f"/{PREFIX}/bin/{program}"], check=True,
                          capture_output=True, text=True).stdout.splitlines()


def size_mb(root):
    return sum(path.lstat().st_size for path in root.rglob("*") if not path.is_dir()) / 1e6


class ImageFilesTest(unittest.TestCase):
    def test_adds_its_own_folder_to_the_base_and_nothing_else(self):
        image, base = entries(FILES), entries(BASE)
        changed = sorted(path for path in image.keys() | base.keys()
                         if image.get(path) != base.get(path))
        strangers = [path for path in changed
                     if not pathlib.PurePath(path).is_relative_to(PREFIX) and path != "opt"]
        self.assertEqual(strangers, [])
        self.assertIn(f"{PREFIX}/bin/gridfold_server", changed)

    def test_has_the_programs_and_the_libraries_that_they_load(self):
        held = {path for path in (FILES / PREFIX).rglob("*") if not path.is_dir()}
        loaded = {FILES / PREFIX / "bin" / program for program in PROGRAMS}
        for program in PROGRAMS:
            for line in linked(program):
                self.assertNotIn("not found", line, program)
                if f"/{PREFIX}/" in line:
                    name = re.search(r"=> (\S+)", line)[1]
                    path = FILES / name.replace("/bin/../", "/").lstrip("/")
                    loaded |= {path, path.parent / path.readlink()} if path.is_symlink() else {path}
                else:
                    self.assertRegex(line, FROM_BASE, program)
        self.assertEqual(held, loaded)

    def test_nobody_but_root_may_change_it_and_nothing_is_setuid(self):
        for path in (FILES / PREFIX).rglob("*"):
            status = path.lstat()
            self.assertEqual((status.st_uid, status.st_gid), (0, 0), path)
            if not path.is_symlink():
                self.assertFalse(status.st_mode & 0o6022, path)

    def test_has_no_tools_headers_or_packages(self):
        for tool in ("cc", "c++", "gcc", "g++", "nvcc", "ld", "cmake", "ninja", "git", "ccache"):
            for folder in container.environment("PATH").split(":"):
                self.assertFalse((FILES / folder.lstrip("/") / tool).exists(), tool)
        for pattern in ("*.h", "*.hpp", "*.a", "*.deb", "*.cc", "*.cu", "*_Packages"):
            self.assertEqual([str(path) for path in FILES.rglob(pattern)], [])

    def test_size(self):
        """Prints it; what is bounded is what gridfold adds."""
        added = size_mb(FILES / PREFIX)
        archive = subprocess.run(["tar", "-C", FILES, "-cz", PREFIX], check=True,
                                 capture_output=True).stdout
        print(f"\nsize: {size_mb(FILES):.1f} MB, of which the base {size_mb(BASE):.1f} MB and "
              f"/{PREFIX} {added:.1f} MB ({len(archive) / 1e6:.1f} MB compressed)")
        for path in sorted((FILES / PREFIX).rglob("*")):
            if path.is_dir() or path.is_symlink():
                continue
            print(f"  {path.stat().st_size / 1e6:6.2f} MB  /{path.relative_to(FILES)}")
        self.assertLess(added, SIZE_MB_MAX)


class ImageConfigTest(unittest.TestCase):
    config = container.CONFIG

    def test_labels(self):
        prefix = "org.opencontainers.image."
        labels = {name.removeprefix(prefix): value
                  for name, value in self.config["Labels"].items() if name.startswith(prefix)}
        self.assertEqual(labels["title"], "gridfold")
        self.assertRegex(labels["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(labels["licenses"], "Apache-2.0")
        self.assertTrue(labels["description"])

    def test_ports_are_those_that_it_listens_on(self):
        arguments = self.config["Cmd"]
        listens = {arguments[arguments.index(option) + 1].rsplit(":", 1)[1] + "/tcp"
                   for option in ("--listen", "--metrics-address")}
        self.assertEqual(set(self.config["ExposedPorts"]), listens)

    def test_has_no_volumes_and_no_shell_in_between(self):
        self.assertFalse(self.config.get("Volumes"))
        self.assertEqual(self.config["Entrypoint"], ["gridfold_server"])


if __name__ == "__main__":
    unittest.main()
