"""One request on several devices: three virtual ones of the CPU engine, or the GPUs that there are."""

import io
import unittest

import numpy as np

from cli_case import CommandLineTest


class DevicesTest(CommandLineTest):
    server_options = ("--cpu-devices", "3", "--cpu-threads", "3", "--dealt-bytes", "64KiB")

    def setUp(self):
        random = np.random.default_rng(11)
        self.samples = random.normal(0, 1e3, 600_001).astype(np.float32)
        self.path = self.save("samples.npy", self.samples)
        self.device_count = len(self.json("info")["devices"])

    def put(self, name, *arguments):
        shown = self.json("array", "put", name, *arguments)["array"]
        self.addCleanup(self.run_cli, "array", "delete", name)
        return shown

    def test_a_sharded_array_has_the_answers_of_an_array_on_one_device(self):
        shards = self.put("sharded", self.path, "--sharded").get("shards", [])
        self.assertEqual(len(shards), self.device_count if self.device_count > 1 else 0)
        self.assertNotIn("shards", self.put("whole", self.path, "--device", 0))
        stat = "sum,mean,variance,argmax"
        for cut in ("", "[7:599000]"):
            self.assertEqual(self.reduce("--array", f"sharded{cut}", stat=stat),
                             self.reduce("--array", f"whole{cut}", stat=stat))
            histograms = [self.json("histogram", "--array", f"{name}{cut}", "--bins", 20)
                          for name in ("sharded", "whole")]
            self.assertEqual(histograms[0]["channels"], histograms[1]["channels"])
        answer = self.json("reduce", "--array", "sharded", "--stat", "sum")
        self.assertEqual(answer["execution"]["device_count"], self.device_count)
        weighted = [self.json("histogram", "--array", name, "--weights", self.path, "--bins", 20)
                    for name in ("sharded", "whole")]
        self.assertEqual(weighted[0]["channels"], weighted[1]["channels"])

    def test_what_is_put_can_be_got_and_scanned(self):
        self.put("sharded", self.path, "--sharded")
        got = np.load(io.BytesIO(self.succeed("array", "get", "sharded", "--output", "-")))
        np.testing.assert_array_equal(got, self.samples)
        self.succeed("scan", "--array", "sharded", "--op", "max", "--in-place")
        got = np.load(io.BytesIO(self.succeed("array", "get", "sharded", "--output", "-")))
        np.testing.assert_array_equal(got, np.maximum.accumulate(self.samples))

    def test_files_are_dealt_to_all_devices(self):
        np.testing.assert_allclose(self.reduce(self.path, stat="min,max")["min"],
                                   self.samples.min())
        self.assertEqual(self.json("info")["limits"]["dealt_bytes_min"],
                         65536 if self.device_count > 1 else 0)


if __name__ == "__main__":
    unittest.main()
