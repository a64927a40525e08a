"""What a build's progress looks like, of lines as ninja prints them."""

import pathlib
import subprocess
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "build_progress.sh"


def show(lines):
    return subprocess.run([SCRIPT], input="\n".join(lines) + "\n", capture_output=True, text=True,
                          timeout=30, check=True).stdout.splitlines()


class BuildProgressTest(unittest.TestCase):
    def test_a_line_for_every_tenth(self):
        shown = show([f"[{step}/200] Building CXX object {step}.cc.o" for step in range(1, 201)])
        self.assertEqual([line.split()[0] for line in shown],
                         ["0", *(str(percent) for percent in range(10, 101, 10))])
        self.assertRegex(shown[1], r"^ 10 %, about \d+ s left$")
        self.assertEqual(shown[-1], "100 %")

    def test_other_lines_are_passed_over(self):
        self.assertEqual(show(["-- Configuring done", "[1/2] Linking", "FAILED: x [3/4]"]),
                         [" 50 %, about 0 s left"])


if __name__ == "__main__":
    unittest.main()
