"""The wheel: built without the network, installed in an empty environment, and used there."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from package_case import PACKAGE, PackageTest

MAKE_WHEEL = pathlib.Path(__file__).resolve().parents[3] / "deploy/packages/make_wheel.sh"
PROGRAM = """
import sys, numpy as np, gridfold as gf
with gf.connect(sys.argv[1]) as gpu:
    delay = np.load(sys.argv[2])
    print(gf.__file__, gpu.sum(delay), gf.local().mean(delay), *gpu.histogram(delay, 10, (-60, 140))[0])
"""
NEEDED = ("pip", "setuptools", "wheel")


@unittest.skipIf(any(importlib.util.find_spec(name) is None for name in NEEDED),
                 "pip, setuptools or wheel is not installed")
class WheelTest(PackageTest):
    def run_in(self, folder, *command, **environment):
        result = subprocess.run([str(part) for part in command], cwd=folder, text=True,
                                env=dict(os.environ, **environment), capture_output=True,
                                timeout=120)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_it_stands_on_its_own(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.run_in(folder, MAKE_WHEEL, pathlib.Path(PACKAGE).parent.parent, folder,
                    PYTHON=sys.executable)
        wheel, = folder.glob("*.whl")
        self.run_in(folder, sys.executable, "-m", "venv", "--without-pip", "--system-site-packages",
                    folder / "venv")
        python = folder / "venv/bin/python"
        self.run_in(folder, sys.executable, "-m", "pip", "--python", python, "install",
                    "--no-index", "--no-deps", wheel)
        data = pathlib.Path(os.environ["GRIDFOLD_SAMPLE_DATA"], "flight_delay_minutes.npy")
        # NumPy is this Python's, which need not be the system's.
        output = self.run_in(folder, python, "-c", PROGRAM, self.server.target, data,
                             PYTHONPATH=str(pathlib.Path(np.__file__).parents[1])).split()
        self.assertTrue(output[0].startswith(str(folder / "venv")), output)
        self.assertEqual(output[1:], ["1500159", "7.500795", "328", "8724", "88704", "65394",
                                      "18184", "7857", "4157", "2410", "1401", "962"])
        for module in (folder / "venv").glob("lib/*/site-packages/gridfold/*.so*"):
            libraries = self.run_in(folder, "ldd", module)
            self.assertNotIn("not found", libraries)
            for line in libraries.splitlines():
                if any(name in line for name in ("grpc", "proto", "absl", "ssl", "crypto", "tbb")):
                    self.assertIn("gridfold.libs", line, module)


if __name__ == "__main__":
    unittest.main()
