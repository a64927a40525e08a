"""gridfold relate, against NumPy."""

import numpy as np

from cli_case import CommandLineTest


class RelateTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        generator = np.random.default_rng(1)
        # Small integers, so that NumPy's sums are exact.
        self.x = generator.integers(-9, 10, 200).astype(np.float32)
        self.y = generator.integers(-9, 10, 200).astype(np.float32)
        self.weights = generator.integers(0, 5, 200).astype(np.float32)
        self.paths = [self.save(f"{name}.npy", array) for name, array in
                      (("x", self.x), ("y", self.y), ("weights", self.weights))]

    def test_two_arrays(self):
        x_path, y_path, _ = self.paths
        answer = self.json("relate", x_path, y_path, "--op",
                           "dot,covariance,correlation,mean,variance", "--ddof", 1)
        self.assertEqual((answer["operation"], answer["column_count"], answer["observation_count"]),
                         ("relate", 2, 200))
        x, y = self.x.astype(np.float64), self.y.astype(np.float64)
        statistics = answer["statistics"]
        self.assertEqual(statistics["dot"], [float(x @ y)])
        np.testing.assert_allclose(statistics["covariance"], [np.cov(x, y)[0, 1]], 1e-14)
        np.testing.assert_allclose(statistics["correlation"], [np.corrcoef(x, y)[0, 1]], 1e-14)
        np.testing.assert_allclose(statistics["mean"], [x.mean(), y.mean()], 1e-14)
        np.testing.assert_allclose(statistics["variance"], [x.var(ddof=1), y.var(ddof=1)], 1e-14)
        self.assertIn(b"correlation", self.succeed("relate", x_path, y_path))

    def test_weights(self):
        x_path, y_path, weights_path = self.paths
        flags = ("relate", x_path, y_path, "--op", "mean,covariance", "--weights", weights_path,
                 "--ddof", 1)
        x, y, weights = (one.astype(np.float64) for one in (self.x, self.y, self.weights))
        frequency = self.json(*flags)["statistics"]
        np.testing.assert_allclose(frequency["mean"][0], np.average(x, weights=weights), 1e-14)
        np.testing.assert_allclose(frequency["covariance"],
                                   [np.cov(x, y, fweights=self.weights.astype(int))[0, 1]], 1e-13)
        reliability = self.json(*flags, "--reliability")["statistics"]
        np.testing.assert_allclose(reliability["covariance"],
                                   [np.cov(x, y, aweights=weights)[0, 1]], 1e-13)

    def test_columns_of_a_matrix_and_of_csv(self):
        matrix = np.stack([self.x, self.y, self.x + self.y], 1)
        path = self.save("matrix.npy", matrix)
        expected = np.corrcoef(matrix.astype(np.float64), rowvar=False)
        answer = self.json("relate", path)
        np.testing.assert_allclose(np.reshape(answer["statistics"]["correlation"], (3, 3)),
                                   expected, 1e-13)
        np.testing.assert_allclose(self.array("relate", path), expected, 1e-13)
        rows = self.rows("relate", path)
        self.assertEqual([row["row"] for row in rows], ["0", "1", "2"])
        np.testing.assert_allclose([float(row["column_2"]) for row in rows], expected[:, 2], 1e-13)
        text = "\n".join(["a,b", *(f"{a},{b}" for a, b in zip(self.x, self.y))]) + "\n"
        table = self.folder / "table.csv"
        table.write_text(text)
        answer = self.json("relate", table, "--column", "a", "--y-column", "b", "--op", "dot")
        self.assertEqual(answer["statistics"]["dot"], [float(self.x @ self.y)])

    def test_what_is_refused(self):
        x_path, y_path, _ = self.paths
        shorter = self.save("shorter.npy", self.x[:7])
        self.expect_failure(1, "elements", "relate", x_path, shorter)
        self.expect_failure(2, "none of", "relate", x_path, y_path, "--op", "median")
        self.expect_failure(1, "negative", "relate", x_path, "--weights", y_path, "--op", "mean")
