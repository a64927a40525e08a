"""What the command line prints of several channels and of two axes: each has its own numbers.

The expected texts are written by hand from data in which no two channels, or axes, agree.
"""

import re
import unittest

import cli_case
import numpy as np

# Of each channel: counts of 0, 1 and 2, below, above.
CHANNELS = np.array([[0, -5, 20], [1, 0, 0], [1, -6, 1], [9, 1, 2], [-7, 99, 2], [1, 98, 2]],
                    dtype=np.int32)
EXPECTED = [([1, 3, 0], 1, 1), ([1, 1, 0], 2, 2), ([1, 1, 3], 0, 1)]


class ReportTest(cli_case.CommandLineTest):
    def test_every_channel_has_its_own_counts(self):
        path = self.save("channels.npy", CHANNELS)
        options = ["histogram", path, "--integer", "0", "--bins", "3", "--channels", "3"]
        text = self.succeed(*options).decode()
        blocks = re.split(r"\nchannel (\d)\n", text)
        self.assertEqual(blocks[1::2], ["0", "1", "2"])
        for block, (counts, below, above) in zip(blocks[2::2], EXPECTED):
            self.assertEqual([int(count) for count in
                              re.findall(r"^[012]  (\d+)", block, flags=re.MULTILINE)], counts)
            self.assertEqual(int(re.search(r"below the bins +(\d+)", block)[1]), below)
            self.assertEqual(int(re.search(r"above the bins +(\d+)", block)[1]), above)
        channels = self.json(*options)["channels"]
        self.assertEqual([(channel["counts"], channel["underflow_count"],
                           channel["overflow_count"]) for channel in channels], EXPECTED)

    def test_every_channel_has_its_own_edges_where_the_range_is_that_of_the_data(self):
        path = self.save("ranges.npy", np.array([[0, 10], [4, 30], [1, 14]], dtype=np.int32))
        text = self.succeed("histogram", path, "--channels", "2", "--bins", "2").decode()
        self.assertEqual(re.findall(r"^ ?(\[.*[\])]) +(\d)", text, flags=re.MULTILINE),
                         [("[0, 2)", "2"), ("[2, 4]", "1"), ("[10, 20)", "2"), ("[20, 30]", "1")])

    def test_either_axis_has_its_own_bins(self):
        x = self.save("x.npy", np.array([0.5, 0.5, 1.5, 2.5, -1], dtype=np.float32))
        y = self.save("y.npy", np.array([10, 11, 12, 99, 10], dtype=np.float32))
        answer = self.json("histogram", x, "--y", y, "--layout", "even:2:0:2", "--layout",
                           "even:3:10:13")
        self.assertEqual([axis["edges"] for axis in answer["bins"]], [[0, 1, 2], [10, 11, 12, 13]])
        self.assertEqual(answer["channels"][0]["counts"], [1, 1, 0, 0, 0, 1])
        swapped = self.json("histogram", y, "--y", x, "--layout", "even:3:10:13", "--layout",
                            "even:2:0:2")
        self.assertEqual([axis["edges"] for axis in swapped["bins"]],
                         [[10, 11, 12, 13], [0, 1, 2]])
        self.assertEqual(swapped["channels"][0]["counts"], [1, 0, 1, 0, 0, 1])


if __name__ == "__main__":
    unittest.main()
