"""Builds the native modules by CMake, from the tree that this folder lies in, and packs them with the
shared libraries that they need.

    pip install --no-build-isolation ./client/python       without the network
    GRIDFOLD_BUILD_FOLDER=build/release pip wheel --no-build-isolation ./client/python

With GRIDFOLD_BUILD_FOLDER the modules are taken from a build of the tree instead of being built.
A wheel is for the distribution release that it was built on: the C library, libstdc++ and libgcc_s
are the machine's.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BELONGS_TO_MACHINE = re.compile(
    r"linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+)\.so")


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(gridfold VERSION ([0-9.]+)", text).group(1)


def needed_libraries(module):
    """The shared libraries that a module loads and the machine need not have."""
    output = subprocess.run(["ldd", str(module)], check=True, capture_output=True, text=True).stdout
    for name, path in re.findall(r"^\s*(\S+) => (\S+)", output, re.MULTILINE):
        if not BELONGS_TO_MACHINE.search(name):
            yield name, path


class BuildByCMake(build_ext):
    """One build for all native modules."""

    def run(self):
        given = os.environ.get("GRIDFOLD_BUILD_FOLDER")
        folder = pathlib.Path(given).resolve() if given else self._build()
        built = folder / "client/python/gridfold"
        modules = sorted(built.glob("_*.so"))
        if not modules:
            raise RuntimeError(f"{folder} has no native modules")
        package = pathlib.Path(self.build_lib, "gridfold")
        # Where the modules' DT_RPATH points.
        libraries = pathlib.Path(self.build_lib, "gridfold.libs")
        for into in (package, libraries):
            into.mkdir(parents=True, exist_ok=True)
        for module in modules:
            shutil.copy2(module, package)
            subprocess.run(["strip", "--strip-unneeded", str(package / module.name)], check=True)
            for name, path in needed_libraries(module):
                shutil.copy2(path, libraries / name)

    def _build(self):
        folder = pathlib.Path(self.build_temp).resolve()
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), *generator,
                        "-DGRIDFOLD_PYTHON=ONLY", f"-DPython_EXECUTABLE={sys.executable}",
                        "-DCMAKE_BUILD_TYPE=Release", "-DGRIDFOLD_BUILD_TESTS=OFF"], check=True)
        subprocess.run(["cmake", "--build", str(folder), "--target", "gridfold_python"], check=True)
        return folder


setup(version=version(), cmdclass={"build_ext": BuildByCMake},
      # Makes the wheel one of this platform.
      ext_modules=[Extension("gridfold._native", sources=[])])
