"""Callers that stop while they read: SIGSTOP in the middle of large answers, as a debugger or a frozen
container does it. What they leave untaken is bounded and comes back, and others are served."""

import os
import re
import signal
import subprocess
import time
import unittest
import urllib.request

import server_process
from cli_case import DELAY, CommandLineTest, free_port

ANSWER_BYTES = 6 << 20
ROOM_BYTES = 8 << 20
SEND_TIMEOUT_S = 2
# And a second for each MiB.
SECONDS_UNTIL_ENDED = SEND_TIMEOUT_S + ANSWER_BYTES / 2**20
CLIENTS = 20
# An answer on its way, another one that is being made, and what else a server grows by.
GROWTH_BYTES_MAX = 64 << 20


class StoppedClientTest(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        # Another server than that of the other tests.
        cls.metrics_port = free_port()
        cls.server = server_process.ServerProcess(
            "--max-answer-bytes", str(ROOM_BYTES), "--send-timeout", f"{SEND_TIMEOUT_S}s",
            "--lanes", "2", metrics_address=f"127.0.0.1:{cls.metrics_port}")
        cls.enterClassContext(cls.server)

    def setUp(self):
        self.clients = []
        self.addCleanup(self.end_clients)

    def end_clients(self):
        for client in self.clients:
            client.kill()
            client.wait()

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics",
                                    timeout=30) as answer:
            return float(re.search(rf"^{name} (\S+)$", answer.read().decode(), re.M)[1])

    def wait_for(self, condition, seconds):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def memory_bytes(self):
        with open(f"/proc/{self.server.process_id}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) << 10

    def start_client(self):
        """`gridfold` asks for an answer of ANSWER_BYTES."""
        client = subprocess.Popen(
            [os.environ["GRIDFOLD_CLI_BINARY"], "scan", "--array", "large", "--server",
             self.server.target],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.clients.append(client)
        return client

    def stop_one_that_reads(self):
        """Stops a client in the middle of its answer, which is to be met by chance."""
        for attempt in range(400):
            client = self.start_client()
            time.sleep(attempt % 100 / 1000)
            client.send_signal(signal.SIGSTOP)
            time.sleep(0.3)
            if self.metric("gridfold_answer_bytes") >= ANSWER_BYTES:
                return
            client.kill()
            client.wait()
            self.wait_for(lambda: self.metric("gridfold_answer_bytes") == 0, 30)
        self.fail("no client was met while it read")

    def test_others_are_served_and_the_room_comes_back(self):
        self.succeed("array", "create", "large", "--type", "int64", "--shape", ANSWER_BYTES // 8)
        self.assertEqual(self.start_client().wait(timeout=60), 0)
        before = self.memory_bytes()
        self.stop_one_that_reads()
        stopped_at = time.monotonic()
        # All the others ask while there is no room, and stop where they are.
        others = [self.start_client() for _ in range(CLIENTS)]
        self.wait_for(lambda: self.metric("gridfold_queue_answer_jobs") == CLIENTS, 60)
        for client in others:
            client.send_signal(signal.SIGSTOP)

        # None of this waits for any of them, until the first has been ended and after that.
        calls = 0
        longest = 0.0
        most = self.memory_bytes()
        while (self.metric("gridfold_answers_timed_out_total") < 2 and
               time.monotonic() < stopped_at + 6 * SECONDS_UNTIL_ENDED):
            begin = time.monotonic()
            self.assertEqual(self.reduce(DELAY, stat="count")["count"], [200_000])
            self.succeed("array", "list")
            longest = max(longest, time.monotonic() - begin)
            calls += 1
            most = max(most, self.memory_bytes())
            self.assertLessEqual(self.metric("gridfold_answer_bytes"),
                                 ROOM_BYTES + ANSWER_BYTES)
        self.assertGreaterEqual(self.metric("gridfold_answers_timed_out_total"), 2)
        self.assertGreaterEqual(calls, 3)
        self.assertLess(longest, SECONDS_UNTIL_ENDED)
        self.assertLess(most - before, GROWTH_BYTES_MAX)

        # Whoever goes on gets an answer, be it that of a call that took too long.
        for client in others:
            client.send_signal(signal.SIGCONT)
        codes = [client.wait(timeout=60) for client in others]
        self.assertGreaterEqual(codes.count(0), CLIENTS - 3, codes)
        self.end_clients()
        self.wait_for(lambda: self.metric("gridfold_answer_bytes") == 0, 30)
        self.assertEqual(self.start_client().wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
