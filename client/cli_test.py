"""The command line against a real server: runs the tests in cli/, or those that -k PATTERN names.

cli/cli_case.py says what they need from the environment.
"""

import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER / "python"))
import server_process  # noqa: E402

if __name__ == "__main__":
    server_process.skip_without_device()
    unittest.main(module=None, argv=[sys.argv[0], "discover", "--start-directory",
                                     str(FOLDER / "cli"), "--pattern", "*_test.py", *sys.argv[1:]])
