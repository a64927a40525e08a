"""Signals to the program gridfold_server: what ends it at once or after the calls in flight, whatever
hangs, and what does something else.

GRIDFOLD_SERVER_BINARY names the program.
"""

import hashlib
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from testing.minimal_grpc import read_fields
from testing.server_process_case import (
    ELEMENTS,
    HEALTH,
    INFO,
    SCAN,
    SERVING,
    ServerProcessCase,
    scan_request,
)

STATISTICS = "/gridfold.v1.ServerService/GetStatistics"
JOBS_SUCCEEDED = 4  # Field of GetStatisticsResponse.


class ServerSignalsTest(ServerProcessCase):
    def start_unread_call(self, server):
        """A call that stays in flight until its window is opened: nobody reads its answer."""
        connection = self.connect(server, answer_window=1000)
        connection.send_call(SCAN, scan_request())
        observer = self.connect(server)
        while read_fields(observer.call(STATISTICS, b"")).get(JOBS_SUCCEEDED, 0) == 0:
            time.sleep(0.005)
        observer.close()
        return connection

    def test_signals_end_an_idle_server(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            server = self.start()
            server.signal(number)
            self.assertEqual(server.wait(), 0)
            self.assertIn("stopped", server.events())

    def test_sigterm_lets_a_call_in_flight_finish(self):
        server = self.start()
        call = self.start_unread_call(server)
        late = self.connect(server)
        server.signal()
        server.wait_for_event("draining")
        self.assertIsNone(late.call(SCAN, scan_request()), "a new job was accepted")
        late.close()
        self.assertIsNone(server.process.poll())
        call.open_window()
        answer = read_fields(call.read_answer())
        sums = read_fields(answer[2])[15]
        self.assertEqual(len(sums), 8 * ELEMENTS)
        self.assertEqual(int.from_bytes(sums[-8:], "little"), ELEMENTS)
        call.close()
        self.assertEqual(server.wait(), 0)

    def test_the_grace_period_ends(self):
        server = self.start("--grace-period=200ms")
        self.start_unread_call(server)
        server.signal()
        self.assertEqual(server.wait(), 0)

    def test_a_lame_duck_says_so_and_goes_on(self):
        server = self.start("--lame-duck=1h")
        call = self.start_unread_call(server)
        health = self.connect(server)
        self.assertEqual(read_fields(health.call(HEALTH, b"")), {1: SERVING})
        server.signal()
        while read_fields(health.call(HEALTH, b"")) == {1: SERVING}:
            time.sleep(0.005)
        self.assertIsNotNone(self.connect(server).call(SCAN, scan_request(10)), "it has stopped")
        call.close()
        server.signal()
        self.assertEqual(server.wait(), 0)

    def test_the_lame_duck_time_ends(self):
        server = self.start("--lame-duck=200ms")
        server.signal()
        self.assertEqual(server.wait(), 0)
        self.assertEqual(server.events()["draining"]["lame_duck_ms"], 200)

    def test_a_second_signal_stops_at_once(self):
        server = self.start("--grace-period=24h")
        self.start_unread_call(server)
        server.signal()
        server.wait_for_event("draining")
        self.assertIsNone(server.process.poll())
        server.signal()
        self.assertEqual(server.wait(), 0)
        self.assertIn("stopping_at_once", server.events())

    def test_a_second_signal_ends_it_whatever_hangs(self):
        """A log that nobody reads, and a call whose answer nobody takes."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        server = self.start("--grace-period=24h", "--log-level=debug", stderr=writer)
        os.close(writer)
        self.start_unread_call(server)
        self.fill_the_log(server)
        server.signal()
        time.sleep(0.2)
        self.assertIsNone(server.process.poll())
        server.signal()
        begin = time.monotonic()
        server.wait()
        self.assertLess(time.monotonic() - begin, 5)

    def test_signals_without_meaning_do_nothing(self):
        server = self.start()
        for name in ("USR1", "USR2", "USR1", "ALRM", "VTALRM", "PROF", "IO", "PWR", "STKFLT",
                     "TTIN", "TTOU", "PIPE", "XFSZ", "RTMIN", "RTMAX", "HUP"):
            server.signal(getattr(signal, "SIG" + name))
        server.wait_for_event("reloading")
        server.wait_for_event("signal_ignored")
        time.sleep(0.1)
        self.assertEqual(read_fields(self.connect(server).call(HEALTH, b"")), {1: SERVING})
        self.assertEqual(server.read_log().count("signal_ignored"), 1)
        server.signal()
        self.assertEqual(server.wait(), 0)

    def test_sigquit_leaves_a_core(self):
        server = self.start()
        pid = str(server.process.pid)
        subprocess.run(["prlimit", "--core=0", "--pid", pid], check=True)  # Not here.
        server.signal(signal.SIGQUIT)
        self.assertEqual(server.wait(), -signal.SIGQUIT)

    def test_sighup_reads_tokens_again_at_once(self):
        token = {"sha256": hashlib.sha256(b"one").hexdigest(), "tenant": "a"}
        with tempfile.NamedTemporaryFile("w") as file:
            json.dump({"tokens": [token]}, file)
            file.flush()
            server = self.start("--token-file", file.name)
            os.truncate(file.name, 0)
            server.signal(signal.SIGHUP)
            server.wait_for_event("tokens_not_reloaded")
            metadata = [(b"authorization", b"Bearer one")]
            self.assertIsNotNone(self.connect(server).call(INFO, b"", metadata))


if __name__ == "__main__":
    unittest.main()
