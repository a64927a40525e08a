"""Connections that the program gridfold_server takes: by Unix sockets, by every address of a name,
and as many as it may have.

GRIDFOLD_SERVER_BINARY names the program.
"""

import os
import signal
import socket
import time
import unittest

from testing.minimal_grpc import Connection, read_fields
from testing.server_process_case import HEALTH, SCAN, SERVING, ServerProcessCase, scan_request


class ServerConnectionsTest(ServerProcessCase):
    def call_at(self, path):
        connection = Connection(path)
        self.addCleanup(connection.close)
        return connection.call(SCAN, scan_request(10))

    def test_a_unix_socket_answers_and_goes_with_the_server(self):
        server, path = self.start_on_socket()
        self.assertEqual(server.port, 0)
        self.assertIsNotNone(self.call_at(path))
        self.assertEqual(os.stat(path).st_mode & 0o7777, 0o660)
        events = server.events()
        self.assertEqual(events["serving"]["listen"], f"unix:{path}")
        self.assertEqual(events["not_encrypted"]["level"], "info")
        self.assertNotIn("exposed", events)
        server.signal()
        self.assertEqual(server.wait(), 0)
        self.assertFalse(os.path.exists(path))

    def test_a_unix_socket_of_a_server_that_was_killed_is_taken_over(self):
        server, path = self.start_on_socket()
        server.signal(signal.SIGKILL)
        server.wait()
        self.assertTrue(os.path.exists(path))
        self.start(f"--listen=unix:{path}")
        self.assertIsNotNone(self.call_at(path))

    def test_a_unix_socket_in_use_is_not_taken(self):
        _, path = self.start_on_socket()
        with self.assertRaisesRegex(RuntimeError, "another server listens there"):
            self.start(f"--listen=unix:{path}")
        self.assertIsNotNone(self.call_at(path))

    def expect_full_and_free_again(self, server, attempts):
        """More connections than the server takes cost the others nothing, while they are open and after."""
        first = self.connect(server)
        self.assertEqual(read_fields(first.call(HEALTH, b"")), {1: SERVING})
        crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(attempts)]
        self.assertEqual(read_fields(first.call(HEALTH, b"")), {1: SERVING})
        # Silent connections give way to whoever calls.
        self.expect_answer_soon(server)
        server.wait_for_event("connections_gave_way")
        self.assertEqual(read_fields(first.call(HEALTH, b"")), {1: SERVING})
        for connection in crowd:
            connection.close()
        self.expect_answer_soon(server)
        server.signal()
        self.assertEqual(server.wait(), 0)

    def expect_answer_soon(self, server):
        deadline = time.monotonic() + 60
        while True:
            try:
                self.assertEqual(read_fields(self.connect(server).call(HEALTH, b"")), {1: SERVING})
                return
            except ConnectionError:
                self.assertLess(time.monotonic(), deadline)

    def expect_connections(self, count):
        """So many keep their places whatever they ask; one more takes the place of one of them."""
        server = self.start(f"--max-connections={count}")
        connections = []

        def are_served():
            served = []
            for connection in connections:
                try:
                    served.append(read_fields(connection.call(HEALTH, b"")) == {1: SERVING})
                except (ConnectionError, TimeoutError):
                    served.append(False)
            return served

        for _ in range(count):
            connections.append(self.connect(server))
            self.assertEqual(are_served(), [True] * len(connections))
        connections.append(self.connect(server))
        # Those that called last have the place; which of the others gives way is not said.
        self.assertLessEqual(sum(are_served()), count)

    def test_as_many_connections_as_it_may_have(self):
        for count in (1, 5, 20):
            with self.subTest(count):
                self.expect_connections(count)

    def test_no_more_connections_than_it_may_have(self):
        self.expect_full_and_free_again(self.start("--max-connections=20"), attempts=40)

    def test_no_more_connections_than_it_may_have_files(self):
        server = self.start(files_max=150)
        self.expect_full_and_free_again(server, attempts=200)

    def test_localhost_is_every_address_that_it_has(self):
        server = self.start("--listen=localhost:0")
        self.assertEqual(read_fields(self.connect(server).call(HEALTH, b"")), {1: SERVING})


if __name__ == "__main__":
    unittest.main()
