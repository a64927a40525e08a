"""Odd arguments for every public function: an exception that NumPy's users know, or an answer, and
never the end of the process. Seeded; each call is bounded by a timeout."""

import inspect
import pathlib
import random
import resource
import unittest
import warnings

import numpy as np

from package_case import PackageTest, gf

KNOWN = (TypeError, ValueError, OverflowError, LookupError, NotImplementedError, AttributeError,
         BufferError, gf.Error)
CALLS = 3000
# What the process may map beyond what it has: no odd argument is to take the machine's memory.
MAPPED_BYTES_MAX = 8 * 2**30


class Liar:
    """Raises from whatever it is asked."""

    def __array__(self, *_, **__):
        raise ValueError("no array")

    def __len__(self):
        raise TypeError("no length")

    def __index__(self):
        raise OverflowError("no index")

    def __bool__(self):
        raise ValueError("no truth")


def odd_objects(random_, resident):
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    return [
        None, True, 0, -1, 1, 2**31, 2**63, -2**63 - 1, 2**70, 0.5, -0.0, float("nan"),
        float("inf"), 1j, "", "sum", "axis", "\0", "\ud800", "x" * 1000, b"\xff", [], [[]], [1],
        [1, [2, 3]], (), (0,), (0, 0), (-1, 5), {}, {"a": 1}, set(), object(), Liar(), int, len,
        slice(1, 2), range(5), ..., np.float64(2), np.int8(-3), np.nan, np.array(7),
        np.empty((0, 3)), np.empty((2, 0), np.int8), matrix, matrix.T, matrix[:, ::2],
        matrix.astype(">f8"), matrix > 3, np.array([1j]), np.array(["a"]), np.array([None]),
        np.array([np.nan, np.inf]), np.datetime64("2020"), np.ma.array([1], mask=[1]),
        np.zeros(3, [("a", "i4")]), np.zeros((1,) * 32), resident, resident[0:2],
        gf.Accumulator.of([1.0], ["sum"]), np.dtype("f4"), "f4", np.float32,
        random_.randrange(2**65)]


class FuzzTest(PackageTest):
    def setUp(self):
        super().setUp()
        before = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + MAPPED_BYTES_MAX
        resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, before)

    def test_odd_arguments(self):
        random_ = random.Random(20)
        gpu = self.gpu.options(timeout=20)
        resident = self.enterContext(gpu.put(np.arange(6.0).reshape(3, 2)))
        odd = odd_objects(random_, resident)
        connections = [gpu, gf.local()]
        names = [name for name, _ in inspect.getmembers(gf.Connection, inspect.isfunction)
                 if not name.startswith("_") and name not in ("close", "delete", "put")]
        self.assertGreater(len(names), 50)
        outcomes = {True: 0, False: 0}
        for number in range(CALLS):
            name = names[number % len(names)]
            method = getattr(connections[number // len(names) % 2], name)
            outcomes[self._call(number, name, method, random_, odd)] += 1
        # Both are there, or the objects are not odd enough, or too odd.
        self.assertGreater(min(outcomes.values()), CALLS // 50, outcomes)
        self.assertEqual([connection.sum([1, 2]) for connection in connections], [3, 3])

    def test_odd_arguments_of_the_module(self):
        random_ = random.Random(21)
        resident = self.enterContext(self.gpu.put(np.arange(6.0).reshape(3, 2)))
        odd = odd_objects(random_, resident)
        part = gf.Accumulator.of([1.0, 2.0], ["sum"])
        functions = [gf.Accumulator.of, gf.Accumulator.merge, gf.Accumulator.from_words,
                     gf.Accumulator, part.__add__, part.result, gf.local,
                     lambda *a, **k: gf.connect(*a, **{"connect_timeout": 0.05, **k}),
                     lambda *a, **k: self.gpu.options(*a, **k), resident.__getitem__,
                     resident.__setitem__, self.gpu.array, self.gpu.delete]
        for number in range(CALLS // 10):
            function = functions[number % len(functions)]
            self._call(number, getattr(function, "__qualname__", "?"), function, random_, odd)

    def _call(self, number, name, method, random_, odd):
        """Whether it had an answer."""
        try:
            parameters = [one for one in inspect.signature(method).parameters.values()
                          if one.kind is not one.VAR_KEYWORD and one.kind is not one.VAR_POSITIONAL]
        except ValueError:
            parameters = []
        first = [random_.choice(odd) for one in parameters
                 if one.default is one.empty and one.kind is not one.KEYWORD_ONLY]
        if first and random_.random() < 0.6:
            first[0] = np.arange(12, dtype=random_.choice(["f4", "f8", "i2", "u1"])).reshape(3, 4)
        if not parameters:
            first = [random_.choice(odd) for _ in range(random_.randrange(3))]
        optional = [one.name for one in parameters if one.default is not one.empty]
        chosen = {option: random_.choice(odd)
                  for option in random_.sample(optional, min(len(optional), random_.randrange(3)))}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                answer = method(*first, **chosen)
                repr(answer)
                return True
        except KNOWN:
            return False
        except Exception as error:
            raise AssertionError(f"call {number}: {name}(*{first!r}, **{chosen!r})") from error


if __name__ == "__main__":
    unittest.main()
