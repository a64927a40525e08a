"""The flight data: known numbers, and how they are shown to people."""

import fractions

import numpy as np

from cli_case import CommandLineTest, DELAY, DELAY_BINS, DISTANCE, HOUR


class FlightDataTest(CommandLineTest):
    def test_delay(self):
        statistics = self.reduce(
            DELAY, stat="sum,min,argmin,max,argmax,mean,nonzero_count,count")
        self.assertEqual(statistics, {
            "sum": [1500159], "min": [-86], "argmin": [166523], "max": [1444], "argmax": [199991],
            "mean": [7.500795], "nonzero_count": [192070], "count": [200000]})

    def test_delay_variance_is_rounded_once(self):
        delays = [int(delay) for delay in np.load(DELAY)]
        exact = fractions.Fraction(
            len(delays) * sum(delay**2 for delay in delays) - sum(delays)**2, len(delays)**2)
        variance = self.reduce(DELAY, stat="variance")["variance"][0]
        self.assertEqual(variance, float(exact))
        # NumPy rounds on the way.
        self.assertAlmostEqual(variance, 1022.9571493679751, places=12)

    def test_distance(self):
        self.assertEqual(
            self.reduce(DISTANCE, stat="sum,min,argmin,max,argmax"),
            {"sum": [145847125], "min": [30], "argmin": [141145], "max": [4962],
             "argmax": [33028]})

    def test_hour(self):
        statistics = self.reduce(HOUR, stat="sum,min,argmin,max,argmax")
        self.assertEqual(statistics["sum"], [2755170.1662385147])
        self.assertEqual(statistics["min"], [0.0])
        self.assertEqual(statistics["argmin"], [0])
        self.assertEqual(np.float32(statistics["max"][0]), np.float32(23.983334))
        self.assertEqual(statistics["argmax"], [199974])

    def test_delay_histogram(self):
        answer = self.json("histogram", DELAY, "--bins", 10, "--range", "-60,140")
        self.assertEqual(answer["channels"][0], {
            "counts": DELAY_BINS, "underflow_count": 13, "overflow_count": 1866, "nan_count": 0,
            "quantiles": []})
        self.assertEqual(answer["bins"][0]["edges"], list(range(-60, 141, 20)))

    def test_delay_scan(self):
        values = self.json("scan", DELAY)["result"]["values"]
        self.assertEqual(len(values), 200000)
        self.assertEqual([values[i] for i in (0, 1, 9, 999, -1)], [0, 171, 447, 36454, 1500159])

    def test_tables_for_people(self):
        table = self.succeed("reduce", DELAY).decode()
        self.assertRegex(table, r"sum +1,500,159\n")
        self.assertRegex(table, r"mean +7\.500795\n")
        self.assertIn("round trip", table)
        scan = self.succeed("scan", DELAY).decode()
        self.assertRegex(scan, r"199,999 +1,500,159\n")
        histogram = self.succeed("histogram", DELAY, "--bins", 10, "--range", "-60,140").decode()
        self.assertRegex(histogram, r"\[-20, 0\) +88,704 +█+\n")
        self.assertRegex(histogram, r"\[120, 140\] +962 +[▏▎▍▌▋▊▉█]+\n")
        self.assertRegex(histogram, r"above the bins +1,866\n")

    def test_execution_is_reported(self):
        execution = self.json("reduce", DELAY)["execution"]
        self.assertEqual(execution["engine"], self.server.engine)
        self.assertTrue(execution["strategy"].startswith("reduce/"))
        self.assertEqual(execution["bytes_read"], 400000)
        self.assertGreater(execution["total_time_us"], 0)
        self.assertGreater(execution["round_trip_time_us"], execution["kernel_time_us"])
