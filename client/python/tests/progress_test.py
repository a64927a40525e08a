"""Progress of calls, told to functions or shown as a bar."""

import threading
import unittest
from unittest import mock

import numpy as np

from package_case import PackageTest, gf, run_python

LARGE = np.ones(2_000_000, np.float32)


class ProgressTest(PackageTest):
    def test_a_function_is_told(self):
        told = []
        total = self.gpu.options(progress=lambda *report: told.append(report)).sum(LARGE)
        self.assertEqual(total, LARGE.size)
        sent = [report[0] for report in told]
        self.assertEqual({report[1] for report in told}, {LARGE.nbytes})
        self.assertEqual((sent, sent[-1]), (sorted(sent), LARGE.nbytes))

    def test_of_a_connection_and_of_none(self):
        told = []
        with gf.connect(self.server.target, progress=lambda *report: told.append(report)) as gpu:
            gpu.options(timeout=60).histogram(LARGE, 4, (0, 2))
            count = len(told)
            self.assertGreater(count, 0)
            gpu.options(progress=False).sum(LARGE)
            gpu.sum(LARGE[:10])
            self.assertEqual(len(told), count)
            gpu.sum(LARGE)
            self.assertGreater(len(told), count)

    def test_an_exception_ends_the_call_and_is_raised(self):
        def refuse(sent, size):
            raise KeyError(size)

        with self.assertRaisesRegex(KeyError, str(LARGE.nbytes)):
            self.gpu.options(progress=refuse).sum(LARGE)
        self.assertEqual(self.gpu.sum(LARGE), LARGE.size)

    def test_threads(self):
        totals = []

        def work():
            told = []
            self.gpu.options(progress=lambda sent, size: told.append(sent)).max(LARGE)
            totals.append(told[-1])

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(totals, [LARGE.nbytes] * 4)

    def test_the_wrong_things(self):
        for progress in (1, "bar", [print]):
            with self.subTest(progress=progress), self.assertRaises(TypeError):
                self.gpu.options(progress=progress)
        with self.assertRaises(TypeError):
            self.gpu.options(progress=lambda: None).sum(LARGE)

    def test_a_bar(self):
        program = """
import sys
{before}
import gridfold as gf, numpy as np
gpu = gf.connect(sys.argv[1], progress=True)
gpu.sum(np.ones(1_000_000))
"""
        for before in ("", "sys.modules['tqdm.auto'] = None"):
            result = run_python(program.format(before=before), self.server.target)
            self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
            self.assertIn("100", result.stderr)
        self.assertRegex(result.stderr, r"\n100 % of 8000000 bytes\n$")

    def test_what_a_bar_of_tqdm_is_told(self):
        bar = mock.Mock(n=0)
        bar.update.side_effect = lambda more: setattr(bar, "n", bar.n + more)
        modules = {"tqdm": mock.Mock(), "tqdm.auto": mock.Mock(tqdm=mock.Mock(return_value=bar))}
        with mock.patch.dict("sys.modules", modules):
            self.gpu.options(progress=True).sum(LARGE)
        modules["tqdm.auto"].tqdm.assert_called_once_with(unit="B", unit_scale=True,
                                                          unit_divisor=1024)
        self.assertEqual((bar.n, bar.total), (LARGE.nbytes, LARGE.nbytes))
        bar.close.assert_called_once_with()

    def test_in_this_process_nobody_is_told(self):
        self.assertEqual(gf.local().options(progress=print).sum([1, 2]), 3)


if __name__ == "__main__":
    unittest.main()
