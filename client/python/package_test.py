"""The Python package against a real server: runs the tests in tests/, or those that -k PATTERN names.

tests/package_case.py says what they need from the environment.
"""

import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER))
import server_process  # noqa: E402

if __name__ == "__main__":
    server_process.skip_without_device()
    unittest.main(module=None, argv=[sys.argv[0], "discover", "--start-directory",
                                     str(FOLDER / "tests"), "--pattern", "*_test.py",
                                     *sys.argv[1:]])
