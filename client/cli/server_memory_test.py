"""Arrays that are kept on the server, and memory that is shared with it."""

import io
import json

import numpy as np

from cli_case import CommandLineTest


class ResidentArrayTest(CommandLineTest):
    def setUp(self):
        random = np.random.default_rng(9)
        self.samples = random.normal(0, 1e3, 300_001).astype(np.float32)
        self.path = self.save("samples.npy", self.samples)
        self.succeed("array", "put", "samples", self.path)
        self.addCleanup(self.run_cli, "array", "delete", "samples")

    def get(self, reference):
        return np.load(io.BytesIO(self.succeed("array", "get", reference, "--output", "-")))

    def test_what_is_put_can_be_got(self):
        np.testing.assert_array_equal(self.get("samples"), self.samples)
        np.testing.assert_array_equal(self.get("samples[299998:3]"), self.samples[-3:])
        self.assertEqual(self.get("samples[5:0]").size, 0)
        shown = self.json("array", "show", "samples")["array"]
        self.assertEqual((shown["element_type"], shown["shape"], shown["size_bytes"],
                          shown["device"]), ("float32", [300_001], 1_200_004, 0))

    def test_slices_have_the_answers_of_files(self):
        for first, count in ((0, 300_001), (1, 77_777), (299_999, 2)):
            path = self.save("slice.npy", self.samples[first:first + count])
            reference = f"samples[{first}:{count}]"
            stat = "sum,mean,variance,l2_norm,argmax"
            self.assertEqual(self.reduce("--array", reference, stat=stat),
                             self.reduce(path, stat=stat))
            self.assertEqual(
                self.json("histogram", "--array", reference, "--weights-array", reference,
                          "--bins", 20)["channels"],
                self.json("histogram", path, "--weights", path, "--bins", 20)["channels"])

    def test_views_have_the_answers_of_numpy(self):
        random = np.random.default_rng(12)
        cube = random.integers(-1000, 1000, (40, 30, 20)).astype(np.int32)
        self.succeed("array", "put", "cube", self.save("cube.npy", cube))
        self.addCleanup(self.run_cli, "array", "delete", "cube")
        self.succeed("array", "put", "mask", self.save("mask.npy", cube > 0))
        self.addCleanup(self.run_cli, "array", "delete", "mask")
        for indices, view in (("::2, 3, 10:20", cube[::2, 3, 10:20]), ("..., -1", cube[..., -1]),
                              ("-1, ::-1", cube[-1, ::-1]), ("5:35", cube[5:35]),
                              ("1, 2, 3", cube[1, 2, 3]), ("::-3, ..., ::7", cube[::-3, ..., ::7])):
            reference = f"cube{{{indices}}}"
            np.testing.assert_array_equal(self.get(reference), view)
            path = self.save("view.npy", view)
            for options in ((), ("--where-array", f"mask{{{indices}}}")):
                found = self.json("reduce", "--array", reference, "--stat", "sum,count", *options)
                counted = view[view > 0] if options else view
                self.assertEqual(found["statistics"],
                                 {"sum": [int(counted.sum())], "count": [counted.size]})
                self.assertEqual(found["input"]["shape"], list(view.shape))
            for command in (("histogram", "--bins", 20), ("scan",), ("quantile", "-q", 0.3)):
                of_view = self.json(*command, "--array", reference)
                of_file = self.json(*command, path)
                for part in of_file.keys() - {"execution", "input"}:
                    self.assertEqual(of_view[part], of_file[part], (command, reference))
        self.assertEqual(self.get("cube{:, 3:3}").shape, (40, 0, 20))
        self.expect_failure(1, "--array: index 40 is outside axis 0", "reduce", "--array",
                            "cube{40}")
        self.expect_failure(1, "--array: ", "scan", "--array", "cube{::2}", "--in-place")

    def test_scans_from_and_to_arrays(self):
        self.succeed("scan", "--array", "samples[1:1000]", "--to-array", "sums")
        self.addCleanup(self.run_cli, "array", "delete", "sums")
        path = self.save("slice.npy", self.samples[1:1001])
        expected = self.json("scan", path)["result"]["values"]
        np.testing.assert_array_equal(self.get("sums"), np.array(expected, np.float32))
        self.succeed("scan", "--array", "sums", "--op", "max", "--in-place")
        np.testing.assert_array_equal(
            self.get("sums"), np.maximum.accumulate(np.array(expected, np.float32)))

    def test_parts_are_written_where_they_belong(self):
        matrix = np.arange(12, dtype=np.int32).reshape(4, 3)
        self.succeed("array", "create", "m", "--type", "int32", "--shape", "4,3", "--device", 0)
        self.addCleanup(self.run_cli, "array", "delete", "m")
        self.succeed("array", "write", "m", self.save("part.npy", matrix[2:]), "--first", 6)
        np.testing.assert_array_equal(self.get("m[2:2]"), matrix[2:])
        np.testing.assert_array_equal(self.get("m[0:2]"), np.zeros((2, 3), np.int32))
        self.expect_failure(1, "--first: ", "array", "write", "m",
                            self.save("part.npy", matrix), "--first", 1)
        self.expect_failure(1, "int64", "array", "write", "m",
                            self.save("part.npy", matrix.astype(np.int64)))

    def test_names(self):
        self.expect_failure(1, "samples", "array", "put", "samples", self.path)
        self.assertEqual([array["name"] for array in self.json("array", "list")["arrays"]],
                         ["samples"])
        other = {"GRIDFOLD_TENANT": "other"}
        self.assertEqual(self.json("array", "list", environment=other)["arrays"], [])
        failed = self.expect_failure(1, "samples", "reduce", "--array", "samples", "--json",
                                     environment=other)
        self.assertEqual(json.loads(failed.stdout)["error"]["reason"], "ARRAY_NOT_FOUND")
        self.expect_failure(1, "name", "array", "delete", "two words")

    def test_an_array_that_nobody_uses_goes(self):
        self.succeed("array", "create", "brief", "--type", "int8", "--shape", 1, "--expire",
                     "10ms")
        while self.run_cli("array", "show", "brief").returncode == 0:
            pass
        self.expect_failure(1, "brief", "array", "delete", "brief")


class RegionTest(CommandLineTest):
    server_options = ("--allow-regions",)

    def test_shared_input_has_the_answers_of_files(self):
        random = np.random.default_rng(10)
        path = self.save("samples.npy", random.normal(0, 1e3, (3, 10_001)).astype(np.float32))
        for command in (("reduce", path, "--axis", 1), ("scan", path, "--rows", 0),
                        ("histogram", path, "--bins", 20)):
            plain = self.json(*command)
            shared = self.json(*command, "--shared")
            for part in plain.keys() - {"execution"}:
                self.assertEqual(shared[part], plain[part], (command, part))
        self.assertEqual(self.json("region", "list")["regions"], [])

    def test_coordinates_get_one_type_however_they_are_sent(self):
        random = np.random.default_rng(11)
        few = random.integers(-100, 100, 30_000)
        arrays = {"int16": few.astype(np.int16), "float32": (few / 8).astype(np.float32),
                  "uint8": np.abs(few).astype(np.uint8), "int64": few, "float64": few / 7}
        paths = {name: self.save(f"{name}.npy", array) for name, array in arrays.items()}
        ways = ((), ("--shared",), ("--stream",), ("--stream", "--chunk-bytes", "4096"))
        for x, y in (("int16", "float32"), ("float32", "int16"), ("uint8", "int16"),
                     ("int64", "float64"), ("float32", "float64"), ("float64", "float64")):
            expected, _, _ = np.histogram2d(arrays[x].astype(float), arrays[y].astype(float),
                                            bins=(7, 5), range=((-100, 100), (-20, 20)))
            for way in ways:
                answer = self.json("histogram", paths[x], "--y", paths[y], "--layout",
                                   "even:7:-100:100", "--layout", "even:5:-20:20", *way)
                self.assertEqual(np.ravel(answer["channels"][0]["counts"]).tolist(),
                                 expected.ravel().tolist(), (x, y, way))

    def test_coordinates_that_have_no_type_in_common_are_named_however_they_are_sent(self):
        x = self.save("large.npy", np.array([1, 2**53 + 1]))
        y = self.save("floats.npy", np.array([0.5, 1.5]))
        for way in ((), ("--shared",), ("--stream",)):
            self.expect_failure(
                4, f"{x}: element 1, 9,007,199,254,740,993, is not exact as float64, and both "
                f"coordinates must have one type: {x} has int64, {y} float64", "histogram", x,
                "--y", y, "--bins", 2, "--range", "0,9", *way)

    def test_an_empty_array_is_just_sent(self):
        path = self.save("empty.npy", np.zeros(0, np.int8))
        self.assertEqual(self.reduce(path, "--shared", stat="sum")["sum"], [0])

    def test_regions_that_are_not_there(self):
        self.assertIn(b"no regions", self.succeed("region", "list"))
        failed = self.expect_failure(1, "nothing", "region", "unregister", "nothing", "--json")
        self.assertEqual(json.loads(failed.stdout)["error"]["reason"], "REGION_NOT_FOUND")
        self.expect_failure(2, "--shared", "reduce", "--array", "x", "--shared")


class NoRegionTest(CommandLineTest):
    def test_regions_are_off_unless_they_are_allowed(self):
        path = self.save("samples.npy", np.arange(5))
        self.expect_failure(1, "--allow-regions", "reduce", path, "--shared")
        self.expect_failure(1, "--allow-regions", "region", "list")
