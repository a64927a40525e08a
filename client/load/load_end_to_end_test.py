"""The load generator against a real server: all answers verified, and what ends a run.

GRIDFOLD_SERVER_BINARY and GRIDFOLD_LOAD_BINARY are the programs.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import server_process  # noqa: E402

SCENARIOS = pathlib.Path(__file__).parent / "scenarios"
TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
         "bfloat16", "float32", "float64"]
STATISTICS = ["count", "sum", "min", "max", "argmin", "argmax", "mean", "variance",
              "standard_deviation", "l1_norm", "l2_norm", "nonzero_count", "nan_count",
              "infinity_count", "all", "any", "range", "root_mean_square", "standard_error"]
SHORT = ["--warm-up", "0", "--verify", "all"]


class LoadTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = server_process.ServerProcess("--allow-regions")
        cls.enterClassContext(cls.server)
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def start(self, *arguments, server=None):
        variables = dict(os.environ, GRIDFOLD_SERVER=(server or self.server).target,
                         LC_ALL="C.UTF-8")
        return subprocess.Popen([os.environ["GRIDFOLD_LOAD_BINARY"], *map(str, arguments)],
                                env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)

    def run_load(self, *arguments, code=0):
        process = self.start(*arguments)
        out, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, error + out)
        return out, error

    def json(self, *arguments, code=0):
        return json.loads(self.run_load(*arguments, "--json", "-", code=code)[0])

    def scenario(self, requests):
        path = self.folder / "scenario.json"
        path.write_text(json.dumps({"requests": requests}))
        return ["--scenario", path]

    def run_requests(self, requests, *arguments):
        return self.json(*self.scenario(requests), *SHORT, *arguments)

    def expect_all_right(self, report):
        for level in report["levels"]:
            self.assertEqual(level["errors"], {})
            self.assertGreater(level["calls"]["answered"], 0)
            self.assertEqual(level["calls"]["verified"], level["calls"]["answered"])
            self.assertEqual(level["calls"]["wrong"], 0, level["calls"]["first_difference"])
            for kind in level["kinds"]:
                self.assertGreater(kind["answered"], 0, kind["name"])

    def test_every_operation_on_every_type(self):
        for transport in ["inline", "stream", "resident", "shared"]:
            requests = []
            # A server has room for 64 regions, and each kind of request has one.
            for element_type in TYPES if transport != "shared" else TYPES[::2]:
                low = 0 if element_type.startswith("u") else -100
                base = {"element_type": element_type, "values": [low, 100], "elements": 3000,
                        "transport": transport}
                bitwise = [] if "float" in element_type else ["bitwise_and", "bitwise_or",
                                                              "bitwise_xor"]
                requests += [
                    {**base, "operation": "reduce", "statistics": STATISTICS + bitwise},
                    {**base, "operation": "reduce", "statistics": STATISTICS, "columns": 30,
                     "group_by": "rows"},
                    {**base, "operation": "reduce", "statistics": STATISTICS, "columns": 30,
                     "group_by": "columns"},
                    {**base, "operation": "scan", "scan": "sum"},
                    {**base, "operation": "scan", "scan": "sum", "mode": "exclusive"},
                    {**base, "operation": "scan", "scan": "min"},
                    {**base, "operation": "scan", "scan": "max"},
                    {**base, "operation": "histogram", "bins": 7},
                    {**base, "operation": "histogram", "bins": 64, "range": [-3.7, 55.1]},
                ]
            for request in requests:
                request["name"] = json.dumps(request)
            self.expect_all_right(self.run_requests(requests, "--count", 3000))

    def test_output_types_of_reductions(self):
        requests = []
        for transport in ["inline", "stream", "resident", "shared"]:
            for element_type in ["int16", "float16", "float64"]:
                for output_type in ["float16", "bfloat16", "float32", "float64"]:
                    base = {"element_type": element_type, "values": [-100, 100], "elements": 3000,
                            "transport": transport, "output_type": output_type,
                            "statistics": STATISTICS}
                    requests += [{**base, "columns": 30, "group_by": "rows"},
                                 {**base, "operation": "group"}]
                    if transport == "inline":
                        requests.append({**base, "batch": 3})
        for request in requests:
            request["name"] = json.dumps(request)
        self.expect_all_right(self.run_requests(requests, "--count", 1500))

    def test_order_keys_and_relations_on_every_type(self):
        quantiles = {"operation": "quantile", "quantiles": [0, 0.01, 0.3333, 0.5, 0.77, 1]}
        keyed = {"operation": "group", "statistics": STATISTICS}
        relations = {"operation": "relate", "statistics": ["dot", "covariance", "correlation",
                                                           "mean", "variance"]}
        for transport in ["inline", "stream", "resident", "shared"]:
            requests = []
            # As above; and reductions by key are what there are streams of.
            for element_type in TYPES if transport != "shared" else TYPES[::4]:
                low = 0 if element_type.startswith("u") else -100
                base = {"element_type": element_type, "values": [low, 100], "elements": 3000,
                        "transport": transport}
                requests += [
                    {**base, **keyed, "key_type": "int64"},
                    {**base, **keyed, "key_type": "uint8", "keys": "range", "key_count": 200},
                    {**base, **keyed, "elements": [7, 500], "key_count": 7, "sorted_keys": True},
                ]
                if transport == "stream":
                    continue
                requests += [
                    {**base, **quantiles},
                    {**base, **quantiles, "method": "lower", "columns": 30, "group_by": "rows"},
                    {**base, **quantiles, "method": "mean", "columns": 30, "group_by": "columns"},
                    {**base, **quantiles, "method": "nearest", "group_by": "segments"},
                    {**base, "operation": "topk", "k": 17},
                    {**base, "operation": "topk", "smallest": True, "columns": 30,
                     "group_by": "rows"},
                    {**base, "operation": "topk", "k": 1, "group_by": "segments"},
                    {**base, **keyed, "statistics": ["mean"], "quantiles": [0.5, 0.99]},
                    {**base, **keyed, "batch": 3},
                    {**base, **relations},
                    {**base, **relations, "columns": 6},
                    # Of one observation nothing is known but its mean and its dot product.
                    {**base, **relations, "elements": [1, 2, 3]},
                ]
            for request in requests:
                request["name"] = json.dumps(request)
            self.expect_all_right(self.run_requests(requests, "--count", 2000))

    def test_operations_by_their_names_alone(self):
        for operation in ["quantile", "topk", "group", "relate"]:
            self.expect_all_right(self.json(*SHORT, "--count", 20, "--operation", operation))
        error = self.run_load("--operation", "topk", "--transport", "stream", code=2)[1]
        self.assertIn("transport: there is no stream of operation topk", error)

    def test_shapes_sizes_and_distributions(self):
        requests = [
            {"elements": {"log_uniform": [1, 100000]}, "statistics": ["sum", "variance"]},
            {"elements": [1, 10, 1000], "distribution": "normal", "values": [-50, 50]},
            {"elements": 5000, "distribution": "exponential", "operation": "scan", "columns": 50,
             "group_by": "rows"},
            {"elements": 5000, "distribution": "constant", "operation": "scan", "columns": 50,
             "group_by": "columns", "transport": "resident"},
        ]
        for i, request in enumerate(requests):
            request["name"] = str(i)
        self.expect_all_right(self.run_requests(requests, "--count", 400, "--concurrency", 7))

    def test_results_of_cancelled_calls_expire(self):
        """A caller that has given up is not told where its result is; the server removes it."""
        server = self.enterContext(server_process.ServerProcess())
        requests = [{"name": destination, "operation": "scan", "elements": 200_000,
                     "destination": destination, "cancel": 0.5, "cancel_within": "3ms"}
                    for destination in ("resident", "inline")]
        process = self.start(*self.scenario(requests), *SHORT, "--count", 600, "--concurrency", 8,
                             "--json", "-", server=server)
        level, = json.loads(process.communicate(timeout=120)[0])["levels"]
        calls = level["calls"]
        # How many depends on how soon the machine answers.
        self.assertGreater(calls["cancelled"], 20)
        self.assertGreater(calls["answered"], 100)
        self.assertEqual((calls["wrong"], calls["failed"]), (0, 0), level["errors"])
        self.assertEqual(calls["answered"] + calls["cancelled"] + calls["unanswered"], 600)
        listed = subprocess.run([os.environ["GRIDFOLD_CLI_BINARY"], "array", "list", "--server",
                                 server.target, "--json"],
                                check=True, capture_output=True, text=True).stdout
        left = json.loads(listed)["arrays"]
        # Those of answered calls are deleted.
        self.assertLessEqual(len(left), calls["cancelled"])
        self.assertLessEqual({array["idle_expiry_us"] for array in left}, {60e6})

    def test_the_report_has_the_verdict_and_every_option(self):
        page = self.folder / "report.html"
        report = self.json(*SHORT, "--count", 50, "--elements", 77, "--fail-if", "p50>1h", "--fail-if",
                           "rate<1e9", "--html", page, code=1)
        self.assertEqual(report["verdict"]["is_passed"], False)
        self.assertEqual([(limit["text"], limit["is_kept"])
                          for limit in report["verdict"]["thresholds"]],
                         [("p50>1h", True), ("rate<1e9", False)])
        self.assertEqual(report["options"]["fail-if"], "p50>1h, rate<1e9")
        self.assertEqual(report["options"]["elements"], "77")
        self.assertEqual(report["options"]["count"], "50")
        self.assertEqual(report["options"]["server"], self.server.target)
        self.assertEqual(report["options"]["connections"], "4")
        self.assertIn("<title>gridfold load: reduce float32 inline</title>", page.read_text())
        self.assertIn("Failed: rate&lt;1e9", page.read_text())

    def test_a_count_of_elements_that_makes_no_sense_is_quoted(self):
        for text in ("-1", "0", "1e3", "18446744073709551616"):
            error = self.run_load("--elements", text, code=2)[1]
            self.assertIn(f"'{text}' is not a whole number", error)
            self.assertLess(len(error), 300)

    def test_segments_products_bins_weights_and_batches(self):
        for transport in ["inline", "stream", "resident", "shared"]:
            base = {"elements": 3000, "transport": transport}
            ragged = {"group_by": "segments", "segment_elements": 20}
            requests = [
                {**base, **ragged, "statistics": STATISTICS, "values": [-9, 9]},
                {**base, "statistics": ["product"], "element_type": "int32", "values": [-1, 1]},
                {**base, **ragged, "statistics": ["product", "sum"], "values": [1, 2],
                 "element_type": "int16" if transport == "stream" else "float32"},
                {**base, "operation": "histogram", "layout": "integer", "bins": 150,
                 "element_type": "int16", "values": [-100, 100]},
                {**base, "operation": "histogram", "bins": 20, "y_bins": 30, "range": [5, 70.5]},
                {**base, "operation": "histogram", "bins": 20, "weighted": True},
                {**base, "operation": "histogram", "bins": 7, "y_bins": 5, "weighted": True,
                 "element_type": "float64", "values": [-50, 50]},
                {**base, "operation": "scan", "scan": "product", "element_type": "int8",
                 "values": [-1, 1]},
                {**base, "operation": "scan", "scan": "product", "values": [-1, 1]},
                {**base, "operation": "scan", "scan": "product", "mode": "exclusive",
                 "element_type": "bfloat16", "values": [-1, 1]},
                {**base, "operation": "scan", "scan": "product", "mode": "exclusive",
                 "elements": 50, "values": [1, 2]},
            ]
            if transport != "stream":
                requests += [
                    {**base, "statistics": ["product"], "element_type": "float64",
                     "values": [-1, 1]},
                    {**base, **ragged, "operation": "scan", "element_type": "int32"},
                    {**base, "elements": [10, 300], "batch": 40, "statistics": ["sum", "argmax"]},
                    {**base, "elements": 100, "batch": 3, "operation": "scan"},
                    {**base, "elements": 100, "batch": 3, "operation": "histogram", "y_bins": 3,
                     "weighted": True},
                ]
            for request in requests:
                request["name"] = json.dumps(request)
            self.expect_all_right(self.run_requests(requests, "--count", 500))

    def test_sets_of_axes(self):
        for transport in ["inline", "stream", "resident", "shared"]:
            base = {"elements": [1200, 4800], "row_shape": [5, 4, 6], "transport": transport,
                    "element_type": "int16", "values": [-100, 100], "statistics": STATISTICS}
            requests = [{**base, "axes": axes, "keep_dimensions": len(axes) % 2 == 0}
                        for axes in ([], [0], [0, 1], [2, 1, 0], [-1], [3, 1, -2], [1, 2, 3, 0])]
            if transport != "stream":
                requests += [{**base, "axes": axes, "keep_dimensions": len(axes) % 2 == 1}
                             for axes in ([1], [2], [0, 2], [0, -1], [1, -1], [0, 2, 3])]
                requests += [
                    {**base, "keep_dimensions": True, "batch": 2},
                    {**base, "operation": "quantile", "axes": [1, 3], "keep_dimensions": True},
                    {**base, "operation": "quantile", "axes": [0, 2], "method": "lower"},
                    {**base, "operation": "topk", "k": 3, "axes": [0, 2]},
                    {**base, "operation": "scan", "axes": [1]},
                    {**base, "operation": "scan", "axes": [-1], "mode": "exclusive"},
                ]
            for request in requests:
                request["name"] = json.dumps(request)
            self.expect_all_right(self.run_requests(requests, "--count", 400))

    def test_masks(self):
        for transport in ["inline", "stream", "resident", "shared"]:
            for element_type in ["int8", "float32", "uint64"]:
                low = 0 if element_type.startswith("u") else -100
                base = {"element_type": element_type, "values": [low, 100], "elements": [30, 3000],
                        "transport": transport, "where": 0.3}
                products = {"values": [-1, 1] if low < 0 else [0, 1]}
                requests = [
                    {**base, "statistics": STATISTICS},
                    {**base, "statistics": STATISTICS, "where": 0.001, "columns": 10,
                     "group_by": "rows"},
                    {**base, "statistics": STATISTICS, "where": 1, "columns": 10,
                     "group_by": "columns"},
                    {**base, "statistics": STATISTICS, "group_by": "segments",
                     "segment_elements": 4},
                    {**base, "operation": "scan"},
                    {**base, **products, "operation": "scan", "scan": "product",
                     "mode": "exclusive"},
                    {**base, "operation": "histogram", "bins": 9, "range": [10, 70]},
                    {**base, "operation": "histogram", "y_bins": 5, "bins": 7, "weighted": True},
                ]
                if transport != "stream":
                    requests += [
                        {**base, **products, "statistics": ["product", "count"]},
                        {**base, "row_shape": [5, 2], "statistics": STATISTICS, "axes": [0, 2],
                         "where": {"part": 0.2, "dimensions": 1}},
                        {**base, "columns": 10, "operation": "scan", "group_by": "rows",
                         "where": {"part": 0.5, "dimensions": 2}},
                        {**base, "columns": 10, "operation": "histogram",
                         "where": {"part": 0.5, "dimensions": 1}},
                        {**base, "batch": 5, "statistics": ["sum", "argmin"]},
                        {**base, "batch": 5, "operation": "scan"},
                        {**base, "batch": 5, "operation": "histogram"},
                    ]
                for request in requests:
                    request["name"] = json.dumps(request)
                self.expect_all_right(self.run_requests(requests, "--count", 300))

    def test_views(self):
        base = {"elements": [3000, 6000], "row_shape": [10, 6], "transport": "resident",
                "element_type": "int32", "values": [-100, 100], "statistics": STATISTICS}
        views = [
            {"dimensions": [{"axis": 0}, {"axis": 1}, {"axis": 2}]},
            {"dimensions": [{"axis": 2}, {"axis": 0}, {"axis": 1}]},
            {"dimensions": [{"axis": 0, "step": -3}, {"axis": 2, "step": -1},
                            {"axis": 1, "step": 4}]},
            {"first": [49, 0, 5], "dimensions": [{"axis": 2, "step": -2},
                                                 {"axis": 0, "count": 7, "step": -5}]},
            {"first": [3, 9, 2], "dimensions": [{"axis": 1, "step": -1, "count": 1},
                                                {"axis": 0, "step": 1000}]},
        ]
        requests = []
        for view in views:
            viewed = {**base, "view": view}
            requests += [viewed, {**viewed, "axes": [0], "keep_dimensions": True},
                         {**viewed, "axes": [1]}, {**viewed, "axes": [], "where": 0.5},
                         {**viewed, "axes": [-1, 0], "where": {"part": 0.5, "dimensions": 1}},
                         {**viewed, "batch": 3, "axes": [1]},
                         {**viewed, "operation": "scan", "axes": [1]},
                         {**viewed, "operation": "scan", "where": 0.5, "destination": "resident"},
                         {**viewed, "operation": "histogram", "bins": 11, "weighted": True,
                          "where": 0.5},
                         {**viewed, "operation": "quantile", "axes": [0]},
                         {**viewed, "operation": "topk", "k": 1, "axes": [1]}]
        requests.append({**base, "columns": 60, "group_by": "rows", "row_shape": [],
                         "view": views[1] | {"dimensions": [{"axis": 1}, {"axis": 0}]}})
        requests.append({"elements": 900, "transport": "resident", "group_by": "segments",
                         "view": {"dimensions": [{"axis": 0, "step": -2}]}, "where": 0.5})
        for request in requests:
            request["name"] = json.dumps(request)
        self.expect_all_right(self.run_requests(requests, "--count", 1200))

    def test_destinations_of_scans(self):
        requests = []
        for transport in ["inline", "resident", "shared"]:
            for destination in ["resident", "shared"]:
                base = {"operation": "scan", "transport": transport, "destination": destination}
                requests += [
                    {**base, "elements": [1, 3000, 300000], "element_type": "int32"},
                    {**base, "elements": 3000, "scan": "max", "element_type": "int8"},
                    {**base, "elements": 3000, "mode": "exclusive", "columns": 30,
                     "group_by": "rows", "element_type": "float64"},
                ]
        for request in requests:
            request["name"] = json.dumps(request)
        # Places of results are taken by many calls, one after the other, of one thread and several.
        for load in [["--concurrency", 11, "--connections", 3], ["--rate", 150, "--in-flight-max", 20]]:
            self.expect_all_right(self.run_requests(requests, "--count", 400, *load))
        # Nothing is left over, not even of answers that nobody looked at.
        self.run_load(*self.scenario(requests), "--count", 100, "--verify", "none")
        arrays = subprocess.run(
            [os.environ["GRIDFOLD_CLI_BINARY"], "--server", self.server.target, "array", "list"],
            capture_output=True, text=True, check=True).stdout
        self.assertNotIn("int", arrays)
        self.assertNotIn("float", arrays)

    def test_places_of_results_are_bounded(self):
        requests = [{"operation": "scan", "elements": 1000000, "destination": "shared"}]
        _, error = self.run_load(*self.scenario(requests), "--rate", 10, code=2)
        self.assertIn("requests[0].destination", error)
        self.assertIn("in-flight-max", error)

    def test_scenarios(self):
        for name in ["small_inline.json", "resident_analytics.json", "shared_memory.json",
                     "every_shape.yaml", "order_and_keys.yaml", "parts_of_arrays.yaml"]:
            self.expect_all_right(
                self.json("--scenario", SCENARIOS / name, *SHORT, "--rate", "100",
                          "--duration", "2s", "--seed", 2))

    def test_script_of_all_scenarios(self):
        folder = self.folder / "results"
        table = subprocess.run(
            [sys.executable, SCENARIOS.parent / "run_scenarios.py", "small_inline", "--server",
             os.environ["GRIDFOLD_SERVER_BINARY"], "--load", os.environ["GRIDFOLD_LOAD_BINARY"],
             "--engine", self.server.engine, "--seconds", "1", "--output", folder,
             "--load-option=--concurrency=2"],
            capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(len(table), 3)
        self.assertIn("small_inline", table[2])
        self.assertIn("0 %", table[2])
        self.assertEqual({path.suffix for path in folder.iterdir()}, {".json", ".html", ".txt"})

    def test_cancellations_and_tenants(self):
        report = self.json("--scenario", SCENARIOS / "mixed_tenants.json", *SHORT, "--rate", "60",
                           "--duration", "3s")
        calls = report["levels"][0]["calls"]
        self.assertGreater(calls["answered"], 0)
        self.assertEqual(calls["wrong"], 0)
        requests = [{"elements": 2000000, "transport": "stream", "cancel": 0.5}]
        calls = self.run_requests(requests, "--count", 60)["levels"][0]["calls"]
        self.assertGreater(calls["cancelled"], 0)
        self.assertGreater(calls["answered"], 0)
        self.assertEqual(calls["failed"], 0)

    def test_open_loop_keeps_to_its_rate(self):
        report = self.json("--rate", "50,100", "--arrivals", "constant", "--warm-up", "500ms",
                           "--duration", "2s")
        for level, rate in zip(report["levels"], [50, 100]):
            calls = level["calls"]
            due = sum(calls[name] for name in ["answered", "failed", "unanswered", "unsent"])
            self.assertAlmostEqual(due, rate * 2, delta=4)
            self.assertIn(len(level["seconds"]), (2, 3))

    def test_thresholds_and_comparison(self):
        path = self.folder / "report.json"
        page = self.folder / "report.html"
        table = self.folder / "report.csv"
        out, _ = self.run_load("--count", 200, *SHORT, "--json", path, "--html", page, "--csv",
                               table, "--fail-if", "p99>1h", "--fail-if", "errors>0.1%")
        self.assertIn("200 verified", out)
        self.assertIn("<svg", page.read_text())
        self.assertNotIn("http", page.read_text())
        self.assertTrue(table.read_text().startswith("level_number,time_s"))
        out, _ = self.run_load("compare", path, path)
        self.assertIn("p99.9", out)
        _, error = self.run_load("--count", 50, *SHORT, "--fail-if", "p50>1ns", code=1)
        self.assertIn("p50>1ns", error)
        self.run_load("compare", page, path, code=4)

    def test_searches_a_rate(self):
        report = self.json("--find-rate", "1h", "--rate", "1e6", "--duration", "300ms", "--warm-up",
                           "100ms")
        rates = [level["level"][0] for level in report["levels"]]
        self.assertEqual(rates[0], 1e6)
        self.assertLess(min(rates), 1e6)
        found = report["levels"][report["found_level"]]
        self.assertGreaterEqual(found["rate"], 0.95 * found["level"][0])

    def test_usage_errors_name_the_field(self):
        for arguments, message in [
                (["--rate", "x"], "rate"),
                (["--rate", "1", "--concurrency", "1"], "concurrency"),
                (["--fail-if", "p98>1ms"], "p98"),
                (["--type", "float31"], "element_type"),
                (["--elements", "10", "--operation", "median"], "operation"),
                (["--stat", "product"], "values")]:
            _, error = self.run_load(*arguments, code=2)
            self.assertIn(message, error)

    def test_interrupt_ends_with_a_report(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start("--duration", "60s", "--warm-up", "0", "--concurrency", "2")
            time.sleep(1)
            process.send_signal(number)
            out, error = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 0, error)
            self.assertIn("interrupted", out)
            self.assertIn("p99.9", out)

    def test_a_server_that_dies_is_reported(self):
        with server_process.ServerProcess() as server:
            process = self.start("--duration", "60s", "--warm-up", "0", "--give-up-after", "2s",
                                 server=server)
            time.sleep(1.5)
        out, error = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 3, error)
        self.assertIn("UNAVAILABLE", out)
        self.assertIn("did not answer", error)

    def test_no_server(self):
        process = subprocess.run(
            [os.environ["GRIDFOLD_LOAD_BINARY"], "--server", "127.0.0.1:1"], capture_output=True,
            text=True, timeout=30)
        self.assertEqual(process.returncode, 3)


if __name__ == "__main__":
    server_process.skip_without_device()
    unittest.main(verbosity=2)
