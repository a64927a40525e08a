"""Rules, dashboard and runbooks: a real Prometheus scrapes a real server that is under load.

Needs `prometheus` and `promtool` (Debian's package prometheus), and what busy_server.py needs.
Grafana itself is not run: the dashboard's queries are, and its form is checked.
"""

import itertools
import json
import math
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

import yaml

FOLDER = pathlib.Path(__file__).resolve().parent
DASHBOARD = json.loads((FOLDER / "grafana/gridfold.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
QUERIES = [target["expr"] for panel in PANELS for target in panel["targets"]]
RECORDED = [rule["record"]
            for group in yaml.safe_load((FOLDER / "recording_rules.yml").read_text())["groups"]
            for rule in group["rules"]]
ALERTS = [rule for group in yaml.safe_load((FOLDER / "alert_rules.yml").read_text())["groups"]
          for rule in group["rules"]]
# Without a value in a server that works.
RECORDED_OF_DEFECTS = {"instance:gridfold_requests_broken:ratio_rate5m"}
WAIT_SECONDS_MAX = 90
SKIPPED = 77  # The exit code by which CTest knows a test that could not run here.


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_zero_here(query):
    """What the CPU engine holds and allocates."""
    return "gridfold_engine_" in query


def wait_until(condition):
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.1)


class Prometheus:
    """Debian's Prometheus with prometheus.yml as it is, but for the target, and faster."""

    def __init__(self, target):
        self._target = target

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self._folder.name)
        config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
        config["global"] = {"scrape_interval": "1s", "scrape_timeout": "1s",
                            "evaluation_interval": "500ms"}
        config["rule_files"] = [str(FOLDER / name) for name in config["rule_files"]]
        config["scrape_configs"][0]["static_configs"][0]["targets"] = [self._target]
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
        address = f"127.0.0.1:{free_port()}"
        self._url = f"http://{address}"
        self._log = open(folder / "log", "w+")
        self._process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml",
             f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}"],
            stdout=self._log, stderr=subprocess.STDOUT)
        try:
            wait_until(self._is_ready)
        except Exception:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._log.close()
        self._folder.cleanup()

    def _is_ready(self):
        if self._process.poll() is not None:
            self._log.seek(0)
            raise RuntimeError("prometheus ended: " + self._log.read())
        try:
            return urllib.request.urlopen(self._url + "/-/ready", timeout=5).status == 200
        except OSError:
            return False

    def get(self, path, **parameters):
        url = f"{self._url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)["data"]

    def values(self, query, begin):
        """All finite values of a query since a time, of all series."""
        result = self.get("query_range", query=query, start=begin, end=time.time(),
                          step="0.5")["result"]
        numbers = [float(value) for series in result for _, value in series["values"]]
        return [number for number in numbers if math.isfinite(number)]

    def alerts(self):
        """The names of the alerts that fire, or would if it stayed so."""
        return {alert["labels"]["alertname"] for alert in self.get("alerts")["alerts"]}


class LiveTest(unittest.TestCase):
    """One server under load, one Prometheus, every query."""

    def test_server_under_load(self):
        import busy_server  # Needs gRPC and the stubs; the other tests do not.
        target = f"127.0.0.1:{free_port()}"
        with Prometheus(target) as prometheus:
            begin = time.time()
            with busy_server.BusyServer(target):
                self.expect_data(prometheus, begin)
                # In a few minutes these would fire, whatever the machine's speed; and what is well
                # raises nothing. GridfoldDown is not looked at: one slow scrape makes it pending.
                expected = {"GridfoldStreamsRefused", "GridfoldArraysRefused"}
                wait_until(lambda: expected <= prometheus.alerts())
                self.assertFalse(prometheus.alerts() & {
                    "GridfoldNotServing", "GridfoldDeviceLost", "GridfoldBroken",
                    "GridfoldRestarting", "GridfoldAllocating"})
                self.expect_rules_to_work(prometheus)
            wait_until(lambda: "GridfoldDown" in prometheus.alerts())

    def expect_data(self, prometheus, begin):
        """Waits until the load has shown in every query."""
        def has_data(query):
            values = prometheus.values(query, begin)
            return values != [] and (is_zero_here(query) or max(values) > 0)

        queries = [query.replace("$__rate_interval", "30s") for query in QUERIES]
        lacking = {query.replace("$instance", ".+") for query in queries}
        lacking |= set(RECORDED) - RECORDED_OF_DEFECTS
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while lacking and time.monotonic() < deadline:
            time.sleep(0.5)
            lacking = {query for query in lacking if not has_data(query)}
        self.assertEqual(lacking, set())
        # The variable of the dashboard is looked at: where it names no server, there is nothing.
        for query in queries:
            self.assertEqual(prometheus.values(query.replace("$instance", "nowhere"), begin), [],
                             query)

    def expect_rules_to_work(self, prometheus):
        rules = [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]
        self.assertEqual(len(rules), len(RECORDED) + len(ALERTS))
        for rule in rules:
            self.assertEqual((rule["health"], rule.get("lastError", "")), ("ok", ""), rule["name"])


class FilesTest(unittest.TestCase):
    def test_rules_by_promtool(self):
        subprocess.run(["promtool", "check", "config", "prometheus.yml"], cwd=FOLDER, check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(["promtool", "test", "rules", "rules_test.yml"], cwd=FOLDER, check=True,
                       stdout=subprocess.DEVNULL)

    def test_each_alert_is_seen_to_fire_in_the_rules_test(self):
        tests = yaml.safe_load((FOLDER / "rules_test.yml").read_text())["tests"]
        fired = {case["alertname"] for test in tests for case in test.get("alert_rule_test", [])
                 if case["exp_alerts"]}
        self.assertEqual(fired, {rule["alert"] for rule in ALERTS})

    def test_each_alert_has_a_runbook_and_no_runbook_is_left_over(self):
        root = FOLDER.parent.parent
        for rule in ALERTS:
            page = root / rule["annotations"]["runbook"]
            self.assertEqual(page.stem, rule["alert"])
            text = page.read_text()
            self.assertTrue(text.startswith(f"# {rule['alert']}\n"))
            self.assertEqual(re.findall("^## (.*)$", text, re.MULTILINE), ["Look at", "Do"])
            for link in re.findall(r"\]\(([^)#]+)", text):
                self.assertTrue((page.parent / link).exists(), f"{page.name}: {link}")
        pages = {page.stem for page in (FOLDER / "runbooks").iterdir()}
        self.assertEqual(pages, {rule["alert"] for rule in ALERTS})

    def test_runbooks_name_panels_that_exist(self):
        titles = {panel["title"] for panel in PANELS}
        for page in (FOLDER / "runbooks").iterdir():
            for name in re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", page.read_text()):
                self.assertIn(name, titles, page.name)

    def test_form_of_the_dashboard(self):
        numbers = [panel["id"] for panel in DASHBOARD["panels"]]
        self.assertEqual(len(numbers), len(set(numbers)))
        for panel in PANELS:
            self.assertTrue(panel["targets"], panel["title"])
            for target in [panel, *panel["targets"]]:
                self.assertEqual(target["datasource"]["uid"], "${datasource}")
        places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
        for one, other in itertools.combinations(places, 2):
            beside = (one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"])
            above = (one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"])
            self.assertTrue(beside or above, (one, other))


if __name__ == "__main__":
    missing = [name for name in ("prometheus", "promtool") if shutil.which(name) is None]
    if missing:
        print(f"skipped: {' and '.join(missing)} not installed")
        sys.exit(SKIPPED)
    unittest.main()
