"""The package's annotations and stubs, as mypy sees them."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(__file__).parent.parent / "src"

PROGRAM = """
import gridfold as gf
with gf.connect("host", timeout=1.5) as gpu:
    counts, edges = gpu.histogram([1, 2], bins=3)
    reveal_type(gpu.info().limits["lane_count"])
    reveal_type(gpu.put([1], "name")[0:1])
    gpu.sum([1], axes=0)
"""


@unittest.skipIf(importlib.util.find_spec("mypy") is None, "mypy is not installed")
class TypingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cache = cls.enterClassContext(tempfile.TemporaryDirectory())

    def mypy(self, *arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--cache-dir", self.cache, *arguments], cwd=SOURCES,
            env=dict(os.environ, **environment), capture_output=True, text=True, timeout=250)

    def test_the_package(self):
        result = self.mypy("--strict", "-p", "gridfold")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_a_program(self):
        result = self.mypy("-c", PROGRAM, MYPYPATH=str(SOURCES))
        for expected in ('Revealed type is "builtins.int"',
                         'Revealed type is "gridfold._resident.ResidentArray"',
                         'Unexpected keyword argument "axes" for "sum"', "Found 1 error"):
            self.assertIn(expected, result.stdout)


if __name__ == "__main__":
    unittest.main()
