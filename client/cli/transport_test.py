"""The ways in which an array travels: the answers are the same, and tell the way."""

import numpy as np

from cli_case import CommandLineTest

WAYS = ("inline", "stream", "streams", "region", "resident", "auto")


class TransportTest(CommandLineTest):
    server_options = ("--allow-regions",)

    def setUp(self):
        super().setUp()
        random = np.random.default_rng(37)
        self.samples = self.save("ways.npy", random.normal(0, 1e3, (40, 6_001)).astype(np.float32))

    def test_answers_are_the_same(self):
        for command in (("reduce", self.samples, "--stat", "sum,variance,argmin"),
                        ("reduce", self.samples, "--axis", 0),
                        ("reduce", self.samples, "--axis", 1, "--stat", "max,product"),
                        ("histogram", self.samples, "--bins", 20, "--range=-1e3,1e3"),
                        ("histogram", self.samples, "--bins", 20),
                        ("scan", self.samples, "--rows", 0)):
            expected = self.json(*command, "--transport", "inline")
            for way in WAYS:
                answer = self.json(*command, "--transport", way, "--streams", 3)
                for part in expected.keys() - {"execution"}:
                    self.assertEqual(answer[part], expected[part], (command, way, part))
        self.assertEqual(self.json("region", "list")["regions"], [])
        self.assertEqual(self.json("array", "list")["arrays"], [])

    def test_the_way_is_told(self):
        def way_of(*arguments):
            execution = self.json("reduce", *arguments, "--stat", "sum")["execution"]
            return execution["transport"], execution["streams"]

        self.assertEqual(way_of(self.samples, "--transport", "streams", "--streams", 3),
                         ("streams", 3))
        for way in ("inline", "stream", "region"):
            self.assertEqual(way_of(self.samples, "--transport", way), (way, 1))
        self.assertEqual(way_of(self.samples, "--shared"), ("region", 1))
        self.assertEqual(way_of(self.samples, "--stream"), ("stream", 1))
        self.assertEqual(way_of(self.save("few.npy", np.arange(5.0))), ("inline", 1))
        self.succeed("array", "put", "there", self.samples)
        self.assertEqual(way_of("--array", "there"), (None, 0))
        self.succeed("array", "delete", "there")

    def test_input_that_cannot_be_mapped(self):
        values = np.load(self.samples)
        swapped = self.save("swapped.npy", values.astype(">f4"))
        expected = self.json("reduce", self.samples, "--axis", 0)
        for way in WAYS:
            answer = self.json("reduce", swapped, "--axis", 0, "--transport", way)
            self.assertEqual(answer["statistics"], expected["statistics"], way)
            answer = self.json("reduce", "-", "--type", "float32", "--shape", "40,6001", "--axis",
                               0, "--transport", way, stdin=values.tobytes())
            self.assertEqual(answer["statistics"], expected["statistics"], way)

    def test_large_arrays_go_in_parts(self):
        # Of a file without content, which takes no room on the disk.
        path = self.folder / "zeros.bin"
        with open(path, "wb") as file:
            file.truncate(40_000_000)
        for options, way in (((), "region"), (("--transport", "streams"), "streams")):
            answer = self.json("reduce", path, "--type", "int32", "--stat", "sum,count",
                               "--streams", 2, *options)
            self.assertEqual(answer["statistics"], {"sum": [0], "count": [10_000_000]})
            self.assertEqual(answer["execution"]["transport"], way)
            self.assertEqual(answer["execution"]["streams"], 2)

    def test_ways_that_there_are_not(self):
        self.expect_failure(2, "--transport", "reduce", self.samples, "--transport", "pigeon")
        self.expect_failure(2, "--streams", "reduce", self.samples, "--streams", "65")
