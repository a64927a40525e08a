"""Three servers are exchanged one after the other under load: what their callers see of it.

GRIDFOLD_SERVER_BINARY, GRIDFOLD_LOAD_BINARY and GRIDFOLD_CLI_BINARY are the programs. Prints its
figures, for deploy/README.md.
"""

import contextlib
import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest

import replica

CONCURRENCY = 16
SAMPLE = (pathlib.Path(__file__).resolve().parent.parent / "sample_data"
          / "flight_delay_minutes.npy")
# Time for callers to find a server that has come back: the longest wait between two attempts to
# connect is 2 s.
SETTLE_SECONDS = 3


class RetryingCallers:
    """Programs that call by the client library, which tries again, from `with` to finish."""

    def __init__(self, target, count=2):
        self._target = target
        self._ending = threading.Event()
        self.answered = 0
        self.errors = []
        self._threads = [threading.Thread(target=self._run) for _ in range(count)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.finish()

    def _run(self):
        while not self._ending.is_set():
            result = subprocess.run(
                [os.environ["GRIDFOLD_CLI_BINARY"], "reduce", SAMPLE, "--stat", "sum",
                 "--server", self._target, "--balance", "round-robin"],
                capture_output=True, text=True, timeout=60)
            if result.returncode == 0:
                self.answered += 1
            else:
                self.errors.append(result.stderr)

    def finish(self):
        self._ending.set()
        for thread in self._threads:
            thread.join()


class RollingRestartTest(unittest.TestCase):
    def exchange_all(self, name, end, *server_options):
        """Ends and starts one server after the other under load, and returns what came of it."""
        with contextlib.ExitStack() as ends:
            servers = [ends.enter_context(replica.Replica(*server_options)) for _ in range(3)]
            target = replica.target_of(servers)
            load = ends.enter_context(replica.Load(
                target, "--balance", "round-robin", "--concurrency", CONCURRENCY, "--verify",
                "all"))
            callers = ends.enter_context(RetryingCallers(target))
            time.sleep(SETTLE_SECONDS)
            for server in servers:
                end(server)
                server.start()
                time.sleep(SETTLE_SECONDS)
            callers.finish()
            level = load.finish()
        calls = level["calls"]
        failed = {code: error["count"] for code, error in level["errors"].items()}
        print(f"{name}: gridfold_load answered {calls['answered']}, failed {failed or 0}, "
              f"wrong {calls['wrong']}, unanswered {calls['unanswered']}; with retries "
              f"answered {callers.answered}, failed {len(callers.errors)}", file=sys.stderr)
        self.assertEqual(callers.errors, [])
        self.assertGreater(callers.answered, 0)
        self.assertEqual((calls["wrong"], calls["unanswered"]), (0, 0))
        self.assertEqual(calls["answered"], calls["verified"])
        # What the client library tries again: gRPC makes CANCELLED of calls that arrive while a
        # server closes its connections.
        self.assertLessEqual(set(failed), {"UNAVAILABLE", "CANCELLED"})
        return sum(failed.values())

    def drain(self, server):
        self.assertEqual(server.stop(), 0)

    def test_drained_after_a_lame_duck_no_call_fails(self):
        failed = self.exchange_all("SIGTERM, --lame-duck 2s", self.drain, "--lame-duck=2s")
        self.assertEqual(failed, 0)

    def test_drained_at_once_calls_are_tried_again(self):
        self.exchange_all("SIGTERM", self.drain)

    def test_killed_no_more_fails_than_was_under_way(self):
        failed = self.exchange_all("SIGKILL", lambda server: server.kill())
        self.assertLessEqual(failed, 3 * CONCURRENCY)


if __name__ == "__main__":
    unittest.main()
