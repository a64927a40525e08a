"""gridfold quantile and gridfold topk, against NumPy."""

import numpy as np

from cli_case import DELAY, CommandLineTest


class OrderTest(CommandLineTest):
    def test_quantiles(self):
        delay = np.load(DELAY).astype(np.float64)
        answer = self.json("quantile", DELAY, "-q", "0.5,0.9,0.99", "--rank", "0,7")
        self.assertEqual([one["probability"] for one in answer["quantiles"]], [0.5, 0.9, 0.99])
        self.assertEqual([one["values"][0] for one in answer["quantiles"]],
                         np.quantile(delay, [0.5, 0.9, 0.99]).tolist())
        self.assertEqual([one["values"][0] for one in answer["ranks"]],
                         np.sort(delay)[[0, 7]].tolist())
        self.assertEqual((answer["operation"], answer["method"], answer["group_count"]),
                         ("quantile", "linear", 1))
        self.assertIn(b"0.5", self.succeed("quantile", DELAY))

    def test_methods_and_axes(self):
        matrix = np.random.default_rng(1).integers(-99, 99, (14, 9, 4)).astype(np.int16)
        path = self.save("matrix.npy", matrix)
        for method in ("linear", "lower", "higher", "nearest", "midpoint"):
            for axis in (0, 1, -1, (0, 2)):
                with self.subTest(method=method, axis=axis):
                    given = ",".join(map(str, axis if isinstance(axis, tuple) else (axis,)))
                    answer = self.json("quantile", path, "-q", 0.3, "--axis", given, "--method",
                                       method)
                    expected = np.quantile(matrix.astype(np.float64), 0.3, axis, method=method)
                    self.assertEqual(answer["result_shape"], list(expected.shape))
                    self.assertEqual(answer["quantiles"][0]["values"], expected.ravel().tolist())
        self.assertEqual(self.json("quantile", path, "--method", "mean", "--axis", 0)
                         ["quantiles"][0]["values"], np.median(matrix, 0).ravel().tolist())
        self.assertIn(b"more groups", self.succeed("quantile", path, "--axis", 0, "--rows", 3))

    def test_topk(self):
        values = np.random.default_rng(2).normal(size=(6, 500)).astype(np.float32)
        path = self.save("values.npy", values)
        for flags, order in ((), np.argsort(-values.ravel(), kind="stable")), (
                ("--smallest",), np.argsort(values.ravel(), kind="stable")):
            answer = self.json("topk", path, "-k", 12, *flags)
            self.assertEqual(answer["indices"], order[:12].tolist())
            self.assertEqual(answer["values"], values.ravel()[order[:12]].astype(float).tolist())
        answer = self.json("topk", path, "-k", 2, "--axis", 1)
        self.assertEqual(answer["result_shape"], [6, 2])
        self.assertEqual(answer["indices"],
                         np.argsort(-values, 1, kind="stable")[:, :2].ravel().tolist())
        self.assertIn(b"index", self.succeed("topk", path, "-k", 3, "--axis", 0, "--rows", 4))

    def test_forms_of_the_answer(self):
        matrix = np.random.default_rng(4).normal(size=(5, 40))
        path = self.save("matrix.npy", matrix)
        command = ("quantile", path, "--axis", 1, "-q", "0.1,0.5")
        expected = np.quantile(matrix, [0.1, 0.5], 1)
        np.testing.assert_array_equal(self.array(*command), expected)
        rows = self.rows(*command, "--rank", 3)
        self.assertEqual([float(row["quantile_0.5"]) for row in rows], expected[1].tolist())
        self.assertEqual([float(row["rank_3"]) for row in rows], np.sort(matrix)[:, 3].tolist())
        self.assertEqual([row["index_0"] for row in rows], list("01234"))
        np.testing.assert_array_equal(self.array("quantile", path), np.median(matrix))
        self.expect_failure(2, "one type", "quantile", self.save("whole.npy", np.arange(9)),
                            "-q", "0.5", "--rank", 1, "--output", "npy")
        rows = self.rows("topk", path, "-k", 2, "--axis", 1)
        order = np.argsort(-matrix, 1, kind="stable")[:, :2]
        self.assertEqual([int(row["index"]) for row in rows], order.ravel().tolist())
        self.assertEqual([row["index_1"] for row in rows], ["0", "1"] * 5)
        np.testing.assert_array_equal(self.array("topk", path, "-k", 2, "--axis", 1),
                                      np.take_along_axis(matrix, order, 1))

    def test_nan(self):
        path = self.save("nan.npy", np.array([3.0, np.nan, 1.0, 2.0]))
        self.assertEqual(self.json("quantile", path)["quantiles"][0]["values"], ["NaN"])
        self.assertEqual(self.json("quantile", path, "--ignore-nan")["quantiles"][0]["values"],
                         [2.0])
        self.assertEqual(self.json("topk", path, "-k", 1)["indices"], [1])
        self.assertEqual(self.json("topk", path, "-k", 1, "--ignore-nan")["indices"], [0])
        self.expect_failure(1, "--count", "topk", path, "-k", 4, "--ignore-nan")

    def test_large_arrays_travel_every_way(self):
        values = np.random.default_rng(3).normal(size=400_000)
        path = self.save("large.npy", values)
        expected = np.quantile(values, [0.01, 0.5]).tolist()
        for transport in ("auto", "inline", "resident"):
            answer = self.json("--transport", transport, "quantile", path, "-q", "0.01,0.5")
            self.assertEqual([one["values"][0] for one in answer["quantiles"]], expected)

    def test_weights(self):
        random = np.random.default_rng(7)
        values, weights = random.integers(0, 50, (3, 40)), random.integers(0, 9, (3, 40))
        paths = self.save("x.npy", values), self.save("w.npy", weights.astype(np.float32))
        command = ("quantile", paths[0], "--weights", paths[1])
        for axis, rows in ((None, [(values.ravel(), weights.ravel())]),
                           (1, list(zip(values, weights)))):
            flags = () if axis is None else ("--axis", axis)
            answer = self.json(*command, *flags, "-q", "0.1,0.5")
            self.assertEqual(answer["method"], "inverted_cdf")
            for one in answer["quantiles"]:
                expected = []
                for x, w in rows:
                    order = np.argsort(x, kind="stable")
                    part = np.cumsum(w[order]) / w.sum()
                    expected.append(x[order][np.searchsorted(part, one["probability"])])
                self.assertEqual(one["values"], [int(x) for x in expected])
        self.expect_failure(1, "--method", *command, "--method", "linear")
        negative = self.save("negative.npy", -weights)
        self.expect_failure(1, "negative", "quantile", paths[0], "--weights", negative)

    def test_faults(self):
        path = self.save("few.npy", np.arange(5))
        self.expect_failure(1, "--quantile", "quantile", path, "-q", "0.5,1.5")
        self.expect_failure(1, "--rank", "quantile", path, "--rank", 5)
        self.expect_failure(1, "--count", "topk", path, "-k", 6)
        self.expect_failure(2, "--count", "topk", path, "-k", 0)
        self.expect_failure(2, "--quantile", "quantile", path, "-q", "half")
        self.expect_failure(2, "--method", "quantile", path, "--method", "cubic")
