"""Connections: options, errors, and the environment."""

import pathlib
import pickle
import socket
import tempfile
import unittest
from unittest import mock

import numpy as np

from package_case import PackageTest, gf


class ConnectionTest(PackageTest):
    def test_info(self):
        info = self.gpu.info()
        self.assertEqual(info.engine, self.server.engine)
        self.assertGreater(info.limits["message_bytes_max"], 0)
        self.assertTrue(info.devices[0].name)
        self.assertTrue(self.gpu.is_serving())

    def test_the_environment_names_the_server(self):
        with mock.patch.dict("os.environ", GRIDFOLD_SERVER=self.server.target):
            with gf.connect() as gpu:
                self.assertEqual(gpu.sum([1, 2]), 3)
                self.assertEqual(repr(gpu), f"<gridfold.Connection to {self.server.target}>")
        with self.assertRaises(gf.FailedPreconditionError):
            gpu.sum([1])
        self.assertIn("closed", repr(gpu))

    def test_nobody_listens(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            target = "127.0.0.1:%d" % probe.getsockname()[1]
            with self.assertRaises(gf.UnavailableError) as raised:
                gf.connect(target, connect_timeout=1)
        self.assertIsInstance(raised.exception, ConnectionError)
        self.assertEqual(raised.exception.code, "UNAVAILABLE")

    def test_errors_name_the_field(self):
        with self.assertRaises(gf.InvalidArgumentError) as raised:
            self.gpu._native.histogram((np.ones(3), 12, None), [("even", 3, 1.0, -1.0)], None,
                                       None, False, [])
        error = raised.exception
        self.assertEqual((error.code, error.field),
                         ("INVALID_ARGUMENT", "bins[0].even.upper_bound"))
        copied = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copied), str(copied), copied.field),
                         (type(error), str(error), error.field))

    def test_timeout(self):
        with self.assertRaises(gf.DeadlineExceededError) as raised:
            self.gpu.options(timeout=0.001).sum(np.ones(8_000_000))
        self.assertIsInstance(raised.exception, TimeoutError)
        self.assertEqual(self.gpu.options(timeout=60, priority="high").sum([1]), 1)

    def test_arguments_that_make_no_sense(self):
        target = self.server.target
        for options, error in ((dict(priority="urgent"), ValueError),
                               (dict(channels=0), gf.InvalidArgumentError),
                               (dict(balance="best"), ValueError),
                               (dict(tenant="a b"), gf.InvalidArgumentError),
                               (dict(attempts=0), gf.InvalidArgumentError),
                               (dict(tls_ca="/no/such/file"), gf.Error),
                               (dict(timeout="1"), TypeError)):
            with self.subTest(options=options), self.assertRaises(error):
                gf.connect(target, **options)
        with self.assertRaises(TypeError):
            gf.connect(7)

    def test_tenants_have_their_own_arrays(self):
        with gf.connect(self.server.target, tenant="other") as other:
            with self.gpu.put([1], "mine"):
                self.assertEqual(other.arrays(), [])


    def test_an_array_that_could_not_be_written_is_not_kept(self):
        with mock.patch.object(gf._connection, "wire_form", lambda _: (np.ones(3), 1)):
            with self.assertRaises((gf.Error, TypeError)):
                self.gpu.put(np.ones((2, 2)), "half")
        self.assertEqual(self.gpu.arrays(), [])


class LimitsTest(PackageTest):
    server_options = ("--max-message-bytes=8MiB", "--max-bins=2001", "--max-groups=2002",
                      "--lanes=3", "--max-queued-jobs=2004", "--max-queued-bytes=2005MiB",
                      "--resident-bytes=64MiB", "--tenant-resident-bytes=32MiB",
                      "--max-arrays=2007", "--allow-regions", "--max-regions=2008",
                      "--max-region-bytes=2009MiB", "--max-streams=210",
                      "--max-batch-operations=2011")

    def test_each_limit_is_that_of_the_server(self):
        limits = self.gpu.info().limits
        self.assertGreater(limits.pop("stream_pending_bytes_max"), 0)
        chunk = limits.pop("array_chunk_bytes_max")
        self.assertTrue(0 < chunk <= 8 << 20, chunk)
        self.assertEqual(limits, {
            "message_bytes_max": 8 << 20, "bin_count_max": 2001, "group_count_max": 2002,
            "lane_count": 3, "queued_jobs_max": 2004, "queued_bytes_max": 2005 << 20,
            "resident_bytes_max": 64 << 20, "tenant_resident_bytes_max": 32 << 20,
            "array_count_max": 2007, "region_count_max": 2008, "region_bytes_max": 2009 << 20,
            "stream_count_max": 210, "batch_operations_max": 2011})


class ArgumentsTest(unittest.TestCase):
    """What the library is asked for; no server."""

    NOTHING = dict.fromkeys(
        ["GRIDFOLD_SERVER", "GRIDFOLD_CLIENT_TLS", "GRIDFOLD_CLIENT_TLS_CA",
         "GRIDFOLD_CLIENT_TLS_CERTIFICATE", "GRIDFOLD_CLIENT_TLS_KEY",
         "GRIDFOLD_CLIENT_TLS_SERVER_NAME", "GRIDFOLD_CLIENT_TOKEN_FILE",
         "GRIDFOLD_CLIENT_BALANCE"], "")

    def asked(self, *arguments, environment=None, **options):
        with mock.patch.dict("os.environ", {**self.NOTHING, **(environment or {})}), \
                mock.patch.object(gf._connect._native, "connect") as connect:
            self.connection = gf.connect(*arguments, **options)
        self.assertEqual(connect.call_args.args, ())
        return connect.call_args.kwargs

    def test_defaults(self):
        self.assertEqual(self.asked(), dict(
            target="localhost:50051", round_robin=False, tenant="", priority=1, channels=1,
            connect_timeout_s=5.0, timeout_s=None, attempts=4, tls=None, token=""))

    def test_all_that_is_given(self):
        self.assertEqual(
            self.asked("a:1", tls_ca=pathlib.Path("ca"), tls_certificate="crt", tls_key="key",
                       tls_server_name="name", token="secret", tenant="t", priority="high",
                       timeout=2.5, connect_timeout=1.5, channels=3, balance="round-robin",
                       attempts=2),
            dict(target="a:1", round_robin=True, tenant="t", priority=2, channels=3,
                 connect_timeout_s=1.5, timeout_s=2.5, attempts=2,
                 tls=("ca", "crt", "key", "name"), token="secret"))
        self.assertIsNone(self.connection._regions, "a region belongs to one server")
        self.assertEqual(self.asked(priority="low", balance="first")["priority"], 0)
        self.assertIsNotNone(self.connection._regions)

    def test_the_environment(self):
        self.assertEqual(self.asked(environment={"GRIDFOLD_SERVER": "b:2"})["target"], "b:2")
        self.assertEqual(self.asked("c:3", environment={"GRIDFOLD_SERVER": "b:2"})["target"], "c:3")
        for place, name in enumerate(["CA", "CERTIFICATE", "KEY", "SERVER_NAME"]):
            expected = [""] * 4
            expected[place] = "x"
            variable = {f"GRIDFOLD_CLIENT_TLS_{name}": "x"}
            self.assertEqual(self.asked(environment=variable)["tls"], tuple(expected))
            self.assertIsNone(self.asked(tls=False, environment=variable)["tls"])
        for word in ("1", "true", "ON", "yes", "y", "t", "+", "enable"):
            self.assertEqual(self.asked(environment={"GRIDFOLD_CLIENT_TLS": word})["tls"],
                             ("",) * 4, word)
        for word in ("0", "false", "off", "no", "2"):
            self.assertIsNone(self.asked(environment={"GRIDFOLD_CLIENT_TLS": word})["tls"], word)
        self.assertEqual(self.asked(tls=True)["tls"], ("",) * 4)
        balance = {"GRIDFOLD_CLIENT_BALANCE": "round-robin"}
        self.assertIs(self.asked(environment=balance)["round_robin"], True)
        self.assertIs(self.asked(balance="first", environment=balance)["round_robin"], False)

    def test_tokens(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "token")
            path.write_text(" from-file \n", encoding="ascii")
            self.assertEqual(self.asked(token_file=path)["token"], " from-file")
            self.assertEqual(self.asked(token="own", token_file=path)["token"], "own")
            self.assertEqual(self.asked(token="", token_file=path)["token"], "")
            variable = {"GRIDFOLD_CLIENT_TOKEN_FILE": str(path)}
            self.assertEqual(self.asked(environment=variable)["token"], " from-file")
            path.write_text("\n", encoding="ascii")
            with self.assertRaisesRegex(ValueError, "token: there is no token in it"):
                self.asked(token_file=path)

    def test_words_that_make_no_sense(self):
        with self.assertRaisesRegex(
                ValueError, "balance: must be \"first\" or \"round-robin\", not 'best'"):
            self.asked(balance="best")
        with self.assertRaisesRegex(
                ValueError, "priority: must be one of low, normal, high, not 'urgent'"):
            self.asked(priority="urgent")

    def test_options_of_calls(self):
        self.asked()
        native = self.connection._native
        other = self.connection.options(timeout=2.5, priority="low", traceparent="00-1-2-3")
        native.with_options.assert_called_once_with(2.5, 0, "00-1-2-3", None)
        self.assertIs(other._native, native.with_options.return_value)
        self.assertIs(self.connection._native, native)
        self.connection.options()
        native.with_options.assert_called_with(None, None, "", None)

    def test_info(self):
        self.asked()
        self.connection._native.info.return_value = (
            "1.2", "cuda", [("A", 1, 2, "9.0", "GPU-1"), ("B", 3, 4, "8.0", "GPU-2")], {"most": 5})
        info = self.connection.info()
        self.assertEqual((info.version, info.engine, info.limits), ("1.2", "cuda", {"most": 5}))
        self.assertEqual(info.devices[1].name, "B")
        self.assertEqual(info.devices[1].memory_bytes, 3)
        self.assertEqual(info.devices[1].compute_units, 4)
        self.assertEqual(info.devices[1].compute_capability, "8.0")
        self.assertEqual(info.devices[1].uuid, "GPU-2")
        self.assertEqual(len(info.devices), 2)

    def test_closing(self):
        self.asked()
        with self.connection as gpu:
            self.assertIs(gpu, self.connection)
            with mock.patch.object(gpu._regions, "close") as close:
                gpu.close()
            close.assert_called_once_with()
        self.assertEqual(gpu._native.close.call_count, 2)


class ErrorsTest(unittest.TestCase):
    def test_each_code_has_its_class(self):
        # gRPC's, in the order of their numbers, and what else each error is.
        codes = [(1, "CANCELLED", gf.CancelledError, Exception),
                 (2, "UNKNOWN", gf.Error, Exception),
                 (3, "INVALID_ARGUMENT", gf.InvalidArgumentError, ValueError),
                 (4, "DEADLINE_EXCEEDED", gf.DeadlineExceededError, TimeoutError),
                 (5, "NOT_FOUND", gf.NotFoundError, LookupError),
                 (6, "ALREADY_EXISTS", gf.AlreadyExistsError, Exception),
                 (7, "PERMISSION_DENIED", gf.PermissionDeniedError, PermissionError),
                 (8, "RESOURCE_EXHAUSTED", gf.ResourceExhaustedError, Exception),
                 (9, "FAILED_PRECONDITION", gf.FailedPreconditionError, Exception),
                 (10, "ABORTED", gf.AbortedError, Exception),
                 (11, "OUT_OF_RANGE", gf.OutOfRangeError, OverflowError),
                 (12, "UNIMPLEMENTED", gf.UnimplementedError, NotImplementedError),
                 (13, "INTERNAL", gf.InternalError, Exception),
                 (14, "UNAVAILABLE", gf.UnavailableError, ConnectionError),
                 (15, "DATA_LOSS", gf.DataLossError, Exception),
                 (16, "UNAUTHENTICATED", gf.UnauthenticatedError, Exception)]
        for number, code, kind, other in codes:
            with self.subTest(code):
                error = gf._errors.from_status(number, "text", "REASON", "field", 1.5)
                self.assertIs(type(error), kind)
                self.assertIsInstance(error, other)
                copied = pickle.loads(pickle.dumps(error))
                for one in (error, copied):
                    self.assertEqual((str(one), one.code, one.reason, one.field, one.retry_delay),
                                     ("text", code, "REASON", "field", 1.5))


if __name__ == "__main__":
    unittest.main()
