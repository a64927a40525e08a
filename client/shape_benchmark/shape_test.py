"""The shape benchmark in its small form: a few dozen random questions, whose answers agree with NumPy's."""

import contextlib
import json
import os
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import questions  # noqa: E402
import report  # noqa: E402
import served  # noqa: E402
import server_process  # noqa: E402
from numpy_peer import NumpyPeer  # noqa: E402

COUNT = 80
SEED = 7
BYTES_MIN, BYTES_MAX = 4 << 10, 256 << 10


def tolerances(question):
    """Relative and absolute: of sums of numbers near 1 that cancel, and of what NumPy rounds at every step."""
    is_scan_of_integers = question.kind == "scan" and question.element_type[0] != "f"
    is_count = question.kind == "histogram" and question.bins != "weighted"
    if is_scan_of_integers or is_count:
        return 0, 0
    rounding = np.finfo(question.element_type).eps if question.kind == "scan" else 1e-12
    return 1e-9, 1e-6 + rounding * question.element_count


class ShapeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.process = server_process.ServerProcess()
        cls.enterClassContext(cls.process)
        cls.server = cls.enterClassContext(served.Server(cls.process.target))
        cls.pool = questions.ArrayPool(SEED, BYTES_MAX)
        cls.enterClassContext(np.errstate(all="ignore"))

    def answers(self, question):
        """The server's numbers, and what NumPy makes of the same elements; None where it has nothing."""
        x = self.pool.array(question)
        two = question.has_second_array
        y = self.pool.array(question) if two else None
        with contextlib.ExitStack() as held:
            held.enter_context(self.server.holding("x", question.element_type, x))
            if two:
                held.enter_context(self.server.holding("y", question.element_type, y))
            execution, ours = self.server.ask(question, with_answer=True)
        self.assertEqual(execution.engine, self.process.engine)
        # In float64 rounding does not hide a difference; extremes and places are the same in it.
        if x.dtype.kind == "f" and question.kind != "scan":
            x = x.astype(np.float64)
            y = None if y is None else y.astype(np.float64)
        operation = NumpyPeer(1).operation(question, x, y)
        return ours, None if operation is None else operation()

    def assert_agree(self, question, ours, numpys):
        relative, absolute = tolerances(question)
        for of_us, of_numpy in zip(ours, numpys) if question.statistics else [(ours, numpys)]:
            np.testing.assert_allclose(of_us, of_numpy, rtol=relative, atol=absolute, err_msg=str(question))

    def test_answers_agree_with_numpy(self):
        compared = 0
        for question in questions.random_questions(COUNT, SEED, BYTES_MIN, BYTES_MAX):
            with self.subTest(str(question)):
                ours, numpys = self.answers(question)
                if numpys is not None:
                    self.assert_agree(question, ours, numpys)
                    compared += 1
        self.assertGreater(compared, COUNT // 2)

    def test_seed_decides_the_questions(self):
        first, again, other = (questions.random_questions(20, seed, BYTES_MIN, BYTES_MAX) for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        for question in first:
            self.assertLessEqual(question.input_bytes, 2 * BYTES_MAX)

    def test_report(self):
        asked = questions.random_questions(8, SEED, BYTES_MIN, BYTES_MAX)
        rows = [report.Row(question, 1e-5 * (i + 1), 5e-5 if i else None, "some") for i, question in enumerate(asked)]
        text = "\n".join(report.Report(rows, "cpu", "NumPy").lines(worst=3))
        # Seven were compared, three of which took longer than 50 us.
        self.assertIn("| all | 7 | 1.00 | 1.60 | 1.60 | 1.60 | 42.9% | 14.3% | 0.0% |", text)
        self.assertEqual(text.count("| some |"), 3)
        self.assertIn(f"| {asked[7]} | some | 80.0 |", text)
        on_gpu = "\n".join(report.Report(rows, "cuda", None).lines(worst=0))
        self.assertIn("8 questions; ideal / kernel_time", on_gpu)
        self.assertEqual(len(json.loads(report.Report(rows, "cpu", "NumPy").as_json())["rows"]), 8)


if __name__ == "__main__":
    server_process.skip_without_device()
    unittest.main()
