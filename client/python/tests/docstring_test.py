"""What the docstrings of the package show of results is what comes out."""

import contextlib
import doctest
import importlib
import pkgutil
import unittest

import numpy as np

from package_case import PackageTest, gf

# What other programs are needed for, and native modules, whose text is that of a stub.
PASSED_OVER = ("dask", "mpi", "_native")


def examples():
    """The docstrings that show a result of some example."""
    finder = doctest.DocTestFinder()
    for module in pkgutil.iter_modules(gf.__path__):
        if module.name in PASSED_OVER or module.name.startswith("_gridfold"):
            continue
        for found in finder.find(importlib.import_module(f"gridfold.{module.name}")):
            if any(example.want for example in found.examples):
                yield found


def as_shown():
    """Numbers of NumPy as its releases before 2 print them."""
    return np.printoptions(legacy="1.25") if np.__version__[0] != "1" else contextlib.nullcontext()


class DocstringTest(PackageTest):
    def test_examples_give_what_they_show(self):
        count = 0
        with as_shown():
            for found in examples():
                found.globs.update(gpu=self.gpu, gridfold=gf, np=np)
                said = []
                failed, tried = doctest.DocTestRunner(
                    verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE).run(
                        found, out=said.append)
                count += tried
                with self.subTest(found.name):
                    self.assertEqual(failed, 0, "".join(said))
        self.assertGreater(count, 5)


if __name__ == "__main__":
    unittest.main()
